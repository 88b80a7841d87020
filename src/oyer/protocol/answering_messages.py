"""Answering over Anthropic Messages. Source: Anthropic Messages API reference, tool use and streaming."""

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
from oyer.protocol.jsonvalue import dumps
from oyer.protocol.model_api import Json
from oyer.protocol.model_messages import MESSAGES

__all__ = ["ANSWER_MESSAGES"]

_USED: Final[Json] = {
    "input_tokens": 0,
    "cache_creation_input_tokens": 0,
    "cache_read_input_tokens": 0,
    "output_tokens": 0,
}


def _hear(request: Json) -> Heard:
    offered = tuple(
        Offered(str(tool["name"]), properties=properties_of(tool.get("input_schema")))
        for tool in objects(request.get("tools"))
        if isinstance(tool.get("name"), str)
    )
    return Heard(offered, tuple(_items(request)))


def _items(request: Json) -> Iterator[Item]:
    for message in objects(request.get("messages")):
        blocks = list(objects(message.get("content")))
        results = [block for block in blocks if block.get("type") == "tool_result"]
        calls = [block for block in blocks if block.get("type") == "tool_use"]
        if message.get("role") == "assistant":
            for call in calls:
                yield Asked(str(call.get("name")))
            if not calls:
                yield Asked(None)
        elif results:
            # What stands beside results are an agent's reminders, not another turn.
            yield from (_shown(result) for result in results)
        elif message.get("role") == "user":
            yield Told()


def _shown(result: Json) -> Shown:
    content = result.get("content")
    names = [part.get("tool_name") for part in objects(content) if part.get("type") == "tool_reference"]
    return Shown(text_of(content), tuple(name for name in names if isinstance(name, str)))


def _write(reply: Reply) -> Json:
    block: Json = {"type": "text", "text": reply.text}
    if reply.tool is not None:
        call_id = f"toolu_{reply.calls + 1}"
        block = {"type": "tool_use", "id": call_id, "name": reply.tool.name, "input": reply.arguments}
    return {
        "id": f"msg_{reply.number + 1}",
        "type": "message",
        "role": "assistant",
        "model": REPORTED,
        "content": [block] if reply.tool is not None or reply.text else [],
        "stop_reason": "end_turn" if reply.tool is None else "tool_use",
        "stop_sequence": None,
        "usage": dict(_USED),
    }


def _stream(body: Json) -> list[bytes]:
    begun: Json = {**body, "content": [], "stop_reason": None}
    events: list[Json] = [{"type": "message_start", "message": begun}]
    for index, block in enumerate(objects(body["content"])):
        call = block["type"] == "tool_use"
        empty: Json = {**block, "input": {}} if call else {**block, "text": ""}
        delta: Json = {"type": "text_delta", "text": block.get("text")}
        if call:
            delta = {"type": "input_json_delta", "partial_json": dumps(block["input"]).decode()}
        events.append({"type": "content_block_start", "index": index, "content_block": empty})
        events.append({"type": "content_block_delta", "index": index, "delta": delta})
        events.append({"type": "content_block_stop", "index": index})
    ended: Json = {"stop_reason": body["stop_reason"], "stop_sequence": None}
    events.append({"type": "message_delta", "delta": ended, "usage": body["usage"]})
    events.append({"type": "message_stop"})
    return [event(one, named=True) for one in events]


ANSWER_MESSAGES: Final = Voice(MESSAGES, _hear, _write, _stream)
