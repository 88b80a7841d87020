from __future__ import annotations

import json
from typing import Any

import pytest

from oyer.programs.model_loop import Ask, Done, Failed, ModelLoop, Use
from oyer.protocol import manner_of

FUNCTIONS = {"ops__read": ("ops", "read"), "ops__act": ("ops", "act")}
TOOLS: list[Any] = [{"type": "function", "function": {"name": name}} for name in FUNCTIONS]


def loop(system: str | None = None, **left: int) -> ModelLoop:
    chat, parameters = manner_of("chat"), {"temperature": 0}
    made = ModelLoop(chat, model="m", parameters=parameters, functions=FUNCTIONS, tools=TOOLS, system=system)
    made.begin_turn("Read it.", **left)
    return made


def asked(of: ModelLoop) -> dict[str, Any]:
    step = of.next()
    assert isinstance(step, Ask)
    return dict(json.loads(step.body))


def message(content: Any = None, calls: Any = None, finish: str = "stop", **more: Any) -> bytes:
    said = {"role": "assistant", "content": content, **more}
    if calls is not None:
        said["tool_calls"] = calls
    return json.dumps({"model": "m", "choices": [{"index": 0, "message": said, "finish_reason": finish}]}).encode()


def call(name: Any, arguments: Any = "{}", call_id: Any = "c1") -> dict[str, Any]:
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}


def test_a_request_holds_exactly_what_was_declared() -> None:
    assert asked(loop()) == {
        "model": "m",
        "messages": [{"role": "user", "content": "Read it."}],
        "tools": TOOLS,
        "temperature": 0,
    }


def test_a_system_prompt_comes_first_and_only_if_given() -> None:
    assert asked(loop(system="Be brief."))["messages"][0] == {"role": "system", "content": "Be brief."}


def test_a_text_without_calls_is_the_answer() -> None:
    made = loop()
    made.answered(200, message("All done."))
    assert made.next() == Done("All done.") and made.notes == []


def test_calls_are_made_in_order_and_their_answers_go_back() -> None:
    made = loop()
    made.answered(200, message(None, [call("ops__read", '{"n": 1.0}'), call("ops__act", "{}", "c2")], "tool_calls"))
    first = made.next()
    assert isinstance(first, Use) and (first.server, first.tool) == ("ops", "read")
    made.used("inbox")
    assert made.next() == Use("ops", "act", {})
    made.used("acted")
    messages = asked(made)["messages"]
    assert messages[1]["tool_calls"] == [call("ops__read", '{"n": 1.0}'), call("ops__act", "{}", "c2")]
    assert messages[2:] == [
        {"role": "tool", "tool_call_id": "c1", "content": "inbox"},
        {"role": "tool", "tool_call_id": "c2", "content": "acted"},
    ]
    assert made.tool_calls == 2


@pytest.mark.parametrize(
    ("bad", "kind", "said"),
    [
        (call("say_hello"), "unknown_tool", "there is no tool 'say_hello'"),
        (call("ops__act", "{not json"), "bad_arguments", "not JSON"),
        (call("ops__act", "[1]"), "bad_arguments", "no JSON object"),
        (call("ops__act", '{"x": NaN}'), "bad_arguments", "not JSON"),
        (call("ops__act", '{"x": 1, "x": 2}'), "bad_arguments", "occurs twice"),
        (call(None), "odd_tool_call", "names no tool"),
        ({"id": "c1", "type": "function"}, "odd_tool_call", "names no tool"),
    ],
)
def test_a_call_that_cannot_be_made_is_noted_and_answered(bad: Any, kind: str, said: str) -> None:
    made = loop()
    made.answered(200, message(None, [bad], "tool_calls"))
    last = asked(made)["messages"][-1]
    assert last["role"] == "tool" and last["tool_call_id"] == "c1" and said in last["content"]
    assert [kind in note for note in made.notes] == [True]
    assert made.tool_calls == 0
    made.answered(200, message("Sorry."))
    assert made.next() == Done("Sorry.")


def test_good_and_bad_calls_of_one_message_are_answered_in_their_order() -> None:
    made = loop()
    made.answered(200, message(None, [call("nope", call_id="c1"), call("ops__read", call_id="c2")], "tool_calls"))
    assert made.next() == Use("ops", "read", {})
    made.used("text")
    assert [each["tool_call_id"] for each in asked(made)["messages"][2:]] == ["c1", "c2"]


def test_a_call_without_an_id_gets_one() -> None:
    made = loop()
    made.answered(200, message(None, [call("ops__read", call_id=None), call("ops__read", call_id="")], "tool_calls"))
    made.next()
    made.used("a")
    made.next()
    made.used("b")
    messages = asked(made)["messages"]
    given = [each["id"] for each in messages[1]["tool_calls"]]
    assert len(set(given)) == 2 and [each["tool_call_id"] for each in messages[2:]] == given


@pytest.mark.parametrize("calls", [["junk"], "junk", {"a": 1}])
def test_where_nothing_is_a_call_the_text_is_the_answer(calls: Any) -> None:
    made = loop()
    made.answered(200, message("Here.", calls))
    assert made.next() == Done("Here.")


@pytest.mark.parametrize(
    ("content", "text"),
    [(None, ""), ("", ""), ([{"type": "text", "text": "a"}, {"type": "text", "text": "b"}, 3], "ab"), (5, "")],
)
def test_odd_contents_still_end_the_turn(content: Any, text: str) -> None:
    made = loop()
    made.answered(200, message(content))
    assert made.next() == Done(text)


def test_a_cut_answer_is_noted() -> None:
    made = loop()
    made.answered(200, message("And th", finish="length"))
    assert made.next() == Done("And th") and "finish_reason" in made.notes[0]


@pytest.mark.parametrize(
    ("status", "body", "why"),
    [
        (429, b'{"error": "slow down"}', "429"),
        (500, b"oops", "500"),
        (302, b"", "302"),
        (200, b"<html>", "not JSON"),
        (200, b"\xff", "not UTF-8"),
        (200, b"[" * 100_000, "nested"),
        (200, b"[]", "no object"),
        (200, b'{"choices": []}', "no choice"),
        (200, b'{"error": {"message": "overloaded"}}', "overloaded"),
        (200, b'{"choices": [1]}', "no choice"),
        (200, b'{"choices": [{"message": null}]}', "no choice"),
    ],
)
def test_an_endpoint_without_an_answer_fails_the_turn(status: int, body: bytes, why: str) -> None:
    made = loop()
    made.answered(status, body)
    failed = made.next()
    assert isinstance(failed, Failed) and why in failed.message


def test_a_cut_body_and_no_body_fail_the_turn() -> None:
    made = loop()
    made.answered(200, message("Whole, it seems."), complete=False)
    assert made.next() == Failed("model endpoint: the answer broke off")
    made = loop()
    made.unreachable("connection refused")
    assert made.next() == Failed("model endpoint: connection refused")


def test_another_model_than_asked_changes_nothing_here() -> None:
    made = loop()
    made.answered(200, message("Hello.").replace(b'"model": "m"', b'"model": "other"'))
    assert made.next() == Done("Hello.")


def test_an_endless_loop_ends_at_the_declared_model_calls() -> None:
    made = loop(model_calls=3)
    for _ in range(3):
        asked(made)
        made.answered(200, message("Again.", [call("ops__read")], "tool_calls"))
        assert isinstance(made.next(), Use)
        made.used("x")
    assert made.next() == Done("Again.", "model_calls") and made.model_calls == 3


def test_declared_tool_calls_stop_before_one_too_many() -> None:
    made = loop(tool_calls=1)
    made.answered(200, message(None, [call("ops__read"), call("ops__act", "{}", "c2")], "tool_calls"))
    made.next()
    made.used("x")
    assert made.next() == Done("", "tool_calls") and made.tool_calls == 1


def test_the_conversation_goes_on_over_turns_with_no_call_left_open() -> None:
    made = loop(tool_calls=0)
    made.answered(200, message("I read.", [call("ops__read")], "tool_calls"))
    assert made.next() == Done("I read.", "tool_calls")
    made.begin_turn("And now?")
    assert [each["role"] for each in asked(made)["messages"]] == ["user", "assistant", "tool", "user"]
