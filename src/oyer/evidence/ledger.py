"""The ledger of a series: a hash-chained journal of every attempt, from claimed to sealed.

Owns the form of its lines, the legal transitions and how a torn tail is marked. Must never let an attempt count twice,
vanish, or go back; and never repair in silence: a fragment stays in the file, followed by a `torn` record that states
its length and digest.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Annotated, Any, Literal, NoReturn

import msgspec
from msgspec import Meta

from oyer.errors import EvidenceError, Problem
from oyer.evidence.canonical import (
    ABSENT_DIGEST,
    DIGEST_PATTERN,
    MAX_SAFE_INT,
    digest_of,
    encode_canonical,
    explain_form,
)
from oyer.evidence.events import WALL_TIME_PATTERN
from oyer.evidence.transitions import AttemptState, LedgerState, StopLine

__all__ = ["LedgerChain", "LedgerCheck", "LedgerRecord", "check_ledger", "parse_ledger_line"]

_Count = Annotated[int, Meta(ge=0, le=MAX_SAFE_INT)]
_Digest = Annotated[str, Meta(pattern=DIGEST_PATTERN)]
_Int = Annotated[int, Meta(ge=-MAX_SAFE_INT, le=MAX_SAFE_INT)]
_Plain = str | bool | _Int | None
_Kind = Literal["opened_series", "claimed", "opened", "sealed", "refused", "excluded", "torn", "stopped", "closed"]
_Status = Literal["completed", "subject_error", "harness_error", "blocked"]


class LedgerRecord(msgspec.Struct, frozen=True, forbid_unknown_fields=True, gc=False):
    """One line of the ledger. Fields that a kind does not use are null; `body` holds plain values only.

    `digest` is the sha256 of the stored bytes of the packed attempt. A `torn` record without a trial marks a torn
    tail of the ledger itself; with one, an attempt that was interrupted.
    """

    attempt: Annotated[int, Meta(ge=1, le=MAX_SAFE_INT)] | None
    body: dict[str, _Plain | list[_Plain] | dict[str, _Plain]]
    digest: _Digest | None
    kind: _Kind
    prev: _Digest
    run: str | None
    seq: _Count
    status: _Status | None
    t_wall: Annotated[str, Meta(pattern=WALL_TIME_PATTERN)]
    trial: str | None
    why: str | None


class LedgerCheck(msgspec.Struct, frozen=True):
    """What a ledger proves: where every attempt stands, up to the first defect.

    `findings` are torn writes that are kept and marked; they are no defects. `plan` and `manifest` are the digests
    the series was opened with. `excluded` maps a trial to the reason. `closing` is the body of `closed`.
    `stops` are the stops by what was declared, in order. `began`, `opened` and `ended` say at which record a trial was
    first taken up, first opened, and last ended.
    """

    attempts: Mapping[str, tuple[AttemptState, ...]]
    excluded: Mapping[str, str]
    plan: str | None
    manifest: str | None
    closed: bool
    length: int
    head: str
    defects: tuple[Problem, ...]
    findings: tuple[Problem, ...]
    closing: Mapping[str, Any] = msgspec.field(default_factory=dict)
    stops: tuple[StopLine, ...] = ()
    began: Mapping[str, int] = msgspec.field(default_factory=dict)
    opened: Mapping[str, int] = msgspec.field(default_factory=dict)
    ended: Mapping[str, int] = msgspec.field(default_factory=dict)

    @property
    def intact(self) -> bool:
        """Whether every line is good. An open series can be intact; ask `closed` too."""
        return not self.defects

    def counted(self, trial: str) -> AttemptState | None:
        """Return the one attempt that counts for a trial: its last ended one, None before any ended."""
        ended = [state for state in self.attempts.get(trial, ()) if state.state in {"sealed", "torn"}]
        return ended[-1] if ended else None

    def __bool__(self) -> NoReturn:
        raise TypeError("a check has no truth value; ask for .intact or .defects")


_DECODER = msgspec.json.Decoder(LedgerRecord)


def parse_ledger_line(line: bytes) -> LedgerRecord:
    """Parse one line (without its newline) and prove that it is the only form of this record.

    Raises: EvidenceError `E-LEDGER-FORM`, `E-LEDGER-CANONICAL`.
    """
    try:
        record = _DECODER.decode(line)
    except (msgspec.MsgspecError, ValueError, RecursionError) as error:
        raise EvidenceError("E-LEDGER-FORM", f"not a ledger record: {error}") from error
    if encode_canonical(record) != line:
        raise EvidenceError("E-LEDGER-CANONICAL", explain_form(line))
    return record


class LedgerChain:
    """A growing ledger, sans I/O: transitions go in, lines come out. Illegal transitions are refused."""

    __slots__ = ("_state", "head", "length")

    def __init__(self) -> None:
        self._state = LedgerState(None)
        self.length = 0
        self.head = ABSENT_DIGEST

    @property
    def attempts(self) -> Mapping[str, tuple[AttemptState, ...]]:
        """Where every attempt stands, by trial. A live view: trials are not copied."""
        return self._state.attempts

    @property
    def excluded(self) -> Mapping[str, str]:
        """The excluded trials and the reasons."""
        return self._state.excluded

    @property
    def closed(self) -> bool:
        """Whether the series is closed."""
        return self._state.closed

    @property
    def plan(self) -> str | None:
        """The digest of the plan the series was opened with, None before."""
        return self._state.plan

    @property
    def manifest(self) -> str | None:
        """The digest of the manifest the series was opened with, None before."""
        return self._state.manifest

    @classmethod
    def resume(cls, data: bytes, *, t_wall: str) -> tuple[LedgerChain, bytes]:
        """Continue an existing ledger; returns the chain and the bytes to append first (b"" when nothing is torn).

        Raises: EvidenceError with every defect that is not a torn tail.
        """
        chain = cls()
        reading = _Reading(chain._state)
        tail = reading.read(data)
        if reading.defects:
            raise EvidenceError.of(reading.defects)
        chain.length, chain.head = reading.length, reading.head
        if not tail:
            return chain, b""
        # The whole record can have reached the disk and only its newline not: then it stands. So can the mark of a
        # fragment before it: what is torn is then the mark, and not once more the fragment.
        fragment, _, last = tail.rpartition(b"\n")
        whole = reading.take(last, fragment) if _is_mark(last) and fragment else reading.take(tail)
        if reading.defects:
            raise EvidenceError.of(reading.defects)
        chain.length, chain.head = reading.length, reading.head
        torn = last if whole else tail
        body = {"length": len(torn), "sha256": digest_of(torn), "whole": whole}
        return chain, b"\n" + chain.append("torn", t_wall=t_wall, body=body)

    def append(
        self,
        kind: str,
        *,
        t_wall: str,
        trial: str | None = None,
        attempt: int | None = None,
        run: str | None = None,
        status: str | None = None,
        digest: str | None = None,
        why: str | None = None,
        body: Mapping[str, Any] | None = None,
    ) -> bytes:
        """Add one transition and return its whole line, newline included.

        Raises: EvidenceError `E-LEDGER-FORM`, `E-LEDGER-FIELDS`, `E-LEDGER-TRANSITION`, and the like; the chain is
        then as it was.
        """
        fields = {
            "attempt": attempt,
            "body": dict(body or {}),
            "digest": digest,
            "kind": kind,
            "prev": self.head,
            "run": run,
            "seq": self.length,
            "status": status,
            "t_wall": t_wall,
            "trial": trial,
            "why": why,
        }
        line = encode_canonical(fields)
        problem = self._state.apply(parse_ledger_line(line))
        if problem is not None:
            raise EvidenceError(problem.code, problem.message, where=problem.where)
        self.length += 1
        self.head = digest_of(line)
        return line + b"\n"


def check_ledger(data: bytes, *, planned: Collection[str] | None = None) -> LedgerCheck:
    """Check every line of a ledger and every transition; never raises on bad evidence.

    `planned` are the trial ids of the plan; a record of another trial is then a defect. Reading stops at the first
    defect. Codes: `E-LEDGER-FORM`, `-CANONICAL`, `-FIELDS`, `-GAP`, `-PREV`, `-OPENING`, `-TRANSITION`, `-ATTEMPT`,
    `-RUN`, `-UNPLANNED`, `-AFTER-CLOSE`, `-OPEN`, `-VERSION`, `-TORN` (a defect at the end of the file, a finding when
    marked).
    """
    state = LedgerState(planned)
    reading = _Reading(state)
    tail = reading.read(data)
    if tail and not reading.defects:
        reading.report("E-LEDGER-TORN", f"the last write is torn and not marked: {len(tail)} bytes")
    if not data:
        reading.report("E-LEDGER-OPENING", "the ledger is empty")
    return LedgerCheck(
        attempts=state.attempts,
        excluded=state.excluded,
        plan=state.plan,
        manifest=state.manifest,
        closed=state.closed,
        length=reading.length,
        head=reading.head,
        defects=tuple(reading.defects),
        findings=tuple(reading.findings),
        closing=state.closing,
        stops=tuple(state.stops),
        began=state.began,
        opened=state.opened,
        ended=state.ended,
    )


class _Reading:
    """One pass over a ledger: chain position, state, what was found."""

    def __init__(self, state: LedgerState) -> None:
        self.state = state
        self.length = 0
        self.head = ABSENT_DIGEST
        self.defects: list[Problem] = []
        self.findings: list[Problem] = []
        self._last_size = 0
        self._unread = Problem("E-LEDGER-FORM", "not a ledger record")

    def report(self, code: str, message: str) -> None:
        self.defects.append(Problem(code, message, f"ledger:{self.length}"))

    def read(self, data: bytes) -> bytes:
        """Take every good line; return what follows the last one and is no defect (a torn tail, or nothing)."""
        at = 0
        while at < len(data):
            end = data.find(b"\n", at)
            if end < 0:
                return data[at:]
            if self.take(data[at:end]):
                at = end + 1
                continue
            if self.defects:
                return b""
            after = self._skip_fragment(data, at, end + 1)
            if after is None:
                return b"" if self.defects else data[at:]
            at = after
        return b""

    def take(self, line: bytes, fragment: bytes = b"") -> bool:
        """Take one line if it is the next record. False without a defect means that it is no record at all."""
        try:
            record = parse_ledger_line(line)
        except EvidenceError as error:
            self._unread = error.problems[0]
            return False
        problem = self._judge(record, fragment)
        if problem is not None:
            self.defects.append(problem._replace(where=f"ledger:{self.length}"))
            return False
        self.length += 1
        self.head = digest_of(line)
        self._last_size = len(line)
        return True

    def _judge(self, record: LedgerRecord, fragment: bytes) -> Problem | None:
        if record.seq != self.length:
            return Problem("E-LEDGER-GAP", f"seq is {record.seq}, expected {self.length}")
        if record.prev != self.head:
            return Problem("E-LEDGER-PREV", "prev is not the digest of the record before")
        if record.kind == "torn" and record.trial is None:
            size, digest = (self._last_size, self.head) if record.body.get("whole") else _measure(fragment)
            if not size or record.body != {"length": size, "sha256": digest, "whole": not fragment}:
                return Problem("E-LEDGER-TORN", "a torn write is marked that is not there")
            self.findings.append(Problem("E-LEDGER-TORN", f"torn write of {size} bytes", f"ledger:{self.length}"))
        return self.state.apply(record)

    def _skip_fragment(self, data: bytes, start: int, at: int) -> int | None:
        """Find the `torn` record that marks the bytes from `start`; return where the reading goes on after it."""
        unread = self._unread
        while (end := data.find(b"\n", at)) >= 0:
            line = data[at:end]
            if _is_record(line):
                if _is_mark(line) and self.take(line, data[start : at - 1]):
                    return end + 1
                if not self.defects:
                    self.report(unread.code, unread.message)
                return None
            at = end + 1
        return None


def _is_record(line: bytes) -> bool:
    try:
        parse_ledger_line(line)
    except EvidenceError:
        return False
    return True


def _is_mark(line: bytes) -> bool:
    """Whether a line is a record that marks a fragment before it."""
    try:
        record = parse_ledger_line(line)
    except EvidenceError:
        return False
    return record.kind == "torn" and record.trial is None and not record.body.get("whole")


def _measure(fragment: bytes) -> tuple[int, str]:
    return len(fragment), digest_of(fragment)
