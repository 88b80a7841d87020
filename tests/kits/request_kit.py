"""Requests of each model API that repeat a conversation with tool results, written as agents write them."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

PATHS = {
    "chat": "/v1/chat/completions",
    "responses": "/v1/responses",
    "messages": "/v1/messages",
    "gemini": "/v1beta/models/m:generateContent",
}


class Told(NamedTuple):
    """One call of a tool and its result: a text, or (in `structured`) a value that an API may take as it is."""

    tool: str
    arguments: dict[str, Any]
    text: str
    id: str = "c1"


def chat(told: Sequence[Told], *, parts: bool = False) -> Any:
    messages: list[Any] = [{"role": "user", "content": "Go on."}]
    for one in told:
        function = {"name": one.tool, "arguments": json.dumps(one.arguments)}
        call = {"id": one.id, "type": "function", "function": function}
        messages.append({"role": "assistant", "content": None, "tool_calls": [call]})
        content: Any = [{"type": "text", "text": one.text}] if parts else one.text
        messages.append({"role": "tool", "tool_call_id": one.id, "content": content})
    return {"model": "m", "messages": messages}


def responses(told: Sequence[Told], *, parts: bool = False) -> Any:
    items: list[Any] = [{"role": "user", "content": "Go on."}]
    for one in told:
        call = {"type": "function_call", "call_id": one.id, "name": one.tool, "arguments": json.dumps(one.arguments)}
        output: Any = [{"type": "input_text", "text": one.text}] if parts else one.text
        items += [call, {"type": "function_call_output", "call_id": one.id, "output": output}]
    return {"model": "m", "input": items}


def messages(told: Sequence[Told], *, parts: bool = False) -> Any:
    said: list[Any] = [{"role": "user", "content": "Go on."}]
    for one in told:
        use = {"type": "tool_use", "id": one.id, "name": one.tool, "input": one.arguments}
        content: Any = [{"type": "text", "text": one.text}] if parts else one.text
        result = {"type": "tool_result", "tool_use_id": one.id, "content": content}
        said += [{"role": "assistant", "content": [use]}, {"role": "user", "content": [result]}]
    return {"model": "m", "max_tokens": 9, "messages": said}


def gemini(told: Sequence[Told], *, parts: bool = False) -> Any:
    contents: list[Any] = [{"role": "user", "parts": [{"text": "Go on."}]}]
    for one in told:
        call = {"functionCall": {"name": one.tool, "args": one.arguments}}
        answer: Any = {"output": [one.text]} if parts else {"result": one.text}
        result = {"functionResponse": {"name": one.tool, "response": answer}}
        contents += [{"role": "model", "parts": [call]}, {"role": "user", "parts": [result]}]
    return {"contents": contents}


WRITE: dict[str, Callable[..., Any]] = {
    "chat": chat,
    "responses": responses,
    "messages": messages,
    "gemini": gemini,
}


def raw(api: str, *told: Told, parts: bool = False, spaced: bool = True) -> bytes:
    """Write a request; with spaces after separators, so that nothing that is written anew looks the same."""
    separators = (", ", ": ") if spaced else (",", ":")
    return json.dumps(WRITE[api](told, parts=parts), separators=separators).encode()
