"""One event: one canonical JSON line of a writer's chain.

Owns the envelope of an event and its byte form. Must never accept two byte forms of one event: a line is good only
if encoding what it parsed to gives the same bytes, which refuses duplicate keys, white space and other number forms.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from oyer.errors import EvidenceError
from oyer.evidence.canonical import DIGEST_PATTERN, MAX_MONO_NS, MAX_SAFE_INT, encode_canonical, explain_form
from oyer.evidence.payloads import PayloadForm
from oyer.evidence.vocabulary import REF_PATTERN, body_forms, check_body, check_writer_kind, is_writer

__all__ = ["WALL_TIME_PATTERN", "Event", "encode_event", "make_ref", "parse_event", "parse_forms", "split_ref"]

# UTC with Z and nothing else: order never comes from wall time, and a local time here would be a lie.
WALL_TIME_PATTERN = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]{1,9})?Z\Z"

_Count = Annotated[int, Meta(ge=0, le=MAX_SAFE_INT)]
_Digest = Annotated[str, Meta(pattern=DIGEST_PATTERN)]
_Ref = Annotated[str, Meta(pattern=REF_PATTERN)]


class Event(msgspec.Struct, frozen=True, forbid_unknown_fields=True, gc=False):
    """One event with its envelope. Fields stand in the order of the canonical form.

    `prev` is all zeros at seq 0, else the sha256 of the previous line without its newline. `blobs` lists the digests of
    the payloads in `body` that are kept as blobs, sorted, each once. The forms of `prev`, `t_wall` and `writer`, which
    every line has, are for `parse_forms` to check: it does so in a third of the time that the decoder takes.
    """

    attempt: _Count
    because: tuple[_Ref, ...]
    blobs: tuple[_Digest, ...]
    body: dict[str, Any]
    boot: str
    condition: str
    kind: str
    prev: str
    run: str
    seq: _Count
    series: str
    session: str | None
    t_mono_ns: Annotated[int, Meta(ge=0, le=MAX_MONO_NS)]
    t_wall: str
    trial: str
    writer: str

    @property
    def ref(self) -> str:
        """The name other events cite this one by."""
        return f"{self.writer}:{self.seq}"


_DECODER = msgspec.json.Decoder(Event)
_REF = re.compile(REF_PATTERN)
_is_digest = re.compile(DIGEST_PATTERN).match
_is_wall_time = re.compile(WALL_TIME_PATTERN).match


def encode_event(event: Event) -> bytes:
    """Return the canonical line of an event, without the newline.

    Raises: EvidenceError `E-CANONICAL`.
    """
    return encode_canonical(event)


def parse_event(line: bytes) -> Event:
    """Return the event of one line. Raises: as `parse_forms`."""
    return parse_forms(line)[0]


def parse_forms(line: bytes) -> tuple[Event, Iterator[PayloadForm]]:
    """Parse one line (without its newline) and prove that it is the only form of this event.

    Returned with the event are its payloads, in the form they were found to have.

    Raises: EvidenceError `E-EVENT-FORM`, `E-EVENT-CANONICAL`, `E-EVENT-KIND`, `E-EVENT-BODY`, `E-EVENT-WRITER`,
    `E-EVENT-VERSION`.
    """
    try:
        event = _DECODER.decode(line)
    except (msgspec.MsgspecError, ValueError, RecursionError) as error:
        raise EvidenceError("E-EVENT-FORM", f"not an event: {error}") from error
    if not (_is_digest(event.prev) and _is_wall_time(event.t_wall) and is_writer(event.writer)):
        raise EvidenceError("E-EVENT-FORM", "not an event: prev, t_wall or writer is not of its form")
    try:
        again = encode_event(event)
    except EvidenceError as error:
        raise EvidenceError("E-EVENT-CANONICAL", f"event has no canonical form: {error}") from error
    if again != line:
        raise EvidenceError("E-EVENT-CANONICAL", explain_form(line))
    check_writer_kind(event.writer, event.kind)
    return event, body_forms(event.kind, check_body(event.kind, event.body))


def make_ref(writer: str, seq: int) -> str:
    """Return the reference `writer:seq`."""
    return f"{writer}:{seq}"


def split_ref(ref: str) -> tuple[str, int]:
    """Return writer and seq of a reference.

    Raises: EvidenceError `E-EVENT-REF`.
    """
    if _REF.match(ref) is None:
        raise EvidenceError("E-EVENT-REF", f"not a reference to an event: {ref!r}")
    writer, _, seq = ref.rpartition(":")
    return writer, int(seq)
