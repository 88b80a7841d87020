"""From a stored series to the input of the scoring law. Used by the run that derives, and by the verifier that re-derives.

Owns which attempt counts for a trial (the last one the ledger says was sealed or torn) and nothing about what it shows.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple, Protocol, TypeVar

from oyer.adjudicate import SeriesInput, TrialInput
from oyer.errors import EvidenceError, OyerError, Problem
from oyer.evidence import Envelope, LedgerCheck, StoredFile, check_ledger
from oyer.observe import read_trial
from oyer.records import KINDS, Case, PinSet, Plan, Record, Series, document_of, parse_canonical, validate

__all__ = ["Reader", "Reading", "parse_record", "read_series"]

R = TypeVar("R", bound=Record)


class Attempt(Protocol):
    """One attempt on disk."""

    @property
    def trial(self) -> str: ...
    @property
    def attempt(self) -> int: ...
    @property
    def packed(self) -> bool: ...


class Reader(Protocol):
    """Stored bytes of a series, wherever they are. `store.SeriesReader` satisfies it."""

    def manifest(self) -> bytes: ...
    def plan(self) -> bytes: ...
    def ledger_bytes(self) -> bytes: ...
    def pin(self, digest: str) -> bytes | None: ...
    def pins(self) -> Mapping[str, bytes]: ...
    def seals(self) -> tuple[bytes, ...]: ...
    def attempts(self) -> Iterable[Attempt]: ...
    def journals(self, trial: str, attempt: int) -> Mapping[str, bytes]: ...
    def content(self, digest: str) -> bytes | None: ...
    def read(self, path: str) -> bytes | None: ...
    def paths(self) -> Iterable[str]: ...
    def file(self, path: str) -> StoredFile | None: ...


class Reading(NamedTuple):
    """A series as read: its records, its ledger, and what could not be read on the way."""

    manifest: Series
    plan: Plan
    ledger: LedgerCheck
    given: SeriesInput
    problems: tuple[Problem, ...]


def parse_record(data: bytes, kind: type[R], where: str) -> R:
    """Parse one stored record, which stands in canonical form. Raises: RecordError, EvidenceError."""
    value = parse_canonical(data)
    name = next(name for name, known in KINDS.items() if known is kind)
    record = validate(document_of(value, name=where), {name: kind})
    if not isinstance(record, kind):
        raise EvidenceError("E-RECORD-KIND", f"not a {name}", where=where)
    return record


def read_series(reader: Reader) -> Reading:
    """Read everything that scoring needs. Raises: OyerError where manifest, plan or a pinned case cannot be read."""
    manifest = parse_record(reader.manifest(), Series, "series.json")
    plan = parse_record(reader.plan(), Plan, "plan.json")
    ledger = check_ledger(reader.ledger_bytes())
    cases = {case.id: _pinned(reader, case.digest, Case) for case in plan.cases}
    pinned = {
        (subject, case): _pinned(reader, digest, PinSet)
        for subject, by_case in manifest.pinsets.items()
        for case, digest in by_case.items()
    }
    trials: dict[str, TrialInput] = {}
    problems: list[Problem] = []
    for planned in plan.trials:
        counted = ledger.counted(planned.trial)
        if counted is None:
            continue
        expect = Envelope(
            series=manifest.series,
            trial=planned.trial,
            run=counted.run or "",
            condition=planned.condition,
            attempt=counted.attempt,
            boot=manifest.boot,
        )
        try:
            journals = reader.journals(planned.trial, counted.attempt)
        except OyerError as error:
            problems += error.problems
            journals = {}
        evidence = read_trial(journals, reader.content, expect=expect)
        attempts = len(ledger.attempts.get(planned.trial, ()))
        trials[planned.trial] = TrialInput(counted.attempt, attempts, evidence, counted.digest)
    return Reading(manifest, plan, ledger, SeriesInput(plan, cases, trials, pinned), tuple(problems))


def _pinned(reader: Reader, digest: str, kind: type[R]) -> R:
    data = reader.pin(digest)
    if data is None:
        raise EvidenceError("E-PIN-MISSING", "a pinned record is not retained", where=digest)
    return parse_record(data, kind, f"pins/{digest}")
