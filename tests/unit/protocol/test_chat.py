"""Chat Completions, both directions."""

from __future__ import annotations

import json

import pytest

from oyer.errors import ProtocolError
from oyer.protocol import (
    Defect,
    ToolCall,
)
from oyer.protocol.chat import (
    ChatResponse,
    Usage,
    build_request,
    build_response,
    parse_chat_request,
    parse_chat_response,
    parse_chat_stream,
)


def response(**message: object) -> ChatResponse:
    body = {"model": "m-1", "choices": [{"message": message, "finish_reason": "stop"}]}
    parsed = parse_chat_response(json.dumps(body).encode())
    assert isinstance(parsed, ChatResponse)
    return parsed


def test_a_request_is_read() -> None:
    raw = build_request(
        "m",
        [
            {"role": "user", "content": [{"type": "text", "text": "a"}, {"type": "x"}, {"type": "text", "text": "b"}]},
            {"role": "assistant", "content": None, "reasoning_content": "hidden", "tool_calls": [
                {"id": "c1", "type": "function", "function": {"name": "f", "arguments": '{"n":1234567890123456789}'}}]},
            {"role": "tool", "tool_call_id": "c1", "content": "done"},
        ],
        [{"type": "function", "function": {"name": "f"}}],
        stream=True,
        parameters={"temperature": 0, "seed": 1234567890123456789},
    )  # fmt: skip
    request = parse_chat_request(raw)
    assert (request.model, request.stream, len(request.tools)) == ("m", True, 1)
    assert request.parameters == {"temperature": 0, "seed": 1234567890123456789}
    user, assistant, tool = request.messages
    assert (user.role, user.text) == ("user", "ab")
    assert assistant.text == ""
    assert assistant.tool_calls[0].arguments == {"n": 1234567890123456789}
    assert (tool.tool_call_id, tool.text) == ("c1", "done")


@pytest.mark.parametrize("raw", [b"", b"[]", b"{}", b'{"messages":{}}', b"\xff"])
def test_what_is_no_request_is_refused(raw: bytes) -> None:
    with pytest.raises(ProtocolError) as caught:
        parse_chat_request(raw)
    assert caught.value.side == "subject"


def test_reasoning_is_never_text() -> None:
    assert response(content="said", reasoning_content="hidden", reasoning="hidden").text == "said"
    assert response(content=[{"type": "thinking", "text": "hidden"}, {"type": "text", "text": "said"}]).text == "said"


def test_tool_calls_say_what_is_wrong_with_them() -> None:
    calls = response(
        content=None,
        tool_calls=[
            {"id": "1", "function": {"name": "f", "arguments": "{}"}},
            {"id": "2", "function": {"name": "f", "arguments": "{"}},
            {"id": "3", "function": {"name": "f", "arguments": "[]"}},
            {"id": "4", "function": {"name": "f", "arguments": '{"a":1,"a":2}'}},
            {"function": {"arguments": "{}"}},
            7,
        ],
        function_call={"name": "old", "arguments": '{"x":1}'},
    ).tool_calls
    assert [(call.id, call.name, call.arguments, call.defect) for call in calls] == [
        ("1", "f", {}, None),
        ("2", "f", None, "not_json"),
        ("3", "f", None, "not_an_object"),
        ("4", "f", None, "duplicate_key"),
        (None, "", {}, "no_name"),
        (None, "old", {"x": 1}, None),
    ]


def test_arguments_sent_as_an_object_are_not_lost() -> None:
    raw = b'{"choices":[{"message":{"tool_calls":[{"id":"c","function":{"name":"f","arguments":{"n":1.0}}}]}}]}'
    response = parse_chat_response(raw)
    assert isinstance(response, ChatResponse)
    (call,) = response.tool_calls
    assert (call.arguments_raw, call.defect) == ('{"n":1.0}', None) and call.arguments is not None


def test_usage_and_models_are_as_reported_or_unknown() -> None:
    raw = b'{"choices":[{"message":{}}],"usage":{"prompt_tokens":1234567890123456789,"completion_tokens":1.5}}'
    parsed = parse_chat_response(raw)
    assert parsed == ChatResponse(None, "", (), None, Usage(1234567890123456789, None, None))


@pytest.mark.parametrize(
    ("raw", "code"),
    [
        (b"<html>", "not_json"),
        (b"[]", "bad_shape"),
        (b'{"error":{"message":"overloaded"}}', "api_error"),
        (b'{"choices":[]}', "no_choice"),
        (b'{"choices":[{"message":null}]}', "no_choice"),
    ],
)
def test_what_cannot_be_used_is_a_defect(raw: bytes, code: str) -> None:
    parsed = parse_chat_response(raw)
    assert isinstance(parsed, Defect)
    assert parsed.code == code


def test_our_own_responses_read_back() -> None:
    raw = build_response("m", "", [("c", "f", {"a": 1})], usage=Usage(1, 2, 3))
    assert parse_chat_response(raw) == ChatResponse(
        "m", "", (ToolCall("c", "f", '{"a":1}', {"a": 1}, None),), "tool_calls", Usage(1, 2, 3)
    )
    said = parse_chat_response(build_response("m", "hello"))
    assert isinstance(said, ChatResponse)
    assert (said.text, said.finish) == ("hello", "stop")


def events(*chunks: object, end: bytes = b"data: [DONE]\n\n") -> bytes:
    return b"".join(b"data: " + json.dumps(chunk).encode() + b"\n\n" for chunk in chunks) + end


def delta(**fields: object) -> dict[str, object]:
    return {"model": "m-1", "choices": [{"index": 0, "delta": fields}]}


def test_a_stream_is_put_together() -> None:
    usage = {"prompt_tokens": 10, "completion_tokens": 1}
    stream = events(
        delta(role="assistant", content=""),
        delta(content="The "),
        {**delta(content="answer"), "usage": usage},
        {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}], "usage": {**usage, "completion_tokens": 20}},
        {"choices": [{"index": 1, "delta": {"content": "another choice"}}]},
    )
    expected = ChatResponse("m-1", "The answer", (), "stop", Usage(10, 20, None), choices=2)
    assert parse_chat_stream(stream) == expected
    assert parse_chat_stream(stream.replace(b"\n\n", b"\r\n\r\n")) == expected


def test_fragments_of_one_index_are_one_call() -> None:
    def call(**fields: object) -> dict[str, object]:
        return {"index": 0, **fields}

    stream = events(
        delta(tool_calls=[
            call(id="c1", type="function", function={"name": "f", "arguments": ""}),
            call(function={"arguments": '{"a"'}),
        ]),
        delta(tool_calls=[call(function={"arguments": ":1}"})]),
        delta(tool_calls=[call(id="c2", function={"name": "g", "arguments": "{}"})]),
        delta(tool_calls=[{"index": 1, "id": "c3", "function": {"name": "h", "arguments": "{}"}}]),
    )  # fmt: skip
    parsed = parse_chat_stream(stream)
    assert isinstance(parsed, ChatResponse)
    assert [(one.id, one.name, one.arguments) for one in parsed.tool_calls] == [
        ("c1", "f", {"a": 1}),
        ("c2", "g", {}),
        ("c3", "h", {}),
    ]


@pytest.mark.parametrize(
    ("stream", "code"),
    [
        (events(delta(content="The answer is"), end=b""), "cut_stream"),
        (events(delta(content="The answer is"), end=b"data: [DONE]"), "cut_stream"),
        (b"", "cut_stream"),
        (events({"error": {"message": "overloaded"}}), "api_error"),
        (events([1]), "bad_shape"),
        (b"data: {\n\ndata: [DONE]\n\n", "not_json"),
        (events(), "no_choice"),
    ],
)
def test_a_stream_without_its_end_is_no_answer(stream: bytes, code: str) -> None:
    parsed = parse_chat_stream(stream)
    assert isinstance(parsed, Defect)
    assert parsed.code == code
