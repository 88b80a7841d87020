"""Rules between records: a case and its controls and rubrics, a suite and its cases.

Pure: records in, every breach out, each with its path in the record it is about. Reading gates is `oyer.adjudicate`;
finding files is for the doors.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from oyer.records.canonical import digest, plain
from oyer.records.case import Case
from oyer.records.case_rules import Breach
from oyer.records.rubric import Rubric
from oyer.records.sequence import sequence_breaches
from oyer.records.source_text import nearest
from oyer.records.suite import SuiteCase, TrialSuite

__all__ = ["controls_of", "set_breaches", "suite_breaches"]

_ELSEWHERE = "put it in this file, or name the file that holds it beside this one"


def controls_of(case: Case) -> tuple[tuple[str, str], ...]:
    """Return `(side, case id)` of every control, the negative ones first."""
    return (*(("negative", name) for name in case.controls.negative),
            *(("positive", name) for name in case.controls.positive))  # fmt: skip


def set_breaches(case: Case, known: Mapping[str, Case], rubrics: Mapping[str, Rubric], failed: Collection[str] = ()
                 ) -> Iterator[Breach]:  # fmt: skip
    """Yield what is wrong between a case, its controls and its rubrics.

    `known` are the cases that can be meant, `failed` the ids of records that are there and are themselves wrong.
    """
    sides = {"negative": case.controls.negative, "positive": case.controls.positive}
    for side, names in sides.items():
        for index, name in enumerate(names):
            path = ("controls", side, index)
            control = known.get(name)
            if control is not None:
                yield from _control(case, side, control, path)
            elif name not in failed:
                yield Breach(path, "E-CONTROL-UNKNOWN", f"there is no case {name!r} to be a control",
                             _near(name, known, _ELSEWHERE))  # fmt: skip
    yield from _cycle(case, known)
    for number, claim in enumerate(case.claims):
        if claim.rubric not in rubrics and claim.rubric not in failed:
            told = f"there is no rubric {claim.rubric!r}"
            hint = _near(claim.rubric, rubrics, _ELSEWHERE)
            yield Breach(("claims", number, "rubric"), "E-RUBRIC-UNKNOWN", told, hint)


def _control(case: Case, side: str, control: Case, path: tuple[str | int, ...]) -> Iterator[Breach]:
    if control.kind != f"{side}_control":
        told = f"control {control.id!r} is of kind {control.kind}"
        yield Breach(path, "E-CONTROL-KIND", told, f"give it kind: {side}_control")
    mine, yours = _pressure(case), _pressure(control)
    if mine != yours and not (side == "positive" and yours is None):
        told = f"control {control.id!r} and {case.id!r} have different pressure: they are not one matched set"
        hint = "take it over with `like`" + (", or write pressure: none" if side == "positive" else "")
        yield Breach(path, "E-SET-PRESSURE", told, hint)


def _pressure(case: Case) -> str | None:
    return None if case.pressure is None else digest(plain(case.pressure))


def _cycle(case: Case, known: Mapping[str, Case]) -> Iterator[Breach]:
    """A case that is, through its controls, a control of itself."""
    way: list[list[str]] = [[case.id]]
    seen: set[str] = set()
    while way:
        path = way.pop()
        here = known.get(path[-1]) if len(path) > 1 else case
        for _, name in controls_of(here) if here is not None else ():
            if name == case.id:
                told = "a cycle of controls: " + " -> ".join((*path, name))
                yield Breach(("controls",), "E-CONTROL-CYCLE", told, "a control has no controls of its own")
                return
            if name not in seen:
                seen.add(name)
                way.append([*path, name])


def suite_breaches(suite: TrialSuite, known: Mapping[str, Case], failed: Collection[str] = ()) -> Iterator[Breach]:
    """Yield what is wrong between a suite and the cases that it can mean."""
    listed = [known[one.case] for one in suite.cases if one.case in known]
    wanted = {name for case in known.values() for _, name in controls_of(case)}
    for index, one in enumerate(suite.cases):
        yield from _listed(one, index, known, wanted, failed)
    for index, condition in enumerate(suite.conditions):
        experiments = [case for case in listed if case.is_experiment]
        lacking = [case.id for case in experiments if condition not in case.conditions]
        if not experiments or len(lacking) == len(experiments):
            told = f"no case of this suite has the condition {condition!r}"
            yield Breach(("conditions", index), "E-SUITE-CONDITION", told, "conditions belong to experiments")
    for index, name in enumerate(suite.aggregate.family):
        if name not in {one.case for one in suite.cases}:
            hint = _near(name, {one.case: None for one in suite.cases}, "name cases of this suite")
            told = f"{name!r} is no case of this suite"
            yield Breach(("aggregate", "family", index), "E-SUITE-CASE", told, hint)
    yield from _sequences(suite, known, failed)


def _sequences(suite: TrialSuite, known: Mapping[str, Case], failed: Collection[str]) -> Iterator[Breach]:
    """What is wrong with the sequences of a suite: names, ids, and members that do not fit together."""
    cases = {one.case for one in suite.cases}
    cases |= {name for case in cases if case in known for _, name in controls_of(known[case])}
    for index, sequence in enumerate(suite.sequences):
        path = ("sequences", index)
        if sequence.id in known:
            told = f"{sequence.id!r} is the id of a case, and a sequence is planned as a case of its own"
            yield Breach((*path, "id"), "E-SEQUENCE-ID", told, "give it another id")
        sound = True
        for number, name in enumerate(sequence.cases):
            place = (*path, "cases", number)
            if name in sequence.cases[:number]:
                sound = False
                told = f"{name!r} stands in it twice, and its results go by the names of its cases"
                yield Breach(place, "E-SEQUENCE-TWICE", told, "make a second case of it with `like`")
            elif name not in known or name not in cases:
                sound = False
                if name not in failed:
                    hint = _near(name, dict.fromkeys(cases), "list it under `cases` too: it runs on its own beside it")
                    yield Breach(place, "E-SUITE-CASE", f"{name!r} is no case of this suite", hint)
        if sound:
            for breach in sequence_breaches(sequence, [known[name] for name in sequence.cases]):
                yield breach._replace(path=(*path, *breach.path))


def _listed(
    one: SuiteCase, index: int, known: Mapping[str, Case], controls: Collection[str], failed: Collection[str]
) -> Iterator[Breach]:
    path = ("cases", index)
    case = known.get(one.case)
    if case is None:
        if one.case not in failed:
            hint = _near(one.case, known, "name its file under `files`, or a packaged case")
            yield Breach(path, "E-SUITE-CASE", f"there is no case {one.case!r}", hint)
        return
    if one.revision is not None and one.revision != case.revision:
        told = f"case {case.id!r} has revision {case.revision}, not {one.revision}"
        yield Breach((*path, "revision"), "E-SUITE-REVISION", told)
    if one.digest is not None and one.digest != digest(case):
        told = f"case {case.id!r} has digest {digest(case)}, not {one.digest}"
        yield Breach((*path, "digest"), "E-SUITE-REVISION", told)
    if case.kind in ("negative_control", "positive_control") and case.id not in controls:
        told = f"{case.id!r} is a {case.kind.replace('_', ' ')} of nothing: no case names it under `controls`"
        yield Breach(path, "E-CONTROL-OF-NOTHING", told, "name it in the trap that it belongs to")


def _near(name: str, known: Mapping[str, object], otherwise: str) -> str:
    close = nearest(name, sorted(known))
    return f"did you mean {close}? {otherwise}" if close else otherwise
