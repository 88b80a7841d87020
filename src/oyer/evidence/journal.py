"""Checking one journal: bytes in, the good prefix and every defect out.

Owns the reading side of the chain rules. Must never raise on bad evidence, never repair, and never cut a torn tail:
what cannot be read is returned as it is. Lines end at byte 0x0A and at nothing else.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NoReturn

import msgspec

from oyer.errors import EvidenceError, Problem
from oyer.evidence.canonical import ABSENT_DIGEST, digest_of
from oyer.evidence.chain import Envelope
from oyer.evidence.events import Event, parse_forms, split_ref
from oyer.evidence.payloads import PayloadForm, proven_bytes

__all__ = ["MAX_DEFECTS", "JournalCheck", "check_journal"]

MAX_DEFECTS = 64


class JournalCheck(msgspec.Struct, frozen=True):
    """What one journal proves.

    `events` is the good prefix: it ends before the first defect. `length` and `head` are of that prefix (lines, the
    `sealed` one included). `torn` holds the bytes after the last newline.
    """

    writer: str
    events: tuple[Event, ...]
    defects: tuple[Problem, ...]
    sealed: bool
    length: int
    head: str
    torn: bytes = b""

    @property
    def intact(self) -> bool:
        """Whether the whole journal is good and sealed."""
        return not self.defects

    def __bool__(self) -> NoReturn:
        raise TypeError("a check has no truth value; ask for .intact or .defects")


def check_journal(data: bytes, *, expect: Envelope | None = None, writer: str | None = None) -> JournalCheck:
    """Check every line of a journal and the chain they form; never raises on bad evidence.

    `expect` gives the series, trial, run, condition and attempt the lines must carry (without it, those of the first
    line hold for all); `writer` the name they must carry. Blobs are not opened here; inline payloads are proven.
    Codes: `E-CHAIN-GAP`, `-PREV`, `-UNSEALED`, `-TORN`, `-AFTER-SEAL`, `-SEAL`, `-FOREIGN`, `-CLOCK`,
    `E-EVENT-FORM`, `-CANONICAL`, `-KIND`, `-BODY`, `-WRITER`, `-VERSION`, `-BLOBS`, `-CAUSE`, `E-PAYLOAD-*`.
    """
    lines = data.split(b"\n")
    torn = lines.pop()
    walk = _Walk(expect, writer)
    for line in lines:
        walk.take(line)
    if torn:
        walk.report("E-CHAIN-TORN", f"the last line is torn: {len(torn)} bytes without a newline")
    if not walk.sealed:
        walk.report("E-CHAIN-UNSEALED", "the journal does not end in `sealed`" if data else "the journal is empty")
    return JournalCheck(
        writer=walk.writer or "",
        events=tuple(walk.events),
        defects=tuple(walk.defects),
        sealed=walk.sealed,
        length=len(walk.events),
        head=walk.good_head,
        torn=torn,
    )


class _Walk:
    """The state of one reading: what the next line must look like."""

    def __init__(self, expect: Envelope | None, writer: str | None) -> None:
        self.envelope: tuple[Any, ...] | None = None if expect is None else expect[:5]
        self.writer = writer
        self.events: list[Event] = []
        self.defects: list[Problem] = []
        self.good_head = ABSENT_DIGEST
        self.sealed = False
        self._line_number = 0
        self._next_seq = 0
        self._prev = ABSENT_DIGEST
        self._clock: dict[str, int] = {}

    def report(self, code: str, message: str) -> None:
        if len(self.defects) < MAX_DEFECTS:
            self.defects.append(Problem(code, message, f"{self.writer or '?'}:{self._line_number}"))

    def take(self, line: bytes) -> None:
        """Judge one line against the chain so far, then follow what it says so that later defects are its own."""
        if self.sealed:
            self.report("E-CHAIN-AFTER-SEAL", "there is a line after `sealed`")
            self.sealed = False
        digest = digest_of(line)
        try:
            event, payloads = parse_forms(line)
        except EvidenceError as error:
            for problem in error.problems:
                self.report(problem.code, problem.message)
            self._next_seq += 1
        else:
            if not self._fits(event):
                self._check_link(event)
                self._check_envelope(event)
            self._check_content(event, payloads)
            self._follow(event, digest)
        self._prev = digest
        self._line_number += 1

    def _fits(self, event: Event) -> bool:
        """Whether an event is plainly the next of this chain; where it is not, or not plainly, each rule is asked."""
        return (
            event.prev == self._prev
            and event.seq == self._next_seq
            and event.writer == self.writer
            and event.t_mono_ns >= self._clock.get(event.boot, 0)
            and event.kind != "sealed"
            and (event.series, event.trial, event.run, event.condition, event.attempt) == self.envelope
        )

    def _follow(self, event: Event, digest: str) -> None:
        self._next_seq = event.seq + 1
        self._clock[event.boot] = event.t_mono_ns
        if event.kind == "sealed":
            self.sealed = True
        if not self.defects:
            self.events.append(event)
            self.good_head = digest

    def _check_link(self, event: Event) -> None:
        if event.seq != self._next_seq:
            self.report("E-CHAIN-GAP", f"seq is {event.seq}, expected {self._next_seq}")
        if event.prev != self._prev:
            self.report("E-CHAIN-PREV", "prev is not the digest of the line before")
        if event.kind == "sealed" and event.body != {"length": self._next_seq, "head": self._prev}:
            self.report("E-CHAIN-SEAL", "`sealed` states another length or head than the chain has")
        if event.t_mono_ns < self._clock.get(event.boot, 0):
            self.report("E-CHAIN-CLOCK", f"t_mono_ns goes back from {self._clock[event.boot]} to {event.t_mono_ns}")

    def _check_envelope(self, event: Event) -> None:
        envelope = (event.series, event.trial, event.run, event.condition, event.attempt)
        if self.writer is None:
            self.writer = event.writer
        if self.envelope is None:
            self.envelope = envelope
        if event.writer != self.writer:
            self.report("E-CHAIN-FOREIGN", f"an event of writer {event.writer!r} stands in this journal")
        if envelope != self.envelope:
            names = ("series", "trial", "run", "condition", "attempt")
            wrong = [name for name, got, want in zip(names, envelope, self.envelope, strict=True) if got != want]
            self.report("E-CHAIN-FOREIGN", f"the event belongs to another {', '.join(wrong)}")

    def _check_content(self, event: Event, payloads: Iterable[PayloadForm]) -> None:
        for ref in event.because:
            writer, seq = split_ref(ref)
            if writer == event.writer and seq >= event.seq:
                self.report("E-EVENT-CAUSE", f"cause {ref} is not before this event")
        kept: list[str] = []
        for payload in payloads:
            if payload.blob is True:
                kept.append(payload.sha256)
                continue
            try:
                proven_bytes(payload, _no_blob)
            except EvidenceError as error:
                self.report(error.code, error.problems[0].message)
        if (kept or event.blobs) and event.blobs != tuple(sorted(set(kept))):
            self.report("E-EVENT-BLOBS", "blobs are not exactly the sorted digests of the body's blob payloads")


def _no_blob(_digest: str) -> None:
    return None
