"""A whole series for a person: every question with its answer, distributions where trials repeat, the ledger last.

Owns what is printed once and what is grouped: repetitions that ended alike (same outcome, same reason codes, both
pairs) are shown once, with how many they are. Must never print a rate without the counts it rests on.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from oyer.adjudicate import (
    Course,
    GateResult,
    LedgerCount,
    PressureRead,
    SequenceRead,
    SetTable,
    Tally,
    ToldStop,
    count_ledger,
)
from oyer.records import LAYERS, Case, Comparison, MatchedSet, Outcome, Plan
from oyer.report.answer import render_answer, render_not_pinned, render_not_shown
from oyer.report.brief import MANY, brief_gates, brief_sets, brief_trials, brief_unqualified, where_the_rest_is
from oyer.report.causes import Beside
from oyer.report.course import render_course
from oyer.report.gates import render_gates
from oyer.report.ledger import OUTCOME_STYLES, render_ledger, told_spontaneous
from oyer.report.page import Look, Page, Segment, Style, fold, line, say
from oyer.report.pressure import render_pressed, render_pressure
from oyer.report.rates import render_tallies
from oyer.report.segments import render_segments, render_sequence, render_sequences
from oyer.report.sets import render_sets
from oyer.report.strip import Row, read_strip, render_legend
from oyer.report.table import render_table
from oyer.report.verdicts import Errors, arm_words, number_words, render_claims, render_trials

__all__ = ["Judged", "declared_request", "render_series", "render_trial"]

_OUTCOMES = ("CONFIRMED", "NOT_OBSERVED", "INCONCLUSIVE")


AS_PLANNED = Course()


class Judged(NamedTuple):
    """What is read from a whole series: ledger, sets, gates, unqualified cases, rates over repetitions, pressure.

    `errors` say by trial why an evaluator made no judgement that a claim needs. `table` holds all sets side by side.
    `course` is how the series went, `stops` what its rule came to; `left` counts the repetitions of a case by a subject
    that a declared rule or budget left out. `sequences` are the later cases of sequences and what hit them.
    """

    ledger: LedgerCount
    sets: Sequence[MatchedSet] = ()
    gates: Sequence[GateResult] = ()
    unqualified: Sequence[str] = ()
    tallies: Sequence[Tally] = ()
    errors: Errors = {}
    pressure: Sequence[PressureRead] = ()
    table: SetTable | None = None
    course: Course = AS_PLANNED
    left: Mapping[tuple[str, str], int] = {}
    stops: Sequence[ToldStop] = ()
    sequences: Sequence[SequenceRead] = ()


def declared_request(case: Case | None) -> str | None:
    """Return the request that a Case's change acts on, as `server.tool`; None where it names no tool."""
    at = case.intervention.at if case is not None and case.intervention is not None else None
    if at is None or at.tool is None:
        return None
    return f"the model, with a result of {at.tool}," if at.gateway else f"{at.server}.{at.tool}"


def render_series(
    plan: Plan,
    cases: Mapping[str, Case],
    outcomes: Mapping[str, Outcome],
    comparisons: Sequence[Comparison],
    look: Look,
    judged: Judged | None = None,
    *,
    whole: bool = False,
) -> Page:
    """Lay out everything a series shows; of a large one each trial, set and gate in a line, unless `whole`."""
    judged = judged or Judged(count_ledger(plan, outcomes.values(), comparisons))
    groups: dict[tuple[str, str], list[Comparison]] = {}
    for comparison in comparisons:
        groups.setdefault((comparison.case, comparison.subject), []).append(comparison)
    page: Page = ()
    order = {name: place for place, name in enumerate((*(case.id for case in plan.cases), *plan.subjects))}
    for case, subject in sorted(groups, key=lambda key: (order.get(key[0], -1), order.get(key[1], -1))):
        page += (*_group(plan, cases.get(case), groups[case, subject], outcomes, look), (), ())
    compared = {arm.trial for comparison in comparisons for arm in comparison.arms}
    alone = list(_alone(outcomes, compared))
    brief = not whole and len(alone) > MANY
    if brief:
        page += (*brief_trials(alone, plan.repeat.fixed, look, judged.left), ())
    else:
        for one in alone:
            page += (*_trials(plan, one, judged, look, whole=whole), ())
    beside = Beside.of(outcomes, comparisons)
    in_sequence = render_sequences(judged.sequences, look) if brief else ()
    page += (*in_sequence, ()) if in_sequence else ()
    sets = (brief_sets(judged.sets, judged.unqualified, look, beside) if brief
            else render_sets(plan, judged.sets, judged.unqualified, look, judged.left, beside))  # fmt: skip
    page += (*sets, *(((),) if judged.sets else ()))
    under = render_pressure(judged.pressure, look)
    page += (*under, ()) if under else ()
    went = render_course(plan, judged.course, judged.stops, look, whole=whole)
    page += (*went, ()) if went else ()
    rates = render_tallies(judged.tallies, look)
    page += (*rates, ()) if rates else ()
    if judged.unqualified and brief:
        page += (*brief_unqualified(judged.unqualified, len(plan.cases), look), ())
    elif judged.unqualified:
        told = ", ".join(judged.unqualified)
        why = ": nothing shows yet that these tell known subjects apart, so they satisfy no gate"
        page += (*fold([say("Unqualified: ", "warn"), say(told), say(why, "dim")], look, hanging="  "), ())
    page += (line(say("Ledger", "strong")), *render_ledger(judged.ledger, look))
    for trial in sorted(outcomes):
        page += _attempts(outcomes[trial], look, f"{trial}: ")
    if judged.gates:
        page += ((), *(brief_gates if brief else render_gates)(judged.gates, look))
    rows = [row for comparison in comparisons for row in read_strip(comparison, outcomes)]
    for part in (_reading(rows, look), render_not_shown(comparisons, look), render_not_pinned(comparisons, look)):
        page += ((), *part) if part else ()
    table = render_table(judged.table, look) if judged.table is not None else ()
    page += ((), *table) if table else ()
    judged_too = " and verdicts" if any(outcome.verdicts for outcome in outcomes.values()) else ""
    unread = f"Nobody has interpreted this yet: these are mechanical outcomes{judged_too}."
    return (*page, (), *(where_the_rest_is(look) if brief else ()), *fold([say(unread, "dim")], look))


def _group(
    plan: Plan, case: Case | None, group: Sequence[Comparison], outcomes: Mapping[str, Outcome], look: Look
) -> Page:
    declared = declared_request(case)
    count = count_ledger(plan, (), group)
    if len(group) == 1:
        heading = None if plan.repeat.fixed > 1 else ""
        return (
            *render_answer(group[0], outcomes, look, declared=declared, heading=heading),
            *_spontaneous(count, look),
        )
    page = (*_distribution(group, count, look), *_spontaneous(count, look))
    for alike in _alike(group):
        first = alike[0]
        told = f"{len(alike)} of {len(group)} repetitions ended like this: {_ranges(alike)}; shown: {first.repetition}"
        page += ((), *render_answer(first, outcomes, look, declared=declared, heading=told))
    return page


def _spontaneous(count: LedgerCount, look: Look) -> Page:
    """Warn where the baseline may do unprompted what the comparison confirms."""
    if not count.spontaneous or not count.comparisons["CONFIRMED"]:
        return ()
    may = "" if count.acted == count.spontaneous else "perhaps "
    told = (
        f"{may}spontaneous in {count.spontaneous} of {count.baselines} baselines: no single CONFIRMED here may be cited"
    )
    return fold([say(told, "warn")], look, indent="  ")


def _reading(rows: Sequence[Row], look: Look) -> Page:
    legend = render_legend(rows, look)
    return (line(say("How to read the strips", "strong")), *legend) if legend else ()


def _distribution(group: Sequence[Comparison], count: LedgerCount, look: Look) -> Page:
    first = group[0]
    words: list[Segment | str] = [say(first.case, "strong"), say(" by ", "dim"), say(first.subject, "strong"),
                                  say(f"  {len(group)} repetitions: ")]  # fmt: skip
    for index, name in enumerate(_OUTCOMES):
        number = count.comparisons[name]
        words += [*([say(", ")] if index else []), say(f"{name} {number}", OUTCOME_STYLES[name] if number else "dim")]
    words.append(say(f"; {told_spontaneous(count)}"))
    return fold(words, look, hanging="  ")


def _alike(group: Sequence[Comparison]) -> list[list[Comparison]]:
    found: dict[object, list[Comparison]] = {}
    for comparison in group:
        scored = [s for s in (comparison.primary, comparison.hardened) if s is not None]
        ended = tuple((s.mechanical_outcome, frozenset((r.name, r.arm) for r in s.reasons)) for s in scored)
        links = tuple(tuple((link.id, link.state) for link in arm.links) for arm in comparison.arms)
        found.setdefault((ended, links, comparison.hardened_contrast), []).append(comparison)
    return list(found.values())


def _ranges(alike: Sequence[Comparison]) -> str:
    """Write repetition numbers as `1-4, 7`."""
    numbers = sorted(comparison.repetition for comparison in alike)
    spans: list[list[int]] = []
    for number in numbers:
        if spans and number == spans[-1][1] + 1:
            spans[-1][1] = number
        else:
            spans.append([number, number])
    return ", ".join(str(a) if a == b else f"{a}-{b}" for a, b in spans)


def _alone(outcomes: Mapping[str, Outcome], compared: set[str]) -> Iterator[list[Outcome]]:
    """Trials that no comparison holds, those of one case, subject and arm together."""
    groups: dict[tuple[str, str, str], list[Outcome]] = {}
    for trial, outcome in outcomes.items():
        if trial not in compared:
            arm = "neutral" if outcome.condition == "neutral" else ""
            groups.setdefault((outcome.case, outcome.subject, arm), []).append(outcome)
    yield from groups.values()


def _trials(plan: Plan, outcomes: Sequence[Outcome], judged: Judged, look: Look, *, whole: bool) -> Page:
    planned = plan.repeat.fixed - judged.left.get((outcomes[0].case, outcomes[0].subject), 0)
    if any(outcome.segments for outcome in outcomes):
        page = render_sequence(outcomes, planned, judged.unqualified, look, judged.errors, whole=whole)
        return page + (_status(outcomes[0], look) if planned == 1 else ())
    if not any(outcome.verdicts or outcome.performed is not None for outcome in outcomes):
        parts = [_plain_trial(outcome, look) for outcome in outcomes]
        return tuple(one for index, part in enumerate(parts) for one in (*(((),) if index else ()), *part))
    page = render_trials(outcomes, planned, judged.unqualified, look, judged.errors, whole=whole)
    if planned == 1:
        page += _status(outcomes[0], look)
    return page


def _plain_trial(outcome: Outcome, look: Look) -> Page:
    """A trial that no comparison holds: what was observed, and that nothing is concluded from it."""
    number = f"  repetition {outcome.repetition}{number_words([outcome.trial])}"
    named = [say(outcome.case, "strong"), say(" by ", "dim"), say(outcome.subject, "strong"),
             say(number, "dim"), *arm_words(outcome)]  # fmt: skip
    alone = "One trial without a comparison: it is recorded, and nothing is concluded from it."
    return (line(*named), *_status(outcome, look), *fold([say(alone, "dim")], look, indent="  "))


def render_trial(outcome: Outcome, comparison: Comparison | None, look: Look, errors: Errors | None = None) -> Page:
    """Lay out one trial: how it ended, what was measured, its layer facts, and where its comparison stands."""
    page = (*_status(outcome, look), *_attempts(outcome, look))
    for fault in outcome.faults:
        fault_told = f"fault: {fault.error_class} at {fault.where}: {fault.message}"
        page += fold([say(fault_told, "warn")], look, indent="  ", hanging="    ")
    if comparison is not None:
        scored = comparison.hardened if outcome.condition == "hardened" else comparison.primary
        if scored is not None:
            word = scored.mechanical_outcome
            told = [say("its comparison: ", "dim"), say(word, OUTCOME_STYLES[word]), say(f"  {scored.sentence}", "dim")]
            page += fold(told, look, indent="  ", hanging="    ")
    page += render_claims(outcome, look, errors or {})
    if outcome.pressure is not None:
        page += render_pressed(outcome.pressure, look)
    page += render_segments(outcome, look, errors or {}, whole=True)
    if outcome.observations:
        page += (line("  ", say("layer facts", "strong")),)
    for fact in outcome.observations:
        number = LAYERS.index(fact.layer) + 1
        told = [say(f"{number} {fact.layer}: ", "dim"), say(fact.what), say(f" ({', '.join(fact.evidence)})", "dim")]
        page += fold(told, look, indent="    ", hanging="      ")
    return page


def _cost(outcome: Outcome) -> str:
    """Say what the models of a trial cost: nothing where none was asked, and never 0 where it is not known."""
    if outcome.cost_usd_micros is not None:
        return f"cost {outcome.cost_usd_micros / 1e6:.6f} USD"
    return "cost unknown (price or usage of an answer is not known)" if outcome.measurements.get("model_calls") else ""


def _attempts(outcome: Outcome, look: Look, named: str = "") -> Page:
    """Say that a trial was attempted more than once, and why that may be; nothing where it was not."""
    if outcome.attempts < 2:
        return ()
    why = "what came before ended as harness_error or blocked, which is no answer of the subject; every attempt is kept"
    told = [say(f"{named}attempt {outcome.attempt} of {outcome.attempts}", "warn"), say(f": {why}", "dim")]
    return fold(told, look, indent="  ", hanging="    ")


def _status(outcome: Outcome, look: Look) -> Page:
    style: Style = "plain" if outcome.status == "completed" else "warn"
    stopped = f", stopped at the declared limit: {outcome.stopped_by}" if outcome.stopped_by else ""
    page: Page = (line("  ", say(outcome.status + stopped, style)),)
    if outcome.error is not None:
        told = f"{outcome.error.error_class} at {outcome.error.where}: {outcome.error.message}"
        page += fold([say(told, "warn")], look, indent="  ")
    measured = dict(outcome.measurements)
    cost = _cost(outcome)
    counts = ", ".join(f"{name.replace('_', ' ')} {'unknown' if n is None else n}"
                       for name, n in measured.items() if not name.endswith("_ns"))  # fmt: skip
    counts = ", ".join(filter(None, (counts, cost)))
    return (*page, *fold([say(counts, "dim")], look, indent="  ")) if counts else page
