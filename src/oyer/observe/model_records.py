"""What the gateway's records say beside the bytes that they keep: names, counts, ends, and who answered.

Owns the second reading of those bytes. A record that says something else than its own bytes is evidence against
itself: nobody may choose which of the two to believe. Must never hold what cannot be read against a record, nor bytes
from which a secret was taken: what was read of them was read before.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from oyer.errors import ProtocolError
from oyer.evidence import Event
from oyer.observe.coding import decoded
from oyer.observe.model_faults import wrong_faults
from oyer.observe.texts import printable
from oyer.observe.trial import TrialEvidence
from oyer.protocol import Defect, JsonValue, ModelApi, api_of, loads_tolerant, read_answer

__all__ = ["untrue_records"]

_UNASKED: Final = ("declared", "gateway")
"""Sources beside that of the trial: an act of a declared fault, and the gateway that turns a request away."""


def untrue_records(evidence: TrialEvidence) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield `(what is wrong, refs)` for every record of an exchange that its bytes or its own other record deny.

    Of several records of one exchange the first is looked at: that there are several is wrong by itself.
    """
    asked: dict[int, Event] = {}
    answered: dict[int, Event] = {}
    for event in evidence.events("gateway", "model.request", "model.response"):
        number = event.body["exchange"]
        if event.kind == "model.request" and asked.setdefault(number, event) is event:
            yield from _of_request(evidence, event)
        elif event.kind == "model.response" and number in asked and answered.setdefault(number, event) is event:
            yield from _of_response(evidence, asked[number], event)
    yield from wrong_faults(evidence)


def _of_request(evidence: TrialEvidence, event: Event) -> Iterator[tuple[str, tuple[str, ...]]]:
    api, raw, path = api_of(event.body["path"]), _whole(evidence, event), event.body["path"]
    if api is None or raw is None:
        return
    value = _value(raw)
    told = api.requested(path, value if isinstance(value, dict) else {})
    if event.body["requested_model"] != _said(told):
        yield "a request to the model names another model than its record", (event.ref,)


def _of_response(evidence: TrialEvidence, request: Event, event: Event) -> Iterator[tuple[str, tuple[str, ...]]]:
    body, api, raw = event.body, api_of(request.body["path"]), _whole(evidence, event)
    source, opened = body.get("source", "endpoint"), evidence.model_source
    if opened is not None and source not in (opened, *_UNASKED):
        yield (
            f"an answer of the model is said to be of another source ({source}) than its trial's ({opened})",
            (event.ref,),
        )
    if body["requested_model"] != request.body["requested_model"]:
        yield "an answer of the model names another model as asked for than its request", (request.ref, event.ref)
    if api is None or raw is None or not body["complete"]:
        return
    said = {name: body.get(name) for name in ("reported_model", "usage", "finish")}
    if said == dict.fromkeys(said) and _failed(evidence, event):
        return  # of what failed nothing is read
    for name, told in _read(api, raw, body.get("content_encoding")).items():
        if said[name] != told:
            what = {"reported_model": "another model", "usage": "another usage", "finish": "another end"}[name]
            yield f"an answer of the model reports {what} than its record", (event.ref,)


def _whole(evidence: TrialEvidence, event: Event) -> bytes | None:
    return None if event.body["payload"].get("redacted") else evidence.payload(event)


def _failed(evidence: TrialEvidence, event: Event) -> bool:
    return any(event.ref in fault.because for fault in evidence.events("gateway", "fault"))


def _read(api: ModelApi, raw: bytes, encoding: str | None) -> dict[str, Any]:
    plain = decoded(raw, encoding)
    answer = Defect("not_json", "") if plain is None else read_answer(api, plain, _tolerant)
    if isinstance(answer, Defect):
        return {"reported_model": None, "usage": None, "finish": None}
    reported, finish = _said(api.reported(answer)), _said(api.finish(answer))
    return {"reported_model": reported, "usage": api.usage(answer), "finish": finish}


def _said(name: str | None) -> str | None:
    return None if name is None else printable(name)


def _value(raw: bytes) -> JsonValue:
    try:
        return _tolerant(raw)
    except ProtocolError:
        return None


def _tolerant(raw: bytes) -> JsonValue:
    return loads_tolerant(raw)[0]
