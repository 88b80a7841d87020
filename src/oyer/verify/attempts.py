"""One pass over every attempt on disk: its journals are unpacked, checked and let go before the next is opened.

Owns what later checks need of an attempt, kept small: defects, torn tails, blobs it refers to, runs its sinks named.
Must never hold the journals of two attempts, and never raise.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from oyer.adjudicate import named_runs
from oyer.errors import EvidenceError, OyerError, Problem
from oyer.evidence import (
    AttemptCheck,
    AttemptState,
    Envelope,
    StoredFile,
    attempt_dir,
    body_payloads,
    check_attempt,
    packed_path,
    parse_event,
)
from oyer.observe import TrialEvidence
from oyer.verify.reading import Reader
from oyer.verify.survey import Survey

__all__ = ["OPENED", "AttemptReading", "BlobUse", "read_attempts"]

OPENED = ("case", "case_id", "repetition")
"""The fields of `trial.opened` that the plan states too."""


class BlobUse(NamedTuple):
    """One reference to a blob: the size that the event states, and where it stands."""

    digest: str
    size: int
    where: str


class AttemptReading(NamedTuple):
    """What one attempt on disk shows. `state` is what the ledger knows of it, None where it knows nothing.

    `missing` says that the ledger lists evidence and nothing is there. `packed` is the packed file as stored. `torn`
    maps a writer to the bytes after its last newline. `opened` holds what `trial.opened` says of case and repetition,
    `closed` the status in `trial.closed`.
    """

    trial: str
    attempt: int
    path: str
    state: AttemptState | None
    missing: bool = False
    packed: StoredFile | None = None
    unreadable: Problem | None = None
    defects: tuple[Problem, ...] = ()
    torn: Mapping[str, int] = {}
    leftovers: tuple[Problem, ...] = ()
    opened: Mapping[str, Any] | None = None
    closed: str | None = None
    blobs: tuple[BlobUse, ...] = ()
    named: tuple[tuple[str, str], ...] = ()

    @property
    def name(self) -> str:
        """The attempt, in words."""
        return f"trial {self.trial} attempt {self.attempt}"

    @property
    def must_be_whole(self) -> bool:
        """Whether its status says that everything was sealed: only what failed on our side may be torn."""
        state = self.state
        return state is not None and state.state == "sealed" and state.status in {"completed", "subject_error"}

    @property
    def read_to_the_end(self) -> bool:
        """Whether every line of every journal could be read."""
        return not self.missing and self.unreadable is None and not self.defects


def read_attempts(survey: Survey) -> Iterator[AttemptReading]:
    """Read every attempt that is on disk or that the ledger says has evidence, in order of trial and number."""
    packed = {(part.name, part.attempt) for part in survey.parts.values() if part.kind == "packed"}
    running: dict[tuple[str, int], list[str]] = {}
    for path, part in survey.parts.items():
        if part.kind == "journal":
            running.setdefault((part.name, part.attempt), []).append(path)
    known = {(trial, state.attempt): state for trial, states in survey.ledger.attempts.items() for state in states}
    listed = {key for key, state in known.items() if state.digest is not None or state.state == "sealed"}
    for key in sorted(packed | set(running) | listed):
        yield _read_one(survey, key, known.get(key), key in packed, running.get(key, []))


def _read_one(
    survey: Survey, key: tuple[str, int], state: AttemptState | None, is_packed: bool, running: list[str]
) -> AttemptReading:
    trial, attempt = key
    found = AttemptReading(
        trial, attempt, packed_path(trial, attempt) if is_packed else attempt_dir(trial, attempt), state
    )
    if not is_packed and not running:
        return found._replace(missing=True, path=packed_path(trial, attempt))
    reader = survey.reader
    try:
        found = found._replace(packed=reader.file(found.path) if is_packed else None)
        journals = dict(reader.journals(trial, attempt))
    except OyerError as error:
        return found._replace(unreadable=error.problems[0])
    check = check_attempt(journals, expect=_expected(survey, trial, attempt, state, journals))
    return found._replace(
        defects=check.defects,
        torn={writer: len(journal.torn) for writer, journal in check.journals.items() if journal.torn},
        leftovers=tuple(_leftovers(reader, journals, running)) if is_packed else (),
        opened=None if check.opened is None else {name: check.opened[name] for name in OPENED},
        closed=None if check.closed is None else check.closed["status"],
        blobs=tuple(_blob_uses(check, found.path)),
        named=named_runs(TrialEvidence(check, reader.content, ())),
    )


def _expected(
    survey: Survey, trial: str, attempt: int, state: AttemptState | None, journals: Mapping[str, bytes]
) -> Envelope:
    """Return the envelope every line must carry. What nobody states is taken from the first line of the harness."""
    said = _first_envelope(journals.get("harness.jsonl", b""))
    manifest, planned = survey.manifest, survey.planned.get(trial)
    run = state.run if state is not None else None
    return Envelope(
        series=manifest.series if manifest is not None else said.series,
        trial=trial,
        run=run if run is not None else said.run,
        condition=planned.condition if planned is not None else said.condition,
        attempt=attempt,
        boot=manifest.boot if manifest is not None else said.boot,
    )


def _first_envelope(data: bytes) -> Envelope:
    try:
        event = parse_event(data.partition(b"\n")[0])
    except EvidenceError:
        return Envelope("", "", "", "", 0, "")
    return Envelope(event.series, event.trial, event.run, event.condition, event.attempt, event.boot)


def _leftovers(reader: Reader, journals: Mapping[str, bytes], running: list[str]) -> Iterator[Problem]:
    """Compare what stands beside a packed attempt: a crash leaves some of the same journals, never others."""
    for path in running:
        try:
            same = reader.read(path) == journals.get(path.rpartition("/")[2])
        except OyerError as error:
            yield error.problems[0]._replace(where=path)
            continue
        if not same:
            yield Problem("E-PACK-DIFFERS", "the journal differs from the one in the packed attempt", path)


def _blob_uses(check: AttemptCheck, path: str) -> Iterator[BlobUse]:
    for journal in check.journals.values():
        for event in journal.events:
            if not event.blobs:
                continue
            for payload in body_payloads(event.kind, event.body):
                if payload.get("blob"):
                    yield BlobUse(payload["sha256"], payload["size"], f"{path} {event.ref}")
