"""Which answer belongs to which request, per connection and direction.

Owns the pairing rules: two separate id spaces (each side numbers its own requests), ids compared by JSON type and
value, a reused pending id marked and never mispaired, retransmission, redelivery, contradiction, cancellation.
Knows no method by name but `notifications/cancelled`, so it serves both eras of MCP alike.
Must never: guess. An answer that two requests could own has no owner (`ambiguous`), and the candidates are listed.
Source: JSON-RPC 2.0 section 5; MCP base protocol (requests, cancellation).
"""

from __future__ import annotations

from hashlib import sha256
from typing import Literal, NamedTuple, TypeAlias

from oyer.protocol.frames import IdKey, Message, Noise, id_key, parse_message, strip_terminator
from oyer.protocol.jsonvalue import JsonValue

__all__ = ["Answer", "Cancel", "Correlator", "Direction", "NoiseLine", "Notification", "Request", "Seen"]

Direction = Literal["to_server", "to_subject"]


class Request(NamedTuple):
    """A call by either side. `ref` is the caller's name for the frame; `part` its place in a batch."""

    ref: str
    part: int
    direction: Direction
    message: Message
    transmission_of: str | None  # ref of the pending call this repeats byte for byte
    reuses: tuple[str, ...]  # refs of other calls still pending under the same id: the sender's fault

    @property
    def tool(self) -> str | None:
        """The tool that a `tools/call` names."""
        return self.message.tool

    @property
    def method(self) -> str | None:
        """The method called."""
        return self.message.method

    @property
    def arguments(self) -> JsonValue:
        """The arguments as sent (see `Message.arguments`)."""
        return self.message.arguments


class Answer(NamedTuple):
    """A response. `to` is the ref of the call it answers: None if there is no such call, or more than one."""

    ref: str
    part: int
    direction: Direction
    message: Message
    to: str | None
    candidates: tuple[str, ...]  # the calls it may answer; more than one: ambiguous
    repeats: str | None  # ref of the earlier answer that this one repeats byte for byte
    contradicts: str | None  # ref of the earlier answer to the same call that said something else
    cancelled: bool  # the call was cancelled before this answer

    @property
    def ambiguous(self) -> bool:
        """Whether more than one call could own this answer."""
        return len(self.candidates) > 1

    @property
    def orphan(self) -> bool:
        """Whether no call on record could own this answer."""
        return not self.candidates

    @property
    def is_error(self) -> bool:
        """Whether it is a JSON-RPC error."""
        return self.message.is_error


class Notification(NamedTuple):
    """A message that asks for no answer."""

    ref: str
    part: int
    direction: Direction
    message: Message

    @property
    def method(self) -> str | None:
        """The method notified."""
        return self.message.method


class Cancel(NamedTuple):
    """A cancellation. `of` is the ref of the call it names, None if there is none or more than one."""

    ref: str
    part: int
    direction: Direction
    message: Message
    of: str | None
    late: bool  # the call had been answered before: the cancellation changes nothing


class NoiseLine(NamedTuple):
    """A frame, or an item of a batch, that is no message."""

    ref: str
    part: int
    direction: Direction
    noise: Noise


_KEPT_WHOLE_BYTES = 64

Seen: TypeAlias = Request | Answer | Notification | Cancel | NoiseLine


def _mark_of(message: Message) -> bytes:
    """Return what only equal transmissions share: a short one itself, else its digest, begun as no JSON begins."""
    wire = strip_terminator(message.raw)
    return wire if len(wire) <= _KEPT_WHOLE_BYTES else b"\x00" + sha256(wire).digest()


class _Call:
    __slots__ = ("cancelled", "ref", "wire")

    def __init__(self, ref: str, wire: bytes) -> None:
        self.ref = ref
        self.wire = wire
        self.cancelled = False


class _Group:
    """The calls that are, or were, pending together under one id, and the answers to them."""

    __slots__ = ("answers", "calls")

    def __init__(self) -> None:
        self.calls: list[_Call] = []
        self.answers: list[tuple[str, bytes]] = []

    @property
    def pending(self) -> bool:
        return len(self.answers) < len(self.calls)

    @property
    def refs(self) -> tuple[str, ...]:
        return tuple(call.ref for call in self.calls)


class Correlator:
    """Pair requests and answers of one connection. Feed each frame once, in the order it crossed."""

    __slots__ = ("_groups",)

    def __init__(self) -> None:
        # Keyed by the direction of the request: the two sides may use the same ids at the same time.
        self._groups: dict[tuple[Direction, IdKey], _Group] = {}

    def sent(self, raw: bytes, ref: str) -> tuple[Seen, ...]:
        """Take a frame that went from the subject to the server. One value per message of a batch."""
        return self._take(raw, ref, "to_server")

    def received(self, raw: bytes, ref: str) -> tuple[Seen, ...]:
        """Take a frame that came from the server for the subject. One value per message of a batch."""
        return self._take(raw, ref, "to_subject")

    def pending(self, direction: Direction) -> tuple[str, ...]:
        """Return the refs of calls in that direction that have no answer yet, cancelled ones apart."""
        return tuple(
            call.ref
            for (way, _), group in self._groups.items()
            if way == direction and group.pending
            for call in group.calls
            if not call.cancelled
        )

    def _take(self, raw: bytes, ref: str, direction: Direction) -> tuple[Seen, ...]:
        message = parse_message(raw)
        if isinstance(message, Noise):
            return (NoiseLine(ref, 0, direction, message),)
        parts = message.parts if message.kind == "batch" else (message,)
        return tuple(self._one(part, ref, place, direction) for place, part in enumerate(parts))

    def _one(self, part: Message | Noise, ref: str, place: int, direction: Direction) -> Seen:
        if isinstance(part, Noise):
            return NoiseLine(ref, place, direction, part)
        if part.kind == "request":
            return self._request(part, ref, place, direction)
        if part.kind == "response":
            return self._answer(part, ref, place, direction)
        if part.method == "notifications/cancelled":
            return self._cancel(part, ref, place, direction)
        return Notification(ref, place, direction, part)

    def _request(self, message: Message, ref: str, place: int, direction: Direction) -> Request:
        key = (direction, message.id_key)
        wire = _mark_of(message)
        group = self._groups.get(key)
        if group is None or not group.pending:
            group = self._groups[key] = _Group()
        same = next((call for call in group.calls if call.wire == wire), None)
        others = tuple(call.ref for call in group.calls if call is not same)
        if same is None:
            group.calls.append(_Call(ref, wire))
        return Request(ref, place, direction, message, same.ref if same else None, others)

    def _answer(self, message: Message, ref: str, place: int, direction: Direction) -> Answer:
        asked: Direction = "to_server" if direction == "to_subject" else "to_subject"
        group = self._groups.get((asked, message.id_key))
        if group is None or (message.is_error and message.id is None):
            return Answer(ref, place, direction, message, None, (), None, None, False)
        wire = _mark_of(message)
        repeats = next((earlier for earlier, bytes_ in group.answers if bytes_ == wire), None)
        contradicts = None if group.pending or repeats else group.answers[-1][0]
        group.answers.append((ref, wire))
        owner = group.calls[0] if len(group.calls) == 1 else None
        to = owner.ref if owner else None
        cancelled = all(call.cancelled for call in group.calls)
        return Answer(ref, place, direction, message, to, group.refs, repeats, contradicts, cancelled)

    def _cancel(self, message: Message, ref: str, place: int, direction: Direction) -> Cancel:
        params = message.params
        named = params.get("requestId") if isinstance(params, dict) else None
        group = self._groups.get((direction, id_key(named)))
        if group is None:
            return Cancel(ref, place, direction, message, None, False)
        late = not group.pending
        if len(group.calls) > 1:
            return Cancel(ref, place, direction, message, None, late)
        group.calls[0].cancelled = not late
        return Cancel(ref, place, direction, message, group.calls[0].ref, late)
