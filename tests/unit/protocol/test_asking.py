"""An agent's side of the four model APIs: what is read, what goes back, and what a conversation looks like then."""

from __future__ import annotations

import itertools
import json
from typing import Any

import pytest
from model_streams import APIS, FINISH, NAME, SECRET_THOUGHT, STREAMS, TEXT, WHOLE

from oyer.protocol import API_NAMES, MODEL_APIS, CallResult, Defect, Said, dumps, hear, manner_of


def heard(api: str, raw: bytes, *, stream: bool) -> Said:
    numbers = itertools.count(1)
    said = hear(manner_of(api), raw, stream=stream, invent=lambda: f"ours-{next(numbers)}")
    assert isinstance(said, Said)
    return said


def test_every_api_that_is_understood_can_be_asked() -> None:
    assert tuple(MODEL_APIS) == API_NAMES and all(manner_of(name).api is MODEL_APIS[name] for name in API_NAMES)


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("api", APIS)
def test_an_answer_is_read_alike_over_every_api(api: str, stream: bool) -> None:
    said = heard(api, STREAMS[api] if stream else json.dumps(WHOLE[api]).encode(), stream=stream)
    assert said.text == TEXT and said.finish == FINISH[api] and said.ended_itself
    (call,) = said.calls
    assert (call.name, call.arguments, call.defect) == (NAME, {"id": 1}, None)
    assert call.id == {"chat": "c1", "responses": "c1", "messages": "t1", "gemini": "ours-1"}[api]


@pytest.mark.parametrize("api", APIS)
def test_what_a_model_thought_goes_back_where_the_api_wants_it_and_is_never_its_text(api: str) -> None:
    said = heard(api, json.dumps(WHOLE[api]).encode(), stream=False)
    assert SECRET_THOUGHT not in said.text
    assert (SECRET_THOUGHT in json.dumps(said.echo)) is (api != "chat")


@pytest.mark.parametrize("api", APIS)
def test_the_next_request_holds_the_call_and_its_result(api: str) -> None:
    manner = manner_of(api)
    said = heard(api, json.dumps(WHOLE[api]).encode(), stream=False)
    call = said.calls[0]
    items = [manner.user("Hello"), *said.echo, *manner.results([CallResult(call.id or "", call.name, "the inbox")])]
    tool = manner.tool(NAME, "Reads.", {"type": "object"})
    request = json.loads(dumps(manner.request("m", "Be brief.", items, [tool], {"temperature": 0})))
    shown = json.dumps([request[member] for member in MODEL_APIS[api].shown if member in request])
    assert all(text in shown for text in ("Be brief.", "Hello", "the inbox", NAME))
    assert request["temperature"] == 0 and NAME in json.dumps(request["tools"])
    if api != "chat":
        assert shown.count(call.id or "") == 2


CUT_SHORT: dict[str, Any] = {
    "chat": {"choices": [{"message": {"content": "And th"}, "finish_reason": "length"}]},
    "responses": {
        "status": "incomplete",
        "incomplete_details": {"reason": "max_output_tokens"},
        "output": [{"type": "message", "content": [{"type": "output_text", "text": "And th"}]}],
    },
    "messages": {"content": [{"type": "text", "text": "And th"}], "stop_reason": "max_tokens"},
    "gemini": {"candidates": [{"content": {"parts": [{"text": "And th"}]}, "finishReason": "MAX_TOKENS"}]},
}


@pytest.mark.parametrize("api", APIS)
def test_an_answer_that_was_cut_short_says_so(api: str) -> None:
    said = heard(api, json.dumps(CUT_SHORT[api]).encode(), stream=False)
    assert said.text == "And th" and not said.ended_itself


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("body", [b"", b"<html>", b"[]", b"{}", b'{"error": {"message": "overloaded"}}', b"\xff"])
@pytest.mark.parametrize("api", APIS)
def test_what_is_no_answer_is_a_defect(api: str, body: bytes, stream: bool) -> None:
    assert isinstance(hear(manner_of(api), body, stream=stream, invent=lambda: "x"), Defect)


@pytest.mark.parametrize("api", APIS)
def test_a_stream_without_its_end_is_a_defect(api: str) -> None:
    cut = STREAMS[api][: STREAMS[api].rindex(b"data:")]
    assert isinstance(hear(manner_of(api), cut, stream=True, invent=lambda: "x"), Defect)


def test_messages_gets_no_empty_text_and_no_broken_input_back() -> None:
    blocks = [{"type": "text", "text": ""}, {"type": "tool_use", "id": "t", "name": "a", "input": "{broken"}]
    said = heard("messages", json.dumps({"content": blocks, "stop_reason": "tool_use"}).encode(), stream=False)
    assert said.echo == ({"role": "assistant", "content": [{"type": "tool_use", "id": "t", "name": "a", "input": {}}]},)
    assert said.calls[0].arguments is None and said.calls[0].arguments_raw == "{broken"
