"""Asking over OpenAI Responses, with the whole conversation in every request and nothing kept at the endpoint.

Source: OpenAI Responses API reference, function calling.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from oyer.protocol.asking import CallResult, Invent, Manner, Said, offered_call
from oyer.protocol.chat import ToolCall
from oyer.protocol.jsonvalue import JsonValue
from oyer.protocol.model_api import Defect, Json
from oyer.protocol.model_responses import RESPONSES

__all__ = ["ASK_RESPONSES"]


def _tool(name: str, description: str | None, schema: Json) -> Json:
    told: Json = {} if description is None else {"description": description}
    return {"type": "function", "name": name, **told, "parameters": schema}


def _results(results: Sequence[CallResult]) -> list[Json]:
    return [{"type": "function_call_output", "call_id": one.id, "output": one.text} for one in results]


def _read(answer: Json, invent: Invent) -> Said | Defect:
    output = answer.get("output")
    if not isinstance(output, list):
        return Defect("bad_shape", "the response holds no output")
    calls: list[ToolCall] = []
    texts: list[str] = []
    echo: list[Json] = []
    for item in output:
        if not isinstance(item, dict):
            continue
        if item.get("type") == "function_call":
            call = offered_call(item.get("call_id"), item.get("name"), item.get("arguments"), invent)
            calls.append(call)
            echo.append({**item, "call_id": call.id})
        else:
            texts += _texts(item)
            echo.append(item)
    finish = RESPONSES.finish(answer)
    return Said("".join(texts), tuple(calls), finish, finish in ("completed", None), tuple(echo))


def _texts(item: Json) -> Iterator[str]:
    content = item.get("content") if item.get("type") == "message" else None
    for part in content if isinstance(content, list) else ():
        text: JsonValue = part.get("text") if isinstance(part, dict) and part.get("type") == "output_text" else None
        if isinstance(text, str):
            yield text


def _request(model: str, system: str | None, items: Sequence[Json], tools: Sequence[Json], parameters: Json) -> Json:
    body: Json = {"model": model, "input": list(items)}
    if system is not None:
        body["instructions"] = system
    if tools:
        body["tools"] = list(tools)
    return {**body, **parameters}


ASK_RESPONSES: Final = Manner(
    api=RESPONSES,
    place=lambda _model, _stream: "/v1/responses",
    key=lambda key: {"Authorization": f"Bearer {key}"},
    tool=_tool,
    user=lambda text: {"role": "user", "content": [{"type": "input_text", "text": text}]},
    results=_results,
    read=_read,
    request=_request,
    taken=frozenset({"model", "input", "instructions", "tools", "previous_response_id"}),
    names={"temperature": ("temperature",), "max_tokens": ("max_output_tokens",)},
)
