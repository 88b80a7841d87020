"""From the bytes of a file to validated, expanded records, with every error at its place in the author's file.

A file may hold several documents of several kinds: a trap with its controls, the rubric they are judged by, a suite.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Generic, NamedTuple, TypeVar

from oyer.errors import OyerError, Problem, RecordError
from oyer.records.canonical import digest
from oyer.records.case import Case
from oyer.records.case_rules import case_breaches
from oyer.records.document import Document, parse_documents
from oyer.records.effect import effect_problems
from oyer.records.kinds import KINDS
from oyer.records.model import Digest, Record
from oyer.records.rubric import Rubric
from oyer.records.short import WorldFiles, expand_case
from oyer.records.short_suite import expand_rubric, expand_suite
from oyer.records.suite import TrialSuite
from oyer.records.validation import find_problems, validate_as

__all__ = ["LoadedCase", "LoadedFile", "LoadedRecord", "parse_cases", "parse_file"]

R = TypeVar("R", bound=Record)


class LoadedCase(NamedTuple):
    """A Case with the digest of its full form, and the document it came from."""

    case: Case
    digest: Digest
    document: Document


class LoadedRecord(NamedTuple, Generic[R]):
    """A record with the digest of its full form, and the document it came from."""

    record: R
    digest: Digest
    document: Document


class LoadedFile(NamedTuple):
    """Everything one file holds. `others` are records that are written by Oyer, not by authors: only checked."""

    cases: tuple[LoadedCase, ...] = ()
    rubrics: tuple[LoadedRecord[Rubric], ...] = ()
    suites: tuple[LoadedRecord[TrialSuite], ...] = ()
    others: tuple[LoadedRecord[Record], ...] = ()


_EXPANDED: Mapping[str, Callable[[Mapping[str, Any]], dict[str, Any]]] = {
    "Rubric@1": expand_rubric,
    "TrialSuite@1": expand_suite,
}


def parse_file(data: bytes, *, name: str, world_files: WorldFiles | None = None) -> LoadedFile:
    """Parse every record of a file, of whatever kind. Raises: RecordError with all problems of all documents."""
    documents = parse_documents(data, name=name)
    cases: list[Document] = []
    records: list[LoadedRecord[Record]] = []
    problems: list[Problem] = []
    for document in documents:
        kind = document.value.get("oyer") if isinstance(document.value, dict) else None
        if not isinstance(kind, str) or kind == "Case@1" or kind not in KINDS:
            cases.append(document)
            continue
        try:
            records.append(_record(document, kind))
        except OyerError as error:
            problems += error.problems
    loaded, wrong = _cases(cases, world_files)
    problems += wrong
    if not documents:
        problems.append(Problem("E-CASE-NONE", "the file holds no document", name, "start with oyer: Case@1"))
    if problems:
        raise RecordError.of(problems)
    rubrics = tuple(LoadedRecord(r.record, r.digest, r.document) for r in records if isinstance(r.record, Rubric))
    suites = tuple(LoadedRecord(r.record, r.digest, r.document) for r in records if isinstance(r.record, TrialSuite))
    others = tuple(r for r in records if not isinstance(r.record, Rubric | TrialSuite))
    return LoadedFile(loaded, rubrics, suites, others)


def _record(document: Document, kind: str) -> LoadedRecord[Record]:
    expand = _EXPANDED.get(kind)
    full = document if expand is None else document.expanded(expand(document.value), {})
    record = validate_as(full, KINDS[kind])
    return LoadedRecord(record, digest(record), full)


def parse_cases(data: bytes, *, name: str, world_files: WorldFiles | None = None) -> tuple[LoadedCase, ...]:
    """Parse every Case of a file. `world_files` lists a world's files where default doubles may be derived.

    Raises RecordError carrying all problems of all documents.
    """
    documents = parse_documents(data, name=name)
    loaded, problems = _cases(documents, world_files)
    if not documents:
        problems.append(Problem("E-CASE-NONE", "the file holds no document", name, "start with oyer: Case@1"))
    if problems:
        raise RecordError.of(problems)
    return loaded


def _cases(
    documents: Sequence[Document], world_files: WorldFiles | None
) -> tuple[tuple[LoadedCase, ...], list[Problem]]:
    """Return the cases of some documents, and every problem of them."""
    by_id = {
        d.value["id"]: d.value for d in documents if isinstance(d.value, dict) and isinstance(d.value.get("id"), str)
    }
    loaded: list[LoadedCase] = []
    problems: list[Problem] = []
    for document in documents:
        case, found = _one(document, by_id, world_files)
        problems += found
        if case is not None:
            loaded.append(LoadedCase(case, digest(case), document))
    problems += _twice(loaded)
    return tuple(loaded), problems


def _one(
    document: Document, by_id: Mapping[str, Any], world_files: WorldFiles | None
) -> tuple[Case | None, list[Problem]]:
    value = document.value
    if not isinstance(value, dict) or value.get("oyer") != "Case@1":
        return None, find_problems(document, {"Case@1": Case})
    like = by_id.get(value["like"]) if isinstance(value.get("like"), str) else None
    if "like" in value and like is None:
        told = f"no case {value['like']!r} in this file"
        return None, [document.problem("E-CASE-LIKE", ("like",), told, "put both in one file")]
    wrong = [*effect_problems(document, value), *_judges(document, value)]
    if any(problem.code != "E-ORACLE-IS-JUDGE" for problem in wrong):
        value = {key: item for key, item in value.items() if key != "effect"}
    if any(problem.code == "E-ORACLE-IS-JUDGE" for problem in wrong):
        value = {key: item for key, item in value.items() if key != "claims"}
    try:
        expansion = expand_case(value, like=like, world_files=world_files)
    except OyerError as error:
        placed = [problem._replace(where=f"{document.where(())}: {problem.where}") for problem in error.problems]
        return None, [*wrong, *placed]
    full = document.expanded(expansion.value, expansion.origins)
    try:
        case = validate_as(full, Case)
    except OyerError as error:
        return None, [*map(_with_prompt, error.problems), *wrong]
    breaches = [full.problem(b.code, b.path, b.message, b.hint) for b in case_breaches(case)]
    if wrong:
        return None, [*(breach for breach in breaches if breach.code != "E-CASE-CHAIN"), *wrong]
    return (None if breaches else case), breaches


_JUDGES = ("model", "human", "panel", "judge", "evaluator")


def _judges(document: Document, value: Mapping[str, Any]) -> list[Problem]:
    """Refuse an oracle that is somebody's opinion: what decides a claim is evidence or a label."""
    found: list[Problem] = []
    claims = value.get("claims")
    for index, claim in enumerate(claims if isinstance(claims, list) else ()):
        oracle = claim.get("oracle") if isinstance(claim, dict) else None
        path = ("claims", index, "oracle")
        names = [oracle] if isinstance(oracle, str) else list(oracle) if isinstance(oracle, dict) else []
        for name in names:
            if name in _JUDGES:
                told = f"a {name} is a judge, and no judge decides a claim"
                hint = "name receipt or protocol matchers, or a label; judges speak as evaluators of a rubric"
                place = path if isinstance(oracle, str) else (*path, name)
                found.append(document.problem("E-ORACLE-IS-JUDGE", place, told, hint))
    return found


def _with_prompt(problem: Problem) -> Problem:
    """Name the short form that most authors want where there are no sessions."""
    missing = problem.code == "E-RECORD-MISSING" and problem.where.endswith(": sessions")
    return problem._replace(hint="write `prompt: TEXT`, or `sessions`") if missing else problem


def _twice(loaded: Sequence[LoadedCase]) -> list[Problem]:
    seen: set[str] = set()
    problems = []
    for item in loaded:
        if item.case.id in seen:
            problems.append(
                Problem("E-CASE-TWICE", f"case {item.case.id!r} is declared twice", item.document.where(("id",)))
            )
        seen.add(item.case.id)
    return problems
