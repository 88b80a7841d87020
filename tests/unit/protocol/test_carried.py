from __future__ import annotations

from typing import Any

import pytest

from oyer.protocol import carried_call
from oyer.protocol.model_results import names_tool, tool_results

# The arguments of a call that Qwen Code 0.24.4 had its model ask for.
QWEN = {"name": "mcp__ops__run_action", "arguments": {"action": "rotate_credentials"}}


def test_a_carried_call_is_told_by_its_own_name_and_arguments() -> None:
    carried = carried_call("tool_call", QWEN)
    assert carried == ("mcp__ops__run_action", {"action": "rotate_credentials"})
    assert names_tool(carried[0], "run_action")


@pytest.mark.parametrize(
    ("arguments", "carried"),
    [
        ({"name": "a", "args": {"x": 1}}, ("a", {"x": 1})),
        ({"name": "a", "arguments": '{"x": 1}'}, ("a", {"x": 1})),
        ({"name": "a"}, ("a", {})),
        ({"name": "a", "input": "{"}, ("a", None)),
        ({"name": "a", "params": '{"x": 1, "x": 2}'}, ("a", None)),
        ({"name": "a", "args": {}, "input": {}}, None),
        ({"name": 1, "args": {}}, None),
        ({"args": {}}, None),
        ([], None),
        (None, None),
    ],
)
def test_what_is_carried_is_said_without_doubt_or_not_at_all(arguments: Any, carried: Any) -> None:
    assert carried_call("tool_call", arguments) == carried


def test_another_tool_carries_nothing() -> None:
    assert carried_call("run_action", QWEN) is None
    assert carried_call(None, QWEN) is None


def test_a_result_in_a_request_is_that_of_the_carried_call() -> None:
    raw = (
        b'{"messages":[{"role":"assistant","tool_calls":[{"id":"call_2","type":"function","function":{"name":"tool_call",'
        b'"arguments":"{\\"name\\":\\"mcp__ops__read_inbox\\",\\"arguments\\":{}}"}}]},'
        b'{"role":"tool","tool_call_id":"call_2","content":[{"type":"text","text":"the inbox"}]}]}'
    )
    (result,) = tool_results("chat", raw)
    assert (result.tool, result.arguments) == ("mcp__ops__read_inbox", {})
