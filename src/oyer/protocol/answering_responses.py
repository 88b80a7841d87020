"""Answering over OpenAI Responses, namespaced tools too. Source: OpenAI Responses API reference."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from oyer.protocol.answering import (
    REPORTED,
    Asked,
    Heard,
    Item,
    Offered,
    Reply,
    Shown,
    Told,
    Voice,
    event,
    objects,
    properties_of,
    text_of,
)
from oyer.protocol.jsonvalue import JsonValue, dumps
from oyer.protocol.model_api import Json
from oyer.protocol.model_responses import RESPONSES

__all__ = ["ANSWER_RESPONSES"]

_CALLS: Final = ("function_call", "custom_tool_call")
_RESULTS: Final = ("function_call_output", "custom_tool_call_output")


def _hear(request: Json) -> Heard:
    given = request.get("input")
    items: tuple[Item, ...] = (Told(),) if isinstance(given, str) else tuple(_items(given))
    return Heard(tuple(_offered(request.get("tools"), None)), items)


def _offered(tools: JsonValue, space: str | None) -> Iterator[Offered]:
    for tool in objects(tools):
        name = tool.get("name")
        if not isinstance(name, str):
            continue
        if tool.get("type") == "namespace":
            yield from _offered(tool.get("tools"), name)
        elif tool.get("type") == "function":
            yield Offered(name, space, properties_of(tool.get("parameters")))


def _items(given: JsonValue) -> Iterator[Item]:
    for item in objects(given):
        kind = item.get("type", "message")
        if kind in _CALLS:
            yield Asked(str(item.get("name")))
        elif kind in _RESULTS:
            yield Shown(text_of(item.get("output")))
        elif kind == "message" and item.get("role") == "user":
            yield Told()
        elif kind == "message" and item.get("role") == "assistant":
            yield Asked(None)


def _write(reply: Reply) -> Json:
    number = reply.number + 1
    item: Json
    if reply.tool is None:
        part: Json = {"type": "output_text", "text": reply.text, "annotations": []}
        item = {"id": f"msg_{number}", "type": "message", "role": "assistant", "status": "completed", "content": [part]}
    else:
        space: Json = {} if reply.tool.space is None else {"namespace": reply.tool.space}
        item = {
            "id": f"fc_{number}",
            "type": "function_call",
            "status": "completed",
            "call_id": f"call_{reply.calls + 1}",
            **space,
            "name": reply.tool.name,
            "arguments": dumps(reply.arguments).decode(),
        }
    return {
        "id": f"resp_{number}",
        "object": "response",
        "created_at": 0,
        "status": "completed",
        "model": REPORTED,
        "output": [item],
        "usage": {
            "input_tokens": 0,
            "input_tokens_details": {"cached_tokens": 0},
            "output_tokens": 0,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": 0,
        },
    }


def _stream(body: Json) -> list[bytes]:
    begun: Json = {**body, "status": "in_progress", "output": [], "usage": None}
    events: list[Json] = [
        {"type": "response.created", "response": begun},
        {"type": "response.in_progress", "response": begun},
    ]
    for index, item in enumerate(objects(body["output"])):
        events += _item_events(index, item)
    events.append({"type": "response.completed", "response": body})
    return [event({**one, "sequence_number": number}, named=True) for number, one in enumerate(events)]


def _item_events(index: int, item: Json) -> Iterator[Json]:
    place: Json = {"output_index": index, "item_id": item["id"]}
    if item["type"] == "function_call":
        told = item["arguments"]
        yield {
            "type": "response.output_item.added",
            **place,
            "item": {**item, "status": "in_progress", "arguments": ""},
        }
        yield {"type": "response.function_call_arguments.delta", **place, "delta": told}
        yield {"type": "response.function_call_arguments.done", **place, "arguments": told}
    else:
        yield {"type": "response.output_item.added", **place, "item": {**item, "status": "in_progress", "content": []}}
        for number, part in enumerate(objects(item["content"])):
            here: Json = {**place, "content_index": number}
            yield {"type": "response.content_part.added", **here, "part": {**part, "text": ""}}
            yield {"type": "response.output_text.delta", **here, "delta": part["text"]}
            yield {"type": "response.output_text.done", **here, "text": part["text"]}
            yield {"type": "response.content_part.done", **here, "part": part}
    yield {"type": "response.output_item.done", **place, "item": item}


ANSWER_RESPONSES: Final = Voice(RESPONSES, _hear, _write, _stream)
