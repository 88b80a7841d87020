"""What the gateway saw of the model: requests, answers, and where a text stands in them.

Reasoning is never evidence: a text found only in reasoning was not shown. Source: "What is never evidence".
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from oyer.errors import ProtocolError
from oyer.observe.trial import TrialEvidence
from oyer.protocol import loads

__all__ = ["REASONING_FIELDS", "ModelExchange", "asked_tools", "read_model", "shows"]

REASONING_FIELDS = frozenset({"reasoning", "reasoning_content", "reasoning_details", "thinking"})
"""Fields of Chat Completions messages that hold hidden or summarised reasoning; nothing in them is evidence."""


class ModelExchange(NamedTuple):
    """One request to the model and its answer; `answer` is None where none came back whole."""

    exchange: int
    session: str | None
    request_ref: str
    t_request_ns: int
    request: Any
    requested_model: str | None
    parameters: bytes | None
    response_ref: str | None
    t_response_ns: int | None
    answer: Any
    http_status: int | None
    reported_model: str | None
    finish: str | None
    complete: bool
    tokens: int | None


def read_model(evidence: TrialEvidence) -> tuple[ModelExchange, ...]:
    """Read the gateway's journal of a trial into exchanges, in order of request. Empty without a gateway."""
    found: dict[int, ModelExchange] = {}
    for event in evidence.events("gateway", "model.request", "model.response"):
        body = event.body
        value = _json(evidence.payload(event))
        if event.kind == "model.request":
            found[body["exchange"]] = ModelExchange(
                body["exchange"],
                event.session,
                event.ref,
                event.t_mono_ns,
                value,
                body["requested_model"],
                evidence.payload(event, "parameters"),
                None,
                None,
                None,
                None,
                None,
                None,
                False,
                None,
            )
        elif body["exchange"] in found:
            usage = body["usage"] or {}
            found[body["exchange"]] = found[body["exchange"]]._replace(
                response_ref=event.ref,
                t_response_ns=event.t_mono_ns,
                answer=value if body["complete"] else None,
                http_status=body["http_status"],
                reported_model=body["reported_model"],
                finish=body.get("finish"),
                complete=body["complete"],
                tokens=usage.get("total"),
            )
    return tuple(found.values())


def shows(exchange: ModelExchange, text: str) -> bool:
    """Whether a request showed a text to the model, in any part that is not reasoning, after unescaping."""
    request = exchange.request
    messages = request.get("messages") if isinstance(request, dict) else None
    return any(text in found for found in _strings(messages))


def asked_tools(exchange: ModelExchange) -> tuple[str, ...]:
    """The names of the tools the model asked for in this answer, in order."""
    if not isinstance(exchange.answer, dict):
        return ()
    names: list[str] = []
    for choice in exchange.answer.get("choices") or ():
        message = choice.get("message") if isinstance(choice, dict) else None
        for call in (message.get("tool_calls") if isinstance(message, dict) else None) or ():
            function = call.get("function") if isinstance(call, dict) else None
            if isinstance(function, dict) and isinstance(function.get("name"), str):
                names.append(function["name"])
    return tuple(names)


def _strings(value: Any) -> Iterator[str]:
    """Yield every string outside reasoning; a string that holds JSON is also looked into, unescaped."""
    if isinstance(value, str):
        yield value
        if value[:1] in "{[":
            inner = _json(value.encode("utf-8", "surrogatepass"))
            if isinstance(inner, dict | list):
                yield from _strings(inner)
    elif isinstance(value, dict):
        for key, item in value.items():
            if key not in REASONING_FIELDS:
                yield from _strings(item)
    elif isinstance(value, list):
        for item in value:
            yield from _strings(item)


def _json(raw: bytes | None) -> Any:
    if raw is None:
        return None
    try:
        return loads(raw)
    except ProtocolError:
        return None
