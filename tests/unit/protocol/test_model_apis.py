"""Each model API read through the one interface: streamed and not, whole and broken."""

from __future__ import annotations

import json
from typing import Any

import pytest
from model_streams import APIS, ASKS, FINISH, NAME, PATHS, SECRET_THOUGHT, STREAMS, TEXT, USAGE, WHOLE, sse

from oyer.protocol import AskedCall, Defect, ModelApi, SseReader, api_of, loads, read_answer, sse_data


def api(name: str) -> ModelApi:
    found = api_of(PATHS[name])
    assert found is not None and found.name == name
    return found


@pytest.mark.parametrize("name", APIS)
@pytest.mark.parametrize("form", ["streamed", "whole", "streamed with \\r\\n", "with a mark before it"])
def test_an_answer_says_the_same_streamed_or_not(name: str, form: str) -> None:
    raw = json.dumps(WHOLE[name]).encode() if form == "whole" else STREAMS[name]
    raw = raw.replace(b"\n", b"\r\n") if "r" in form and "\\" in form else raw
    raw = b"\xef\xbb\xbf" + raw if "mark" in form else raw
    answer = read_answer(api(name), raw)
    assert isinstance(answer, dict)
    assert api(name).reported(answer) == "m-1-2026"
    assert api(name).usage(answer) == USAGE[name]
    assert api(name).finish(answer) == FINISH[name]
    (call,) = api(name).calls(answer)
    arguments = loads(call.arguments.encode()) if isinstance(call.arguments, str) else call.arguments
    assert (call.name, arguments) == (NAME, {"id": 1})
    assert TEXT in json.dumps(answer)


@pytest.mark.parametrize("name", APIS)
def test_a_stream_cut_anywhere_is_no_answer(name: str) -> None:
    raw = STREAMS[name]
    for size in range(len(raw) - 1):
        answer = read_answer(api(name), raw[:size])
        assert isinstance(answer, Defect), raw[:size]
        assert answer.code == "cut_stream" or size < 6


@pytest.mark.parametrize("name", APIS)
def test_the_end_of_a_stream_is_seen_in_its_last_event_only(name: str) -> None:
    reached = [api(name).ends(data) for data in sse_data(STREAMS[name])]
    assert reached == [*[False] * (len(reached) - 1), True]


@pytest.mark.parametrize("name", APIS)
def test_pieces_of_any_size_give_the_same_events(name: str) -> None:
    raw = STREAMS[name].replace(b"\n", b"\r\n")
    for size in (1, 2, 3, 7, 64):
        reader, found = SseReader(), []
        for start in range(0, len(raw), size):
            found += reader.feed(raw[start : start + size])
        assert found == sse_data(raw)


@pytest.mark.parametrize("name", APIS)
@pytest.mark.parametrize("place", [0, 1, 2])
def test_an_error_in_a_stream_is_no_answer_whatever_follows(name: str, place: int) -> None:
    events = STREAMS[name].split(b"\n\n")
    error = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}, "message": "Overloaded"}
    events.insert(place, sse(error).strip())
    answer = read_answer(api(name), b"\n\n".join(events))
    assert answer == Defect("api_error", "Overloaded")
    assert api(name).ends(sse_data(sse(error))[0])


@pytest.mark.parametrize("name", APIS)
def test_an_error_that_is_the_whole_body_is_passed_on_as_a_value(name: str) -> None:
    answer = read_answer(api(name), b'{"error": {"message": "no"}}')
    assert isinstance(answer, dict) and not list(api(name).calls(answer)) and api(name).reported(answer) is None


@pytest.mark.parametrize("name", APIS)
@pytest.mark.parametrize(
    "raw", [b"", b"<html>", b"\xff", b"data: 5\n\n", b"data: {\n\n", b'{"a":1,"a":2}', b"5", b"[5]"]
)
def test_what_is_no_answer_is_a_defect(name: str, raw: bytes) -> None:
    assert isinstance(read_answer(api(name), raw), Defect)


@pytest.mark.parametrize("name", APIS)
def test_a_request_says_model_stream_and_parameters(name: str) -> None:
    request = ASKS[name]
    assert api(name).requested(PATHS[name], request) == "m-1"
    assert api(name).streams(PATHS[name], request)
    parameters = api(name).parameters(request)
    assert "temperature" in json.dumps(parameters)
    told = json.dumps(parameters)
    assert SECRET_THOUGHT not in told and "clerk" not in told and "differs-in-each-run" not in told


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("/v1/chat/completions", "chat"),
        ("/v1/responses?x=1", "responses"),
        ("/v1/messages", "messages"),
        ("/v1beta/models/gemini-2.5-flash:generateContent", "gemini"),
        ("/v1/messages/count_tokens", None),
        ("/v1/models", None),
        ("/v1beta/models/a/b:generateContent", None),
        ("/v1beta/models/m:countTokens", None),
        ("/", None),
        ("/v1/chat/completions/", None),
    ],
)
def test_only_what_is_listed_is_understood(path: str, name: str | None) -> None:
    found = api_of(path)
    assert (None if found is None else found.name) == name


def test_gemini_names_its_model_in_the_path() -> None:
    gemini = api("gemini")
    assert gemini.requested("/v1beta/models/tuned%2Fmine:generateContent", {}) == "tuned/mine"
    assert not gemini.streams("/v1beta/models/m:generateContent", {})


def test_a_gemini_stream_may_be_a_list() -> None:
    chunks = [json.loads(data) for data in sse_data(STREAMS["gemini"])]
    listed = json.dumps(chunks).encode()
    assert read_answer(api("gemini"), listed) == read_answer(api("gemini"), STREAMS["gemini"])
    assert read_answer(api("gemini"), json.dumps(chunks[:-1]).encode()) == Defect(
        "cut_stream", "the stream ended after 3 chunks and says no reason to finish"
    )


def test_a_blocked_prompt_is_a_whole_answer_of_gemini() -> None:
    answer = read_answer(api("gemini"), sse({"promptFeedback": {"blockReason": "SAFETY"}}))
    assert isinstance(answer, dict) and api("gemini").finish(answer) == "SAFETY"


def test_every_candidate_of_gemini_must_have_finished() -> None:
    one = {"index": 0, "content": {"parts": [{"text": "a"}]}, "finishReason": "STOP"}
    other = {"index": 1, "content": {"parts": [{"text": "b"}]}}
    assert isinstance(read_answer(api("gemini"), sse({"candidates": [one, other]})), Defect)
    both = read_answer(api("gemini"), sse({"candidates": [one, {**other, "finishReason": "STOP"}]}))
    assert isinstance(both, dict) and len(both["candidates"]) == 2  # type: ignore[arg-type]


def response(*output: Any, **more: Any) -> dict[str, Any]:
    return {
        "type": "response.completed",
        "response": {"model": "m", "status": "completed", "output": list(output), **more},
    }


def done(index: int, item: Any) -> dict[str, Any]:
    return {"type": "response.output_item.done", "output_index": index, "item": item}


CALL = {"type": "function_call", "name": "f", "arguments": "{}"}


def test_items_stand_for_an_output_that_the_last_event_leaves_out() -> None:
    answer = read_answer(api("responses"), sse(done(1, {**CALL, "name": "g"}), done(0, CALL), response()))
    assert isinstance(answer, dict)
    assert list(api("responses").calls(answer)) == [AskedCall("f", "{}"), AskedCall("g", "{}")]


def test_two_accounts_of_one_output_are_no_answer() -> None:
    answer = read_answer(api("responses"), sse(done(0, CALL), response({**CALL, "name": "other"})))
    assert isinstance(answer, Defect) and answer.code == "bad_shape"


@pytest.mark.parametrize(
    ("item", "calls"),
    [
        ({**CALL, "status": "incomplete"}, []),
        ({"type": "custom_tool_call", "name": "f", "input": "free text"}, [AskedCall("f", "free text")]),
        ({"type": "mcp_call", "name": "f", "arguments": "{}"}, []),
        ({"type": "web_search_call"}, []),
        ({**CALL, "name": 5}, []),
    ],
)
def test_which_items_are_calls_of_the_agent(item: Any, calls: list[AskedCall]) -> None:
    answer = read_answer(api("responses"), json.dumps(response(item)["response"]).encode())
    assert isinstance(answer, dict) and list(api("responses").calls(answer)) == calls


def test_how_a_response_ended() -> None:
    failed = {"type": "response.failed", "response": {"error": {"code": "x", "message": "broke"}}}
    assert read_answer(api("responses"), sse(failed)) == Defect("api_error", "broke")
    short = {
        "type": "response.incomplete",
        "response": {"status": "incomplete", "incomplete_details": {"reason": "content_filter"}},
    }
    answer = read_answer(api("responses"), sse(short))
    assert isinstance(answer, dict) and api("responses").finish(answer) == "content_filter"


def test_what_anthropic_runs_itself_is_no_call_of_the_agent() -> None:
    body = {
        "content": [{"type": "server_tool_use", "name": "web_search", "input": {}}, {"type": "tool_use", "name": "f"}]
    }
    assert list(api("messages").calls(body)) == [AskedCall("f", None)]


def test_arguments_that_are_no_json_stay_what_they_are() -> None:
    broken = STREAMS["messages"].replace(b'"partial_json": ": 1}"', b'"partial_json": ": "')
    answer = read_answer(api("messages"), broken)
    assert isinstance(answer, dict)
    assert list(api("messages").calls(answer)) == [AskedCall(NAME, '{"id": ')]


def test_the_last_count_of_each_kind_stands_and_none_are_added_up() -> None:
    """GW-05: cumulative usage."""
    answer = read_answer(api("messages"), STREAMS["messages"])
    assert isinstance(answer, dict)
    assert api("messages").usage(answer) == {"input": 10, "output": 20, "cache_read": 100}
    without = STREAMS["messages"].replace(b'"usage"', b'"other"')
    answer = read_answer(api("messages"), without)
    assert isinstance(answer, dict) and api("messages").usage(answer) is None


def test_the_older_form_of_a_call_is_put_together_too() -> None:
    stream = sse(
        {"choices": [{"index": 0, "delta": {"function_call": {"name": "f", "arguments": '{"a"'}}}]},
        {"choices": [{"index": 0, "delta": {"function_call": {"arguments": ":1}"}}, "finish_reason": "function_call"}]},
        end=b"data: [DONE]\n\n",
    )
    answer = read_answer(api("chat"), stream)
    assert isinstance(answer, dict) and list(api("chat").calls(answer)) == [AskedCall("f", '{"a":1}')]


def test_every_choice_of_a_stream_counts() -> None:
    call = {"tool_calls": [{"index": 0, "id": "c", "function": {"name": "f", "arguments": "{}"}}]}
    stream = sse(
        {"choices": [{"index": 1, "delta": call}]},
        {"choices": [{"index": 0, "delta": {"content": "x"}}]},
        end=b"data: [DONE]\n\n",
    )
    answer = read_answer(api("chat"), stream)
    assert isinstance(answer, dict) and [one.name for one in api("chat").calls(answer)] == ["f"]


_OTHER = {
    "chat": {"model": "m-9", "choices": []},
    "responses": {"type": "response.created", "response": {"model": "m-9"}},
    "messages": {"type": "message_delta", "delta": {"model": "m-9"}},
    "gemini": {"modelVersion": "m-9"},
}


@pytest.mark.parametrize("name", APIS)
def test_a_stream_that_reports_two_models_reports_neither(name: str) -> None:
    """Whichever of its events says so: a model that was swapped under way is not the one that was asked for."""
    events = sse_data(STREAMS[name])
    seen = set()
    for place in range(1, len(events)):
        told = [*events[:place], json.dumps(_OTHER[name]).encode(), *events[place:]]
        answer = read_answer(api(name), b"".join(b"data: " + data + b"\n\n" for data in told))
        assert isinstance(answer, dict)
        seen.add(api(name).reported(answer))
    assert seen and seen <= {"m-1-2026 + m-9", "m-9 + m-1-2026"}


def test_an_empty_name_in_a_stream_reports_no_model() -> None:
    told = sse({"model": "", "choices": []}) + STREAMS["chat"]
    answer = read_answer(api("chat"), told)
    assert isinstance(answer, dict) and api("chat").reported(answer) == "m-1-2026"
