"""Every attempt on disk, read once: its journals are unpacked and checked, and what later checks need is kept small.

Owns what is kept of an attempt: defects, torn tails, blobs it refers to, runs its sinks named. Must never raise, and
never hold the journals of an attempt: whoever asked for one has them, and lets them go.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from oyer.adjudicate import Told, named_runs, told_models
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
from oyer.verify.reading import Reader, expected_envelope
from oyer.verify.survey import Survey

__all__ = ["OPENED", "AttemptReading", "BlobUse", "Shelf"]

OPENED = (
    "case",
    "case_id",
    "model_faults",
    "model_source",
    "prices",
    "reasoning_delimiters",
    "repetition",
    "vocabulary",
)
"""The fields of `trial.opened` that the plan or the manifest of the series states too."""


class BlobUse(NamedTuple):
    """One reference to a blob: the size that the event states, and where it stands."""

    digest: str
    size: int
    where: str


class AttemptReading(NamedTuple):
    """What one attempt on disk shows. `state` is what the ledger knows of it, None where it knows nothing.

    `missing` says that the ledger lists evidence and nothing is there. `packed` is the packed file as stored. `torn`
    maps a writer to the bytes after its last newline. `opened` holds the fields of `trial.opened` that are `OPENED`,
    `closed` the status in `trial.closed`. `untold` are turns that were sent and that its case does not declare,
    `unseen` turns after which a look at the world is missing.
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
    models: Told | None = None
    untold: tuple[tuple[str, str], ...] = ()
    unseen: tuple[tuple[str, str], ...] = ()

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


class Shelf:
    """Every attempt that is on disk or that the ledger says has evidence, by trial and number."""

    def __init__(self, survey: Survey) -> None:
        self._survey = survey
        self._packed = {(part.name, part.attempt) for part in survey.parts.values() if part.kind == "packed"}
        self._running: dict[tuple[str, int], list[str]] = {}
        for path, part in survey.parts.items():
            if part.kind == "journal":
                self._running.setdefault((part.name, part.attempt), []).append(path)
        states = [(trial, state) for trial, known in survey.ledger.attempts.items() for state in known]
        self._known = {(trial, state.attempt): state for trial, state in states}
        listed = {(trial, s.attempt) for trial, s in states if s.digest is not None or s.state == "sealed"}
        self._of: dict[str, list[int]] = {}
        for trial, attempt in sorted(self._packed | set(self._running) | listed):
            self._of.setdefault(trial, []).append(attempt)

    @property
    def trials(self) -> Iterable[str]:
        """Every trial of which there is or should be an attempt, sorted."""
        return self._of

    def attempts(self, trial: str) -> Iterable[int]:
        """Return the numbers of the attempts of a trial, in order."""
        return self._of.get(trial, ())

    def read(self, trial: str, attempt: int) -> tuple[AttemptReading, AttemptCheck | None]:
        """Read one attempt: what is kept of it, and its checked journals, None where they are not there to read."""
        key = trial, attempt
        state, running = self._known.get(key), self._running.get(key, [])
        is_packed = key in self._packed
        path = packed_path(trial, attempt) if is_packed or not running else attempt_dir(trial, attempt)
        found = AttemptReading(trial, attempt, path, state)
        if not is_packed and not running:
            return found._replace(missing=True), None
        reader = self._survey.reader
        try:
            found = found._replace(packed=reader.file(path) if is_packed else None)
            journals = dict(reader.journals(trial, attempt))
        except OyerError as error:
            return found._replace(unreadable=error.problems[0]), None
        check = check_attempt(journals, expect=_expected(self._survey, trial, attempt, state, journals))
        leftovers = tuple(_leftovers(reader, journals, running)) if is_packed else ()
        return _kept(found._replace(leftovers=leftovers), check), check


def _kept(found: AttemptReading, check: AttemptCheck) -> AttemptReading:
    evidence = TrialEvidence(check, _no_content, ())
    return found._replace(
        defects=check.defects,
        torn={writer: len(journal.torn) for writer, journal in check.journals.items() if journal.torn},
        opened=None if check.opened is None else {name: check.opened.get(name) for name in OPENED},
        closed=None if check.closed is None else check.closed["status"],
        blobs=tuple(_blob_uses(check, found.path)),
        named=named_runs(evidence),
        models=told_models(evidence),
    )


def _no_content(_digest: str) -> None:
    """What an attempt says of others stands in its events; no blob is opened for that."""


def _expected(
    survey: Survey, trial: str, attempt: int, state: AttemptState | None, journals: Mapping[str, bytes]
) -> Envelope:
    """Return the envelope every line must carry. What nobody states is taken from the first line of the harness."""
    manifest, planned = survey.manifest, survey.planned.get(trial)
    if manifest is not None and planned is not None and state is not None and state.run is not None:
        return expected_envelope(manifest, planned, state)
    said = _first_envelope(journals.get("harness.jsonl", b""))
    return Envelope(
        series=manifest.series if manifest is not None else said.series,
        trial=trial,
        run=state.run if state is not None and state.run is not None else said.run,
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
