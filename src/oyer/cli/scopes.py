"""What belongs together: files that are read as one, suites with what they name, and every rule between records.

Owns where a name may be found (the same files, then the `files` of a suite, then packaged) and the collecting of what
is wrong between records. Nothing is started and nothing is written. The rules themselves are `oyer.records`'.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from oyer.adjudicate import check_gate, expectation_breaches, parse_gate
from oyer.cli.loading import CaseFile, PlacedCase, Reading, is_file_name, locate, read_case_file, refuse_all
from oyer.cli.naming import no_suite, packaged_file, suite_file
from oyer.cli.plugins import promised
from oyer.cli.ruled import rule_problems
from oyer.cli.sequences import place_problems, placed_sequences, trace_notes, with_members
from oyer.errors import Problem, RecordError, UsageError
from oyer.records import (
    Breach,
    Case,
    Document,
    Evaluator,
    LoadedRecord,
    Project,
    Rubric,
    SuiteCase,
    TrialSuite,
    controls_of,
    digest,
    members_of,
    nearest,
    rubric_breaches,
    rubric_flaws,
    set_breaches,
    suite_breaches,
)

if TYPE_CHECKING:
    from oyer.cli.project import PlacedProject

T = TypeVar("T")

__all__ = [
    "PlacedSuite",
    "Scope",
    "cross_problems",
    "load_cases",
    "load_scoped",
    "load_suite",
    "narrowed",
    "suite_sequences",
]


@dataclass
class Scope:
    """Records by id, from files that are read as one. The first of an id stands; others of it are told.

    `promised` are the ids of evaluators that plug-ins declare; `unpromised` says that one of these cannot be read, so
    that nobody knows what there would be.
    """

    files: list[CaseFile] = field(default_factory=list)
    cases: dict[str, PlacedCase] = field(default_factory=dict)
    rubrics: dict[str, LoadedRecord[Rubric]] = field(default_factory=dict)
    evaluators: dict[str, Evaluator] = field(default_factory=dict)
    promised: set[str] = field(default_factory=set)
    unpromised: bool = False
    failed: set[str] = field(default_factory=set)
    families: dict[str, tuple[str, ...]] = field(default_factory=dict)
    twice: list[Problem] = field(default_factory=list)

    @classmethod
    def of(cls, files: Iterable[CaseFile]) -> Scope:
        """Take in files, and the packaged files of whatever they name and do not hold."""
        scope = cls()
        for file in files:
            scope.take(file)
        scope._packaged()
        return scope

    def take(self, file: CaseFile) -> None:
        """Take in one file, once."""
        if any(Path(known.name).resolve() == Path(file.name).resolve() for known in self.files):
            return
        self.files.append(file)
        self.failed |= file.failed
        self.families |= file.families
        for placed in file.cases:
            self._put(self.cases, placed.loaded.case.id, placed, placed.loaded.document, "case")
        for loaded in file.rubrics:
            self._put(self.rubrics, loaded.record.id, loaded, loaded.document, "rubric")
        for other in file.others:
            if isinstance(other.record, Evaluator):
                self._put(self.evaluators, other.record.id, other.record, other.document, "evaluator")

    def _put(self, known: dict[str, T], name: str, item: T, document: Document, what: str) -> None:
        if name in known:
            told = f"{what} {name!r} is declared in another file too"
            self.twice.append(document.problem("E-RECORD-TWICE", ("id",), told, "give it another id"))
        known.setdefault(name, item)

    def _packaged(self) -> None:
        """Take in packaged files until nothing that is named could still be one."""
        tried: set[tuple[str, str]] = set()
        while wanted := [pair for pair in self._missing() if pair not in tried]:
            for name, kind in wanted:
                tried.add((name, kind))
                path = packaged_file(name, kind)
                if path is not None:
                    self.take(read_case_file(path))

    def _missing(self) -> Iterator[tuple[str, str]]:
        for placed in self.cases.values():
            case = placed.loaded.case
            yield from ((claim.rubric, "Rubric@1") for claim in case.claims if claim.rubric not in self.rubrics)
            yield from ((name, "Case@1") for _, name in controls_of(case) if name not in self.cases)
        for file in self.files:
            for suite in file.suites:
                names = (one.case for one in suite.record.cases)
                yield from ((name, "Case@1") for name in names if name not in self.cases)

    @property
    def records(self) -> dict[str, Case]:
        """Every case by id."""
        return {name: placed.loaded.case for name, placed in self.cases.items()}


class PlacedSuite(NamedTuple):
    """A suite with everything it names: its cases in order, each trap followed by its controls, then its sequences."""

    suite: TrialSuite
    digest: str
    document: Document
    path: Path
    cases: tuple[PlacedCase, ...]
    scope: Scope


# ---------------------------------------------------------------- what is wrong between records


def cross_problems(reading: Reading, evaluators: Collection[str] = ()) -> list[Problem]:
    """Find everything that is wrong between the records of a command line, with what its suites name.

    `evaluators` are the ids of those that were loaded from elsewhere.
    """
    problems: list[Problem] = []
    beside: list[CaseFile] = []
    for file in reading.files:
        for written in file.suites:
            scope, wrong = _suite_scope(written, file)
            loaded = _resolved(written, scope)
            beside += scope.files
            problems += [*wrong, *scope.twice, *_between(scope, scope.files, evaluators)]
            problems += _told(loaded.document, suite_breaches(loaded.record, scope.records, scope.failed))
            problems += place_problems(loaded, scope.cases)
            problems += _gate_problems(loaded, scope)
    for file in reading.files:
        problems += _of_project(file)
        if not file.suites:
            scope = Scope.of([file, *reading.files, *beside])
            beside += scope.files
            problems += _between(scope, [file], evaluators)
    named = {_place(file) for file in reading.files}
    problems += [problem for file in beside if _place(file) not in named for problem in file.problems]
    return list(dict.fromkeys(problems))


def _place(file: CaseFile) -> Path:
    return Path(file.name).resolve()


def _suite_scope(loaded: LoadedRecord[TrialSuite], file: CaseFile) -> tuple[Scope, list[Problem]]:
    """Return what a suite can name, and what is wrong with its `files` and `plugins`."""
    base, document = Path(file.name).parent, loaded.document
    files, problems = [file, *file.made], list[Problem]()
    plugins: list[Path] = []
    for key, texts in (("files", loaded.record.files), ("plugins", loaded.record.plugins)):
        for index, text in enumerate(texts):
            found = _globbed(base, text)
            if not found:
                hint = "a path starts from the suite's own file; * and ** may stand in it"
                problems.append(document.problem("E-SUITE-FILE", (key, index), f"there is no file {text}", hint))
            if key == "files":
                files += [read_case_file(path) for path in found if path.resolve() != _place(file)]
            else:
                plugins += found
    scope = Scope.of(files)
    try:
        scope.promised |= promised(plugins)
    except UsageError as error:
        scope.unpromised = True
        problems += [document.problem(p.code, ("plugins",), f"{p.where}: {p.message}") for p in error.problems]
    return scope, problems


def _globbed(base: Path, text: str) -> list[Path]:
    try:
        if not any(letter in text for letter in "*?["):
            return [_plain(base / text)] if (base / text).is_file() else []
        return sorted(_plain(path) for path in base.glob(text) if path.is_file())
    except (ValueError, NotImplementedError, OSError):
        return []


def _plain(path: Path) -> Path:
    """A path as people would write it, `cases/a.yaml` and not `suites/../cases/a.yaml`, where that is the same file."""
    short = Path(os.path.normpath(path))
    return short if short.is_file() and short.resolve() == path.resolve() else path


def _gate_problems(loaded: LoadedRecord[TrialSuite], scope: Scope) -> Iterator[Problem]:
    """Gates that do not parse, or ask what no case of their suite can answer; the column is that of the gate."""
    suite, document = loaded.record, loaded.document
    if scope.failed:
        return  # a case that is wrong itself would be missing here
    listed = [scope.cases[one.case] for one in suite.cases if one.case in scope.cases]
    known = {p.loaded.case.id: p.loaded.case for p in _with_controls(listed, scope)}
    with_sequences = {**known, **{p.loaded.case.id: p.loaded.case for p in placed_sequences(loaded, scope.cases)}}
    # Whether there are prices is known where it is known who is on trial.
    yield from rule_problems(suite, document, with_sequences, suite.conditions, priced=True)
    for index, text in enumerate(suite.gates):
        try:
            gate = parse_gate(text)
        except RecordError as error:
            for wrong in error.problems:
                told = f"{wrong.message} ({wrong.where} of the gate)"
                yield document.problem(wrong.code, ("gates", index), told, wrong.hint)
            continue
        for flaw in check_gate(gate, known, suite.repeat.fixed or 2, suite.conditions):
            told = f"{flaw.message} (column {flaw.column} of the gate)"
            yield document.problem(flaw.code, ("gates", index), told, flaw.hint)


def _of_project(file: CaseFile) -> Iterator[Problem]:
    from oyer.cli.project import project_problems

    for loaded in file.others:
        if isinstance(loaded.record, Project):
            yield from project_problems(loaded.record, loaded.document, Path(file.name).parent)


def _between(scope: Scope, files: Iterable[CaseFile], evaluators: Collection[str]) -> Iterator[Problem]:
    """Everything that is wrong between the records of these files and whatever they can name."""
    records = scope.records
    rubrics = {name: loaded.record for name, loaded in scope.rubrics.items()}
    named = {name for case in records.values() for _, name in controls_of(case)}
    for placed in (placed for file in files for placed in file.cases):
        case, document = placed.loaded.case, placed.loaded.document
        inherited = "like" in document.value and "claims" not in document.value
        breaches = set_breaches(case, records, rubrics, scope.failed)
        yield from _told(document, (b for b in breaches if not (inherited and b.path[0] == "claims")))
        yield from _told(document, expectation_breaches(case))
        if document.value.get("like") in records and case.id not in named and case.kind.endswith("_control"):
            told = f"{case.id!r} is a {case.kind.replace('_', ' ')} of nothing: no case names it under `controls`"
            hint = f"name it under `controls` of {document.value['like']}"
            yield document.problem("E-CONTROL-OF-NOTHING", ("kind",), told, hint)
        for claim in case.claims:
            rubric = scope.rubrics.get(claim.rubric)
            if rubric is not None:
                yield from _told(rubric.document, rubric_breaches(case, rubric.record))
    known = {*scope.evaluators, *scope.promised, *evaluators}
    for loaded in (loaded for file in files for loaded in file.rubrics if not scope.unpromised):
        yield from _told(loaded.document, rubric_flaws(loaded.record, known))


def _told(document: Document, breaches: Iterable[Breach]) -> Iterator[Problem]:
    for breach in breaches:
        yield document.problem(breach.code, breach.path, breach.message, breach.hint)


# ---------------------------------------------------------------- from names to cases and suites


def load_cases(names: Sequence[str], *, only: Sequence[str] = ()) -> tuple[PlacedCase, ...]:
    """Load every case that the names mean; `only` keeps those with these ids.

    Raises: UsageError where a path is wrong or nothing is left, RecordError where a content is; both with everything.
    """
    chosen, scope = load_scoped(names)
    return narrowed(chosen, only, scope)


def load_scoped(
    names: Sequence[str], evaluators: Collection[str] = (), own: Sequence[str] = ()
) -> tuple[tuple[PlacedCase, ...], Scope]:
    """Load every case that the names mean, with the scope they can name things in; `evaluators` are loaded ones, and
    `own` the suites of the project, which a name may have meant.

    Raises: as `load_cases`.
    """
    files: list[CaseFile] = []
    chosen: list[PlacedCase] = []
    missing: list[Problem] = []
    for name in names:
        try:
            path, wanted = locate(name, own)
        except UsageError as error:
            missing += error.problems
            continue
        file = read_case_file(path)
        files.append(file)
        chosen += [case for case in file.cases if wanted in (None, case.loaded.case.id)]
    reading = Reading(tuple(files))
    refuse_all(reading, paths=missing, contents=cross_problems(reading, evaluators))
    if not chosen:
        raise UsageError(
            "E-CASE-NONE", "no case is named", hint="name a file that holds one; `oyer library` lists them"
        )
    return tuple(chosen), Scope.of(files)


def narrowed(cases: Sequence[PlacedCase], only: Sequence[str], scope: Scope) -> tuple[PlacedCase, ...]:
    """Keep the cases with these ids; all of them where none is named. Raises: UsageError E-CASE-UNKNOWN."""
    only = [each for name in only for each in scope.families.get(name, (name,))]
    known = [case.loaded.case.id for case in cases]
    unknown = [wanted for wanted in only if wanted not in known]
    if unknown:
        told = f"there is no case {', '.join(unknown)} here"
        close = nearest(unknown[0], known)
        meant = f"did you mean {close}? " if close else ""
        raise UsageError("E-CASE-UNKNOWN", told, hint=f"{meant}there is " + ", ".join(known))
    return tuple(case for case in cases if not only or case.loaded.case.id in only)


def load_suite(
    name: str, *, only: Sequence[str] = (), project: PlacedProject | None = None, evaluators: Collection[str] = ()
) -> PlacedSuite:
    """Load a suite with everything it names. `only` keeps these cases or controls, each with its own controls, and
    these sequences, each with its cases; `evaluators` are those that were loaded from elsewhere.

    Raises: UsageError E-SUITE-SEVERAL where a file holds more than one, RecordError with everything that is wrong.
    """
    path = suite_file(name, project)
    if path is None:
        raise no_suite(name, project)
    file = read_case_file(path)
    reading = Reading((file,))
    refuse_all(reading, contents=cross_problems(reading, evaluators))
    chosen = [one for one in file.suites if is_file_name(name) or one.record.id == name]
    if len(chosen) != 1:
        told = f"{len(chosen)} suites stand in this file, and one is run at a time"
        raise UsageError("E-SUITE-SEVERAL", told, where=str(path), hint="put each in a file of its own")
    scope, _ = _suite_scope(chosen[0], file)
    suite = _resolved(chosen[0], scope)
    whole = _with_controls((scope.cases[one.case] for one in suite.record.cases), scope)
    kept = narrowed((*whole, *placed_sequences(suite, scope.cases)), only, scope)
    alone = _with_controls((placed for placed in kept if not placed.loaded.case.segments), scope)
    cases = with_members(alone, kept, scope.cases)
    return PlacedSuite(suite.record, suite.digest, suite.document, path, cases, scope)


def suite_sequences(loaded: LoadedRecord[TrialSuite], file: CaseFile) -> tuple[tuple[PlacedCase, list[str]], ...]:
    """Return the sequences of a suite as the cases they come to, with notes; one that is not sound is left out."""
    scope, _ = _suite_scope(loaded, file)
    found = placed_sequences(_resolved(loaded, scope), scope.cases)
    records = scope.records
    return tuple(
        (placed, trace_notes(placed.loaded.case, [records[name] for name in members_of(placed.loaded.case)]))
        for placed in found
    )


def _resolved(loaded: LoadedRecord[TrialSuite], scope: Scope) -> LoadedRecord[TrialSuite]:
    """Return a suite that lists every case itself where it was written with an id that stands for several."""
    cases: list[SuiteCase] = []
    for one in loaded.record.cases:
        family = scope.families.get(one.case) if one.case not in scope.cases else None
        cases += [SuiteCase(case=name) for name in family] if family is not None else [one]
    declared = loaded.record.aggregate
    tested = tuple(each for name in declared.family for each in scope.families.get(name, (name,)))
    if tuple(cases) == loaded.record.cases and tested == declared.family:
        return loaded
    aggregate = declared.model_copy(update={"family": tested})
    record = loaded.record.model_copy(update={"cases": tuple(cases), "aggregate": aggregate})
    return LoadedRecord(record, digest(record), loaded.document)


def _with_controls(listed: Iterable[PlacedCase], scope: Scope) -> tuple[PlacedCase, ...]:
    """Every case followed by its controls, each once, at the first place it has."""
    ordered: dict[str, PlacedCase] = {}
    for placed in listed:
        ordered.setdefault(placed.loaded.case.id, placed)
        for _, name in controls_of(placed.loaded.case):
            if name in scope.cases:
                ordered.setdefault(name, scope.cases[name])
    return tuple(ordered.values())
