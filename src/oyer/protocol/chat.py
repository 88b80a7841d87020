"""Chat Completions: its answers as values, and what is particular to it among the APIs.

Owns reading answers, streamed ones too. Reasoning is never text: the fields and parts that carry it are left out,
because hidden reasoning is no evidence. A stream without its end marker is cut, whatever it holds.
Must never raise on what a peer sends (what is no answer is a `Defect`), or round a number.
Source: OpenAI Chat Completions API reference.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from oyer.errors import ProtocolError
from oyer.protocol.call_pieces import CallPieces
from oyer.protocol.jsonvalue import JsonValue, dumps, loads, loads_tolerant
from oyer.protocol.model_api import (
    AskedCall,
    Defect,
    Json,
    ModelApi,
    Reasoning,
    UsageField,
    api_error,
    model_of_body,
    models_told,
    stream_of_body,
)

__all__ = ["CHAT", "ChatResponse", "ToolCall", "chat_response", "tool_call"]


class ToolCall(NamedTuple):
    """A tool call of the model. `arguments` is None with a `defect` where `arguments_raw` is no JSON object."""

    id: str | None
    name: str
    arguments_raw: str
    arguments: dict[str, JsonValue] | None
    defect: str | None


class ChatResponse(NamedTuple):
    """The first choice of an answer, without reasoning."""

    text: str
    tool_calls: tuple[ToolCall, ...]
    finish: str | None


class _Choice:
    """What the chunks have said of one choice so far."""

    def __init__(self) -> None:
        self.text: list[str] = []
        self.calls = CallPieces()
        self.older: Json | None = None
        self.finish: JsonValue = None

    def add(self, choice: Mapping[str, JsonValue]) -> None:
        self.finish = choice.get("finish_reason") or self.finish
        delta = choice.get("delta")
        if not isinstance(delta, dict):
            return
        content = delta.get("content")
        self.text.append(content if isinstance(content, str) else _text(content))
        if "tool_calls" in delta:
            self.calls.add(delta["tool_calls"])
        function = delta.get("function_call")
        if isinstance(function, dict):  # the older form of a single call
            known = self.older or {"name": "", "arguments": ""}
            piece = function.get("arguments")
            told = f"{known['arguments']}{piece if isinstance(piece, str) else ''}"
            self.older = {"name": known["name"] or function.get("name") or "", "arguments": told}

    def whole(self, index: int) -> Json:
        message: Json = {"role": "assistant", "content": "".join(self.text), "tool_calls": self.calls.whole()}
        if self.older is not None:
            message["function_call"] = self.older
        return {"index": index, "message": message, "finish_reason": self.finish}


def _assemble(chunks: Sequence[Json], done: bool) -> Json | Defect:
    if not done:
        return Defect("cut_stream", f"the stream ended after {len(chunks)} chunks without its end marker")
    whole: Json = models_told(chunk.get("model") for chunk in chunks)
    seen: dict[int, _Choice] = {}
    for chunk in chunks:
        if chunk.get("usage") is not None:  # the last reported counts stand; cumulative ones are never added up
            whole["usage"] = chunk["usage"]
        choices = chunk.get("choices")
        for choice in choices if isinstance(choices, list) else []:
            if isinstance(choice, dict):
                index = choice.get("index", 0)
                index = index if isinstance(index, int) else 0
                if index not in seen:
                    seen[index] = _Choice()
                seen[index].add(choice)
    whole["choices"] = [seen[index].whole(index) for index in sorted(seen)]
    return whole


def chat_response(value: JsonValue) -> ChatResponse | Defect:
    """Read an answer, as it came or as the body that its stream stands for."""
    if not isinstance(value, dict):
        return Defect("bad_shape", "the response is no object")
    if value.get("error") is not None:
        return api_error(value["error"])
    choices = value.get("choices")
    choice = choices[0] if isinstance(choices, list) and choices else None
    message = choice.get("message") if isinstance(choice, dict) else None
    if not isinstance(choices, list) or not isinstance(choice, dict) or not isinstance(message, dict):
        return Defect("no_choice", "the response holds no choice with a message")
    finish, calls = choice.get("finish_reason"), message.get("tool_calls")
    given = [call for call in calls if isinstance(call, dict)] if isinstance(calls, list) else []
    if isinstance(message.get("function_call"), dict):  # the older form of a single call
        given.append({"function": message["function_call"]})
    return ChatResponse(
        _text(message.get("content")),
        tuple(_tool_call(call) for call in given),
        finish if isinstance(finish, str) else None,
    )


def _text(content: JsonValue) -> str:
    """Return what a content says: text itself, or its text parts joined. Reasoning parts are no text."""
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    texts = [part.get("text") for part in parts if isinstance(part, dict) and part.get("type") == "text"]
    return "".join(text for text in texts if isinstance(text, str))


def _tool_call(value: Mapping[str, JsonValue]) -> ToolCall:
    function, call_id = value.get("function"), value.get("id")
    named = function if isinstance(function, dict) else {}
    return tool_call(call_id if isinstance(call_id, str) else None, named.get("name"), named.get("arguments"))


def tool_call(call_id: str | None, name: object, arguments: object) -> ToolCall:
    """Return a call as a model made it; `arguments` are text, or a value where an API or an endpoint sends one."""
    # Some endpoints send the arguments as an object where the API says text: what was asked for must not be lost.
    text = arguments if isinstance(arguments, str) else "" if arguments is None else dumps(arguments).decode("utf-8")
    value, defect = _arguments(text)
    if not isinstance(name, str) or not name:
        defect = "no_name"
    return ToolCall(call_id, name if isinstance(name, str) else "", text, value, defect)


def _arguments(text: str) -> tuple[dict[str, JsonValue] | None, str | None]:
    try:
        value = loads(text.encode("utf-8"))
    except UnicodeEncodeError:
        return None, "not_utf8"
    except ProtocolError as error:
        return None, "duplicate_key" if error.code == "E-JSON-DUPLICATE-KEY" else "not_json"
    return (value, None) if isinstance(value, dict) else (None, "not_an_object")


def _calls(answer: Json) -> Iterator[AskedCall]:
    choices = answer.get("choices")
    for choice in choices if isinstance(choices, list) else ():
        message = choice.get("message") if isinstance(choice, dict) else None
        if not isinstance(message, dict):
            continue
        calls = message.get("tool_calls")
        given = [call.get("function") for call in calls if isinstance(call, dict)] if isinstance(calls, list) else []
        for function in (*given, message.get("function_call")):
            name = function.get("name") if isinstance(function, dict) else None
            if isinstance(function, dict) and isinstance(name, str):
                yield AskedCall(name, function.get("arguments"))


def _reported(answer: Json) -> str | None:
    model = answer.get("model")
    return model if isinstance(model, str) else None


def _finish(answer: Json) -> str | None:
    choices = answer.get("choices")
    first = choices[0] if isinstance(choices, list) and choices else None
    finish = first.get("finish_reason") if isinstance(first, dict) else None
    return finish if isinstance(finish, str) else None


def _ends(data: bytes) -> bool:
    """Whether this is the last of a stream: its end marker, or an error in its place."""
    if data.strip() == b"[DONE]":
        return True
    if b"error" not in data:
        return False
    try:
        chunk = loads_tolerant(data)[0]
    except ProtocolError:
        return False
    return isinstance(chunk, dict) and chunk.get("error") is not None


CHAT: Final = ModelApi(
    name="chat",
    reasoning=Reasoning(
        frozenset(
            {"reasoning", "reasoning_content", "reasoning_details", "reasoning_text", "redacted_thinking", "thinking"}
        )
    ),
    shown=("messages",),
    own=frozenset({"messages"}),
    requested=model_of_body,
    streams=stream_of_body,
    ends=_ends,
    last=(b"[DONE]", b"error"),
    assemble=_assemble,
    calls=_calls,
    reported=_reported,
    finish=_finish,
    usage_of="usage",
    usage_fields=(
        UsageField("input", "prompt_tokens"),
        UsageField("output", "completion_tokens"),
        UsageField("total", "total_tokens"),
    ),
)
