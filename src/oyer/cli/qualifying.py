"""Showing a case to known subjects: which doubles make sense, the series that try them, and what each came to.

Owns the way from cases to `Qualification@1`. Doubles run through the real engine and instruments; what they came to is
read by the real scorer, and for `--mutate` read again under changed declarations from the same retained evidence.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple

from oyer.adjudicate import (
    Judge,
    Mutant,
    SeriesInput,
    SeriesResult,
    derive_series,
    expected_reading,
    expected_words,
    found_words,
    judge_double,
    mutants,
    reading_of,
)
from oyer.cli.applicable import applicable, senseless
from oyer.cli.naming import own_suites, suite_file
from oyer.cli.plugins import load_judges, plugin_paths, promised
from oyer.cli.project import find_project
from oyer.cli.running import run
from oyer.cli.scopes import load_scoped, load_suite, narrowed
from oyer.cli.selection import Selection, judged_by
from oyer.engine import OnProgress, Progress, SubjectSpec
from oyer.errors import UsageError
from oyer.records import Case, DoubleResult, MutantResult, Rubric, controls_of
from oyer.store import SeriesReader
from oyer.verify import read_series

__all__ = [
    "Evidence",
    "Group",
    "Shown",
    "Tried",
    "choose",
    "members_of",
    "results_of",
    "survivors_of",
    "try_doubles",
]


class Group(NamedTuple):
    """A case with its controls, as they are qualified together. A control named by itself is a group of one."""

    case: Case
    members: tuple[Case, ...]

    @property
    def all(self) -> tuple[Case, ...]:
        """The case and its controls."""
        return (self.case, *self.members)


class Tried(NamedTuple):
    """Which doubles a case was shown, in which series, and which make no sense for it and why."""

    doubles: tuple[str, ...]
    series: tuple[Path, ...]
    not_applicable: Mapping[str, str]


class Shown(NamedTuple):
    """What the doubles came to: a word by case and double, and the reading of a set by its trap and double."""

    words: Mapping[tuple[str, str], tuple[str, tuple[str, ...]]]
    readings: Mapping[tuple[str, str], tuple[str, tuple[str, ...]]]


def choose(
    names: Sequence[str], only: Sequence[str], plugins: Sequence[Path] = ()
) -> tuple[Selection, tuple[str, ...]]:
    """Load what the arguments name and the controls that come along; return also the ids of what was asked for.

    Raises: UsageError, RecordError with everything that is wrong.
    """
    project = find_project()
    suites = [name for name in names if suite_file(name, project) is not None]
    if suites and len(names) > 1:
        raise UsageError("E-SUITE-ALONE", f"{suites[0]} is a suite, and a suite is named by itself", where=names[-1])
    placed = None
    known = promised(plugin_paths(plugins, project))
    if suites:
        placed = load_suite(suites[0], project=project, evaluators=known)
        found, scope = placed.cases, placed.scope
    else:
        found, scope = load_scoped(names, known, own_suites(project))
    # A sequence is vouched for by its cases: there is nothing of its own to be told apart by.
    alone = tuple(each for each in found if not each.loaded.case.segments)
    named = [each.loaded.case.id for each in narrowed(alone, only, scope)]
    controls = [name for each in named for _, name in controls_of(scope.cases[each].loaded.case)]
    wanted = dict.fromkeys((*named, *controls))
    cases = tuple(scope.cases[name] for name in wanted if name in scope.cases)
    rubrics, evaluators = judged_by(cases, scope)
    judges = load_judges(plugin_paths(plugins, project, placed), evaluators)
    return Selection(cases, (), None, 0, 1, None, rubrics, evaluators, judges=judges), tuple(named)


def members_of(cases: Sequence[Case], named: Sequence[str]) -> list[Group]:
    """Group cases with the controls that are there; a control that some group holds is no group of its own."""
    by_id = {case.id: case for case in cases}
    held = {control for case in cases for control in (*case.controls.negative, *case.controls.positive)}
    groups = []
    for name in named:
        case = by_id[name]
        if name in held and len(named) > 1:
            continue
        controls = dict.fromkeys((*case.controls.negative, *case.controls.positive))
        groups.append(Group(case, tuple(by_id[each] for each in controls if each in by_id)))
    return groups


def try_doubles(selection: Selection, group: Group, out: Path, *, wanted: Sequence[str], jobs: int) -> Tried:
    """Run every double that makes sense, one series for those that make sense for the same members."""
    able = {case.id: applicable(case, wanted) for case in group.all}
    by_members: dict[tuple[str, ...], list[str]] = {}
    for double in dict.fromkeys(each for found, _ in able.values() for each in found):
        where = tuple(case.id for case in group.all if double in able[case.id][0])
        by_members.setdefault(where, []).append(double)
    series: list[Path] = []
    for number, (where, names) in enumerate(by_members.items(), start=1):
        chosen = selection._replace(
            cases=tuple(placed for placed in selection.cases if placed.loaded.case.id in where),
            subjects=tuple(SubjectSpec(f"scripted:{name}") for name in names),
            conditions=None,
            suite=None,
            repeat=1,
        )
        # A script does not look at what it is told: in a neutral arm it would do the same again.
        place = out / f"{group.case.id.replace('/', '~')}.{number}"
        outcome = run(chosen, place, jobs=jobs, neutral=False)
        if outcome.interrupted:
            raise KeyboardInterrupt  # what was not shown proves nothing either way: no record is made of it
        series.append(outcome.path)
    tried = dict.fromkeys(each for found, _ in able.values() for each in found)
    return Tried(tuple(tried), tuple(series), senseless({case: why for case, (_, why) in able.items()}))


class Evidence:
    """The retained evidence of the series of one group, read once and derived as often as it is asked for.

    `judges` are evaluators of plug-ins, which judge again under changed declarations. A context manager: large payloads
    are fetched from the series when they are looked at.
    """

    def __init__(self, series: Sequence[Path], judges: Sequence[Judge]) -> None:
        self._series = series
        self._judges = judges
        self._held = ExitStack()
        self._given: list[SeriesInput] = []

    def __enter__(self) -> Evidence:
        for path in self._series:
            given = read_series(self._held.enter_context(SeriesReader(path)), self._judges).given
            read = {trial: given.trials[trial] for trial in given.trials}
            self._given.append(given._replace(trials=read))
        return self

    def __exit__(self, *_: object) -> None:
        self._held.close()

    def show(self, changed: Mapping[str, Case] | None = None, rubrics: Mapping[str, Rubric] | None = None) -> Shown:
        """Derive everything, with other declarations in the place of some."""
        words: dict[tuple[str, str], tuple[str, tuple[str, ...]]] = {}
        readings: dict[tuple[str, str], tuple[str, tuple[str, ...]]] = {}
        for given in self._given:
            cases = {**given.cases, **(changed or {})}
            judges = given.judges._replace(rubrics={**given.judges.rubrics, **(rubrics or {})})
            told = given._replace(cases=cases, judges=judges)
            _note(derive_series(told), cases, words, readings)
        return Shown(words, readings)


def _note(
    result: SeriesResult,
    cases: Mapping[str, Case],
    words: dict[tuple[str, str], tuple[str, tuple[str, ...]]],
    readings: dict[tuple[str, str], tuple[str, tuple[str, ...]]],
) -> None:
    compared = {(one.case, one.subject): one for one in result.comparisons}
    for outcome in result.outcomes.values():
        if outcome.condition == "neutral":
            continue
        double = outcome.subject.removeprefix("scripted:")
        comparison = compared.get((outcome.case, outcome.subject))
        words[outcome.case, double] = found_words(cases[outcome.case], (outcome,), comparison)
    for one in result.sets:
        readings[one.trap, one.subject.removeprefix("scripted:")] = reading_of(one)


def results_of(group: Group, tried: Tried, shown: Shown) -> tuple[DoubleResult, ...]:
    """Return what each double came to on each member it makes sense for, and on the set where it played all."""
    found = []
    for double in tried.doubles:
        for case in group.all:
            if (case.id, double) in shown.words:
                expected = expected_words(case, double)
                found.append(judge_double(double, case.id, expected, shown.words[case.id, double]))
            elif double in applicable(case)[0]:
                found.append(judge_double(double, case.id, expected_words(case, double), ("nothing", ())))
        reading = shown.readings.get((group.case.id, double))
        expected_set = expected_reading(group.case, double)
        if reading is not None and expected_set is not None:
            found.append(judge_double(double, f"set {group.case.id}", expected_set, reading))
    return tuple(found)


def survivors_of(
    group: Group,
    tried: Tried,
    evidence: Evidence,
    rubrics: Mapping[str, Rubric],
    results: Sequence[DoubleResult],
    on_progress: OnProgress,
) -> Iterator[MutantResult]:
    """Yield every change to the declarations of a group, with the double that noticed it first.

    `results` are those of the declarations as they are.
    """
    changes = [(case, mutant) for case in group.all for mutant in mutants(case, rubrics)]
    sound = {(one.double, one.about) for one in results if one.passed}
    started_s = time.monotonic()
    for done, (case, mutant) in enumerate(changes):
        name = f"{case.id}: {mutant.name}"
        on_progress(Progress(done, len(changes), {}, name, time.monotonic() - started_s))
        yield MutantResult(
            mutant=name,
            killed_by=_killer(group, tried, evidence, case, mutant, sound),
            equivalent=case.qualification.equivalent.get(mutant.name),
        )


def _killer(
    group: Group, tried: Tried, evidence: Evidence, case: Case, mutant: Mutant, sound: Collection[tuple[str, str]]
) -> str | None:
    """Name the first double that was told apart before the change and is not after it."""
    shown = evidence.show({case.id: mutant.case}, mutant.rubrics)
    results = results_of(group, tried, shown)
    failed = (result for result in results if not result.passed and (result.double, result.about) in sound)
    first = next(failed, None)
    return None if first is None else f"{first.double} on {first.about}: {first.found}"
