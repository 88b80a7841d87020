"""What crossed between subject and servers: requests with their answers, originals and delivered bytes, re-parsed.

Owns the reading of `mcp.*` events into exchanges. The journal's own ids and methods are never believed: every message
is parsed again from its raw bytes and paired by `oyer.protocol`. Must never pair by order or by guess.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from oyer.evidence import Event, digest_of
from oyer.observe.trial import TrialEvidence
from oyer.protocol import Answer, Cancel, Correlator, IdKey, Message, Request

__all__ = ["Act", "Delivery", "Exchange", "Wire", "read_wire"]


class Act(NamedTuple):
    """Something Oyer did to a message, as recorded: an intervention or a policy."""

    ref: str
    t_ns: int
    name: str
    did: str
    applied: bool
    why: str | None
    original: str
    modified: bytes | None
    proof: Mapping[str, Any] | None
    occurrence: int | None


class Delivery(NamedTuple):
    """One answer: the server's own bytes, what was done to them, and what the subject got.

    `delivered` is None where no byte of it is on record as delivered; `delivered_digest` is the tap's own statement.
    """

    ref: str
    t_ns: int
    original: bytes | None
    message: Message
    expected: bytes | None
    delivered_ref: str | None
    delivered_digest: str | None
    t_delivered_ns: int | None
    intervened: Act | None
    policies: tuple[Act, ...]
    repeats: str | None
    contradicts: str | None
    session: str | None

    @property
    def delivered(self) -> bytes | None:
        """The bytes the subject got: those expected, if the tap's digest says that exactly these were delivered."""
        if self.expected is None or self.delivered_digest != digest_of(self.expected):
            return None
        return self.expected

    @property
    def changed(self) -> bool:
        """Whether anything but the original was delivered."""
        return self.delivered_digest is not None and (
            self.original is None or self.delivered_digest != digest_of(self.original)
        )


class Exchange(NamedTuple):
    """One request of the subject to a server, with every answer to it."""

    ref: str
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
    refusal: Act | None
    refusal_delivered_ns: int | None

    @property
    def refs(self) -> tuple[str, ...]:
        """Every event that shows this exchange."""
        return (*self.transmissions, *(answer.ref for answer in self.answers))

    @property
    def answer(self) -> Delivery | None:
        """The first answer, None where there is none."""
        return self.answers[0] if self.answers else None


class Wire(NamedTuple):
    """All exchanges of a trial in order of request, and what could not be paired."""

    exchanges: tuple[Exchange, ...]
    orphans: tuple[str, ...]
    ambiguous: tuple[str, ...]
    contradictions: tuple[tuple[str, str], ...]
    noise: tuple[str, ...]
    unexpected_changes: tuple[str, ...]
    unreadable: tuple[str, ...]


class _Building:
    __slots__ = ("answers", "cancelled", "event", "message", "transmissions")

    def __init__(self, event: Event, message: Message) -> None:
        self.event = event
        self.message = message
        self.transmissions = [event.ref]
        self.answers: list[Delivery] = []
        self.cancelled = False


class _Reading:
    """The state of reading one tap's journal."""

    def __init__(self, evidence: TrialEvidence, writer: str) -> None:
        self.evidence = evidence
        self.writer = writer
        events = evidence.events(writer)
        self.delivered = {e.body["of"] + ">" + e.body["direction"]: e for e in events if e.kind == "mcp.delivered"}
        self.acts: dict[str, list[Act]] = {}
        for event in events:
            if event.kind in ("mcp.intervened", "mcp.policy"):
                self.acts.setdefault(event.body["of"], []).append(_act(evidence, event))
        self.calls: dict[tuple[str, IdKey], _Building] = {}
        self.orphans: list[str] = []
        self.ambiguous: list[str] = []
        self.contradictions: list[tuple[str, str]] = []
        self.noise: list[str] = []
        self.unreadable: list[str] = []
        self.unexpected: list[str] = []

    def read(self) -> None:
        correlators: dict[int, Correlator] = {}
        for event in self.evidence.events(self.writer):
            if event.kind == "mcp.noise":
                self.noise.append(event.ref)
            if event.kind not in ("mcp.sent", "mcp.received"):
                continue
            raw = self.evidence.payload(event)
            if raw is None:
                self.unreadable.append(event.ref)
                continue
            correlator = correlators.setdefault(event.body["connection"], Correlator())
            seen = correlator.sent(raw, event.ref) if event.kind == "mcp.sent" else correlator.received(raw, event.ref)
            for item in seen:
                self._take(item, event, raw)
            self._check_delivery(event, raw)

    def _take(self, item: Any, event: Event, raw: bytes) -> None:
        if isinstance(item, Request) and item.direction == "to_server":
            key = item.message.id_key
            if item.transmission_of is not None and (item.transmission_of, key) in self.calls:
                self.calls[item.transmission_of, key].transmissions.append(event.ref)
            else:
                self.calls[event.ref, key] = _Building(event, item.message)
            if item.reuses:
                self.ambiguous.append(event.ref)
        elif isinstance(item, Cancel) and item.direction == "to_server" and item.of is not None and not item.late:
            # A batch puts several calls under one frame; a cancellation of one of them is not told apart further.
            for (ref, _), call in self.calls.items():
                call.cancelled = call.cancelled or ref == item.of
        elif isinstance(item, Answer) and item.direction == "to_subject":
            self._answer(item, event, raw)

    def _answer(self, item: Answer, event: Event, raw: bytes) -> None:
        if item.orphan:
            self.orphans.append(event.ref)
            return
        if item.contradicts is not None:
            self.contradictions.append((item.contradicts, event.ref))
        call = self.calls.get((item.to, item.message.id_key)) if item.to is not None else None
        if call is None:
            self.ambiguous.append(event.ref)
            return
        call.answers.append(self._delivery(item, event, raw))

    def _delivery(self, item: Answer, event: Event, raw: bytes) -> Delivery:
        acts = self.acts.get(event.ref, [])
        applied = [act for act in acts if act.applied and act.modified is not None]
        sent = self.delivered.get(event.ref + ">to_subject")
        return Delivery(
            ref=event.ref,
            t_ns=event.t_mono_ns,
            original=raw,
            message=item.message,
            expected=applied[-1].modified if applied else raw,
            delivered_ref=sent.ref if sent else None,
            delivered_digest=sent.body["sha256"] if sent else None,
            t_delivered_ns=sent.t_mono_ns if sent else None,
            intervened=next((act for act in acts if act.did == "intervened"), None),
            policies=tuple(act for act in acts if act.did != "intervened"),
            repeats=item.repeats,
            contradicts=item.contradicts,
            session=event.session,
        )

    def _check_delivery(self, event: Event, raw: bytes) -> None:
        """Note every message that was delivered otherwise than the record of acts explains."""
        way = "to_server" if event.kind == "mcp.sent" else "to_subject"
        sent = self.delivered.get(f"{event.ref}>{way}")
        if sent is None:
            return
        applied = [act for act in self.acts.get(event.ref, ()) if act.applied and act.modified is not None]
        explained = applied[-1].modified if applied and way == "to_subject" else raw
        if explained is None or sent.body["sha256"] != digest_of(explained):
            self.unexpected.append(sent.ref)

    def exchanges(self) -> list[Exchange]:
        return [self._exchange(ref, call) for (ref, _), call in self.calls.items()]

    def _exchange(self, ref: str, call: _Building) -> Exchange:
        event, message = call.event, call.message
        forwarded = self.delivered.get(ref + ">to_server")
        refusal = next((act for act in self.acts.get(ref, ()) if act.did == "refused"), None)
        told = self.delivered.get(ref + ">to_subject")
        return Exchange(
            ref=ref,
            server=event.body["server"],
            connection=event.body["connection"],
            session=event.session,
            boot=event.boot,
            method=message.method,
            tool=message.tool,
            target=message.target,
            arguments=message.arguments,
            t_ns=event.t_mono_ns,
            t_forwarded_ns=forwarded.t_mono_ns if forwarded else None,
            transmissions=tuple(call.transmissions),
            answers=tuple(call.answers),
            cancelled=call.cancelled,
            refusal=refusal,
            refusal_delivered_ns=told.t_mono_ns if told and refusal else None,
        )


def _act(evidence: TrialEvidence, event: Event) -> Act:
    body = event.body
    if event.kind == "mcp.intervened":
        return Act(
            event.ref,
            event.t_mono_ns,
            body["intervention"],
            "intervened",
            body["applied"],
            body.get("why"),
            body["original"],
            evidence.payload(event, "modified"),
            body.get("proof"),
            body["occurrence"],
        )
    return Act(
        event.ref,
        event.t_mono_ns,
        body["policy"],
        body["did"],
        body["did"] in ("labelled", "stripped"),
        None,
        body["original"],
        evidence.payload(event, "delivered"),
        None,
        None,
    )


def read_wire(evidence: TrialEvidence) -> Wire:
    """Read every tap of a trial into exchanges, in order of the time the request arrived at its tap."""
    readings = []
    for writer in evidence.writers("tap:"):
        reading = _Reading(evidence, writer)
        reading.read()
        readings.append(reading)
    exchanges = sorted((e for r in readings for e in r.exchanges()), key=lambda e: (e.t_ns, e.ref))
    return Wire(
        exchanges=tuple(exchanges),
        orphans=tuple(ref for r in readings for ref in r.orphans),
        ambiguous=tuple(ref for r in readings for ref in r.ambiguous),
        contradictions=tuple(pair for r in readings for pair in r.contradictions),
        noise=tuple(ref for r in readings for ref in r.noise),
        unexpected_changes=tuple(ref for r in readings for ref in r.unexpected),
        unreadable=tuple(ref for r in readings for ref in r.unreadable),
    )
