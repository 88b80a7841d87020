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
from oyer.evidence.events import WALL_TIME_PATTERN, Event, parse_event, split_ref
from oyer.evidence.vocabulary import check_body, check_shape, check_writer_kind

__all__ = ["Chain", "Envelope", "WriterHead"]

_WALL_TIME = re.compile(WALL_TIME_PATTERN)
_PLAIN_SEQ = re.compile(r"(?:0|[1-9][0-9]{0,15})\Z")


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

    __slots__ = ("_form", "_head", "_own", "_sealed", "_seq", "_session", "_t_mono_ns", "envelope", "writer")

    def __init__(self, writer: str, envelope: Envelope) -> None:
        check_writer_kind(writer, "sealed")
        self.writer = writer
        self.envelope = envelope
        self._form = _line_form(writer, envelope)
        self._own = f"{writer}:"
        self._session: tuple[str | None, bytes] = (None, b"null")
        self._seq = 0
        self._head = ABSENT_DIGEST
        self._sealed = False
        self._t_mono_ns = 0

    @property
    def head(self) -> WriterHead:
        """Length and digest of the chain as it stands."""
        return WriterHead(self._seq, self._head)

    @property
    def length(self) -> int:
        """How many events the chain holds: the next one's number."""
        return self._seq

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
        """Add one event and return it, as a reader will find it, with its whole line. Raises: as `line`."""
        line = self.line(kind, body, t_mono_ns=t_mono_ns, t_wall=t_wall, session=session, because=because, blobs=blobs)
        return parse_event(line[:-1]), line

    def line(
        self,
        kind: str,
        body: Mapping[str, Any],
        *,
        t_mono_ns: int,
        t_wall: str,
        session: str | None = None,
        because: Sequence[str] = (),
        blobs: Sequence[str] = (),
        by_shape: bool = False,
    ) -> bytes:
        """Add one event and return its whole line, newline included.

        The chain advances only if the event is good. `by_shape` trusts the values of a body whose keys were found
        good before: for an observer that builds its bodies itself. Raises: EvidenceError `E-CHAIN-SEALED`,
        `E-CHAIN-CLOCK`, `E-EVENT-*`, `E-CANONICAL`.
        """
        if kind == "sealed":
            raise EvidenceError("E-CHAIN-SEALED", "a chain is sealed by seal(), not by an event", where=self.writer)
        return self._line(kind, body, t_mono_ns, t_wall, session, because, blobs, by_shape)

    def seal(self, *, t_mono_ns: int, t_wall: str) -> bytes:
        """Add the last line, which states length and head, and refuse everything after it."""
        body = {"length": self._seq, "head": self._head}
        line = self._line("sealed", body, t_mono_ns, t_wall, None, (), (), False)
        self._sealed = True
        return line

    def _line(
        self,
        kind: str,
        body: Mapping[str, Any],
        t_mono_ns: int,
        t_wall: str,
        session: str | None,
        because: Sequence[str],
        blobs: Sequence[str],
        by_shape: bool,
    ) -> bytes:
        self._require_next(t_mono_ns, t_wall)
        check_writer_kind(self.writer, kind)
        if by_shape:
            check_shape(kind, body)
        else:
            check_body(kind, body)
        if session != self._session[0]:
            self._session = (session, encode_canonical(session))
        line = self._form % (
            self._causes(because) if because else b"[]",
            encode_canonical(blobs) if blobs else b"[]",
            encode_canonical(body),
            kind.encode(),
            self._head.encode(),
            self._seq,
            self._session[1],
            t_mono_ns,
            t_wall.encode(),
        )
        self._head = digest_of(line)
        self._seq += 1
        self._t_mono_ns = t_mono_ns
        return line + b"\n"

    def _require_next(self, t_mono_ns: int, t_wall: str) -> None:
        if self._sealed:
            raise EvidenceError("E-CHAIN-SEALED", "the chain is sealed", where=self.writer)
        if not self._t_mono_ns <= t_mono_ns <= MAX_MONO_NS:
            raise EvidenceError("E-CHAIN-CLOCK", "the monotonic clock went backwards or past 2^63-1", where=self.writer)
        if _WALL_TIME.match(t_wall) is None:
            raise EvidenceError("E-EVENT-FORM", f"not a UTC time with Z: {t_wall!r}", where=self.writer)

    def _causes(self, because: Sequence[str]) -> bytes:
        """Return the list of causes as JSON, each a well-formed reference to something that is already there."""
        for ref in because:
            if ref.startswith(self._own) and _PLAIN_SEQ.match(ref, len(self._own)) is not None:
                seq = int(ref[len(self._own) :])
            else:
                writer, seq = split_ref(ref)
                if writer != self.writer:
                    continue
            if seq >= self._seq:
                raise EvidenceError("E-EVENT-CAUSE", f"cause {ref} is not before this event", where=self.writer)
        return encode_canonical(because)


def _line_form(writer: str, envelope: Envelope) -> bytes:
    """Return the canonical line of an event of this writer, with a place for everything that differs.

    Keys stand in the order of the canonical form, so filling it in gives what encoding the whole event would give.
    """
    series, trial, run, condition, boot, name = (
        encode_canonical(value).replace(b"%", b"%%")
        for value in (envelope.series, envelope.trial, envelope.run, envelope.condition, envelope.boot, writer)
    )
    return (
        b'{"attempt":%d,"because":%%b,"blobs":%%b,"body":%%b,"boot":' % envelope.attempt
        + boot + b',"condition":' + condition + b',"kind":"%b","prev":"%b","run":' + run
        + b',"seq":%d,"series":' + series + b',"session":%b,"t_mono_ns":%d,"t_wall":"%b","trial":' + trial
        + b',"writer":' + name + b"}"
    )  # fmt: skip
