"""Asking over Anthropic Messages. Source: Anthropic Messages API reference, tool use."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from oyer.protocol.asking import CallResult, Invent, Manner, Said, offered_call
from oyer.protocol.chat import ToolCall
from oyer.protocol.jsonvalue import JsonValue
from oyer.protocol.model_api import Defect, Json
from oyer.protocol.model_messages import MESSAGES

__all__ = ["ASK_MESSAGES"]

_VERSION: Final = "2023-06-01"
_ITS_OWN: Final = ("end_turn", "tool_use", "stop_sequence", None)


def _tool(name: str, description: str | None, schema: Json) -> Json:
    told: Json = {} if description is None else {"description": description}
    return {"name": name, **told, "input_schema": schema}


def _results(results: Sequence[CallResult]) -> list[Json]:
    blocks: list[JsonValue] = [
        {
            "type": "tool_result",
            "tool_use_id": one.id,
            "content": [{"type": "text", "text": one.text}] if one.text else [],
        }
        for one in results
    ]
    # All results of one answer stand in one message: the API refuses a call whose result is not in the next one.
    return [{"role": "user", "content": blocks}] if blocks else []


def _read(answer: Json, invent: Invent) -> Said | Defect:
    content = answer.get("content")
    if not isinstance(content, list):
        return Defect("bad_shape", "the response holds no content")
    calls: list[ToolCall] = []
    texts: list[str] = []
    echo: list[JsonValue] = []
    for block in content:
        if not isinstance(block, dict):
            continue
        if block.get("type") == "tool_use":
            call = offered_call(block.get("id"), block.get("name"), block.get("input"), invent)
            calls.append(call)
            # An input that is no object would be refused when it goes back: what was asked for is in the answer.
            echo.append({**block, "id": call.id, "input": call.arguments if call.arguments is not None else {}})
        elif block.get("type") == "text":
            text = block.get("text")
            if isinstance(text, str) and text:  # an empty block is an answer that may not go back
                texts.append(text)
                echo.append(block)
        else:
            echo.append(block)
    finish = MESSAGES.finish(answer)
    said: tuple[Json, ...] = ({"role": "assistant", "content": echo},) if echo else ()
    return Said("".join(texts), tuple(calls), finish, finish in _ITS_OWN, said)


def _request(model: str, system: str | None, items: Sequence[Json], tools: Sequence[Json], parameters: Json) -> Json:
    body: Json = {"model": model, "messages": list(items)}
    if system is not None:
        body["system"] = system
    if tools:
        body["tools"] = list(tools)
    return {**body, **parameters}


ASK_MESSAGES: Final = Manner(
    api=MESSAGES,
    place=lambda _model, _stream: "/v1/messages",
    key=lambda key: {"x-api-key": key, "anthropic-version": _VERSION},
    tool=_tool,
    user=lambda text: {"role": "user", "content": [{"type": "text", "text": text}]},
    results=_results,
    read=_read,
    request=_request,
    taken=frozenset({"model", "messages", "system", "tools"}),
    names={"temperature": ("temperature",), "max_tokens": ("max_tokens",)},
    wanted=("max_tokens",),
)
