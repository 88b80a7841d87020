"""The messages of one trial in the order in which they crossed: what was sent, what was changed, what arrived.

Owns the list of messages that `oyer show` prints and exports. Original and delivered bytes stand side by side; what
the tap says it delivered counts only where its digest is that of bytes on record. Each frame is one message, however
many line separators its text holds.

Must never judge, pair or repair: reading what the messages mean is `oyer.observe`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Literal, NamedTuple

from oyer.evidence import Event, digest_of
from oyer.observe import TrialEvidence, json_or_none, strings_in

__all__ = ["Act", "Direction", "Message", "read_transcript"]

Direction = Literal["to_subject", "from_subject", "to_harness"]

_KINDS: Mapping[str, Direction] = {
    "turn.sent": "to_subject",
    "turn.received": "from_subject",
    "subject.output": "from_subject",
    "mcp.sent": "from_subject",
    "mcp.received": "to_subject",
    "mcp.noise": "to_subject",
    "model.request": "from_subject",
    "model.fault": "to_subject",
    "model.response": "to_subject",
    "sink.effect": "to_harness",
    "sink.rejected": "to_harness",
    "fault": "to_harness",
}


class Act(NamedTuple):
    """What Oyer did to a message: `intervened` or a policy's word, by which declared id."""

    ref: str
    name: str
    did: str
    applied: bool
    why: str | None


class Message(NamedTuple):
    """One message. `delivered` is None where no bytes on record are proven to have arrived.

    `at_ns` counts from the first event of the trial. `ended_by` is for turns, `answer_to` a refused request.
    `without_bytes`: it is one that never has any, so that none are missing.
    """

    ref: str
    kind: str
    at_ns: int
    session: str | None
    direction: Direction
    server: str | None
    connection: int | None
    method: str | None
    tool: str | None
    id: str | int | None
    original: bytes | None
    delivered: bytes | None
    delivered_ref: str | None
    acts: tuple[Act, ...]
    note: str | None
    without_bytes: bool = False

    @property
    def changed(self) -> bool:
        """Whether other bytes than the original arrived."""
        return self.delivered is not None and self.original is not None and self.delivered != self.original


_UNREAD: Mapping[str | None, str] = MappingProxyType(
    {
        "no_api": "; not understood: its path is of no API that is",
        "not_json": "; not understood: the request is no JSON object",
        "coding": "; not understood: the answer is in a coding that is not read",
        "answer": "; not understood: the answer is none of its API",
    }
)
"""What stands beside an exchange of which nothing counts as shown or asked for."""

_SOURCES: Mapping[str | None, str] = MappingProxyType(
    {
        "declared": "; as declared, not the endpoint's",
        "gateway": "; turned away by the gateway",
        "replay": "; from the recording",
        "scripted": "; from a script",
    }
)
"""What stands beside an answer that no endpoint gave."""

Turns = Mapping[tuple[str, int], str]
"""By session and number, which turn it is."""
NO_TURNS: Turns = MappingProxyType({})


def read_transcript(evidence: TrialEvidence, turns: Turns = NO_TURNS) -> tuple[Message, ...]:
    """Read every message of a trial, in order of time; within one moment in order of writer and sequence.

    `turns` are the words that stand beside a turn that was sent.
    """
    events = sorted(evidence.everything(), key=lambda e: (e.t_mono_ns, e.writer, e.seq))
    start = events[0].t_mono_ns if events else 0
    deliveries = {(e.body["of"], e.body["direction"]): e for e in events if e.kind == "mcp.delivered"}
    acts: dict[str, list[Event]] = {}
    for event in events:
        if event.kind in ("mcp.intervened", "mcp.policy", "model.intervened"):
            acts.setdefault(event.body["of"], []).append(event)
    answers = [event for event in events if event.kind == "model.response"]
    sent = {event.body["exchange"]: event.body["sent"] for event in answers if "sent" in event.body}
    found: list[Message] = []
    for event in events:
        direction = _KINDS.get(event.kind)
        if direction is None or event.body.get("probe"):
            continue
        if event.kind == "mcp.noise" and event.body["side"] == "subject":
            direction = "from_subject"
        message = _message(evidence, event, direction, event.t_mono_ns - start)
        if event.kind == "turn.sent" and event.session is not None:
            message = message._replace(note=turns.get((event.session, event.body["number"])))
        if event.kind in ("mcp.sent", "mcp.received"):
            found += _crossed(evidence, message, event, acts.get(event.ref, []), deliveries)
        elif event.kind == "model.request" and event.ref in acts:
            found.append(_asked(evidence, message, acts[event.ref], sent.get(event.body["exchange"])))
        else:
            found.append(message)
    return tuple(found)


def _message(evidence: TrialEvidence, event: Event, direction: Direction, at_ns: int) -> Message:
    body = event.body
    raw = evidence.payload(event)
    return Message(
        ref=event.ref,
        kind=event.kind,
        at_ns=at_ns,
        session=event.session,
        direction=direction,
        server=body.get("server") or body.get("sink"),
        connection=body.get("connection"),
        method=body.get("method") or body.get("path"),
        tool=body.get("tool"),
        id=body.get("id"),
        original=raw,
        delivered=None if event.kind == "model.response" and not body["complete"] else raw,
        delivered_ref=None,
        acts=(),
        note="".join([*_notes(event), *_thought(evidence, event, raw)]) or None,
        without_bytes=event.kind == "fault" or (event.kind == "model.fault" and "payload" not in body),
    )


def _thought(evidence: TrialEvidence, event: Event, raw: bytes | None) -> Iterator[str]:
    """Say that some of a text is reasoning, where it holds what a declared stretch of it begins or ends with."""
    marks = [mark for pair in evidence.reasoning_delimiters for mark in pair]
    if not marks or raw is None or event.kind not in ("turn.received", "model.request", "model.response"):
        return
    texts = [raw.decode("utf-8", "replace"), *strings_in(json_or_none(raw))]
    if any(mark in text for mark in marks for text in texts):
        yield "; holds reasoning, which is no evidence"


def _notes(event: Event) -> Iterator[str]:
    body = event.body
    if event.kind == "turn.received":
        yield f"ended by the {body['ended_by']}" if body["ended_by"] == "subject" else f"ended by: {body['ended_by']}"
    elif event.kind == "subject.output":
        yield str(body["stream"])
    elif event.kind == "mcp.noise":
        yield "no message; forwarded as it came" + (", cut" if body.get("truncated") else "")
    elif event.kind == "model.request":
        yield f"asks for {body['requested_model'] or 'no named model'}"
        yield _UNREAD.get(body.get("unread"), "")
    elif event.kind == "model.response":
        if body["http_status"] == 0:
            yield "no answer"
            return
        reported = body["reported_model"] or "no model named"
        yield f"HTTP {body['http_status']}, {reported}" + ("" if body["complete"] else ", cut off")
        yield _UNREAD.get(body.get("unread"), "")
        yield _SOURCES.get(body.get("source"), "")
    elif event.kind == "model.fault":
        yield f"declared fault {body['declared']}" + ("; the whole answer" if "payload" in body else "")
    elif event.kind == "sink.rejected":
        yield f"rejected: {body['why']}"
    elif event.kind == "sink.effect":
        yield "effect recorded"
    elif event.kind == "fault":
        yield f"{body['class']} at {body['where']}: {body['message']}"


def _crossed(
    evidence: TrialEvidence,
    message: Message,
    event: Event,
    acts: list[Event],
    deliveries: Mapping[tuple[str, str], Event],
) -> Iterator[Message]:
    """A message at a tap, and the refusal that a policy gave in its place."""
    onward = "to_server" if event.kind == "mcp.sent" else "to_subject"
    told = tuple(_act(act) for act in acts)
    changes = [c for c in (_changed(evidence, act) for act in acts) if c is not None] if onward == "to_subject" else []
    sent = deliveries.get((event.ref, onward))
    bytes_ = _proven(sent, [*changes, *([message.original] if message.original is not None else [])])
    if message.original is not None and message.original.endswith(b"\r\n"):
        message = message._replace(note="ends in CR LF where the protocol has LF; forwarded as it came")
    yield message._replace(delivered=bytes_, delivered_ref=sent.ref if sent else None, acts=told)
    back = deliveries.get((event.ref, "to_subject")) if onward == "to_server" else None
    if back is None:
        return
    refusals = [c for c in (_changed(evidence, act) for act in acts) if c is not None]
    yield message._replace(
        ref=back.ref,
        kind="mcp.refused",
        at_ns=message.at_ns + back.t_mono_ns - event.t_mono_ns,
        direction="to_subject",
        original=None,
        delivered=_proven(back, refusals),
        delivered_ref=back.ref,
        acts=told,
        note="answered by the policy; the server was not asked",
    )


def _asked(evidence: TrialEvidence, message: Message, acts: list[Event], sent: str | None) -> Message:
    """A request to the model that a declared change is on record of, with what went on in its place."""
    changes = [raw for act in acts if (raw := evidence.payload(act, "modified")) is not None]
    onward = next((raw for raw in changes if digest_of(raw) == sent), message.original if sent is None else None)
    return message._replace(delivered=onward, acts=tuple(_act(act) for act in acts))


def _changed(evidence: TrialEvidence, act: Event) -> bytes | None:
    return evidence.payload(act, "modified" if act.kind == "mcp.intervened" else "delivered")


def _proven(sent: Event | None, candidates: list[bytes]) -> bytes | None:
    """The bytes on record that have the digest of what was delivered."""
    if sent is None:
        return None
    return next((raw for raw in candidates if digest_of(raw) == sent.body["sha256"]), None)


def _act(event: Event) -> Act:
    body = event.body
    if event.kind.endswith(".intervened"):
        return Act(event.ref, body["intervention"], "intervened", body["applied"], body.get("why"))
    return Act(event.ref, body["policy"], body["did"], applied=True, why=None)
