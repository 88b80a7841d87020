"""Derive every outcome and comparison again, from sealed evidence and pinned records alone, and compare the bytes.

Owns the comparison of recorded with derived. Must never read a recorded result before its own is derived, and never
hold more than the arms of one repetition.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple, TypeVar

from oyer.adjudicate import SeriesInput, derive_series, derived_files, late_runs
from oyer.errors import EvidenceError, OyerError, Problem
from oyer.records import Case, PinSet, Plan, PlannedTrial, Record, digest_bytes, parse_canonical
from oyer.verify.attempts import AttemptReading
from oyer.verify.reading import Journals, Reader, StoredTrials, parse_record
from oyer.verify.result import WITHHELD
from oyer.verify.survey import Phase, Survey, read_part

__all__ = ["Derivation", "derive_again"]

R = TypeVar("R", bound=Record)
T = TypeVar("T")


class Derivation(NamedTuple):
    """What came of deriving a series again, by path of the derived file.

    `equal` were recorded byte for byte the same; `differing` hold why not; `missing` were not recorded. `undecided`
    holds what could not be derived, and why; `withheld` were left out of a bundle. `complete` says whether every
    planned repetition could be derived.
    """

    equal: frozenset[str] = frozenset()
    differing: Mapping[str, Problem] = {}
    missing: frozenset[str] = frozenset()
    undecided: tuple[Problem, ...] = ()
    complete: bool = True
    withheld: frozenset[str] = frozenset()

    @property
    def expected(self) -> frozenset[str]:
        """Every path that evidence and plan give."""
        return self.equal | frozenset(self.differing) | self.missing | self.withheld


def derive_again(
    survey: Survey, attempts: Iterable[AttemptReading], proven: Mapping[str, int] | None = None
) -> Derivation:
    """Derive every repetition of the plan again and compare each file with the stored one.

    `proven` holds the sizes of blobs that were just measured and are what their names say.
    """
    if survey.plan is None or survey.manifest is None:
        return _nothing("manifest or plan cannot be read: nothing can be derived", "series.json")
    if survey.phase is Phase.BROKEN:
        return _nothing("the ledger does not hold: which attempts count is not known", "ledger.jsonl")
    watched = _Watched(survey.reader)
    named, all_named = _named(survey, attempts)
    base = SeriesInput(
        plan=survey.plan,
        cases={},
        trials=StoredTrials(watched, survey.manifest, survey.plan, survey.ledger, proven),
        pinned={},
        named=named,
        late=late_runs(survey.ledger.closing),
    )
    comparing = _Comparing(survey, all_named=all_named)
    pins = _Pins(survey.reader)
    for group in _groups(survey.plan):
        watched.withheld.clear()
        files = _derive_group(survey, base, group, pins)
        if watched.withheld:
            comparing.undecided += watched.withheld[:1]
        elif isinstance(files, Problem):
            comparing.undecided.append(files)
        else:
            for path, data in files.items():
                comparing.compare(path, data)
    return comparing.result()


class _Comparing:
    """Collects how recorded files compare with derived ones."""

    def __init__(self, survey: Survey, *, all_named: bool) -> None:
        self._survey = survey
        self._all_named = all_named
        self._equal: set[str] = set()
        self._missing: set[str] = set()
        self._withheld: set[str] = set()
        self._differing: dict[str, Problem] = {}
        self.undecided: list[Problem] = []

    def compare(self, path: str, data: bytes) -> None:
        """Compare one derived file with the recorded one."""
        problems: dict[str, tuple[Problem, ...]] = {}
        stored = read_part(self._survey.reader.read, path, problems) if path in self._survey.parts else None
        if stored == data:
            self._equal.add(path)
        elif stored is not None and not self._all_named and b'"LATE_EFFECT"' in stored:
            # The effect may have been rejected in a trial that was withheld.
            self._withheld.add(path)
            self.undecided.append(Problem(WITHHELD, "it may rest on a trial that was withheld", path))
        elif stored is not None:
            self._differing[path] = Problem("E-DERIVED-DIFFERS", _difference(stored, data), path)
        elif problems and problems[path][0].code == WITHHELD:
            self._withheld.add(path)
            self.undecided.append(problems[path][0])
        else:
            self._missing.add(path)

    def result(self) -> Derivation:
        """Return what came of it."""
        return Derivation(
            equal=frozenset(self._equal),
            differing=self._differing,
            missing=frozenset(self._missing),
            undecided=tuple(self.undecided),
            complete=not self.undecided,
            withheld=frozenset(self._withheld),
        )


class _Watched:
    """The evidence of a series, with a note of everything that was asked for and had been withheld."""

    def __init__(self, reader: Journals) -> None:
        self._reader = reader
        self.withheld: list[Problem] = []

    def journals(self, trial: str, attempt: int) -> Mapping[str, bytes]:
        """Return the journals of an attempt."""
        return self._noted(lambda: self._reader.journals(trial, attempt))

    def content(self, digest: str) -> bytes | None:
        """Return the content of a blob."""
        return self._noted(lambda: self._reader.content(digest))

    def _noted(self, read: Callable[[], T]) -> T:
        try:
            return read()
        except OyerError as error:
            if error.code == WITHHELD:
                self.withheld.append(error.problems[0])
            raise


def _nothing(why: str, where: str) -> Derivation:
    return Derivation(undecided=(Problem("E-VERIFY-UNREAD", why, where),), complete=False)


def _derive_group(
    survey: Survey, base: SeriesInput, group: Sequence[PlannedTrial], records: _Pins
) -> Mapping[str, bytes] | Problem:
    """Derive one repetition of one case and subject: its outcomes and its comparison, as canonical bytes by path."""
    first = group[0]
    where = f"case {first.case}, subject {first.subject}, repetition {first.repetition}"
    pin = survey.manifest.pinsets.get(first.subject, {}).get(first.case) if survey.manifest is not None else None
    try:
        if pin is None:
            raise EvidenceError("E-PIN-MISSING", "the manifest names no pins for it")
        case = records.read(first.case_digest, Case)
        pins = records.read(pin, PinSet)
        given = base._replace(
            plan=base.plan.model_copy(update={"trials": tuple(group)}),
            cases={first.case: case},
            pinned={(first.subject, first.case): pins},
        )
        return derived_files(derive_series(given))
    except OyerError as error:
        return Problem("E-DERIVE", f"it cannot be derived: {error.problems[0]}", where)
    except (LookupError, ValueError, RecursionError) as error:
        # A pinned record at odds with itself (check 4 names it), or evidence that the law has no answer for.
        return Problem("E-DERIVE", f"it cannot be derived: {type(error).__name__}: {error}", where)


class _Pins:
    """Pinned records, each parsed once: there are few, however many trials rest on them."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self._known: dict[str, Record] = {}

    def read(self, digest: str, kind: type[R]) -> R:
        """Return one pinned record. Raises: OyerError where it is missing, another kind, or not what its name says."""
        known = self._known.get(digest)
        if isinstance(known, kind):
            return known
        data = self._reader.pin(digest)
        if data is None or digest_bytes(data) != digest:
            raise EvidenceError("E-PIN-DIGEST", "a pinned record is missing or is not what its name says", where=digest)
        record = parse_record(data, kind, f"pins/{digest}")
        self._known[digest] = record
        return record


def _groups(plan: Plan) -> Iterable[list[PlannedTrial]]:
    groups: dict[tuple[str, str, int], list[PlannedTrial]] = {}
    for planned in plan.trials:
        groups.setdefault((planned.case, planned.subject, planned.repetition), []).append(planned)
    return groups.values()


def _named(survey: Survey, attempts: Iterable[AttemptReading]) -> tuple[dict[str, tuple[str, ...]], bool]:
    """Effects rejected anywhere in the series by the run they name: of counted attempts, in order of trial.

    And whether all attempts could be asked: of a withheld one nobody knows what it rejected.
    """
    everything = True
    found: dict[str, list[str]] = {}
    for attempt in attempts:
        everything = everything and (attempt.unreadable is None or attempt.unreadable.code != WITHHELD)
        counted = survey.ledger.counted(attempt.trial)
        if attempt.trial in survey.planned and counted is not None and counted.attempt == attempt.attempt:
            for run, ref in attempt.named:
                found.setdefault(run, []).append(f"{attempt.trial}/{ref}")
    return {run: tuple(refs) for run, refs in found.items()}, everything


def _difference(recorded: bytes, derived: bytes) -> str:
    """Say in which fields a recorded result differs from the one that the evidence gives."""
    try:
        mine, yours = parse_canonical(recorded), parse_canonical(derived)
    except OyerError:
        return "it is no canonical record, and not what the evidence gives"
    if not isinstance(mine, dict) or not isinstance(yours, dict):
        return "it is no record, and not what the evidence gives"
    names = sorted(name for name in {*mine, *yours} if mine.get(name, ...) != yours.get(name, ...))
    return f"not what the evidence gives: {', '.join(names[:8])} differ" if names else "not what the evidence gives"
