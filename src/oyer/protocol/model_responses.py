"""OpenAI Responses: `POST /v1/responses`, streamed or not.

A stream ends with `response.completed`, `response.incomplete` or `response.failed`. The items that it handed over one
by one are its output; a last event that tells other calls than they do is no answer. Calls that the provider makes
itself (`mcp_call`, searches) are none of the agent's. Source: OpenAI Responses API reference.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from oyer.protocol.jsonvalue import JsonValue
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

__all__ = ["RESPONSES"]

_LAST: Final = ("response.completed", "response.incomplete", "response.failed", "error")


def _ends(data: bytes) -> bool:
    return is_event_of(data, b"response.", _LAST)


def _assemble(events: Sequence[Json], _done: bool) -> Json | Defect:
    items: dict[int, JsonValue] = {}
    for place, event in enumerate(events):
        kind, response = event.get("type"), event.get("response")
        if kind == "error":
            return api_error(event)
        if kind == "response.output_item.done":
            index = event.get("output_index")
            items[index if isinstance(index, int) else place] = event.get("item")
        if kind not in _LAST:
            continue
        if not isinstance(response, dict):
            return Defect("bad_shape", "the last event holds no response")
        if kind == "response.failed":
            return api_error(response.get("error"))
        given = [items[index] for index in sorted(items)]
        told = response.get("output")
        whole = {**response, **models_told(_models(events))}
        whole = {**whole, "output": given} if given else whole
        if given and told and list(_calls(whole)) != list(_calls(response)):
            return Defect("bad_shape", "the last event tells other calls than the items before it")
        return whole
    return Defect("cut_stream", f"the stream ended after {len(events)} events without its end marker")


def _models(events: Sequence[Json]) -> Iterator[JsonValue]:
    responses = (event.get("response") for event in events)
    return (response.get("model") for response in responses if isinstance(response, dict))


def _calls(answer: Json) -> Iterator[AskedCall]:
    output = answer.get("output")
    for item in output if isinstance(output, list) else ():
        if not isinstance(item, dict) or item.get("status") == "incomplete":
            continue
        name = item.get("name")
        if isinstance(name, str) and item.get("type") == "function_call":
            yield AskedCall(name, item.get("arguments"))
        elif isinstance(name, str) and item.get("type") == "custom_tool_call":
            yield AskedCall(name, item.get("input"))


def _finish(answer: Json) -> str | None:
    details = answer.get("incomplete_details")
    reason = details.get("reason") if isinstance(details, dict) else None
    return text_or_none(reason) or text_or_none(answer.get("status"))


RESPONSES: Final = ModelApi(
    name="responses",
    reasoning=Reasoning(frozenset({"encrypted_content", "reasoning", "reasoning_text", "summary_text"})),
    shown=("instructions", "input"),
    own=frozenset({"instructions", "input"}),
    requested=model_of_body,
    streams=stream_of_body,
    ends=_ends,
    last=(b"response.completed", b"response.incomplete", b"response.failed", b"error", b"\\u"),
    assemble=_assemble,
    calls=_calls,
    reported=lambda answer: text_or_none(answer.get("model")),
    finish=_finish,
    usage_of="usage",
    usage_fields=(
        UsageField("input", "input_tokens"),
        UsageField("output", "output_tokens"),
        UsageField("total", "total_tokens"),
    ),
)
