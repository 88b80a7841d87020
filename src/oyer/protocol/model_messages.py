"""Anthropic Messages: `POST /v1/messages`, streamed or not.

A stream ends with `message_stop`. Usage is cumulative: the last value of each count stands, none are added up.
Tools that the provider runs itself (`server_tool_use`, `mcp_tool_use`) are none of the agent's calls.
Source: Anthropic Messages API reference, "Streaming messages".
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from oyer.errors import ProtocolError
from oyer.protocol.jsonvalue import JsonValue, loads
from oyer.protocol.model_api import (
    AskedCall,
    Defect,
    Json,
    ModelApi,
    Reasoning,
    UsageField,
    api_error,
    is_event_of,
    model_of_body,
    models_told,
    stream_of_body,
    text_or_none,
)

__all__ = ["MESSAGES"]

_PIECES: Final = {
    "input_json_delta": ("partial_json", "input"),
    "text_delta": ("text", "text"),
    "thinking_delta": ("thinking", "thinking"),
}
"""By the type of a delta: where its piece stands, and what of the block it goes on with."""


def _ends(data: bytes) -> bool:
    return is_event_of(data, b"message_stop", ("message_stop", "error"))


def _assemble(events: Sequence[Json], _done: bool) -> Json | Defect:
    message: Json | None = None
    blocks: dict[int, Json] = {}
    pieces: dict[tuple[int, str], list[str]] = {}
    for event in events:
        kind, index = event.get("type"), event.get("index")
        if kind == "error":
            return api_error(event.get("error"))
        if kind == "message_start":
            started = event.get("message")
            message = dict(started) if isinstance(started, dict) else {}
        elif message is None:
            continue
        elif kind == "content_block_start" and isinstance(index, int):
            block = event.get("content_block")
            blocks[index] = dict(block) if isinstance(block, dict) else {}
        elif kind == "content_block_delta" and isinstance(index, int) and index in blocks:
            _add(pieces, index, event.get("delta"))
        elif kind == "message_delta":
            _amend(message, event)
        elif kind == "message_stop":
            for (place, member), given in pieces.items():
                told = "".join(given)
                began = blocks[place].get(member)
                if member == "input":
                    blocks[place][member] = _value_of(told)
                else:
                    blocks[place][member] = f"{began if isinstance(began, str) else ''}{told}"
            content: JsonValue = [blocks[place] for place in sorted(blocks)]
            return {**message, **models_told(_models(events)), "content": content}
    return Defect("cut_stream", f"the stream ended after {len(events)} events without its end marker")


def _models(events: Sequence[Json]) -> Iterator[JsonValue]:
    for event in events:
        for told in (event.get("message"), event.get("delta")):
            if isinstance(told, dict):
                yield told.get("model")


def _add(pieces: dict[tuple[int, str], list[str]], index: int, delta: JsonValue) -> None:
    if not isinstance(delta, dict):
        return
    kind = delta.get("type")
    source, member = _PIECES.get(kind if isinstance(kind, str) else "", ("", ""))
    piece = delta.get(source)
    if isinstance(piece, str) and piece:
        pieces.setdefault((index, member), []).append(piece)


def _amend(message: Json, event: Json) -> None:
    delta, usage = event.get("delta"), event.get("usage")
    if isinstance(delta, dict):
        message.update(delta)
    if isinstance(usage, dict):
        before = message.get("usage")
        known: Json = dict(before) if isinstance(before, dict) else {}
        known.update({key: item for key, item in usage.items() if item is not None})
        message["usage"] = known


def _value_of(text: str) -> JsonValue:
    """Return the value of a call's input; text that is no JSON stays text, for nobody to take as arguments."""
    try:
        return loads(text.encode("utf-8", "surrogatepass"))
    except ProtocolError:
        return text


def _calls(answer: Json) -> Iterator[AskedCall]:
    content = answer.get("content")
    for block in content if isinstance(content, list) else ():
        if isinstance(block, dict) and block.get("type") == "tool_use":
            name = block.get("name")
            if isinstance(name, str):
                yield AskedCall(name, block.get("input"))


MESSAGES: Final = ModelApi(
    name="messages",
    reasoning=Reasoning(frozenset({"redacted_thinking", "signature", "thinking"})),
    shown=("system", "messages"),
    own=frozenset({"system", "messages"}),
    requested=model_of_body,
    streams=stream_of_body,
    ends=_ends,
    last=(b"message_stop", b"error"),
    assemble=_assemble,
    calls=_calls,
    reported=lambda answer: text_or_none(answer.get("model")),
    finish=lambda answer: text_or_none(answer.get("stop_reason")),
    usage_of="usage",
    usage_fields=(
        UsageField("input", "input_tokens"),
        UsageField("output", "output_tokens"),
        UsageField("cache_read", "cache_read_input_tokens"),
        UsageField("cache_write", "cache_creation_input_tokens"),
    ),
)
