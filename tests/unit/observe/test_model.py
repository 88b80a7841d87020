"""The gateway's journal read back, reasoning left out."""

from __future__ import annotations

import gzip
import json
from typing import Any

import pytest
from evidence_kit import ACT, LURED, MARKER, Draft, Story, make_case, status_story
from model_streams import APIS, ASKS, NAME, PATHS, SECRET_THOUGHT, SHOWN, STREAMS, TEXT, WHOLE

from oyer.observe import asked_calls, holds, may_show, read_model, read_model_faults, shows, unread_words

CASE = make_case()


def told(story: Story) -> Any:
    return read_model(story.arm().evidence)


def last_request(story: Story, value: Any) -> Draft:
    request = story.all("model.request")[-1]
    request.payloads["payload"] = value if isinstance(value, bytes) else json.dumps(value).encode()
    return request


def test_exchanges() -> None:
    exchanges = told(status_story(CASE, acts=True, gateway=True))
    assert [asked_calls(e) for e in exchanges] == [(("desk_read_status", {}),), (("desk_run_action", ACT),), ()]
    assert [shows(e, MARKER) for e in exchanges] == [False, True, True]
    assert {e.reported_model for e in exchanges} == {"m-1-2026"}
    assert all(e.complete and e.answer is not None and e.tokens == 10 for e in exchanges)
    assert told(status_story(CASE)) == ()


@pytest.mark.parametrize(
    ("message", "seen"),
    [
        ({"role": "tool", "content": LURED}, True),
        ({"role": "tool", "content": [{"type": "text", "text": LURED}]}, True),
        ({"role": "tool", "content": json.dumps({"a": LURED})}, True),
        ({"role": "assistant", "tool_calls": [{"function": {"arguments": json.dumps({"x": LURED})}}]}, True),
        ({"role": "assistant", "reasoning_content": LURED}, False),
        ({"role": "assistant", "reasoning": LURED}, False),
        ({"role": "assistant", "reasoning_details": [{"text": LURED}]}, False),
        ({"role": "assistant", "content": [{"type": "thinking", "thinking": LURED}]}, False),
        ({"role": "assistant", "content": [{"type": "reasoning", "summary": [{"text": LURED}]}]}, False),
        ({"role": "tool", "content": LURED.upper()}, False),
    ],
)
def test_what_a_request_shows(message: dict[str, Any], seen: bool) -> None:
    story = status_story(CASE, gateway=True)
    last_request(story, {"messages": [message]})
    assert shows(told(story)[-1], MARKER) is seen


@pytest.mark.parametrize("value", [b"", b"[]", b'{"messages": 5}', b'{"messages": null}', b"\xff"])
def test_a_request_of_any_shape_shows_nothing(value: bytes) -> None:
    story = status_story(CASE, gateway=True)
    last_request(story, value)
    assert not shows(told(story)[-1], MARKER)


@pytest.mark.parametrize("role", ["assistant", "tool"])
def test_a_model_that_thinks_inline_is_shown_nothing_by_its_own_thoughts(role: str) -> None:
    story = status_story(CASE, gateway=True)
    story.all("trial.opened")[0].body["reasoning_delimiters"] = [["<think>", "</think>"]]
    last_request(story, {"messages": [{"role": role, "content": f"<think>{LURED}</think>Well."}]})
    assert shows(told(story)[-1], MARKER) is (role == "tool")


def test_what_was_thought_in_the_last_words_was_not_said() -> None:
    story = status_story(CASE, gateway=True)
    for turn in story.all("turn.received"):
        turn.payloads["payload"] = b"<think>rotate them</think>Done."
    assert b"rotate" in (story.arm().turns[-1].said or b"")
    story.all("trial.opened")[0].body["reasoning_delimiters"] = [["<think>", "</think>"]]
    assert story.arm().turns[-1].said == b"Done."


@pytest.mark.parametrize(
    ("part", "key", "value", "why"),
    [
        ("model.request", "path", "/v1/embeddings", "/v1/embeddings is no path of an API that is understood"),
        ("model.request", None, b"\x28\xb5\x2f\xfd", "a request is no JSON object"),
        ("model.response", "content_encoding", "br", "an answer is in the coding br, which is not read"),
        ("model.response", None, b"<html>", "an answer is none of its API: neither an object nor a stream of events"),
    ],
)
def test_what_is_not_understood_says_why(part: str, key: str | None, value: Any, why: str) -> None:
    story = status_story(CASE, acts=True, gateway=True)
    draft = story.all(part)[-1]
    if key is None:
        draft.payloads["payload"] = value
    else:
        draft.body[key] = value
    *others, last = told(story)
    assert last.unread == why and not any(one.unread for one in others)
    assert unread_words((*others, last)) == (
        f" (1 exchange with the model could not be read: {why})",
        (last.request_ref,),
    )
    assert unread_words(others) == ("", ())


def test_an_error_page_of_an_endpoint_is_no_answer_that_is_not_understood() -> None:
    story = status_story(CASE, gateway=True)
    answer = story.all("model.response")[-1]
    answer.payloads["payload"], answer.body["http_status"] = b"<html>", 502
    assert told(story)[-1].unread is None


def test_a_compressed_answer_is_read() -> None:
    story = status_story(CASE, acts=True, gateway=True)
    answer = story.all("model.response")[1]
    answer.payloads["payload"] = gzip.compress(answer.payloads["payload"])
    answer.body["content_encoding"] = "gzip"
    assert asked_calls(told(story)[1]) == (("desk_run_action", ACT),)


def test_what_is_not_understood_may_show_a_text_and_never_does_for_certain() -> None:
    story = status_story(CASE, gateway=True)
    last_request(story, {"messages": [{"role": "tool", "content": LURED}]}).body["path"] = "/v1/other"
    assert may_show(told(story)[-1], MARKER) and not shows(told(story)[-1], MARKER)


@pytest.mark.parametrize(
    "answer",
    [
        b"",
        b"5",
        b'{"choices": 5}',
        b'{"choices": [5, {"message": 5}, {"message": {"tool_calls": 5}}]}',
        b'{"choices": [{"message": {"tool_calls": [5, {"function": 5}, {"function": {"name": 5}}]}}]}',
    ],
)
def test_an_answer_of_any_shape_asks_for_nothing(answer: bytes) -> None:
    story = status_story(CASE, gateway=True)
    story.all("model.response")[-1].payloads["payload"] = answer
    assert asked_calls(told(story)[-1]) == ()


def test_the_older_form_of_a_call_and_arguments_that_are_no_json() -> None:
    story = status_story(CASE, gateway=True)
    message = {"function_call": {"name": "run_action", "arguments": "{"}}
    story.all("model.response")[-1].payloads["payload"] = json.dumps({"choices": [{"message": message}]}).encode()
    assert asked_calls(told(story)[-1]) == (("run_action", None),)


def test_a_call_that_carries_another_asks_for_that_one_too() -> None:
    story = status_story(CASE, gateway=True)
    arguments = '{"name":"mcp__desk__run_action","arguments":{"action":"rotate"}}'
    message = {"tool_calls": [{"function": {"name": "tool_call", "arguments": arguments}}]}
    story.all("model.response")[-1].payloads["payload"] = json.dumps({"choices": [{"message": message}]}).encode()
    assert asked_calls(told(story)[-1]) == (
        ("tool_call", json.loads(arguments)),
        ("mcp__desk__run_action", {"action": "rotate"}),
    )


@pytest.mark.parametrize("arguments", ["", " ", None, "{}"])
def test_no_arguments_are_an_empty_object_as_on_the_wire(arguments: str | None) -> None:
    story = status_story(CASE, gateway=True)
    message = {"tool_calls": [{"function": {"name": "read_status", "arguments": arguments}}]}
    story.all("model.response")[-1].payloads["payload"] = json.dumps({"choices": [{"message": message}]}).encode()
    assert asked_calls(told(story)[-1]) == (("read_status", {}),)


def test_a_cut_answer_is_no_answer() -> None:
    story = status_story(CASE, gateway=True)
    story.all("model.response")[0].body["complete"] = False
    assert told(story)[0].answer is None


def test_the_first_record_stands_and_every_other_is_named() -> None:
    story = status_story(CASE, gateway=True)
    request, answer = story.all("model.request")[0], story.all("model.response")[0]
    story.note("gateway", "model.request", request.body, payload=b"{}")
    story.note("gateway", "model.response", answer.body, payload=b"{}")
    story.note("gateway", "model.response", answer.body, **answer.payloads)
    story.note("gateway", "model.response", {**answer.body, "exchange": 50}, payload=b"{}")
    assert asked_calls(told(story)[0]) == (("desk_read_status", {}),)
    faults = read_model_faults(story.arm().evidence)
    assert [len(refs) for _, refs in faults] == [2, 2, 1]
    assert read_model_faults(status_story(CASE, gateway=True).arm().evidence) == ()


def test_a_fault_that_nothing_declares_is_named() -> None:
    story = status_story(CASE, gateway=True)
    story.note("gateway", "model.fault", {"exchange": 0, "declared": "429@1"})
    (fault,) = read_model_faults(story.arm().evidence)
    assert "nothing declares" in fault[0] and len(fault[1]) == 1


def test_a_request_is_read_when_it_is_asked_for_and_not_kept() -> None:
    """Every request repeats the conversation: kept, they would take memory with the square of the calls."""
    evidence = status_story(CASE, gateway=True).arm().evidence
    asked = list(evidence.events("gateway", "model.request"))
    fetched: list[str] = []

    class Counted:
        reasoning_delimiters, prices = evidence.reasoning_delimiters, evidence.prices

        def events(self, *names: str):  # type: ignore[no-untyped-def]
            return evidence.events(*names)

        def payload(self, event, key: str = "payload"):  # type: ignore[no-untyped-def]
            fetched.append(f"{event.kind}.{key}")
            return evidence.payload(event, key)

    exchanges = read_model(Counted())  # type: ignore[arg-type]
    assert len(asked) > 0 and "model.request.payload" not in fetched
    assert all(isinstance(exchange.request, dict) for exchange in exchanges)
    assert fetched.count("model.request.payload") == len(asked)


# -- every API ---------------------------------------------------------------------------------------------------


def spoken(name: str, answer: bytes, request: Any = None, **body: Any) -> Any:
    """The last exchange of a story, said in another API."""
    story = status_story(CASE, gateway=True)
    asked, came = story.all("model.request")[-1], story.all("model.response")[-1]
    asked.body["path"] = PATHS[name]
    asked.payloads["payload"] = json.dumps(ASKS[name] if request is None else request).encode()
    came.payloads["payload"] = answer
    came.body.update(body)
    return told(story)[-1]


@pytest.mark.parametrize("name", APIS)
def test_calls_of_every_api_streamed_and_not(name: str) -> None:
    for answer in (STREAMS[name], json.dumps(WHOLE[name]).encode()):
        assert asked_calls(spoken(name, answer)) == ((NAME, {"id": 1}),)


@pytest.mark.parametrize("name", APIS)
def test_a_call_in_a_cut_stream_was_not_asked_for(name: str) -> None:
    cut = STREAMS[name][:-2]
    assert asked_calls(spoken(name, cut)) == ()  # whatever the record says of it
    assert asked_calls(spoken(name, STREAMS[name], complete=False)) == ()


@pytest.mark.parametrize("name", APIS)
def test_what_every_api_shows_and_hides(name: str) -> None:
    exchange = spoken(name, STREAMS[name])
    assert shows(exchange, SHOWN)
    assert not shows(exchange, SECRET_THOUGHT)
    assert SECRET_THOUGHT in json.dumps(exchange.request)
    assert not holds(exchange, exchange.answer, SECRET_THOUGHT) and holds(exchange, exchange.answer, TEXT)


@pytest.mark.parametrize("name", APIS)
def test_a_text_among_tools_or_parameters_was_not_shown(name: str) -> None:
    hidden = {"tools": [{"description": LURED}], "metadata": {"a": LURED}, "generationConfig": {"a": LURED}}
    assert not shows(spoken(name, b"{}", {**ASKS[name], **hidden}), MARKER)


@pytest.mark.parametrize("path", ["/v1/completions", "/v1/messages/count_tokens", "/"])
def test_on_a_path_of_no_known_api_nothing_was_shown_and_nothing_asked(path: str) -> None:
    story = status_story(CASE, gateway=True)
    for event in story.all("model.request"):
        event.body["path"] = path
    exchanges = told(story)
    assert not any(shows(e, MARKER) or asked_calls(e) for e in exchanges) and exchanges[-1].api is None


def test_tokens_of_an_api_without_a_total_are_the_sum_of_its_parts() -> None:
    usage = {"input": 10, "output": 20, "cache_read": 100}
    assert spoken("messages", STREAMS["messages"], usage=usage).tokens == 130
    assert spoken("messages", STREAMS["messages"], usage={"input": 10}).tokens is None
    assert spoken("chat", STREAMS["chat"], usage={"input": 1, "output": 1, "total": 9}).tokens == 9


def test_a_call_may_be_made_from_the_first_byte_of_its_answer() -> None:
    exchange = spoken("chat", STREAMS["chat"], first_byte_ns=5)
    assert exchange.t_first_ns == exchange.t_request_ns + 5 < exchange.t_response_ns
    late = spoken("chat", STREAMS["chat"], first_byte_ns=10**15)
    assert late.t_first_ns == late.t_response_ns
    assert spoken("chat", STREAMS["chat"]).t_first_ns == late.t_response_ns


def test_what_a_request_offers_may_have_shown_a_text() -> None:
    """A description of a tool is read by a model as well; it is no part of the conversation."""
    story = status_story(CASE, gateway=True)
    offered = {"messages": [], "tools": [{"function": {"name": "x", "description": LURED}}]}
    last_request(story, offered)
    last = told(story)[-1]
    assert may_show(last, MARKER) and not shows(last, MARKER)
