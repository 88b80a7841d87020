"""A sealed trial's exchanges with its model, as answers that can be given again.

Pure. Must never fill a gap: an exchange without a record of both sides is left out, and whoever asks for it misses it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

from oyer.evidence import Event
from oyer.observe.trial import TrialEvidence

__all__ = ["RecordedExchange", "read_recording", "renamed"]


class RecordedExchange(NamedTuple):
    """One request and its answer, in the bytes of that run. `fault` is what was recorded of the endpoint's failure."""

    path: str
    request: bytes
    status: int
    content_type: str | None
    content_encoding: str | None
    body: bytes
    complete: bool
    fault: str | None


def read_recording(evidence: TrialEvidence) -> tuple[RecordedExchange, ...]:
    """Return the exchanges of a trial in order of request, without those of which something is not retained."""
    faults = {
        event.because[0]: str(event.body["message"]) for event in evidence.events("gateway", "fault") if event.because
    }
    cut = {
        event.body["exchange"]: evidence.payload(event)
        for event in evidence.events("gateway", "model.fault")
        if "payload" in event.body
    }
    asked = {event.body["exchange"]: event for event in reversed(evidence.events("gateway", "model.request"))}
    changed = {event.body["of"]: event for event in evidence.events("gateway", "model.intervened")}
    found: dict[int, RecordedExchange] = {}
    for event in evidence.events("gateway", "model.response"):
        number = event.body["exchange"]
        request = asked.get(number)
        sent = None if request is None else _sent(evidence, request, changed.get(request.ref))
        # What a declared fault or the gateway answered no endpoint did; of what the first kept back the whole is kept.
        if event.body.get("source") in ("declared", "gateway"):
            continue
        body = cut[number] if number in cut else evidence.payload(event)
        if request is None or sent is None or body is None or number in found:
            continue
        found[number] = RecordedExchange(
            request.body["path"],
            sent,
            event.body["http_status"],
            event.body.get("content_type"),
            event.body.get("content_encoding"),
            body,
            event.body["complete"] or number in cut,
            faults.get(event.ref),
        )
    return tuple(found[number] for number in sorted(found))


def _sent(evidence: TrialEvidence, request: Event, change: Event | None) -> bytes | None:
    """Return what went on to the endpoint: the request, or what a declared change made of it."""
    if change is not None and change.body["applied"]:
        return evidence.payload(change, "modified")
    return evidence.payload(request)


def renamed(raw: bytes, theirs: Mapping[str, str], ours: Mapping[str, str]) -> bytes:
    """Return bytes of one run with its tokens replaced by those that stand for the same in another.

    `theirs` and `ours` are the tables of run tokens, from token to placeholder.
    """
    known = {placeholder: token for token, placeholder in ours.items()}
    pairs = {token.encode(): known[name].encode() for token, name in theirs.items() if token and name in known}
    if not pairs:
        return raw
    longest = sorted(pairs, key=lambda token: (-len(token), token))
    return re.sub(b"|".join(map(re.escape, longest)), lambda match: pairs[match.group()], raw)
