"""Everything a verification looks at more than once, read once, nothing judged.

Owns how far a series got (its phase) and what could not be read. Must never raise: what cannot be read is a problem
that the check in charge reports.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from enum import Enum
from typing import Any, NamedTuple, TypeVar

from oyer.errors import EvidenceError, OyerError, Problem
from oyer.evidence import (
    ANNOUNCED,
    LedgerCheck,
    LedgerRecord,
    Seal,
    check_ledger,
    parse_ledger_line,
    parse_seal,
    seal_path,
    unfinished,
)
from oyer.records import Plan, PlannedTrial, Record, Series
from oyer.verify.layout import Part, PartKind, part_of
from oyer.verify.reading import Reader, parse_record
from oyer.verify.sized import SizedReader

__all__ = ["Phase", "Survey", "read_part", "shown", "take_survey"]

R = TypeVar("R", bound=Record)
T = TypeVar("T")

_STRAYS = {
    "link": ("E-STORE-LINK", "a link stands where a file should be"),
    "other": ("E-STORE-KIND", "not a plain file"),
    "deep": ("E-STORE-LIMIT", "directories are nested too deep"),
    "unreadable": ("E-STORE-READ", "the directory cannot be listed"),
}


class Phase(Enum):
    """How far a series got, by its ledger."""

    UNOPENED = "unopened"
    """There is no ledger yet, and nothing that a trial or a closing act leaves: the run ended while it was opening."""
    OPEN = "open"
    """The ledger is good as far as it goes, and was never closed."""
    CLOSED = "closed"
    """The ledger is good, and says that the series is closed."""
    BROKEN = "broken"
    """The ledger itself does not hold."""


class Survey(NamedTuple):
    """A series as it lies there. A record that could not be read is None and its problems are kept by its path.

    `planned` holds every planned trial by its id; it is empty where the plan cannot be read.
    `parsed_seals` are the seals in order, None for one that does not hold.
    """

    reader: Reader
    parts: Mapping[str, Part]
    strays: tuple[Problem, ...]
    manifest: Series | None
    plan: Plan | None
    ledger: LedgerCheck
    ledger_data: bytes | None
    ending: LedgerRecord | None
    seals: tuple[bytes, ...]
    problems: Mapping[str, tuple[Problem, ...]]
    phase: Phase
    planned: Mapping[str, PlannedTrial]
    parsed_seals: tuple[Seal | None, ...]

    @property
    def interrupted(self) -> bool:
        """Whether the ledger was closed before everything had run, by the operator."""
        return self.ending is not None and self.ending.body.get("interrupted") is True

    @property
    def judged(self) -> bool:
        """Whether a readable seal says that the series was judged."""
        return any(seal is not None and seal.act == "judge" for seal in self.parsed_seals)

    def of(self, *kinds: PartKind) -> list[str]:
        """Return the paths of these kinds, in order."""
        return [path for path, part in self.parts.items() if part.kind in kinds]


def take_survey(reader: Reader) -> Survey:
    """Look at a series: what is there, its manifest, plan, ledger and seals."""
    parts, strays = _listing(reader)
    problems: dict[str, tuple[Problem, ...]] = {}
    seals = _seals(reader, problems)
    parsed = tuple(_seal_or_none(data) for data in seals)
    parts |= _unfinished(reader, parts, seals)
    reader = SizedReader(reader, _sealed_sizes(parsed))
    manifest = _record(reader, "series.json", Series, problems)
    plan = _record(reader, "plan.json", Plan, problems)
    ledger_data = read_part(reader.read, "ledger.jsonl", problems)
    ledger = check_ledger(ledger_data or b"")
    return Survey(
        reader=reader,
        parts=parts,
        strays=strays,
        manifest=manifest,
        plan=plan,
        ledger=ledger,
        ledger_data=ledger_data,
        ending=_ending(ledger, ledger_data or b""),
        seals=seals,
        parsed_seals=parsed,
        problems=problems,
        phase=_phase(ledger, ledger_data, {part.kind for part in parts.values()}),
        planned={} if plan is None else {trial.trial: trial for trial in plan.trials},
    )


def read_part(
    read: Callable[[str], T | None], path: str, problems: dict[str, tuple[Problem, ...]] | None = None
) -> T | None:
    """Read one part; None where it is not there or cannot be read, and then its problems are kept."""
    try:
        found = read(path)
    except OyerError as error:
        told = tuple(problem._replace(where=path) for problem in error.problems)
    else:
        if found is not None:
            return found
        told = (Problem("E-STORE-MISSING", "the file is not there", path),)
    if problems is not None:
        problems[path] = told
    return None


def _listing(reader: Reader) -> tuple[dict[str, Part], tuple[Problem, ...]]:
    parts: dict[str, Part] = {}
    strays: list[Problem] = []
    for found in reader.listing():
        if found.kind == "file":
            parts[found.path] = part_of(found.path)
        else:
            code, message = _STRAYS.get(found.kind, _STRAYS["other"])
            strays.append(Problem(code, message, shown(found.path)))
    return parts, tuple(strays)


def _unfinished(reader: Reader, parts: Mapping[str, Part], seals: tuple[bytes, ...]) -> dict[str, Part]:
    """What an act wrote whose seal is announced and not in force: no evidence, like all that a crash leaves."""
    announced = read_part(reader.read, ANNOUNCED) if ANNOUNCED in parts else None
    left = frozenset() if announced is None else unfinished(announced, seals)
    return {path: Part("temporary") for path in parts if path in left}


def shown(path: str) -> str:
    """Return a path as text that can be written anywhere: what is no Unicode is escaped."""
    return path.encode("utf-8", "backslashreplace").decode("utf-8")


def _record(reader: Reader, path: str, kind: type[R], problems: dict[str, tuple[Problem, ...]]) -> R | None:
    data = read_part(reader.read, path, problems)
    if data is None:
        return None
    try:
        return parse_record(data, kind, path)
    except OyerError as error:
        problems[path] = error.problems
        return None


def _seals(reader: Reader, problems: dict[str, tuple[Problem, ...]]) -> tuple[bytes, ...]:
    """Read the seals in order of their numbers, up to the first that is not there or cannot be read."""
    found: list[bytes] = []
    while True:
        path = seal_path(len(found) + 1)
        told: dict[str, tuple[Problem, ...]] = {}
        data = read_part(reader.read, path, told)
        if data is None:
            problems.update({p: t for p, t in told.items() if t[0].code != "E-STORE-MISSING"})
            return tuple(found)
        found.append(data)


def _sealed_sizes(seals: tuple[Seal | None, ...]) -> dict[str, int]:
    """Return how large each file is that a readable seal lists, as the first seal that lists it says."""
    sizes: dict[str, int] = {}
    for seal in seals:
        for file in seal.files if seal is not None else ():
            sizes.setdefault(file.path, file.size)
    return sizes


def _seal_or_none(data: bytes) -> Seal | None:
    try:
        return parse_seal(data)
    except EvidenceError:
        return None


def _ending(ledger: LedgerCheck, data: bytes) -> LedgerRecord | None:
    """Return the record that closed the ledger, None where it is not closed."""
    if not ledger.closed or ledger.defects:
        return None
    try:
        return parse_ledger_line(data.rstrip(b"\n").rpartition(b"\n")[2])
    except OyerError:
        return None


def _phase(ledger: LedgerCheck, data: bytes | None, kinds: Iterable[Any]) -> Phase:
    left = {"packed", "journal", "seal", "blob", "outcome", "comparison", "judgement", "set", "later"}
    if not data:
        return Phase.BROKEN if left & set(kinds) else Phase.UNOPENED
    if ledger.intact:
        return Phase.CLOSED if ledger.closed else Phase.OPEN
    # A write that was torn has no newline at its end; a whole line that cannot be read was changed. Nothing is ever
    # written after `closed`, so a fragment there is no torn write either.
    torn = [problem.code for problem in ledger.defects] == ["E-LEDGER-TORN"] and not data.endswith(b"\n")
    torn = torn and not ledger.closed
    if not torn:
        return Phase.BROKEN
    return Phase.OPEN if ledger.plan is not None else Phase.BROKEN if left & set(kinds) else Phase.UNOPENED
