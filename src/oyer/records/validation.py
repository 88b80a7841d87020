"""From a document to a record, with everything that is wrong told at once and each thing in its place.

Owns the reading of `oyer: Kind@version`, the call into pydantic, and the wording of every refusal: where, what is
wrong, what was expected. In a union only the branch that fits best is reported.

Must never change a value, and never stop at the first error.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple, TypeVar

from pydantic import ValidationError

from oyer.errors import Problem, RecordError
from oyer.records.document import Document
from oyer.records.model import Record
from oyer.records.refusal import describe, wording
from oyer.records.schema_walk import Trace, trace
from oyer.records.source_text import Path, Position, nearest, path_text

__all__ = ["find_problems", "problems_of", "validate", "validate_as"]

R = TypeVar("R", bound=Record)


class _Finding(NamedTuple):
    error: Mapping[str, Any]
    trace: Trace


def validate(document: Document, kinds: Mapping[str, type[Record]]) -> Record:
    """Make the record a document says it is. Raises `RecordError` with every problem."""
    record, problems = _attempt(document, kinds)
    if record is None:
        raise RecordError.of(problems)
    return record


def find_problems(document: Document, kinds: Mapping[str, type[Record]]) -> list[Problem]:
    """List everything that keeps a document from being a record; an empty list when nothing does."""
    return _attempt(document, kinds)[1]


def validate_as(document: Document, kind: type[R]) -> R:
    """Make a record, or a part of one, of the given type. Raises `RecordError` with every problem."""
    try:
        return kind.model_validate(document.value, by_alias=True, by_name=False)
    except ValidationError as error:
        raise RecordError.of(problems_of(error, document, kind)) from None


def problems_of(error: ValidationError, document: Document, kind: type[Record]) -> list[Problem]:
    """Word every error of a failed validation, in the order of the document."""
    findings = [
        _Finding(one, trace(kind.__pydantic_core_schema__, one["loc"]))
        for one in error.errors(include_url=False)
        if not _only_echoes(one)
    ]
    placed = [pair for finding in _best(findings, 0) for pair in _problems(finding, document)]
    placed.sort(key=lambda pair: pair[0])
    return list(dict.fromkeys(problem for _, problem in placed))


def _only_echoes(error: Mapping[str, Any]) -> bool:
    """Tell whether a list is called too short for entries that are there, and each of which was refused by itself."""
    given = error["input"]
    return error["type"] == "too_short" and hasattr(given, "__len__") and len(given) >= error["ctx"]["min_length"]


def _attempt(document: Document, kinds: Mapping[str, type[Record]]) -> tuple[Record | None, list[Problem]]:
    kind = _kind_of(document, kinds)
    if isinstance(kind, Problem):
        return None, [kind]
    try:
        return validate_as(document, kind), []
    except RecordError as error:
        return None, list(error.problems)


def _kind_of(document: Document, kinds: Mapping[str, type[Record]]) -> type[Record] | Problem:
    value, known = document.value, ", ".join(sorted(kinds))
    if not isinstance(value, dict):
        hint = "a record starts with `oyer: <Kind>@<version>`"
        told = "the document is empty" if value is None else f"the document is {describe(value)}, not a mapping"
        return document.problem("E-RECORD-TYPE", (), told, hint)
    if "oyer" not in value:
        return document.problem("E-RECORD-KIND", (), "the field `oyer` is missing", f"expected one of {known}")
    name = value["oyer"]
    if not isinstance(name, str):
        told = f"{describe(name)} is not the kind of a record"
        return document.problem("E-RECORD-KIND", ("oyer",), told, f"expected one of {known}")
    if name in kinds:
        return kinds[name]
    close = nearest(name, sorted(kinds))
    hint = f"did you mean `{close}`? known are {known}" if close else f"known are {known}"
    return document.problem("E-RECORD-KIND", ("oyer",), f"`{name}` is not a kind this version knows", hint)


def _problems(finding: _Finding, document: Document) -> Iterator[tuple[Position, Problem]]:
    """Word one error, with the position it is sorted by."""
    error, path = finding.error, finding.trace.path
    kind = error["type"]
    if kind == "oyer_flaws":
        for flaw in error["ctx"]["flaws"]:
            at = path + flaw.path
            yield document.position(at), document.problem(flaw.code, at, flaw.message, flaw.hint)
        return
    told = wording(error, finding.trace)
    # A missing field stands where the mapping stands that lacks it; an unknown one where its key stands.
    at_key = kind == "extra_forbidden" or finding.trace.at_key
    place = path[:-1] if kind == "missing" else path
    where = document.where_key(place) if at_key else document.where(place)
    problem = Problem(told.code, told.message, f"{where}: {path_text(path)}" if path else where, told.hint)
    yield document.position(place, at_key=at_key), problem


def _best(findings: list[_Finding], start: int) -> list[_Finding]:
    """Keep, of every union, the errors of the branch that fits best."""
    kept: list[_Finding] = []
    unions: dict[Path, dict[str | int, list[_Finding]]] = {}
    for finding in findings:
        position = next((at for at in finding.trace.branches if at >= start), None)
        if position is None:
            kept.append(finding)
            continue
        loc: Path = finding.error["loc"]
        if loc[:position] not in unions:
            kept.append(finding)  # holds the place of its union in the order
        unions.setdefault(loc[:position], {}).setdefault(loc[position], []).append(finding)
    if not unions:
        return kept
    result: list[_Finding] = []
    for finding in kept:
        position = next((at for at in finding.trace.branches if at >= start), None)
        if position is None:
            result.append(finding)
            continue
        branches = unions[finding.error["loc"][:position]]
        result.extend(_best_branch([_best(branch, position + 1) for branch in branches.values()], position))
    return result


def _best_branch(branches: list[list[_Finding]], position: int) -> list[_Finding]:
    def misfit(branch: list[_Finding]) -> tuple[bool, int, int]:
        whole = any(_refuses_whole(one, position) for one in branch)
        literals = sum(one.error["type"] in ("literal_error", "missing") for one in branch)
        return whole, literals, len(branch)

    best = min(branches, key=misfit)
    refused = [one for branch in branches for one in branch if _refuses_whole(one, position)]
    if not misfit(best)[0] or len(refused) < 2:
        return best
    # No branch even has the right shape: say in one problem what all of them expected.
    expected = tuple(dict.fromkeys(wording(one.error, one.trace).hint for one in refused))
    first = refused[0]
    error = {**first.error, "type": "oyer_no_branch", "ctx": {"expected": expected}}
    return [_Finding(error, first.trace)]


def _refuses_whole(finding: _Finding, position: int) -> bool:
    """Tell whether an error is about the union's value itself and not about something inside it."""
    return len(finding.error["loc"]) == position + 1 and finding.error["type"] not in ("missing", "extra_forbidden")
