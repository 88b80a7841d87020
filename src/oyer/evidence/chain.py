"""A writer's hash chain, sans I/O: facts go in, lines come out.

Owns sequence numbers, links and the sealing rule. Must never read a clock (times are given), and never append to a
chain that is sealed.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from oyer.errors import EvidenceError
from oyer.evidence.canonical import ABSENT_DIGEST, MAX_MONO_NS, digest_of, encode_canonical
from oyer.evidence.events import WALL_TIME_PATTERN, Event, split_ref
from oyer.evidence.vocabulary import check_body, check_writer_kind

__all__ = ["Chain", "Envelope", "WriterHead"]

_WALL_TIME = re.compile(WALL_TIME_PATTERN)


class Envelope(NamedTuple):
    """What every event of one attempt shares. `boot` names the life of the monotonic clock, not the attempt."""

    series: str
    trial: str
    run: str
    condition: str
    attempt: int
    boot: str


class WriterHead(NamedTuple):
    """How long a chain is (lines, `sealed` included once sealed) and the digest of its last line."""

    length: int
    head: str


class Chain:
    """One writer's growing chain. Not thread-safe; the store serialises."""

    __slots__ = ("_head", "_sealed", "_seq", "_t_mono_ns", "envelope", "writer")

    def __init__(self, writer: str, envelope: Envelope) -> None:
        check_writer_kind(writer, "sealed")
        self.writer = writer
        self.envelope = envelope
        self._seq = 0
        self._head = ABSENT_DIGEST
        self._sealed = False
        self._t_mono_ns = 0

    @property
    def head(self) -> WriterHead:
        """Length and digest of the chain as it stands."""
        return WriterHead(self._seq, self._head)

    @property
    def sealed(self) -> bool:
        """Whether the chain has ended."""
        return self._sealed

    def append(
        self,
        kind: str,
        body: Mapping[str, Any],
        *,
        t_mono_ns: int,
        t_wall: str,
        session: str | None = None,
        because: Sequence[str] = (),
        blobs: Sequence[str] = (),
    ) -> tuple[Event, bytes]:
        """Add one event and return it with its whole line, newline included.

        The chain advances only if the event is good. Raises: EvidenceError `E-CHAIN-SEALED`, `E-CHAIN-CLOCK`,
        `E-EVENT-*`, `E-CANONICAL`.
        """
        if kind == "sealed":
            raise EvidenceError("E-CHAIN-SEALED", "a chain is sealed by seal(), not by an event", where=self.writer)
        return self._append(kind, body, t_mono_ns, t_wall, session, because, blobs)

    def seal(self, *, t_mono_ns: int, t_wall: str) -> bytes:
        """Add the last line, which states length and head, and refuse everything after it."""
        body = {"length": self._seq, "head": self._head}
        _, line = self._append("sealed", body, t_mono_ns, t_wall, None, (), ())
        self._sealed = True
        return line

    def _append(
        self,
        kind: str,
        body: Mapping[str, Any],
        t_mono_ns: int,
        t_wall: str,
        session: str | None,
        because: Sequence[str],
        blobs: Sequence[str],
    ) -> tuple[Event, bytes]:
        self._require_next(t_mono_ns, t_wall, because)
        check_writer_kind(self.writer, kind)
        check_body(kind, body)
        series, trial, run, condition, attempt, boot = self.envelope
        event = Event(
            attempt=attempt,
            because=tuple(because),
            blobs=tuple(blobs),
            body=dict(body),
            boot=boot,
            condition=condition,
            kind=kind,
            prev=self._head,
            run=run,
            seq=self._seq,
            series=series,
            session=session,
            t_mono_ns=t_mono_ns,
            t_wall=t_wall,
            trial=trial,
            writer=self.writer,
        )
        line = encode_canonical(event)
        self._head = digest_of(line)
        self._seq += 1
        self._t_mono_ns = t_mono_ns
        return event, line + b"\n"

    def _require_next(self, t_mono_ns: int, t_wall: str, because: Sequence[str]) -> None:
        if self._sealed:
            raise EvidenceError("E-CHAIN-SEALED", "the chain is sealed", where=self.writer)
        if not self._t_mono_ns <= t_mono_ns <= MAX_MONO_NS:
            raise EvidenceError("E-CHAIN-CLOCK", "the monotonic clock went backwards or past 2^63-1", where=self.writer)
        if _WALL_TIME.match(t_wall) is None:
            raise EvidenceError("E-EVENT-FORM", f"not a UTC time with Z: {t_wall!r}", where=self.writer)
        for ref in because:
            writer, seq = split_ref(ref)
            if writer == self.writer and seq >= self._seq:
                raise EvidenceError("E-EVENT-CAUSE", f"cause {ref} is not before this event", where=self.writer)
