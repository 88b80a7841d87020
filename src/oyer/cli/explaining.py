"""What a suite is about, trap by trap: what is written about each, its controls, its pressure, what witnesses it.

Owns reading this from the records and from the comments that stand above them. Must never judge, run or print anything.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from oyer.cli.scopes import PlacedSuite, Scope
from oyer.records import RANKS, Case, EvidenceMatcher, Rank, controls_of, facts_of

if TYPE_CHECKING:
    from oyer.cli.loading import PlacedCase

__all__ = ["ExplainedCase", "ExplainedSuite", "case_value", "explain_case", "explain_suite", "suite_value"]

_MOST_LINES = 60


class Control(NamedTuple):
    """A matched control: which side it is on, its id and its title."""

    side: str
    name: str
    title: str


class ExplainedCase(NamedTuple):
    """One case in words. `witnesses` holds by rank what would show how it was done; `rounds` is 0 without pressure."""

    name: str
    kind: str
    title: str
    about: str
    claims: tuple[str, ...]
    controls: tuple[Control, ...]
    rounds: int
    neutral: bool
    asked: bool
    witnesses: Mapping[Rank, tuple[str, ...]]
    file: Path


class ExplainedSuite(NamedTuple):
    """A suite in words, with its cases that are nobody's control, in their order."""

    name: str
    title: str
    about: str
    cases: tuple[ExplainedCase, ...]
    controls: int
    file: Path


def explain_suite(placed: PlacedSuite) -> ExplainedSuite:
    """Say what a suite is made of."""
    controls = {name for case in placed.cases for _, name in controls_of(case.loaded.case)}
    own = [case for case in placed.cases if case.loaded.case.id not in controls and not case.loaded.case.segments]
    return ExplainedSuite(
        placed.suite.id,
        placed.suite.title,
        _above(placed.path, placed.suite.id),
        tuple(explain_case(case, placed.scope) for case in own),
        len(controls),
        placed.path,
    )


def explain_case(placed: PlacedCase, scope: Scope) -> ExplainedCase:
    """Say what a case asks, what stands beside it, and what witnesses how it was done."""
    case = placed.loaded.case
    records = scope.records
    file = Path(placed.loaded.document.name)
    pressure = case.pressure
    return ExplainedCase(
        case.id,
        case.kind,
        case.title,
        _above(file, case.id),
        tuple(claim.text for claim in case.claims),
        tuple(Control(side, name, records[name].title if name in records else "") for side, name in controls_of(case)),
        0 if pressure is None else len(pressure.rounds),
        pressure is not None and bool(pressure.neutral),
        pressure is not None and pressure.ask is not None,
        _witnesses(case, scope),
        file,
    )


def _witnesses(case: Case, scope: Scope) -> dict[Rank, tuple[str, ...]]:
    found: dict[Rank, dict[str, None]] = {rank: {} for rank in RANKS}
    for matcher in _looked_for(case, scope):
        found[matcher.rank].setdefault(_words(matcher))
    return {rank: tuple(words) for rank, words in found.items() if words}


def _looked_for(case: Case, scope: Scope) -> Iterator[EvidenceMatcher]:
    """Every matcher that decides something about the case: of its rubrics first, then its own."""
    for claim in case.claims:
        loaded = scope.rubrics.get(claim.rubric)
        for criterion in loaded.record.criteria if loaded is not None else ():
            for part in criterion.parts:
                yield from facts_of(case, part.facts)
    yield from (*case.expected, *case.forbidden)
    yield from (matcher for matcher in (case.refusal, case.repair) if matcher is not None)


def _words(matcher: EvidenceMatcher) -> str:
    """Name what is looked at, whatever is asked about it."""
    if matcher.called is not None:
        return f"calls of {matcher.called.server}.{matcher.called.tool}"
    if matcher.world_path is not None:
        return f"the file {matcher.world_path}"
    if matcher.rows is not None:
        return f"the table {matcher.table} of {matcher.rows}"
    if matcher.witnessed is not None:
        return f"effects in the sink {matcher.witnessed}"
    if matcher.exited is not None:
        return "how the subject ended" if matcher.exited == "subject" else f"the hidden check {matcher.exited}"
    return f"the measurement {matcher.measured}" if matcher.measured is not None else "the model's endpoint"


def _above(file: Path, name: str) -> str:
    """Return the comment that stands above a document, as running text; empty where there is none."""
    try:
        text = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return ""
    for document in text.split("\n---\n"):
        lines = document.split("\n")
        if any(line.startswith("id:") and line[3:].partition("#")[0].strip(" \"'") == name for line in lines):
            return _comment(lines[:_MOST_LINES])
    return ""


def _comment(lines: Sequence[str]) -> str:
    words: list[str] = []
    for line in lines:
        if line.startswith("oyer:"):
            break
        if line.startswith("#"):
            words.append(line.lstrip("#").strip() or "\n")
    paragraphs = " ".join(words).split("\n")
    return "\n".join(text.strip() for text in paragraphs if text.strip())


def suite_value(told: ExplainedSuite) -> dict[str, Any]:
    """Return it as JSON values."""
    return {
        "name": told.name,
        "title": told.title,
        "about": told.about,
        "file": str(told.file),
        "controls": told.controls,
        "cases": [case_value(case) for case in told.cases],
    }


def case_value(told: ExplainedCase) -> dict[str, Any]:
    """Return it as JSON values."""
    return {
        "name": told.name,
        "kind": told.kind,
        "title": told.title,
        "about": told.about,
        "file": str(told.file),
        "claims": list(told.claims),
        "controls": [control._asdict() for control in told.controls],
        "pressure": {"rounds": told.rounds, "neutral": told.neutral, "ask": told.asked} if told.rounds else None,
        "witnesses": {rank: list(words) for rank, words in told.witnesses.items()},
    }
