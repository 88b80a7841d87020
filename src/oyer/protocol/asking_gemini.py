"""Asking over Gemini generateContent; model and stream stand in the path. Source: Gemini API, function calling."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final
from urllib.parse import quote

from oyer.protocol.asking import CallResult, Invent, Manner, Said, offered_call
from oyer.protocol.chat import ToolCall
from oyer.protocol.jsonvalue import JsonValue
from oyer.protocol.model_api import Defect, Json
from oyer.protocol.model_gemini import GEMINI

__all__ = ["ASK_GEMINI"]


def _place(model: str, stream: bool) -> str:
    way = "streamGenerateContent?alt=sse" if stream else "generateContent"
    return f"/v1beta/models/{quote(model, safe='')}:{way}"


def _tool(name: str, description: str | None, schema: Json) -> Json:
    told: Json = {} if description is None else {"description": description}
    return {"name": name, **told, "parametersJsonSchema": schema}


def _results(results: Sequence[CallResult]) -> list[Json]:
    parts: list[JsonValue] = [
        {"functionResponse": {"id": one.id, "name": one.name, "response": {"output": one.text}}} for one in results
    ]
    return [{"role": "user", "parts": parts}] if parts else []


def _read(answer: Json, invent: Invent) -> Said | Defect:
    candidates = answer.get("candidates")
    first = candidates[0] if isinstance(candidates, list) and candidates else None
    finish = GEMINI.finish(answer)
    if not isinstance(first, dict):
        why = "the response holds no candidate" if finish is None else f"the prompt was blocked: {finish}"
        return Defect("no_choice", why)
    content = first.get("content")
    given = content.get("parts") if isinstance(content, dict) else None
    calls: list[ToolCall] = []
    texts: list[str] = []
    parts: list[JsonValue] = []
    for part in given if isinstance(given, list) else ():
        if not isinstance(part, dict):
            continue
        function, text = part.get("functionCall"), part.get("text")
        if isinstance(function, dict):
            call = offered_call(function.get("id"), function.get("name"), function.get("args"), invent)
            calls.append(call)
            parts.append({**part, "functionCall": {**function, "id": call.id}})
        else:
            if isinstance(text, str) and part.get("thought") is not True:
                texts.append(text)
            parts.append(part)
    said: tuple[Json, ...] = ({"role": "model", "parts": parts},) if parts else ()
    return Said("".join(texts), tuple(calls), finish, finish in ("STOP", None), said)


def _request(_model: str, system: str | None, items: Sequence[Json], tools: Sequence[Json], parameters: Json) -> Json:
    body: Json = {"contents": list(items)}
    if system is not None:
        body["systemInstruction"] = {"parts": [{"text": system}]}
    if tools:
        body["tools"] = [{"functionDeclarations": list(tools)}]
    return {**body, **{name: value for name, value in parameters.items() if name != "stream"}}


ASK_GEMINI: Final = Manner(
    api=GEMINI,
    place=_place,
    key=lambda key: {"x-goog-api-key": key},
    tool=_tool,
    user=lambda text: {"role": "user", "parts": [{"text": text}]},
    results=_results,
    read=_read,
    request=_request,
    taken=frozenset({"model", "contents", "systemInstruction", "system_instruction", "tools"}),
    names={
        "temperature": ("generationConfig", "temperature"),
        "max_tokens": ("generationConfig", "maxOutputTokens"),
        "seed": ("generationConfig", "seed"),
    },
)
