"""Answering over Gemini generateContent. Source: Gemini API reference, "Generating content" and function calling."""

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
)
from oyer.protocol.jsonvalue import JsonValue, dumps
from oyer.protocol.model_api import Json
from oyer.protocol.model_gemini import GEMINI

__all__ = ["ANSWER_GEMINI"]


def _hear(request: Json) -> Heard:
    offered = tuple(
        Offered(str(one["name"]), properties=properties_of(one.get("parametersJsonSchema") or one.get("parameters")))
        for tool in objects(request.get("tools"))
        for one in objects(tool.get("functionDeclarations") or tool.get("function_declarations"))
        if isinstance(one.get("name"), str)
    )
    return Heard(offered, tuple(_items(request)))


def _items(request: Json) -> Iterator[Item]:
    for content in objects(request.get("contents")):
        parts = list(objects(content.get("parts")))
        results = [part["functionResponse"] for part in parts if isinstance(part.get("functionResponse"), dict)]
        if content.get("role") == "model":
            calls = [part["functionCall"] for part in parts if isinstance(part.get("functionCall"), dict)]
            for call in calls:
                yield Asked(str(call.get("name")) if isinstance(call, dict) else "")
            if not calls:
                yield Asked(None)
        elif results:
            yield from (Shown(_text(one.get("response"))) for one in results if isinstance(one, dict))
        else:
            yield Told()


def _text(response: JsonValue) -> str:
    """Return the one text of a result, and of any other its JSON."""
    values = list(response.values()) if isinstance(response, dict) else [response]
    return values[0] if len(values) == 1 and isinstance(values[0], str) else dumps(response).decode()


def _write(reply: Reply) -> Json:
    part: Json = {"text": reply.text}
    if reply.tool is not None:
        part = {"functionCall": {"name": reply.tool.name, "args": reply.arguments}}
    return {
        "candidates": [{"content": {"role": "model", "parts": [part]}, "finishReason": "STOP", "index": 0}],
        "usageMetadata": {"promptTokenCount": 0, "candidatesTokenCount": 0, "totalTokenCount": 0},
        "modelVersion": REPORTED,
        "responseId": f"response-{reply.number + 1}",
    }


def _stream(body: Json) -> list[bytes]:
    begun: Json = {"candidates": [{"content": {"role": "model", "parts": []}, "index": 0}]}
    return [event({**begun, "modelVersion": REPORTED}), event(body)]


ANSWER_GEMINI: Final = Voice(GEMINI, _hear, _write, _stream)
