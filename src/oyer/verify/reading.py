"""From a stored series to the input of the scoring law, for the run that derives and the verifier that derives again.

Owns which attempt counts for a trial (the last one the ledger says was sealed or torn) and nothing about what it shows.
Must never hold more than the attempt it was just asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple, Protocol, TypeVar

from oyer.adjudicate import (
    Judge,
    Judges,
    SeriesInput,
    TrialInput,
    course_of,
    named_aside,
    named_runs,
    not_run_by,
    plan_that_ran,
)
from oyer.errors import EvidenceError, OyerError, Problem
from oyer.evidence import (
    ArchiveCheck,
    AttemptState,
    Envelope,
    LedgerCheck,
    Manifest,
    Signed,
    StoredFile,
    check_ledger,
)
from oyer.observe import read_trial
from oyer.records import (
    KINDS,
    Case,
    Evaluator,
    Judgement,
    PinSet,
    Plan,
    PlannedTrial,
    Record,
    Rubric,
    Series,
    document_of,
    parse_canonical,
    validate,
)
from oyer.verify.result import WITHHELD

__all__ = [
    "Bundled",
    "Journals",
    "Key",
    "Keys",
    "Listed",
    "Reader",
    "Reading",
    "StoredTrials",
    "expected_envelope",
    "named_uncounted",
    "parse_record",
    "pinned_record",
    "read_series",
    "recorded_in",
]

R = TypeVar("R", bound=Record)


class Listed(Protocol):
    """One name below a series that is no directory: `kind` is `file`, or what stands there instead."""

    @property
    def path(self) -> str:
        """The path inside the series."""
        ...

    @property
    def kind(self) -> str:
        """What stands there: `file`, `link`, `other`, `deep` or `unreadable`."""
        ...


class Journals(Protocol):
    """Where the evidence of an attempt comes from."""

    def journals(self, trial: str, attempt: int) -> Mapping[str, bytes]:
        """Return file name -> bytes of an attempt, the packed file before the running directory."""
        ...

    def content(self, digest: str) -> bytes | None:
        """Return the content of a blob, None when it is not there."""
        ...


class Reader(Journals, Protocol):
    """Stored bytes of a series, wherever they are. `store.SeriesReader` satisfies it. Methods raise only OyerError."""

    def manifest(self) -> bytes:
        """Return `series.json`."""
        ...

    def plan(self) -> bytes:
        """Return `plan.json`."""
        ...

    def ledger_bytes(self) -> bytes:
        """Return `ledger.jsonl`."""
        ...

    def pin(self, digest: str) -> bytes | None:
        """Return one pinned record, None when it is not there."""
        ...

    def read(self, path: str) -> bytes | None:
        """Return the stored bytes of any file, None when it is not there."""
        ...

    def size(self, path: str) -> int | None:
        """Return how large a file is without reading it, None when it is not there or was withheld."""
        ...

    def file(self, path: str) -> StoredFile | None:
        """Return size and digest of the stored bytes, None when the file is not there."""
        ...

    def pieces(self, path: str) -> Iterable[bytes] | None:
        """Yield the stored bytes of any file in pieces, None when it is not there."""
        ...

    def listing(self) -> Iterable[Listed]:
        """Yield everything that is no directory, in order."""
        ...


class Bundled(Reader, Protocol):
    """A series inside a bundle. `store.BundleReader` satisfies it.

    A withheld file is listed; `file` tells what the manifest states of it; reading it is an OyerError `E-WITHHELD`.
    """

    @property
    def archive(self) -> ArchiveCheck:
        """What was found when the archive was opened. Where it has defects, nothing is there to read."""
        ...

    @property
    def withheld(self) -> Sequence[StoredFile]:
        """What was left out, by its path in the series."""
        ...

    def bundle_manifest(self) -> Manifest:
        """Return the manifest of the bundle."""
        ...

    def signature(self) -> bytes | None:
        """Return the envelope over the bundle, None when it is not signed."""
        ...

    def measure(self, member: str) -> StoredFile | None:
        """Return size and digest of a member by its path in the archive, None when it is not there."""
        ...


class Key(Protocol):
    """A public key that somebody gave. `store.PublicKey` satisfies it."""

    @property
    def keyid(self) -> str:
        """The sha256 of its bytes, in hexadecimal."""
        ...

    @property
    def name(self) -> str:
        """Where it came from, for people."""
        ...

    def verifies(self, signed: Signed) -> bool:
        """Whether it made the signature. Raises OyerError where that cannot be computed here."""
        ...


class Keys(NamedTuple):
    """Whose signature is asked for: over the bundle, and over the plan (the same key where none is named)."""

    bundle: Key | None = None
    plan: Key | None = None


class Reading(NamedTuple):
    """A series as read: its records, its ledger, its counted attempts, and what scoring is given."""

    manifest: Series
    plan: Plan
    ledger: LedgerCheck
    trials: StoredTrials
    given: SeriesInput

    @property
    def problems(self) -> tuple[Problem, ...]:
        """What kept an attempt from being unpacked, of those that were asked for so far."""
        return tuple(problem for trial in sorted(self.trials.unreadable) for problem in self.trials.unreadable[trial])


class StoredTrials(Mapping[str, TrialInput]):
    """The counted attempt of every planned trial that has one, read from the store each time it is asked for.

    An attempt that cannot be unpacked is an attempt without journals: its defects say so, and nothing rests on it.
    """

    def __init__(self, reader: Journals, manifest: Series, plan: Plan, ledger: LedgerCheck) -> None:
        self._reader = reader
        self._manifest = manifest
        self._ledger = ledger
        self.unreadable: dict[str, tuple[Problem, ...]] = {}
        self._planned = {planned.trial: planned for planned in plan.trials if ledger.counted(planned.trial)}

    def __getitem__(self, trial: str) -> TrialInput:
        planned, counted = self._planned[trial], self._ledger.counted(trial)
        if counted is None:
            raise KeyError(trial)
        try:
            journals = self._reader.journals(trial, counted.attempt)
        except OyerError as error:
            journals = {}
            self.unreadable[trial] = tuple(p._replace(where=p.where or trial) for p in error.problems)
        expect = expected_envelope(self._manifest, planned, counted)
        evidence = read_trial(journals, self._reader.content, expect=expect)
        return TrialInput(counted.attempt, len(self._ledger.attempts[trial]), evidence, counted.digest)

    def __iter__(self) -> Iterator[str]:
        return iter(self._planned)

    def __len__(self) -> int:
        return len(self._planned)


def parse_record(data: bytes, kind: type[R], where: str) -> R:
    """Parse one stored record, which stands in canonical form. Raises: RecordError, EvidenceError."""
    value = parse_canonical(data, name=where)
    name = next(name for name, known in KINDS.items() if known is kind)
    record = validate(document_of(value, name=where), {name: kind})
    if not isinstance(record, kind):
        raise EvidenceError("E-RECORD-KIND", f"not a {name}", where=where)
    return record


def read_series(reader: Reader, asked: Sequence[Judge] = ()) -> Reading:
    """Read everything that scoring needs; `asked` are evaluators that judge here and now.

    Scoring is given no trial that a declared rule or budget left out: there is nothing to be missed of it.

    Raises: OyerError where manifest, plan or a pinned case cannot be read.
    """
    manifest = parse_record(reader.manifest(), Series, "series.json")
    plan = parse_record(reader.plan(), Plan, "plan.json")
    ledger = check_ledger(reader.ledger_bytes())
    cases = {case.id: pinned_record(reader, case.digest, Case) for case in plan.cases}
    pinned = {
        (subject, case): pinned_record(reader, digest, PinSet)
        for subject, by_case in manifest.pinsets.items()
        for case, digest in by_case.items()
    }
    ran = plan_that_ran(plan, not_run_by(plan, cases, course_of(ledger), ledger.attempts))
    trials = StoredTrials(reader, manifest, plan, ledger)
    aside = named_aside(named_uncounted(reader, manifest, plan, ledger), ledger.closing)
    judges = Judges(
        rubrics={name: pinned_record(reader, digest, Rubric) for name, digest in plan.rubrics.items()},
        evaluators={name: pinned_record(reader, digest, Evaluator) for name, digest in plan.evaluators.items()},
        asked=asked,
        recorded=recorded_in(reader),
    )
    return Reading(manifest, plan, ledger, trials, SeriesInput(ran, cases, trials, pinned, aside=aside, judges=judges))


def recorded_in(reader: Reader, withheld: list[Problem] | None = None) -> Callable[[str], Judgement | None]:
    """Return what reads a recorded judgement by its path; None for one that is not there or is no judgement.

    One that was left out of a bundle is noted in `withheld`.
    """

    def read(path: str) -> Judgement | None:
        try:
            data = reader.read(path)
            return None if data is None else parse_record(data, Judgement, path)
        except OyerError as error:
            if withheld is not None and error.code == WITHHELD:
                withheld.append(error.problems[0])
            return None

    return read


def expected_envelope(manifest: Series, planned: PlannedTrial, state: AttemptState) -> Envelope:
    """Return what every line of an attempt must carry that the ledger knows. One that got no run has no line."""
    return Envelope(
        series=manifest.series,
        trial=planned.trial,
        run=state.run or "",
        condition=planned.condition,
        attempt=state.attempt,
        boot=manifest.boot,
    )


def named_uncounted(
    reader: Journals, manifest: Series, plan: Plan, ledger: LedgerCheck
) -> Mapping[tuple[str, int], tuple[tuple[str, str], ...]]:
    """Return which runs the attempts name that do not count: what is rejected there came all the same.

    One that never got a run names nothing, and neither does one that cannot be read: that is told where attempts are
    checked.
    """
    found: dict[tuple[str, int], tuple[tuple[str, str], ...]] = {}
    for planned in plan.trials:
        counted = ledger.counted(planned.trial)
        for state in ledger.attempts.get(planned.trial, ()):
            if state.run is None or (counted is not None and counted.attempt == state.attempt):
                continue
            try:
                journals = reader.journals(planned.trial, state.attempt)
            except OyerError:
                continue
            evidence = read_trial(journals, reader.content, expect=expected_envelope(manifest, planned, state))
            found[planned.trial, state.attempt] = named_runs(evidence)
    return found


def pinned_record(reader: Reader, digest: str, kind: type[R]) -> R:
    """Return one pinned record. Raises: OyerError where it is not retained or is no such record."""
    data = reader.pin(digest)
    if data is None:
        raise EvidenceError("E-PIN-MISSING", "a pinned record is not retained", where=digest)
    return parse_record(data, kind, f"pins/{digest}")
