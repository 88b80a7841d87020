"""What crossed between subject and servers: requests with their answers, originals and delivered bytes, re-parsed.

Owns the reading of `mcp.*` events into exchanges. The journal's own ids and methods are never believed: every message
is parsed again from its raw bytes and paired by `oyer.protocol`. Must never pair by order or by guess.
"""

from __future__ import annotations

from typing import Any

from oyer.evidence import Event, digest_of, split_ref
from oyer.observe.exchanges import Act, Delivery, Exchange, Wire
from oyer.observe.trial import TrialEvidence
from oyer.protocol import Answer, Cancel, Correlator, IdKey, Message, NoiseLine, Notification, Request, Seen, id_key

__all__ = ["read_wire"]

_MESSAGES = ("mcp.sent", "mcp.received", "mcp.noise")


class _Building:
    """One request while its journal is read."""

    __slots__ = ("answers", "cancelled", "event", "message", "part", "transmissions")

    def __init__(self, event: Event, item: Request) -> None:
        self.event = event
        self.message = item.message
        self.part = item.part
        self.transmissions = [event.ref]
        self.answers: list[Delivery] = []
        self.cancelled = False


class _Reading:
    """The state of reading one tap's journal."""

    def __init__(self, evidence: TrialEvidence, writer: str) -> None:
        self.evidence = evidence
        self.server = writer.removeprefix("tap:")
        self.events = [event for event in evidence.events(writer) if event.kind.startswith("mcp.")]
        self.frames = {event.ref: event for event in self.events if event.kind in _MESSAGES}
        self.delivered: dict[tuple[str, str], list[Event]] = {}
        self.acts: dict[str, list[Act]] = {}
        self.calls: list[_Building] = []
        self.by_id: dict[tuple[str, IdKey], _Building] = {}
        self.orphans: list[str] = []
        self.ambiguous: list[str] = []
        self.contradictions: list[tuple[str, str]] = []
        self.unreadable: list[str] = []
        self.unexpected: list[str] = []
        self.strays: list[str] = []
        self.lost: list[str] = []
        self.unread: list[str] = []
        self.messages: list[tuple[str, Message]] = []
        for event in self.events:
            self._note(event)

    def _note(self, event: Event) -> None:
        """File what is recorded about a message under that message."""
        if event.kind not in ("mcp.delivered", "mcp.intervened", "mcp.policy"):
            return
        about = self.frames.get(event.body["of"])
        if event.kind == "mcp.intervened" and (about is None or about.kind != "mcp.received"):
            self.lost.append(event.ref)
        elif about is None or about.seq >= event.seq:
            self.strays.append(event.ref)
        elif event.kind == "mcp.delivered":
            self.delivered.setdefault((event.body["of"], event.body["direction"]), []).append(event)
        else:
            self.acts.setdefault(event.body["of"], []).append(_act(self.evidence, event))

    def read(self) -> None:
        correlators: dict[int, Correlator] = {}
        for event in self.frames.values():
            raw = self.evidence.payload(event)
            if raw is None:
                self.unreadable.append(event.ref)
                continue
            if event.kind == "mcp.noise" and event.body["side"] == "subject" and raw.strip():
                self.unread.append(event.ref)
            if event.kind != "mcp.noise":
                correlator = correlators.setdefault(event.body["connection"], Correlator())
                take = correlator.sent if event.kind == "mcp.sent" else correlator.received
                seen = take(raw, event.ref)
                for item in seen:
                    self._take(item, event, raw, in_batch=len(seen) > 1 or raw.lstrip()[:1] == b"[")
            self._check_delivery(event, raw)

    def _take(self, item: Seen, event: Event, raw: bytes, *, in_batch: bool) -> None:
        if not isinstance(item, NoiseLine):
            self.messages.append((event.ref, item.message))
        if isinstance(item, Notification) and item.direction == "to_server" and item.message.method == "tools/call":
            self.unread.append(event.ref)
        if isinstance(item, Request) and item.direction == "to_server":
            self._request(item, event)
        elif isinstance(item, Cancel) and item.direction == "to_server" and item.of is not None and not item.late:
            params = item.message.params
            named = params.get("requestId") if isinstance(params, dict) else None
            call = self.by_id.get((item.of, id_key(named)))
            if call is not None:
                call.cancelled = True
        elif isinstance(item, Answer):
            self._answer(item, event, raw, in_batch)

    def _request(self, item: Request, event: Event) -> None:
        key = item.message.id_key
        standing = self.by_id.get((item.transmission_of, key)) if item.transmission_of is not None else None
        if standing is not None:
            standing.transmissions.append(event.ref)
        else:
            call = _Building(event, item)
            self.calls.append(call)
            self.by_id.setdefault((event.ref, key), call)
        if item.reuses:
            self.ambiguous.append(event.ref)

    def _answer(self, item: Answer, event: Event, raw: bytes, in_batch: bool) -> None:
        if item.orphan:
            self.orphans.append(event.ref)
            return
        if item.contradicts is not None:
            self.contradictions.append((item.contradicts, event.ref))
        if item.to is None:
            self.ambiguous.append(event.ref)
            return
        call = self.by_id.get((item.to, item.message.id_key))
        if item.direction == "to_subject" and call is not None:
            call.answers.append(self._delivery(item, event, raw, in_batch))

    def _delivery(self, item: Answer, event: Event, raw: bytes, in_batch: bool) -> Delivery:
        acts = self.acts.get(event.ref, [])
        sent = next(iter(self.delivered.get((event.ref, "to_subject"), ())), None)
        return Delivery(
            ref=event.ref,
            t_ns=event.t_mono_ns,
            original=raw,
            message=item.message,
            in_batch=in_batch,
            expected=_left(acts, raw),
            delivered_ref=sent.ref if sent else None,
            delivered_digest=sent.body["sha256"] if sent else None,
            t_delivered_ns=sent.t_mono_ns if sent else None,
            interventions=tuple(act for act in acts if act.did == "intervened"),
            policies=tuple(act for act in acts if act.did != "intervened"),
            repeats=item.repeats,
            contradicts=item.contradicts,
            session=event.session,
        )

    def _check_delivery(self, event: Event, raw: bytes) -> None:
        """Note every delivery of a message that the record of acts does not explain, in either direction."""
        acts = self.acts.get(event.ref, [])
        from_subject = event.kind == "mcp.sent" or event.body.get("side") == "subject"
        told = {digest_of(act.modified) for act in acts if act.did == "refused" and act.modified is not None}
        whole = None if event.body.get("truncated") else digest_of(raw if from_subject else _left(acts, raw))
        for way in ("to_server", "to_subject"):
            forward = (way == "to_server") == from_subject
            for sent in self.delivered.get((event.ref, way), ()):
                explained = whole in (None, sent.body["sha256"]) if forward else sent.body["sha256"] in told
                if not explained:
                    self.unexpected.append(sent.ref)

    def exchanges(self) -> list[Exchange]:
        return [self._exchange(call) for call in self.calls]

    def other_acts(self) -> list[str]:
        """Acts on messages that are neither a request nor its answer: nothing of the kind can be declared."""
        about = {ref for call in self.calls for ref in (*call.transmissions, *(a.ref for a in call.answers))}
        return [act.ref for ref, acts in self.acts.items() if ref not in about for act in acts]

    def _exchange(self, call: _Building) -> Exchange:
        event, message = call.event, call.message
        policies = [(ref, act) for ref in call.transmissions for act in self.acts.get(ref, ())]
        refused = [(ref, act) for ref, act in policies if act.did == "refused"]
        reached = bool(call.answers) or any((ref, "to_server") in self.delivered for ref in call.transmissions)
        kept_back = not reached and {ref for ref, _ in refused} == set(call.transmissions)
        went = [s.t_mono_ns for ref in call.transmissions for s in self.delivered.get((ref, "to_server"), ())]
        told = [sent.t_mono_ns for ref, _ in refused for sent in self.delivered.get((ref, "to_subject"), ())]
        return Exchange(
            ref=event.ref,
            part=call.part,
            server=self.server,
            connection=event.body["connection"],
            session=event.session,
            boot=event.boot,
            method=message.method,
            tool=message.tool,
            target=message.target,
            arguments=message.arguments,
            t_ns=event.t_mono_ns,
            t_forwarded_ns=min(went) if went else None,
            transmissions=tuple(call.transmissions),
            answers=tuple(call.answers),
            cancelled=call.cancelled,
            policies=tuple(act for _, act in policies),
            refusal=refused[0][1] if kept_back else None,
            refusal_delivered_ns=min(told) if told and kept_back else None,
            half_refused=bool(refused) and not kept_back,
        )


def _left(acts: list[Act], raw: bytes) -> bytes:
    """What the acts on record left of a message."""
    applied = [act.modified for act in acts if act.applied and act.modified is not None]
    return applied[-1] if applied else raw


def _act(evidence: TrialEvidence, event: Event) -> Act:
    body: dict[str, Any] = event.body
    changed = event.kind == "mcp.intervened"
    return Act(
        ref=event.ref,
        t_ns=event.t_mono_ns,
        name=body["intervention"] if changed else body["policy"],
        did="intervened" if changed else body["did"],
        applied=body["applied"] if changed else body["did"] in ("labelled", "stripped"),
        why=body.get("why"),
        original=body["original"],
        modified=evidence.payload(event, "modified" if changed else "delivered"),
        modified_digest=None if changed else body.get("modified"),
        proof=body.get("proof"),
        occurrence=body.get("occurrence"),
        request=body.get("request"),
    )


def _order(exchange: Exchange) -> tuple[int, str, int, int]:
    writer, seq = split_ref(exchange.ref)
    return exchange.t_ns, writer, seq, exchange.part


def read_wire(evidence: TrialEvidence) -> Wire:
    """Read every tap of a trial into exchanges, in order of the time the request arrived at its tap."""
    readings = [_Reading(evidence, writer) for writer in evidence.writers("tap:")]
    for reading in readings:
        reading.read()
    return Wire(
        exchanges=tuple(sorted((e for r in readings for e in r.exchanges()), key=_order)),
        orphans=tuple(ref for r in readings for ref in r.orphans),
        ambiguous=tuple(ref for r in readings for ref in r.ambiguous),
        contradictions=tuple(pair for r in readings for pair in r.contradictions),
        noise=tuple(e.ref for r in readings for e in r.events if e.kind == "mcp.noise"),
        unread=tuple(ref for r in readings for ref in r.unread),
        unexpected_changes=tuple(ref for r in readings for ref in r.unexpected),
        unreadable=tuple(ref for r in readings for ref in r.unreadable),
        other_acts=tuple(ref for r in readings for ref in r.other_acts()),
        strays=tuple(ref for r in readings for ref in r.strays),
        lost_originals=tuple(ref for r in readings for ref in r.lost),
        misnamed=tuple(e.ref for r in readings for e in r.events if e.body["server"] != r.server),
        messages=tuple(pair for r in readings for pair in r.messages),
        last_ns=max((e.t_mono_ns for r in readings for e in r.events), default=None),
    )
