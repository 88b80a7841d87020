"""Asking over Chat Completions. Source: OpenAI Chat Completions API, function calling."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from oyer.protocol.asking import CallResult, Invent, Manner, Said
from oyer.protocol.chat import CHAT, ToolCall, chat_response
from oyer.protocol.jsonvalue import JsonValue
from oyer.protocol.model_api import Defect, Json

__all__ = ["ASK_CHAT"]


def _tool(name: str, description: str | None, schema: Json) -> Json:
    function: Json = {"name": name, "parameters": schema}
    if description is not None:
        function = {"name": name, "description": description, "parameters": schema}
    return {"type": "function", "function": function}


def _results(results: Sequence[CallResult]) -> list[Json]:
    return [{"role": "tool", "tool_call_id": one.id, "content": one.text} for one in results]


def _read(answer: Json, invent: Invent) -> Said | Defect:
    response = chat_response(answer)
    if isinstance(response, Defect):
        return response
    calls = tuple(call if call.id else call._replace(id=invent()) for call in response.tool_calls)
    message: Json = {"role": "assistant", "content": response.text}
    if calls:
        message = {
            "role": "assistant",
            "content": response.text or None,
            "tool_calls": [_written(call) for call in calls],
        }
    itself = response.finish in ("stop", "tool_calls", None)
    return Said(response.text, calls, response.finish, itself, (message,))


def _written(call: ToolCall) -> JsonValue:
    """Write a call back into the conversation as the model made it, broken arguments and all."""
    function: JsonValue = {"name": call.name, "arguments": call.arguments_raw}
    return {"id": call.id, "type": "function", "function": function}


def _request(model: str, system: str | None, items: Sequence[Json], tools: Sequence[Json], parameters: Json) -> Json:
    first: list[Json] = [] if system is None else [{"role": "system", "content": system}]
    body: Json = {"model": model, "messages": [*first, *items]}
    if tools:
        body["tools"] = list(tools)
    return {**body, **parameters}


ASK_CHAT: Final = Manner(
    api=CHAT,
    place=lambda _model, _stream: "/v1/chat/completions",
    key=lambda key: {"Authorization": f"Bearer {key}"},
    tool=_tool,
    user=lambda text: {"role": "user", "content": text},
    results=_results,
    read=_read,
    request=_request,
    taken=frozenset({"model", "messages", "tools"}),
    names={"temperature": ("temperature",), "max_tokens": ("max_tokens",), "seed": ("seed",)},
)
