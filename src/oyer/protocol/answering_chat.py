"""Answering over Chat Completions. Source: OpenAI Chat Completions API reference."""

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
from oyer.protocol.chat import CHAT
from oyer.protocol.jsonvalue import JsonValue, dumps
from oyer.protocol.model_api import Json

__all__ = ["ANSWER_CHAT"]

_USED: Final = {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0}


def _hear(request: Json) -> Heard:
    functions = [tool.get("function") for tool in objects(request.get("tools"))]
    offered = tuple(
        Offered(str(one.get("name")), properties=properties_of(one.get("parameters")))
        for one in functions
        if isinstance(one, dict)
    )
    return Heard(offered, tuple(_items(request)))


def _items(request: Json) -> Iterator[Item]:
    for message in objects(request.get("messages")):
        role = message.get("role")
        if role == "user":
            yield Told()
        elif role == "tool":
            yield Shown(text_of(message.get("content")))
        elif role == "assistant":
            calls = [call.get("function") for call in objects(message.get("tool_calls"))]
            for function in calls:
                yield Asked(str(function.get("name")) if isinstance(function, dict) else "")
            if not calls:
                yield Asked(None)


def _write(reply: Reply) -> Json:
    message: Json = {"role": "assistant", "content": reply.text}
    if reply.tool is not None:
        function: Json = {"name": reply.tool.name, "arguments": dumps(reply.arguments).decode()}
        call: Json = {"id": f"call_{reply.calls + 1}", "type": "function", "function": function}
        message = {"role": "assistant", "content": None, "tool_calls": [call]}
    finish = "stop" if reply.tool is None else "tool_calls"
    return {
        "id": f"chatcmpl-{reply.number + 1}",
        "object": "chat.completion",
        "created": 0,
        "model": REPORTED,
        "choices": [{"index": 0, "message": message, "finish_reason": finish}],
        "usage": dict(_USED),
    }


def _stream(body: Json) -> list[bytes]:
    choices = body["choices"]
    choice = choices[0] if isinstance(choices, list) else None
    message = choice["message"] if isinstance(choice, dict) else None
    if not isinstance(choice, dict) or not isinstance(message, dict):
        raise TypeError("no body of this API")
    head: Json = {**{key: body[key] for key in ("id", "created", "model")}, "object": "chat.completion.chunk"}
    deltas: list[Json] = [{"role": "assistant", "content": message["content"]}]
    for index, call in enumerate(objects(message.get("tool_calls"))):
        deltas.append({"tool_calls": [{"index": index, **call}]})
    chunks = [_chunk(head, delta, None) for delta in deltas]
    chunks.append(_chunk(head, {}, choice["finish_reason"]))
    chunks.append({**head, "choices": [], "usage": body["usage"]})
    return [*(event(chunk) for chunk in chunks), b"data: [DONE]\n\n"]


def _chunk(head: Json, delta: Json, finish: JsonValue) -> Json:
    return {**head, "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}


ANSWER_CHAT: Final = Voice(CHAT, _hear, _write, _stream)
