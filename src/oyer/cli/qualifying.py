"""Showing a case to known subjects: which doubles make sense, the series that try them, and what each came to.

Owns the way from cases to `Qualification@1`. Doubles run through the real engine and instruments; what they came to is
read by the real scorer, and for `--mutate` read again under changed declarations from the same retained evidence.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from oyer.cli.applicable import senseless, together
from oyer.cli.naming import own_suites, suite_file
from oyer.cli.plugins import load_judges, plugin_paths, promised
from oyer.cli.project import find_project
from oyer.cli.running import run
from oyer.cli.scopes import load_scoped, load_suite, narrowed
from oyer.cli.selection import Selection, judged_by
from oyer.engine import SubjectSpec
from oyer.errors import UsageError
from oyer.records import Case, controls_of
from oyer.subjects import ModelSettings

__all__ = [
    "Group",
    "Tried",
    "choose",
    "members_of",
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


def _known(double: str, group: Group) -> SubjectSpec:
    """Return a double as the subject, or as the model of the tool loop where the change is made in requests to a model.

    Those that break a process are no models: they break off before any change could reach one.
    """
    name = f"scripted:{double}"
    change = group.case.intervention
    if change is None or not change.at.gateway or double.partition(":")[0] in _NO_MODELS:
        return SubjectSpec(name)
    return SubjectSpec(name, model=ModelSettings("scripted", name), driver="model")


_NO_MODELS = ("crasher", "garbler")


def try_doubles(
    selection: Selection, group: Group, out: Path, *, wanted: Sequence[str], jobs: int, quiet: bool = False
) -> Tried:
    """Run every double that makes sense, one series for those that make sense for the same members.

    `quiet`: without progress on standard error.
    """
    able = together(group.all, wanted)
    by_members: dict[tuple[str, ...], list[str]] = {}
    for double in dict.fromkeys(each for found, _ in able.values() for each in found):
        where = tuple(case.id for case in group.all if double in able[case.id][0])
        by_members.setdefault(where, []).append(double)
    series: list[Path] = []
    for number, (where, names) in enumerate(by_members.items(), start=1):
        chosen = selection._replace(
            cases=tuple(placed for placed in selection.cases if placed.loaded.case.id in where),
            subjects=tuple(_known(name, group) for name in names),
            conditions=None,
            suite=None,
            repeat=1,
        )
        # A script does not look at what it is told: in a neutral arm it would do the same again.
        place = out / f"{group.case.id.replace('/', '~')}.{number}"
        outcome = run(chosen, place, jobs=jobs, neutral=False, quiet=quiet)
        if outcome.interrupted:
            raise KeyboardInterrupt  # what was not shown proves nothing either way: no record is made of it
        series.append(outcome.path)
    tried = dict.fromkeys(each for found, _ in able.values() for each in found)
    return Tried(tuple(tried), tuple(series), senseless({case: why for case, (_, why) in able.items()}))
