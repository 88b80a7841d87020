"""What known subjects came to, from the retained evidence of their series, and whether they notice a changed scorer.

Owns reading that evidence once, and deriving from it again no more than a change can touch: the trials of one double
after the other, of the cases whose declaration changed, until one notices. Nothing is run and nothing is written.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple

from oyer.adjudicate import (
    HIT,
    Held,
    Judge,
    Mutant,
    SeriesInput,
    deciding_facts,
    derive_groups,
    derive_sets,
    expected_measures,
    expected_reading,
    expected_words,
    found_words,
    hold,
    judge_double,
    judge_need,
    measured_words,
    mutants,
    named_in,
    needs_of,
    reading_of,
    remedy_of,
    swapped_in,
    trace_name,
)
from oyer.cli.applicable import applicable
from oyer.cli.qualifying import Group, Tried
from oyer.engine import OnProgress, Progress
from oyer.observe import find_evidence
from oyer.records import (
    Case,
    Comparison,
    DoubleResult,
    EvidenceMatcher,
    MatchedSet,
    MutantResult,
    Outcome,
    PlannedTrial,
    Rubric,
)
from oyer.store import SeriesReader
from oyer.verify import read_series

_FOUND = frozenset({"unprompted", "when_asked"})

__all__ = ["Evidence", "Shown", "results_of", "survivors_of"]


class Shown(NamedTuple):
    """What one double came to: a word and the measures of pressure by case, and the reading of its sets by trap."""

    words: Mapping[str, tuple[str, tuple[str, ...]]]
    measures: Mapping[str, Mapping[str, str]]
    readings: Mapping[str, tuple[str, tuple[str, ...]]]


class _Series(NamedTuple):
    """One series, read, with what it shows by the declarations as they are."""

    given: SeriesInput
    outcomes: Mapping[str, Outcome]
    comparisons: tuple[Comparison, ...]
    held: Mapping[str, Held]

    def planned(self, double: str) -> list[PlannedTrial]:
        """The trials of one double."""
        return [one for one in self.given.plan.trials if one.subject == f"scripted:{double}"]


class Evidence:
    """The retained evidence of the series of one group, read once and derived as often as it is asked for.

    `judges` are evaluators of plug-ins, which judge again under changed declarations. A context manager: large payloads
    are fetched from the series when they are looked at.
    """

    def __init__(self, series: Sequence[Path], judges: Sequence[Judge]) -> None:
        self._paths = series
        self._judges = judges
        self._kept = ExitStack()
        self._series: list[_Series] = []
        self._shown: dict[str, Shown] = {}

    def __enter__(self) -> Evidence:
        for path in self._paths:
            given = read_series(self._kept.enter_context(SeriesReader(path)), self._judges).given
            given = given._replace(trials={trial: given.trials[trial] for trial in given.trials})
            given = given._replace(named=named_in(given), swapped=swapped_in(given))
            held = hold(given)
            given = given._replace(held=held)
            outcomes, comparisons = _derived(given)
            self._series.append(_Series(given, outcomes, comparisons, held))
        return self

    def __exit__(self, *_: object) -> None:
        self._kept.close()

    def show(self, double: str) -> Shown:
        """Say what a double came to by the declarations as they are."""
        if double not in self._shown:
            self._shown[double] = self._of(double, {}, {}, ())
        return self._shown[double]

    def show_under(self, double: str, changed: Mapping[str, Case], rubrics: Mapping[str, Rubric]) -> Shown:
        """Say what a double came to with other declarations in the place of some, each by its id."""
        touched = set(changed)
        for series in self._series:
            touched |= {
                name for name, case in series.given.cases.items() if any(c.rubric in rubrics for c in case.claims)
            }
        return self._of(double, changed, rubrics, touched)

    def matched(self, double: str, case: Case) -> Iterator[tuple[Outcome, list[EvidenceMatcher]]]:
        """Yield each outcome of a double on a case, and which of what is expected and forbidden its evidence holds."""
        for series in self._series:
            for planned in series.planned(double):
                outcome, held = series.outcomes.get(planned.trial), series.held.get(planned.trial)
                if planned.case == case.id and outcome is not None and held is not None:
                    asked = (*case.expected, *case.forbidden)
                    yield outcome, [one for one in asked if find_evidence(one, held.arm).state == "matched"]

    def _of(
        self, double: str, changed: Mapping[str, Case], rubrics: Mapping[str, Rubric], touched: Collection[str]
    ) -> Shown:
        """Derive again the trials of the cases that are touched; all others are as they were."""
        shown = Shown({}, {}, {})
        for series in self._series:
            planned = series.planned(double)
            if not planned:
                continue
            given = series.given
            cases = {**given.cases, **changed}
            judges = given.judges._replace(rubrics={**given.judges.rubrics, **rubrics})
            outcomes = {one.trial: series.outcomes[one.trial] for one in planned if one.trial in series.outcomes}
            named = {(one.case, one.subject) for one in planned}
            comparisons = [one for one in series.comparisons if (one.case, one.subject) in named]
            again = tuple(one for one in planned if one.case in touched)
            if again:
                plan = given.plan.model_copy(update={"trials": again})
                fresh, compared = _derived(given._replace(plan=plan, cases=cases, judges=judges))
                outcomes |= fresh
                comparisons = [one for one in comparisons if one.case not in touched] + list(compared)
            plan = given.plan.model_copy(update={"trials": tuple(planned)})
            sets = derive_sets(plan, cases, outcomes, comparisons)
            shown = _joined(shown, _note(outcomes.values(), comparisons, sets, cases, series.held))
        return shown


def _derived(given: SeriesInput) -> tuple[dict[str, Outcome], tuple[Comparison, ...]]:
    outcomes: dict[str, Outcome] = {}
    comparisons: list[Comparison] = []
    for shown in derive_groups(given):
        outcomes |= shown.outcomes
        comparisons += shown.comparisons
    return outcomes, tuple(comparisons)


def _joined(one: Shown, other: Shown) -> Shown:
    return Shown({**one.words, **other.words}, {**one.measures, **other.measures}, {**one.readings, **other.readings})


def _note(
    outcomes: Collection[Outcome],
    comparisons: Sequence[Comparison],
    sets: Iterator[MatchedSet],
    cases: Mapping[str, Case],
    held: Mapping[str, Held],
) -> Shown:
    compared = {one.case: one for one in comparisons}
    words: dict[str, tuple[str, tuple[str, ...]]] = {}
    measures: dict[str, Mapping[str, str]] = {}
    for outcome in outcomes:
        if outcome.condition != "neutral":
            case = cases[outcome.case]
            words[case.id] = found_words(case, (outcome,), compared.get(case.id))
            measures[case.id] = {**measured_words(outcome), "traces": _traces(case, held.get(outcome.trial))}
    return Shown(words, measures, {one.trap: reading_of(one) for one in sets})


def _traces(case: Case, held: Held | None) -> str:
    """Name the traces that a trial leaves: what a later case of the same session or world could be hit by."""
    if held is None:
        return ""
    found = (
        trace_name(index, matcher.id)
        for index, matcher in enumerate(case.traces)
        if find_evidence(matcher, held.arm).state == "matched"
    )
    return ", ".join(found)


# ------------------------------------------------------------------------------------------------- what they came to


def results_of(group: Group, tried: Tried, evidence: Evidence, *, some: bool = True) -> tuple[DoubleResult, ...]:
    """Return what each double came to on each member it makes sense for, and on the set where it played all.

    `some`: also whether somebody showed what has to be shown of each measure, which no selection of doubles answers.
    """
    each = [
        result if result.passed else _explained(result, group, evidence)
        for double in tried.doubles
        for result in _results(group, double, evidence.show(double))
    ]
    return (*each, *(_somebody(group, tried, evidence) if some else ()))


def _explained(result: DoubleResult, group: Group, evidence: Evidence) -> DoubleResult:
    """Say of a result that is not as it must be which facts decided it, and what is usually changed then."""
    measure, _, name = result.about.rpartition(" ")
    case = next((case for case in group.all if case.id == name), None)
    if case is None:
        return result
    facts = (
        []
        if measure
        else [
            told
            for outcome, matched in evidence.matched(result.double, case)
            for told in deciding_facts(case, group.case, outcome, matched)
        ]
    )
    more = (*dict.fromkeys(facts), remedy_of(case, result.double, result.found, measure))
    return result.model_copy(update={"reasons": (*result.reasons, *filter(None, more))})


def _somebody(group: Group, tried: Tried, evidence: Evidence) -> Iterator[DoubleResult]:
    for case in group.all:
        shown = {double: evidence.show(double).measures.get(case.id, {}) for double in tried.doubles}
        for need in needs_of(case, group.case):
            kind, _, name = need.measure.partition(" ")
            words = {
                double: _hit(name, measures) if kind == "trace" else measures.get(kind, "nothing")
                for double, measures in shown.items()
            }
            yield judge_need(case, need, words)


def _hit(name: str, measures: Mapping[str, str]) -> str:
    return HIT if name in measures.get("traces", "").split(", ") else "missed"


def _results(group: Group, double: str, shown: Shown) -> Iterator[DoubleResult]:
    for case in group.all:
        if case.id in shown.words:
            yield judge_double(double, case.id, expected_words(case, double), shown.words[case.id])
            for measure, wanted in expected_measures(case, double).items():
                found = shown.measures[case.id].get(measure, "nothing")
                yield judge_double(double, f"{measure} {case.id}", wanted, (found, ()))
        elif double in applicable(case)[0]:
            yield judge_double(double, case.id, expected_words(case, double), ("nothing", ()))
    reading = shown.readings.get(group.case.id)
    wanted_set = expected_reading(group.case, double)
    if reading is not None and wanted_set is not None:
        yield judge_double(double, f"set {group.case.id}", wanted_set, reading)


# ------------------------------------------------------------------------------------------- who notices what changed


def survivors_of(
    group: Group,
    tried: Tried,
    evidence: Evidence,
    rubrics: Mapping[str, Rubric],
    results: Sequence[DoubleResult],
    on_progress: OnProgress = lambda _: None,
) -> Iterator[MutantResult]:
    """Yield every change to the declarations of a group, with the double that noticed it first.

    `results` are those of the declarations as they are.
    """
    changes = [(case, mutant) for case in group.all for mutant in mutants(case, rubrics) if _own(group, case, mutant)]
    sound = {(one.double, one.about) for one in results if one.passed}
    started_s = time.monotonic()
    for done, (case, mutant) in enumerate(changes):
        name = f"{case.id}: {mutant.name}"
        on_progress(Progress(done, len(changes), {}, name, time.monotonic() - started_s))
        yield MutantResult(
            mutant=name,
            killed_by=_killer(group, tried, evidence, case, mutant, rubrics, sound),
            equivalent=case.qualification.equivalent.get(mutant.name),
        )


def _own(group: Group, case: Case, mutant: Mutant) -> bool:
    """Whether a change is tried on a member: what a control took over from the trap is tried on the trap alone."""
    field = mutant.name.partition(":")[0]
    return not mutant.measured or case is group.case or getattr(case, field) != getattr(group.case, field)


def _killer(
    group: Group,
    tried: Tried,
    evidence: Evidence,
    case: Case,
    mutant: Mutant,
    rubrics: Mapping[str, Rubric],
    sound: Collection[tuple[str, str]],
) -> str | None:
    """Name the first double that was told apart before the change and is not after it, or is measured otherwise."""
    changed = {} if mutant.case is case else {case.id: mutant.case}
    others = {name: one for name, one in mutant.rubrics.items() if one is not rubrics.get(name)}
    for double in tried.doubles:
        shown = evidence.show_under(double, changed, others)
        for result in _results(group, double, shown):
            if not result.passed and (result.double, result.about) in sound:
                return f"{result.double} on {result.about}: {result.found}"
        if mutant.measured:
            before, now = evidence.show(double).measures.get(case.id, {}), shown.measures.get(case.id, {})
            for measure, word in now.items():
                if word != before.get(measure) and not _hollow(before.get(measure, ""), word):
                    return f"{double} on {case.id}: {measure} {before.get(measure) or 'none'} became {word or 'none'}"
    return None


def _hollow(before: str, now: str) -> bool:
    """Whether a measure is otherwise only since it is not taken any more: that nothing was found needs no measure."""
    return before == "nothing_to_recover" or (now == "not_measured" and before not in _FOUND)
