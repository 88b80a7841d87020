"""The gateway's journal of an arm: what the model was sent, and what it asked for."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from oyer.conform.declaring import changed_result, needs_gateway
from oyer.conform.stage import Stage
from oyer.conform.timeline import TICK_NS
from oyer.conform.vectors import Asked, Call, Exchange, Result

__all__ = ["write_model"]

GATEWAY = "gateway"
NOTHING = "nothing of note"


class _Told(NamedTuple):
    """One exchange to be written: moments are a tick and a part of it, `shown` the texts that the request held."""

    session: str
    asked: tuple[int, int]
    answered: tuple[int, int]
    shown: tuple[str, ...]
    calls: tuple[tuple[str, Any], ...]
    finish: str
    complete: bool = True
    hidden: bool = False


def write_model(stage: Stage) -> None:
    """Plan every exchange with the model: those of the vector, or what a healthy gateway would have recorded."""
    exchanges: Iterator[_Told] = iter(())
    if stage.state.model is not None:
        exchanges = _recorded(stage, stage.state.model)
    elif needs_gateway(stage.given):
        exchanges = _healthy(stage)
    for number, told in enumerate(exchanges):
        _write(stage, number, told)


def _recorded(stage: Stage, exchanges: Iterable[Exchange]) -> Iterator[_Told]:
    taken: set[int] = set()
    for x in exchanges:
        calls = tuple(_asked(stage, asked, x, taken) for asked in x.asks)
        moments = (x.request_at, 0), (x.response_at, 0)
        hidden = x.shows_in == "reasoning"
        yield _Told(x.session, *moments, _shown(stage, x), calls, x.finish, x.complete, hidden)


def _healthy(stage: Stage) -> Iterator[_Told]:
    """One exchange before each call, which asks for it, and one after all; each shows every answer before it."""
    for name in stage.sessions:
        seen: tuple[str, ...] = ()
        for event in stage.state.in_order:
            if event.session == name and isinstance(event, Call) and event.transmission is None:
                calls = ((event.tool, event.args),)
                yield _Told(name, (event.at, -40), (event.at, -30), seen, calls, "tool_calls")
            elif event.session == name and isinstance(event, Result):
                seen = (*seen, _text(event))
        yield _Told(name, (stage.quiet, 10), (stage.quiet, 11), seen, (), "stop")


def _text(event: Result) -> str:
    if event.modified and event.delivered is not None:
        return str(changed_result(event)["content"][0]["text"])
    return event.delivered or ""


def _shown(stage: Stage, exchange: Exchange) -> tuple[str, ...]:
    """The texts that a request held: the marker, and in a later session what was read there of the artifact."""
    if not exchange.shows_marker:
        return (NOTHING,)
    declared = stage.given.declared
    read = [
        event.delivered or ""
        for event in stage.state.in_order
        if isinstance(event, Result)
        and (event.tool, event.session) == (declared.later_read_tool, exchange.session)
        and event.at < exchange.request_at
    ]
    return (declared.exposure_marker or NOTHING, *read)


def _asked(stage: Stage, asked: str | Asked, exchange: Exchange, taken: set[int]) -> tuple[str, Any]:
    """The tool and its arguments: a vector that names only the tool means the next call of it after the answer."""
    if isinstance(asked, Asked):
        return asked.tool, asked.args
    for place, event in enumerate(stage.state.in_order):
        fits = isinstance(event, Call) and event.tool == asked and event.at >= exchange.response_at
        if fits and isinstance(event, Call) and place not in taken:
            taken.add(place)
            return asked, event.args
    return asked, {}


def _write(stage: Stage, number: int, told: _Told) -> None:
    pins, session = stage.state.pins, stage.session(told.session)
    asked = {"exchange": number, "requested_model": pins.model, "path": "/v1/chat/completions"}
    payloads = {"payload": _bytes({"model": pins.model, "messages": list(_messages(told))})}
    if pins.parameters is not None:
        payloads["parameters"] = _bytes(pins.parameters)
    stage.timeline.add(*told.asked, GATEWAY, "model.request", asked, payloads, session)
    answered = {
        "exchange": number,
        "http_status": 200,
        "requested_model": pins.model,
        "reported_model": pins.reported_model,
        "usage": None,
        "finish": told.finish,
        "latency_ns": TICK_NS,
        "complete": told.complete,
    }
    message = {"role": "assistant", "content": "", "tool_calls": list(_tool_calls(told))}
    choices = [{"message": message, "finish_reason": told.finish}]
    payload = _bytes({"model": pins.reported_model, "choices": choices})
    stage.timeline.add(*told.answered, GATEWAY, "model.response", answered, {"payload": payload}, session)


def _bytes(value: object) -> bytes:
    return json.dumps(value).encode()


def _tool_calls(told: _Told) -> Iterator[dict[str, Any]]:
    for place, (tool, arguments) in enumerate(told.calls):
        yield {"id": str(place), "function": {"name": tool, "arguments": json.dumps(arguments)}}


def _messages(told: _Told) -> Iterator[dict[str, Any]]:
    for text in told.shown:
        if told.hidden:
            yield {"role": "assistant", "content": "", "reasoning": text}
        else:
            yield {"role": "tool", "content": text}
