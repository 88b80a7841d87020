"""Gemini: `POST /v1beta/models/M:generateContent` and `:streamGenerateContent`.

The model's name stands in the path. A stream (server-sent events, or a JSON list without `alt=sse`) has no end marker
of its own: it is whole when every candidate says why it finished, or the prompt was blocked.
Source: Gemini API reference, "Generating content".
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final
from urllib.parse import unquote

from oyer.errors import ProtocolError
from oyer.protocol.jsonvalue import JsonValue, loads_tolerant
from oyer.protocol.model_api import AskedCall, Defect, Json, ModelApi, Reasoning, UsageField, models_told

__all__ = ["GEMINI", "GEMINI_PATH"]

GEMINI_PATH: Final = re.compile(r"\A/v1beta/models/([^/?#]+):(generateContent|streamGenerateContent)\Z")


def _requested(path: str, _request: Json) -> str | None:
    match = GEMINI_PATH.match(path.partition("?")[0])
    return unquote(match[1]) if match is not None else None


def _streams(path: str, _request: Json) -> bool:
    match = GEMINI_PATH.match(path.partition("?")[0])
    return match is not None and match[2] == "streamGenerateContent"


def _ends(data: bytes) -> bool:
    if b"finishReason" not in data and b"blockReason" not in data and b"error" not in data:
        return False
    try:
        chunk = loads_tolerant(data)[0]
    except ProtocolError:
        return False
    return isinstance(chunk, dict) and ("error" in chunk or _finish(chunk) is not None)


def _assemble(chunks: Sequence[Json], _done: bool) -> Json | Defect:
    whole: Json = {}
    candidates: dict[int, _Candidate] = {}
    for chunk in chunks:
        whole.update({key: item for key, item in chunk.items() if key != "candidates" and item is not None})
        given = chunk.get("candidates")
        for candidate in given if isinstance(given, list) else ():
            if isinstance(candidate, dict):
                index = candidate.get("index", 0)
                candidates.setdefault(index if isinstance(index, int) else 0, _Candidate()).add(candidate)
    told = models_told(chunk.get("modelVersion") for chunk in chunks)
    if told:
        whole["modelVersion"] = told["model"]
    whole["candidates"] = [candidates[index].whole() for index in sorted(candidates)]
    finished = [isinstance(one.said.get("finishReason"), str) for one in candidates.values()]
    if _blocked(whole) is None and not (finished and all(finished)):
        return Defect("cut_stream", f"the stream ended after {len(chunks)} chunks and says no reason to finish")
    return whole


class _Candidate:
    """What the chunks said of one candidate so far. Text that goes on is one text, thoughts apart from the rest."""

    def __init__(self) -> None:
        self.said: Json = {}
        self._content: Json = {}
        self._parts: list[tuple[Json, list[str]] | JsonValue] = []

    def add(self, candidate: Json) -> None:
        self.said.update({key: item for key, item in candidate.items() if item is not None})
        content = candidate.get("content")
        if isinstance(content, dict):
            self._content = content
        for part in _parts(candidate):
            last = self._parts[-1] if self._parts else None
            if not isinstance(part, dict) or not _is_text(part):
                self._parts.append(part)
            elif isinstance(last, tuple) and last[0].get("thought") == part.get("thought"):
                last[1].append(str(part["text"]))
            else:
                self._parts.append((part, [str(part["text"])]))

    def whole(self) -> Json:
        parts: list[JsonValue] = [
            {**part[0], "text": "".join(part[1])} if isinstance(part, tuple) else part for part in self._parts
        ]
        return {**self.said, "content": {**self._content, "parts": parts}}


def _is_text(part: Json) -> bool:
    return isinstance(part.get("text"), str) and set(part) <= {"text", "thought"}


def _parts(candidate: Json) -> list[JsonValue]:
    content = candidate.get("content")
    parts = content.get("parts") if isinstance(content, dict) else None
    return parts if isinstance(parts, list) else []


def _calls(answer: Json) -> Iterator[AskedCall]:
    candidates = answer.get("candidates")
    for candidate in candidates if isinstance(candidates, list) else ():
        for part in _parts(candidate) if isinstance(candidate, dict) else ():
            call = part.get("functionCall") if isinstance(part, dict) else None
            name = call.get("name") if isinstance(call, dict) else None
            if isinstance(call, dict) and isinstance(name, str):
                yield AskedCall(name, call.get("args"))


def _finish(answer: Json) -> str | None:
    candidates = answer.get("candidates")
    first = candidates[0] if isinstance(candidates, list) and candidates else None
    reason = first.get("finishReason") if isinstance(first, dict) else None
    return reason if isinstance(reason, str) else _blocked(answer)


def _blocked(answer: Json) -> str | None:
    feedback = answer.get("promptFeedback")
    reason = feedback.get("blockReason") if isinstance(feedback, dict) else None
    return reason if isinstance(reason, str) else None


def _reported(answer: Json) -> str | None:
    version = answer.get("modelVersion")
    return version if isinstance(version, str) else None


GEMINI: Final = ModelApi(
    name="gemini",
    reasoning=Reasoning(frozenset({"thoughtSignature", "thought_signature"}), frozenset({"thought"})),
    shown=("systemInstruction", "system_instruction", "contents"),
    own=frozenset({"systemInstruction", "system_instruction", "contents"}),
    requested=_requested,
    streams=_streams,
    ends=_ends,
    last=(b"finishReason", b"blockReason", b"error"),
    assemble=_assemble,
    calls=_calls,
    reported=_reported,
    finish=_finish,
    usage_of="usageMetadata",
    usage_fields=(
        UsageField("input", "promptTokenCount"),
        UsageField("output", "candidatesTokenCount"),
        UsageField("total", "totalTokenCount"),
    ),
)
