"""Chat Completions: answers as the gateway and the model subject read them, whole and streamed."""

from __future__ import annotations

import json

import pytest

from oyer.protocol import Defect, loads_tolerant, read_answer
from oyer.protocol.chat import CHAT, ChatResponse, chat_response


def read(raw: bytes) -> ChatResponse | Defect:
    whole = read_answer(CHAT, raw, lambda data: loads_tolerant(data)[0])
    return whole if isinstance(whole, Defect) else chat_response(whole)


def response(**message: object) -> ChatResponse:
    body = {"model": "m-1", "choices": [{"message": message, "finish_reason": "stop"}]}
    parsed = read(json.dumps(body).encode())
    assert isinstance(parsed, ChatResponse)
    return parsed


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
    response = read(raw)
    assert isinstance(response, ChatResponse)
    (call,) = response.tool_calls
    assert (call.arguments_raw, call.defect) == ('{"n":1.0}', None) and call.arguments is not None


def test_usage_and_models_are_as_reported_or_unknown() -> None:
    raw = b'{"choices":[{"message":{}}],"usage":{"prompt_tokens":1234567890123456789,"completion_tokens":1.5}}'
    answer = read_answer(CHAT, raw)
    assert not isinstance(answer, Defect) and chat_response(answer) == ChatResponse("", (), None)
    assert CHAT.reported(answer) is None and CHAT.finish(answer) is None and "output" not in (CHAT.usage(answer) or {})


@pytest.mark.parametrize(
    ("raw", "code"),
    [
        (b"<html>", "not_json"),
        (b"[]", "cut_stream"),  # a stream of no events
        (b'{"error":{"message":"overloaded"}}', "api_error"),
        (b'{"choices":[]}', "no_choice"),
        (b'{"choices":[{"message":null}]}', "no_choice"),
    ],
)
def test_what_cannot_be_used_is_a_defect(raw: bytes, code: str) -> None:
    parsed = read(raw)
    assert isinstance(parsed, Defect)
    assert parsed.code == code


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
    for raw in (stream, stream.replace(b"\n\n", b"\r\n\r\n")):
        answer = read_answer(CHAT, raw)
        assert not isinstance(answer, Defect) and chat_response(answer) == ChatResponse("The answer", (), "stop")
        assert (CHAT.reported(answer), CHAT.usage(answer)) == ("m-1", {"input": 10, "output": 20})


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
    parsed = read(stream)
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
    parsed = read(stream)
    assert isinstance(parsed, Defect)
    assert parsed.code == code
