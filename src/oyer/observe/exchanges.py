"""What one request and its answers are, as values: the requests, the acts of Oyer on messages, and what was delivered.

Owns the shapes only; `wire` fills them from the taps' journals.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from oyer.evidence import digest_of
from oyer.protocol import Message

__all__ = ["Act", "Delivery", "Exchange", "Wire"]


class Act(NamedTuple):
    """Something Oyer did to a message, as recorded: an intervention or a policy.

    `original` and `modified_digest` are the record's own statements; `modified` are the bytes it says were left.
    """

    ref: str
    t_ns: int
    name: str
    did: str
    applied: bool
    why: str | None
    original: str
    modified: bytes | None
    modified_digest: str | None
    proof: Mapping[str, Any] | None
    occurrence: int | None
    request: str | None


class Delivery(NamedTuple):
    """One answer: the server's own bytes, what was done to them, and what the subject got.

    `original` is the whole frame; `message` is this answer in it, which in a batch is a part. `delivered_digest` is
    the tap's own statement, None where no byte of it is on record as delivered.
    """

    ref: str
    t_ns: int
    original: bytes
    message: Message
    in_batch: bool
    expected: bytes
    delivered_ref: str | None
    delivered_digest: str | None
    t_delivered_ns: int | None
    interventions: tuple[Act, ...]
    policies: tuple[Act, ...]
    repeats: str | None
    contradicts: str | None
    session: str | None

    @property
    def intervened(self) -> Act | None:
        """The intervention on this answer; a second one is an excess, found elsewhere."""
        return self.interventions[0] if self.interventions else None

    @property
    def before_policy(self) -> bytes:
        """The bytes that a policy had before it: the answer itself, or what the intervention left of it."""
        change = self.intervened
        return change.modified if change is not None and change.applied and change.modified is not None else self.own

    @property
    def own(self) -> bytes:
        """The server's own bytes of this answer alone."""
        return self.message.raw

    @property
    def delivered(self) -> bytes | None:
        """The bytes the subject got: those expected, if the tap's digest says that exactly these were delivered."""
        return self.expected if self.delivered_digest == digest_of(self.expected) else None

    @property
    def told(self) -> str | None:
        """What tells it from another answer to the same call, as it was delivered; None where it was not."""
        return self.delivered_digest if self.changed or self.delivered_digest is None else digest_of(self.own)

    @property
    def left_honest(self) -> bool:
        """Whether the intervention left it as the server sent it, whatever a policy made of it then."""
        return not any(act.applied and act.modified != self.original for act in self.interventions)

    @property
    def changed(self) -> bool:
        """Whether anything but the original was delivered."""
        return self.delivered_digest is not None and self.delivered_digest != digest_of(self.original)


class Exchange(NamedTuple):
    """One request of the subject to a server, with every answer to it.

    `policies` are the acts on the request. `refusal` is the policy's act where it kept every transmission from the
    server; `half_refused` says that some transmission was refused and something reached the server all the same.
    """

    ref: str
    part: int
    server: str
    connection: int
    session: str | None
    boot: str
    method: str | None
    tool: str | None
    target: str | None
    arguments: Any
    t_ns: int
    t_forwarded_ns: int | None
    transmissions: tuple[str, ...]
    answers: tuple[Delivery, ...]
    cancelled: bool
    policies: tuple[Act, ...]
    refusal: Act | None
    refusal_delivered_ns: int | None
    half_refused: bool

    @property
    def key(self) -> tuple[str, int]:
        """What tells it from every other request: its frame, and its place in it."""
        return self.ref, self.part

    @property
    def refs(self) -> tuple[str, ...]:
        """Every event that shows this exchange."""
        return (*self.transmissions, *(answer.ref for answer in self.answers))

    @property
    def answer(self) -> Delivery | None:
        """The first answer, None where there is none."""
        return self.answers[0] if self.answers else None


class Wire(NamedTuple):
    """All exchanges of a trial in order of request, and what does not fit: refs of events.

    `orphans`: answers to no recorded request. `ambiguous`: answers that several requests could own, and ids reused
    while pending. `contradictions`: pairs of different answers to one request. `unexpected_changes`: deliveries that
    no record of an act explains. `other_acts`: acts on what is neither request nor answer. `strays`: records about a
    message that is not there. `lost_originals`: interventions on a message that is not there. `misnamed`: events about
    another server than their writer. `unread`: what the subject sent that is no message, or a call without an id;
    its server may have carried it out all the same. `messages` is everything that crossed, in either direction.
    """

    exchanges: tuple[Exchange, ...]
    orphans: tuple[str, ...]
    ambiguous: tuple[str, ...]
    contradictions: tuple[tuple[str, str], ...]
    noise: tuple[str, ...]
    unread: tuple[str, ...]
    unexpected_changes: tuple[str, ...]
    unreadable: tuple[str, ...]
    other_acts: tuple[str, ...]
    strays: tuple[str, ...]
    lost_originals: tuple[str, ...]
    misnamed: tuple[str, ...]
    messages: tuple[tuple[str, Message], ...]
    last_ns: int | None
