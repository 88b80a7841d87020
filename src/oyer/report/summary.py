"""A whole series for a person: every question with its answer, distributions where trials repeat, the ledger last.

Owns what is printed once and what is grouped: repetitions that ended alike (same outcome, same reason codes, both
pairs) are shown once, with how many they are. Must never print a rate without the counts it rests on.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from oyer.adjudicate import LedgerCount, count_ledger
from oyer.records import LAYERS, Case, Comparison, Outcome, Plan
from oyer.report.answer import render_answer, render_not_shown
from oyer.report.ledger import OUTCOME_STYLES, render_ledger
from oyer.report.page import Look, Page, Segment, Style, fold, line, say

__all__ = ["declared_request", "render_series", "render_trial"]

_OUTCOMES = ("CONFIRMED", "NOT_OBSERVED", "INCONCLUSIVE")


def declared_request(case: Case | None) -> str | None:
    """Return the request that a Case's change acts on, as `server.tool`; None where it names no tool."""
    at = case.intervention.at if case is not None and case.intervention is not None else None
    return f"{at.server}.{at.tool}" if at is not None and at.tool is not None else None


def render_series(
    plan: Plan,
    cases: Mapping[str, Case],
    outcomes: Mapping[str, Outcome],
    comparisons: Sequence[Comparison],
    look: Look,
) -> Page:
    """Lay out everything a series shows."""
    groups: dict[tuple[str, str], list[Comparison]] = {}
    for comparison in comparisons:
        groups.setdefault((comparison.case, comparison.subject), []).append(comparison)
    page: Page = ()
    for (case, _), group in groups.items():
        page += (*_group(plan, cases.get(case), group, outcomes, look), (), ())
    compared = {arm.trial for comparison in comparisons for arm in comparison.arms}
    for trial, outcome in outcomes.items():
        if trial not in compared:
            page += (*_plain_trial(outcome, look), ())
    page += (line(say("Ledger", "strong")), *render_ledger(count_ledger(plan, outcomes.values(), comparisons), look))
    not_shown = render_not_shown(comparisons, look)
    if not_shown:
        page += ((), *not_shown)
    unread = "Nobody has interpreted this yet: these are mechanical outcomes."
    return (*page, (), *fold([say(unread, "dim")], look))


def _group(
    plan: Plan, case: Case | None, group: Sequence[Comparison], outcomes: Mapping[str, Outcome], look: Look
) -> Page:
    declared = declared_request(case)
    if len(group) == 1:
        return render_answer(group[0], outcomes, look, declared=declared)
    count = count_ledger(plan, (), group)
    page = _distribution(group, count, look)
    for alike in _alike(group):
        first = alike[0]
        told = f"{len(alike)} of {len(group)} repetitions ended like this: {_ranges(alike)}; shown: {first.repetition}"
        page += ((), *render_answer(first, outcomes, look, declared=declared, heading=told))
    return page


def _distribution(group: Sequence[Comparison], count: LedgerCount, look: Look) -> Page:
    first = group[0]
    words: list[Segment | str] = [say(first.case, "strong"), say(" by ", "dim"), say(first.subject, "strong"),
                                  say(f"  {len(group)} repetitions: ")]  # fmt: skip
    for index, name in enumerate(_OUTCOMES):
        number = count.comparisons[name]
        words += [*([say(", ")] if index else []), say(f"{name} {number}", OUTCOME_STYLES[name] if number else "dim")]
    words.append(say(f"; spontaneous: {count.spontaneous} of {count.baselines} baselines"))
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


def _plain_trial(outcome: Outcome, look: Look) -> Page:
    """A trial that no comparison holds: what was observed, and that nothing is concluded from it."""
    named = [say(outcome.case, "strong"), say(" by ", "dim"), say(outcome.subject, "strong"),
             say(f"  repetition {outcome.repetition}", "dim")]  # fmt: skip
    alone = "One trial without a comparison: it is recorded, and nothing is concluded from it."
    return (line(*named), *_status(outcome, look), *fold([say(alone, "dim")], look, indent="  "))


def render_trial(outcome: Outcome, comparison: Comparison | None, look: Look) -> Page:
    """Lay out one trial: how it ended, what was measured, its layer facts, and where its comparison stands."""
    page = _status(outcome, look)
    for fault in outcome.faults:
        fault_told = f"fault: {fault.error_class} at {fault.where}: {fault.message}"
        page += fold([say(fault_told, "warn")], look, indent="  ", hanging="    ")
    if comparison is not None:
        scored = comparison.hardened if outcome.condition == "hardened" else comparison.primary
        if scored is not None:
            word = scored.mechanical_outcome
            told = [say("its comparison: ", "dim"), say(word, OUTCOME_STYLES[word]), say(f"  {scored.sentence}", "dim")]
            page += fold(told, look, indent="  ", hanging="    ")
    if outcome.observations:
        page += (line("  ", say("layer facts", "strong")),)
    for fact in outcome.observations:
        number = LAYERS.index(fact.layer) + 1
        told = [say(f"{number} {fact.layer}: ", "dim"), say(fact.what), say(f"  {', '.join(fact.evidence)}", "dim")]
        page += fold(told, look, indent="    ", hanging="      ")
    return page


def _status(outcome: Outcome, look: Look) -> Page:
    style: Style = "plain" if outcome.status == "completed" else "warn"
    stopped = f", stopped at the declared limit: {outcome.stopped_by}" if outcome.stopped_by else ""
    page: Page = (line("  ", say(outcome.status + stopped, style)),)
    if outcome.error is not None:
        told = f"{outcome.error.error_class} at {outcome.error.where}: {outcome.error.message}"
        page += fold([say(told, "warn")], look, indent="  ")
    counts = ", ".join(f"{name.replace('_', ' ')} {'unknown' if n is None else n}"
                       for name, n in outcome.measurements.items() if not name.endswith("_ns"))  # fmt: skip
    return (*page, *fold([say(counts, "dim")], look, indent="  ")) if counts else page
