"""From the bytes of a case file to validated, expanded Cases, with every error at its place in the author's file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from oyer.errors import OyerError, Problem, RecordError
from oyer.records.canonical import digest
from oyer.records.case import Case
from oyer.records.case_rules import case_breaches
from oyer.records.document import Document, parse_documents
from oyer.records.effect import effect_problems
from oyer.records.model import Digest
from oyer.records.short import WorldFiles, expand_case
from oyer.records.validation import find_problems, validate_as

__all__ = ["LoadedCase", "parse_cases"]


class LoadedCase(NamedTuple):
    """A Case with the digest of its full form, and the document it came from."""

    case: Case
    digest: Digest
    document: Document


def parse_cases(data: bytes, *, name: str, world_files: WorldFiles | None = None) -> tuple[LoadedCase, ...]:
    """Parse every Case of a file. `world_files` lists a world's files where default doubles may be derived.

    Raises RecordError carrying all problems of all documents.
    """
    documents = parse_documents(data, name=name)
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
    if not documents:
        problems.append(Problem("E-CASE-NONE", "the file holds no document", name, "start with oyer: Case@1"))
    if problems:
        raise RecordError.of(problems)
    return tuple(loaded)


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
    wrong = effect_problems(document, value)
    if wrong:
        value = {key: item for key, item in value.items() if key != "effect"}
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
