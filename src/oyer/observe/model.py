"""What the gateway saw of the model: requests, answers, and where a text stands in them.

Reasoning is never evidence: a text found only in reasoning was not shown. A call asked for in an answer that did not
come whole was not asked for. Source: "What is never evidence".
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple

from oyer.evidence import Event
from oyer.observe.texts import any_holds, json_or_none, strings_in
from oyer.observe.trial import TrialEvidence

__all__ = ["REASONING", "ModelExchange", "asked_calls", "read_model", "read_model_faults", "shows"]

REASONING = frozenset(
    {"reasoning", "reasoning_content", "reasoning_details", "reasoning_text", "redacted_thinking", "thinking"}
)
"""Fields and part types of Chat Completions that hold hidden or summarised reasoning; nothing in them is evidence."""


class ModelExchange(NamedTuple):
    """One request to the model and its answer; `answer` is None where none came back whole.

    A request repeats the whole conversation: it is read anew each time `request` is asked for, and never kept.
    """

    exchange: int
    session: str | None
    request_ref: str
    t_request_ns: int
    request_bytes: Callable[[], bytes | None]
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

    @property
    def request(self) -> Any:
        """The request as a JSON value, None where it is not retained or is none."""
        return json_or_none(self.request_bytes())


def read_model(evidence: TrialEvidence) -> tuple[ModelExchange, ...]:
    """Read the gateway's journal of a trial into exchanges, in order of request. Empty without a gateway.

    The first record of a request and of its answer stands; `read_model_faults` names every other.
    """
    found: dict[int, ModelExchange] = {}
    for event in evidence.events("gateway", "model.request", "model.response"):
        number = event.body["exchange"]
        if event.kind == "model.request":
            found.setdefault(number, _asked(evidence, event))
        elif number in found and found[number].response_ref is None:
            found[number] = _answered(evidence, event, found[number])
    return tuple(found.values())


def _asked(evidence: TrialEvidence, event: Event) -> ModelExchange:
    body = event.body
    return ModelExchange(
        exchange=body["exchange"],
        session=event.session,
        request_ref=event.ref,
        t_request_ns=event.t_mono_ns,
        request_bytes=partial(evidence.payload, event),
        requested_model=body["requested_model"],
        parameters=evidence.payload(event, "parameters"),
        response_ref=None,
        t_response_ns=None,
        answer=None,
        http_status=None,
        reported_model=None,
        finish=None,
        complete=False,
        tokens=None,
    )


def _answered(evidence: TrialEvidence, event: Event, asked: ModelExchange) -> ModelExchange:
    body = event.body
    return asked._replace(
        response_ref=event.ref,
        t_response_ns=event.t_mono_ns,
        answer=json_or_none(evidence.payload(event)) if body["complete"] else None,
        http_status=body["http_status"],
        reported_model=body["reported_model"],
        finish=body.get("finish"),
        complete=body["complete"],
        tokens=(body["usage"] or {}).get("total"),
    )


def read_model_faults(evidence: TrialEvidence) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Return `(what is wrong, refs)` for every record of the gateway that does not pair with exactly one other."""
    asked: dict[int, Event] = {}
    answered: dict[int, Event] = {}
    found: list[tuple[str, tuple[str, ...]]] = []
    for event in evidence.events("gateway", "model.request", "model.response"):
        number = event.body["exchange"]
        if event.kind == "model.request":
            if number in asked:
                found.append(("two requests of one exchange with the model", (asked[number].ref, event.ref)))
            asked.setdefault(number, event)
        elif number not in asked:
            found.append(("an answer of the model to no recorded request", (event.ref,)))
        else:
            first = answered.setdefault(number, event)
            if first is not event and first.body["payload"]["sha256"] != event.body["payload"]["sha256"]:
                found.append(("two different answers of the model in one exchange", (first.ref, event.ref)))
    return tuple(found)


def shows(exchange: ModelExchange, text: str) -> bool:
    """Whether a request showed a text to the model, in any part that is not reasoning, after unescaping."""
    request = exchange.request
    messages = request.get("messages") if isinstance(request, dict) else None
    return any_holds(strings_in(messages, hidden=REASONING), text)


def asked_calls(exchange: ModelExchange) -> tuple[tuple[str, Any], ...]:
    """Return `(tool name, arguments)` of every call the model asked for in this answer, in order.

    Arguments are None where they are no JSON.
    """
    return tuple(
        (function["name"], _arguments(function.get("arguments")))
        for message in _messages(exchange.answer)
        for function in _functions(message)
        if isinstance(function.get("name"), str)
    )


def _messages(answer: Any) -> Iterator[dict[str, Any]]:
    choices = answer.get("choices") if isinstance(answer, dict) else None
    for choice in choices if isinstance(choices, list) else ():
        message = choice.get("message") if isinstance(choice, dict) else None
        if isinstance(message, dict):
            yield message


def _functions(message: dict[str, Any]) -> Iterator[dict[str, Any]]:
    calls = message.get("tool_calls")
    for call in calls if isinstance(calls, list) else ():
        function = call.get("function") if isinstance(call, dict) else None
        if isinstance(function, dict):
            yield function
    if isinstance(message.get("function_call"), dict):  # the older form of a single call
        yield message["function_call"]


def _arguments(value: Any) -> Any:
    """The arguments of a call; none at all are an empty object, as on the wire."""
    if value is None or (isinstance(value, str) and not value.strip()):
        return {}
    return json_or_none(value.encode("utf-8", "surrogatepass")) if isinstance(value, str) else value
