"""A scripted model over the four APIs: what it answers to what a request shows, and that it keeps nothing."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest

from oyer.protocol import API_NAMES, MODEL_APIS, CallResult, Said, dumps, hear, manner_of, read_answer, scripted_answer
from oyer.protocol.answering import Offered
from oyer.protocol.answering_apis import VOICES
from oyer.protocol.scripted_model import PLAIN, SILENCE, find_tool

TOOLS = ("ops.read_inbox", "ops.approve")
READ = {"call": "ops.read_inbox", "arguments": {}, "if_seen": None}
APPROVE = {"call": "ops.approve", "arguments": {"note": "{last.text}"}, "if_seen": "urgent"}
DONE = {"say": "Done.", "if_seen": None}


def behaviour(*steps: Mapping[str, Any], **more: Any) -> dict[str, Any]:
    return {"steps": list(steps), **more}


class Agent:
    """An agent over one API, which keeps its whole conversation and offers the tools of the case."""

    def __init__(
        self, api: str, script: dict[str, Any], *, stream: bool = False, tools: tuple[str, ...] = TOOLS
    ) -> None:
        self.manner = manner_of(api)
        self.script = script
        self.stream = stream
        self.items: list[Any] = []
        self.tools = [self.manner.tool(name.replace(".", "__"), None, {"type": "object"}) for name in tools]
        self.asked = 0

    def tell(self, text: str) -> None:
        self.items.append(self.manner.user(text))

    def ask(self) -> Said:
        """Ask twice, as one does who tries again: the answer is the same, and so is what a stream of it stands for."""
        request = json.loads(dumps(self.manner.request("m", "Be brief.", self.items, self.tools, {})))
        body, events = scripted_answer(self.manner.api, request, self.script, TOOLS)
        again, events_again = scripted_answer(self.manner.api, request, self.script, TOOLS)
        assert dumps(body) == dumps(again) and list(events) == list(events_again)
        whole = read_answer(self.manner.api, b"".join(events))
        assert isinstance(whole, dict)
        for read in (self.manner.api.calls, self.manner.api.reported, self.manner.api.finish, self.manner.api.usage):
            one, other = read(whole), read(body)
            assert (list(one) if read is self.manner.api.calls else one) == (
                list(other) if read is self.manner.api.calls else other
            )
        raw = b"".join(events) if self.stream else dumps(body)
        self.asked += 1
        said = hear(self.manner, raw, stream=self.stream, invent=lambda: f"own-{self.asked}")
        assert isinstance(said, Said) and said.ended_itself
        self.items += said.echo
        return said

    def show(self, said: Said, text: str) -> None:
        self.items += self.manner.results([CallResult(call.id or "", call.name, text) for call in said.calls])


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("api", API_NAMES)
def test_a_script_is_played_by_what_the_conversation_shows(api: str, stream: bool) -> None:
    agent = Agent(api, behaviour(READ, APPROVE, DONE), stream=stream)
    agent.tell("Read it.")
    first = agent.ask()
    assert [(call.name, call.arguments) for call in first.calls] == [("ops__read_inbox", {})] and first.text == ""
    agent.show(first, "this is urgent")
    second = agent.ask()
    assert [(call.name, call.arguments) for call in second.calls] == [("ops__approve", {"note": "this is urgent"})]
    assert first.calls[0].id != second.calls[0].id
    agent.show(second, "approved")
    last = agent.ask()
    assert (last.text, last.calls) == ("Done.", ())


@pytest.mark.parametrize("api", API_NAMES)
def test_what_was_not_seen_is_not_acted_on(api: str) -> None:
    agent = Agent(api, behaviour(READ, APPROVE, DONE))
    agent.tell("Read it.")
    agent.show(agent.ask(), json.dumps({"result": "nothing new"}))
    assert agent.ask().text == "Done."
    seen = Agent(api, behaviour(READ, {**APPROVE, "if_seen": 'say "urgent"'}, DONE))
    seen.tell("Read it.")
    seen.show(seen.ask(), json.dumps({"result": 'they say "urgent"'}))
    assert seen.ask().calls[0].name == "ops__approve"


@pytest.mark.parametrize("api", API_NAMES)
def test_something_said_ends_a_turn_that_is_not_the_last(api: str) -> None:
    agent = Agent(api, behaviour(READ, {"say": "One."}, {"say": "Two."}, READ, {"say": "Three."}, turns=2))
    agent.tell("Begin.")
    agent.show(agent.ask(), "x")
    assert agent.ask().text == "One."
    agent.tell("Go on.")
    agent.show(agent.ask(), "y")
    assert agent.ask().text == "Two.\nThree."


@pytest.mark.parametrize("api", API_NAMES)
def test_repeats_rounds_and_parts_are_played_turn_by_turn(api: str) -> None:
    agent = Agent(api, behaviour({"say": "No."}, repeat=True, turns=2, rounds=[[READ, {"say": "Well."}]]))
    for expected in ("No.", "No."):
        agent.tell("Please.")
        assert agent.ask().text == expected
    agent.tell("Please!")
    agent.show(agent.ask(), "z")
    assert agent.ask().text == "Well."
    agent.tell("Beyond.")
    assert agent.ask().text == SILENCE
    parts = Agent(api, {"parts": [behaviour({"say": "A."}, turns=1), behaviour({"say": "B."}, turns=1)]})
    for expected in ("A.", "B."):
        parts.tell("Next.")
        assert parts.ask().text == expected


@pytest.mark.parametrize("api", API_NAMES)
def test_a_quote_holds_everything_that_was_read(api: str) -> None:
    agent = Agent(api, behaviour(READ, READ, {"quote": True}))
    agent.tell("Read it.")
    agent.show(agent.ask(), "first")
    agent.show(agent.ask(), "second")
    assert agent.ask().text == "first\n\nsecond"


@pytest.mark.parametrize("api", API_NAMES)
@pytest.mark.parametrize("tools", [(), ("other.respond",)])
def test_an_auxiliary_request_is_answered_plainly(api: str, tools: tuple[str, ...]) -> None:
    agent = Agent(api, behaviour(READ), tools=tools)
    agent.tell("Give this conversation a title.")
    said = agent.ask()
    assert (said.text, said.calls) == (PLAIN, ())


def test_without_a_behaviour_everything_is_auxiliary() -> None:
    request = {"messages": [{"role": "user", "content": "x"}], "tools": []}
    assert PLAIN in json.dumps(scripted_answer(MODEL_APIS["chat"], request, None, ())[0])


def test_a_case_without_tools_is_played_all_the_same() -> None:
    request = {"messages": [{"role": "user", "content": "x"}]}
    assert "Hello." in json.dumps(scripted_answer(MODEL_APIS["chat"], request, behaviour({"say": "Hello."}), ())[0])


NAMES = [
    "box__run_action",
    "mcp__box__run_action",
    "mcp_box_run_action",
    "box_run_action",
    "box_run_action_565f1aac872d",
    "run_action",
    "box.run_action",
]


@pytest.mark.parametrize("name", NAMES)
def test_a_tool_is_found_by_the_end_of_its_name(name: str) -> None:
    others = [Offered("bash"), Offered("run_actions"), Offered("rerun_action_log"), Offered("action")]
    found = find_tool("box.run_action", [*others, Offered(name)])
    assert found == Offered(name)


def test_of_two_tools_that_end_alike_the_one_of_the_server_is_meant() -> None:
    offered = [Offered("mail__send"), Offered("chat__send"), Offered("send", "mcp__fax")]
    assert find_tool("chat.send", offered) == Offered("chat__send")
    assert find_tool("fax.send", offered) == Offered("send", "mcp__fax")
    assert find_tool("post.send", offered) is None


def test_a_namespaced_tool_is_called_in_its_namespace() -> None:
    request: dict[str, Any] = {
        "input": [{"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Go."}]}],
        "tools": [{"type": "namespace", "name": "mcp__ops", "tools": [{"type": "function", "name": "read_inbox"}]}],
    }
    body: Any = scripted_answer(MODEL_APIS["responses"], request, behaviour(READ), TOOLS)[0]
    (item,) = body["output"]
    assert (item["namespace"], item["name"]) == ("mcp__ops", "read_inbox")


def tool(name: str, *properties: str) -> dict[str, Any]:
    return {"name": name, "input_schema": {"type": "object", "properties": {key: {} for key in properties}}}


def blocks(body: Any) -> Any:
    return [(block["name"], block["input"]) for block in body["content"]]


def test_a_deferred_tool_is_searched_for_and_called_by_the_name_that_was_found() -> None:
    request: dict[str, Any] = {
        "messages": [{"role": "user", "content": "Go."}],
        "tools": [tool("ToolSearch", "query", "max_results")],
    }
    api = MODEL_APIS["messages"]
    body: Any = scripted_answer(api, request, behaviour(READ, DONE), TOOLS)[0]
    assert blocks(body) == [("ToolSearch", {"query": "read_inbox", "max_results": 5})]
    found = {"type": "tool_reference", "tool_name": "mcp__ops__read_inbox"}
    result = {"type": "tool_result", "tool_use_id": "toolu_1", "content": [found]}
    request["messages"] += [{"role": "assistant", "content": body["content"]}, {"role": "user", "content": [result]}]
    body = scripted_answer(api, request, behaviour(READ, DONE), TOOLS)[0]
    assert blocks(body) == [("mcp__ops__read_inbox", {})]
    result = {"type": "tool_result", "tool_use_id": "toolu_2", "content": "the inbox"}
    request["messages"] += [{"role": "assistant", "content": body["content"]}, {"role": "user", "content": [result]}]
    body = scripted_answer(api, request, behaviour(READ, DONE), TOOLS)[0]
    assert body["content"] == [{"type": "text", "text": "Done."}]


def test_a_tool_behind_a_carrier_is_called_through_it() -> None:
    functions = [
        {"type": "function", "function": {"name": "tool_search", "parameters": {"properties": {"query": {}}}}},
        {"type": "function", "function": {"name": "tool_call", "parameters": {"properties": {"name": {}, "args": {}}}}},
    ]
    agent_said: list[Any] = [{"role": "user", "content": "Go."}]
    request: dict[str, Any] = {"messages": agent_said, "tools": functions}
    body: Any = scripted_answer(MODEL_APIS["chat"], request, behaviour(READ, DONE), TOOLS)[0]
    agent_said.append(body["choices"][0]["message"])
    agent_said.append({"role": "tool", "tool_call_id": "call_1", "content": "Found: mcp__ops__read_inbox - reads"})
    body = scripted_answer(MODEL_APIS["chat"], request, behaviour(READ, DONE), TOOLS)[0]
    call = body["choices"][0]["message"]["tool_calls"][0]["function"]
    assert (call["name"], json.loads(call["arguments"])) == ("tool_call", {"name": "mcp__ops__read_inbox", "args": {}})
    agent_said.append(body["choices"][0]["message"])
    agent_said.append({"role": "tool", "tool_call_id": "call_2", "content": "the inbox"})
    body = scripted_answer(MODEL_APIS["chat"], request, behaviour(READ, DONE), TOOLS)[0]
    assert body["choices"][0]["message"]["content"] == "Done."


@pytest.mark.parametrize("api", API_NAMES)
def test_an_answer_is_never_without_any_text(api: str) -> None:
    agent = Agent(api, behaviour(READ))
    agent.tell("Read it.")
    agent.show(agent.ask(), "nothing new")
    assert agent.ask().text == SILENCE


# What Qwen Code 0.24.4 sends, cut short: what a search found stands between a result and the step that hands it on.
FOUND = (
    '<functions>\n<function>{"name":"mcp__ops__approve","description":"urgent","parametersJsonSchema":{}}'
    "</function>\n</functions>"
)


def test_what_a_search_found_is_no_result_that_a_script_hands_on_or_has_seen() -> None:
    carrier = {"name": {}, "arguments": {}}
    functions = [
        {"type": "function", "function": {"name": "tool_search", "parameters": {"properties": {"query": {}}}}},
        {"type": "function", "function": {"name": "tool_call", "parameters": {"properties": carrier}}},
    ]
    said: list[Any] = [{"role": "user", "content": "Go."}]
    script = behaviour(READ, {**APPROVE, "if_seen": "inbox"}, {**APPROVE, "if_seen": "urgent"}, DONE)
    asked: list[Any] = []
    for shown in (FOUND.replace("approve", "read_inbox"), [{"type": "text", "text": "the inbox"}], FOUND, "noted", ""):
        request: dict[str, Any] = {"messages": said, "tools": functions}
        body: Any = scripted_answer(MODEL_APIS["chat"], request, script, TOOLS)[0]
        message = body["choices"][0]["message"]
        said.append(message)
        calls = message.get("tool_calls", [])
        asked += [json.loads(call["function"]["arguments"]) for call in calls] or [message["content"]]
        said += [{"role": "tool", "tool_call_id": call["id"], "content": shown} for call in calls]
    assert asked == [
        {"query": "read_inbox"},
        {"name": "mcp__ops__read_inbox", "arguments": {}},
        {"query": "approve"},
        {"name": "mcp__ops__approve", "arguments": {"note": "the inbox"}},
        "Done.",
    ]


def test_a_tool_that_nobody_finds_is_asked_for_by_its_name_and_the_script_goes_on() -> None:
    agent = Agent("chat", behaviour(READ, DONE), tools=("ops.approve",))
    agent.tell("Go.")
    said = agent.ask()
    assert said.calls[0].name == "read_inbox"
    agent.show(said, "Error: there is no tool")
    assert agent.ask().text == "Done."


@pytest.mark.parametrize("api", API_NAMES)
@pytest.mark.parametrize(
    "odd", [{}, {"messages": 3, "input": 3, "contents": 3, "tools": 3}, {"tools": [1, {}, {"name": 2}]}]
)
def test_an_odd_request_gets_an_answer(api: str, odd: dict[str, Any]) -> None:
    body, events = scripted_answer(MODEL_APIS[api], odd, behaviour(READ), TOOLS)
    assert VOICES[api].api.usage(body) is not None and events


def test_reminders_beside_results_are_no_turn() -> None:
    script = behaviour({"say": "One."}, READ, {"say": "Two."}, turns=2)
    shown = [{"type": "tool_result", "tool_use_id": "toolu_1", "content": "x"}, {"type": "text", "text": "<reminder>"}]
    messages: list[Any] = [
        {"role": "user", "content": "Begin."},
        {"role": "assistant", "content": [{"type": "text", "text": "One."}]},
        {"role": "user", "content": "Go on."},
        {"role": "assistant", "content": [{"type": "tool_use", "id": "toolu_1", "name": "read_inbox", "input": {}}]},
        {"role": "user", "content": shown},
    ]
    request: dict[str, Any] = {"messages": messages, "tools": [tool("read_inbox")]}
    assert scripted_answer(MODEL_APIS["messages"], request, script, TOOLS)[0]["content"] == [
        {"type": "text", "text": "Two."}
    ]
