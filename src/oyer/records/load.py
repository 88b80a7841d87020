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
from oyer.records.varying import Item, vary_documents

__all__ = ["LoadedCase", "LoadedFile", "LoadedRecord", "parse_cases", "parse_file", "read_file"]

R = TypeVar("R", bound=Record)


class LoadedCase(NamedTuple):
    """A Case with the digest of its full form, the document it came from, and that document in its full form."""

    case: Case
    digest: Digest
    document: Document
    full: Document


class LoadedRecord(NamedTuple, Generic[R]):
    """A record with the digest of its full form, and the document it came from."""

    record: R
    digest: Digest
    document: Document


class LoadedFile(NamedTuple):
    """Everything one file holds, and everything that is wrong with it.

    `others` are the records nobody refers to by id: only checked. `failed` holds the ids of documents that did not
    become records: whoever names one of them is not told that it is missing. `families` holds the ids that stand for
    several cases, with theirs.
    """

    cases: tuple[LoadedCase, ...] = ()
    rubrics: tuple[LoadedRecord[Rubric], ...] = ()
    suites: tuple[LoadedRecord[TrialSuite], ...] = ()
    others: tuple[LoadedRecord[Record], ...] = ()
    problems: tuple[Problem, ...] = ()
    failed: frozenset[str] = frozenset()
    families: Mapping[str, tuple[str, ...]] = {}


Generate = Callable[[str, str], tuple[tuple[str, ...], tuple[Problem, ...]]]
"""From the names of an items file and of a template to the ids of the cases they make; the caller does the reading."""

_EXPANDED: Mapping[str, Callable[[Mapping[str, Any]], dict[str, Any]]] = {
    "Rubric@1": expand_rubric,
    "TrialSuite@1": expand_suite,
}


def parse_file(data: bytes, *, name: str, world_files: WorldFiles | None = None) -> LoadedFile:
    """Parse every record of a file, of whatever kind. Raises: RecordError with all problems of all documents."""
    found = read_file(data, name=name, world_files=world_files)
    if found.problems:
        raise RecordError.of(found.problems)
    return found


def read_file(
    data: bytes,
    *,
    name: str,
    world_files: WorldFiles | None = None,
    items: Sequence[Item] | None = None,
    generate: Generate | None = None,
) -> LoadedFile:
    """Parse every record of a file; what is wrong is told beside what is right, and nothing is raised.

    With `items` the file is a template: each of its cases is made once for every item. `generate` makes the cases of
    a suite that names such a template.
    """
    try:
        documents = parse_documents(data, name=name)
    except OyerError as error:
        return LoadedFile(problems=error.problems)
    cases: list[Document] = []
    records: list[LoadedRecord[Record]] = []
    problems: list[Problem] = []
    for document in documents:
        kind = document.value.get("oyer") if isinstance(document.value, dict) else None
        if not isinstance(kind, str) or kind == "Case@1" or kind not in KINDS:
            cases.append(document)
            continue
        try:
            whole, wrong = _generated(document, generate)
            problems += wrong
            records.append(_record(whole, kind))
        except OyerError as error:
            problems += error.problems
    loaded, families, wrong = _cases(cases, world_files, items)
    problems += [*wrong, *_records_twice(records)]
    if not documents:
        problems.append(Problem("E-CASE-NONE", "the file holds no document", name, "start with oyer: Case@1"))
    rubrics = tuple(LoadedRecord(r.record, r.digest, r.document) for r in records if isinstance(r.record, Rubric))
    suites = tuple(LoadedRecord(r.record, r.digest, r.document) for r in records if isinstance(r.record, TrialSuite))
    others = tuple(r for r in records if not isinstance(r.record, Rubric | TrialSuite))
    made = {c.case.id for c in loaded} | {r.record.id for r in rubrics} | {r.record.id for r in suites}
    named = {d.value.get("id") for d in documents if isinstance(d.value, dict)}
    named |= {each for family in families.values() for each in family}
    failed = frozenset(each for each in named if isinstance(each, str) and each not in made and each not in families)
    return LoadedFile(loaded, rubrics, suites, others, tuple(dict.fromkeys(problems)), failed, families)


def _generated(document: Document, generate: Generate | None) -> tuple[Document, list[Problem]]:
    """Put the cases that a template makes in the place where a suite names it."""
    cases = document.value.get("cases")
    listed = [cases] if isinstance(cases, dict) else cases if isinstance(cases, list) else []
    if document.value["oyer"] != "TrialSuite@1" or not any(_is_made(one) for one in listed):
        return document, []
    problems: list[Problem] = []
    found: list[Any] = []
    for index, one in enumerate(listed):
        if not _is_made(one) or generate is None:
            found.append(one)
            continue
        ids, wrong = generate(str(one["from"]), str(one["template"]))
        found += ids
        place = ("cases",) if isinstance(cases, dict) else ("cases", index)
        problems += [p._replace(where=p.where or document.where(place)) for p in wrong]
    if problems and not found:
        raise RecordError.of(problems)
    return document._replace(value={**document.value, "cases": found}), problems


def _is_made(value: Any) -> bool:
    return isinstance(value, dict) and set(value) == {"from", "template"}


def _records_twice(records: Sequence[LoadedRecord[Record]]) -> list[Problem]:
    seen: set[tuple[str, str]] = set()
    problems: list[Problem] = []
    for loaded in records:
        value = loaded.document.value
        key = str(value["oyer"]), str(value.get("id"))
        if "id" in value and key in seen:
            told = f"{key[0]} {key[1]!r} is declared twice"
            problems.append(loaded.document.problem("E-RECORD-TWICE", ("id",), told, "give it another id"))
        seen.add(key)
    return problems


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
    loaded, _, problems = _cases(documents, world_files)
    if not documents:
        problems.append(Problem("E-CASE-NONE", "the file holds no document", name, "start with oyer: Case@1"))
    if problems:
        raise RecordError.of(problems)
    return loaded


def _cases(
    documents: Sequence[Document], world_files: WorldFiles | None, items: Sequence[Item] | None = None
) -> tuple[tuple[LoadedCase, ...], Mapping[str, tuple[str, ...]], list[Problem]]:
    """Return the cases of some documents, those that stand for several of them, and every problem."""
    by_id = {
        d.value["id"]: d.value for d in documents if isinstance(d.value, dict) and isinstance(d.value.get("id"), str)
    }
    varied = vary_documents(documents, items)
    loaded: list[LoadedCase] = []
    problems: list[Problem] = list(varied.problems)
    own: set[tuple[str, str, str]] = set()
    for document in sorted(varied.documents, key=lambda d: isinstance(d.value, dict) and "like" in d.value):
        case, full, found = _one(document, by_id, world_files)
        problems += [problem for problem in found if not _inherited(problem, document, own)]
        if case is not None:
            loaded.append(LoadedCase(case, digest(case), document, full))
    loaded.sort(key=lambda one: one.document.line)
    problems += _twice(loaded)
    return tuple(loaded), varied.families, problems


def _inherited(problem: Problem, document: Document, own: set[tuple[str, str, str]]) -> bool:
    """Whether a problem came along with `like` and was told where it was written; notes every problem."""
    field = problem.where.rpartition(": ")[2]
    key = problem.code, problem.message, field
    if key in own and problem.where == f"{document.where(())}: {field}":
        return True
    own.add(key)
    return False


def _one(
    document: Document, by_id: Mapping[str, Any], world_files: WorldFiles | None
) -> tuple[Case | None, Document, list[Problem]]:
    """Return the case, its document in the full form, and what is wrong; with anything wrong there is no case."""
    value = document.value
    if not isinstance(value, dict) or value.get("oyer") != "Case@1":
        return None, document, find_problems(document, {"Case@1": Case})
    like = _models(value, by_id)
    if isinstance(like, str):
        return (
            None,
            document,
            [document.problem("E-CASE-LIKE", ("like",), like, "put both in one file, and end in one without")],
        )
    wrong = [*effect_problems(document, value), *_judges(document, value), *_composed(document, value)]
    if any(problem.code != "E-ORACLE-IS-JUDGE" for problem in wrong):
        value = {key: item for key, item in value.items() if key != "effect"}
    if any(problem.code == "E-ORACLE-IS-JUDGE" for problem in wrong):
        value = {key: item for key, item in value.items() if key != "claims"}
    # A judge among inherited claims is told where it is written.
    like = [{k: v for k, v in m.items() if k != "claims"} if _judges(document, m) else m for m in like]
    try:
        expansion = expand_case(value, like=like or None, world_files=world_files)
    except OyerError as error:
        placed = [problem._replace(where=f"{document.where(())}: {problem.where}") for problem in error.problems]
        return None, document, [*wrong, *placed]
    full = document.expanded(expansion.value, expansion.origins)
    try:
        case = validate_as(full, Case)
    except OyerError as error:
        return None, full, [*map(_with_prompt, error.problems), *wrong]
    breaches = [full.problem(b.code, b.path, b.message, b.hint) for b in case_breaches(case)]
    if wrong:
        return None, full, [*(breach for breach in breaches if breach.code != "E-CASE-CHAIN"), *wrong]
    return (None if breaches else case), full, breaches


def _models(value: Mapping[str, Any], by_id: Mapping[str, Any]) -> list[Mapping[str, Any]] | str:
    """Return the cases that one is like, the nearest first, or what is wrong with that."""
    found: list[Mapping[str, Any]] = []
    seen = [value.get("id")]
    while "like" in value:
        name = value["like"]
        if name in seen:
            return "a cycle of `like`: " + " -> ".join(str(each) for each in (*seen[seen.index(name) :], name))
        if not isinstance(name, str) or name not in by_id:
            return f"no case {name!r} in this file"
        value = by_id[name]
        seen.append(name)
        found.append(value)
    return found


def _composed(document: Document, value: Mapping[str, Any]) -> list[Problem]:
    """Refuse what only a sequence has: nobody writes which turns of a case are another one's."""
    if value.get("segments", []) == []:
        return []  # the full form of any other case says so
    told = "only the case that a sequence comes to has segments"
    return [document.problem("E-CASE-SEGMENTS", ("segments",), told, "name the cases in `sequences` of a suite")]


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
