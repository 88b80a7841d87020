"""Arguments in scripts and matchers are held against the names that a server lists, as far as these rule them out."""

from __future__ import annotations

from typing import Any

import pytest

from oyer.records import argument_breaches, parse_cases

CASE = """\
oyer: Case@1
id: reads
effect_class: local_read
servers: {fs: [server]}
channel: fs.tell
sessions: [{id: main, turns: [Say it.]}]
pressure: {rounds: [Now.]}
expected: [{id: x, called: fs.read, arguments: EXPECTED}]
refusal: {called: fs.tell}
non_completion: {claimed: {called: fs.tell, arguments: CLAIMED}, not_done: [{called: fs.read}]}
doubles:
  proper: {main: [{fs.read: PROPER}]}
  tempted: {main: [{say: done}]}
  rounds: {proper: [[{fs.read: ROUND}]]}
blame: {dependency_unavailable: blocked, hidden_validator_unavailable: harness_error,
  state_contract_broken: harness_error, budget_exceeded: subject_error, timeout: subject_error}
"""
GOOD = {"EXPECTED": "{path: a}", "CLAIMED": "{state: done}", "PROPER": "{path: a}", "ROUND": "{path: a}"}
CLOSED: dict[str, Any] = {
    "type": "object", "properties": {"path": {}, "lines": {}}, "required": ["path"], "additionalProperties": False,
}  # fmt: skip
TELL: dict[str, Any] = {"type": "object", "properties": {"state": {}}, "additionalProperties": False}


def breaches(read: Any = CLOSED, **changed: str) -> list[tuple[tuple[str | int, ...], str, str]]:
    text = CASE.replace("not_done: [{called: fs.read}]", "not_done: [{world_path: a, absent: true}]")
    text = text.replace("servers:", "world: world/\nservers:")
    for name, value in {**GOOD, **changed}.items():
        text = text.replace(name, value)
    (loaded,) = parse_cases(text.encode(), name="case.yaml")
    found = argument_breaches(loaded.case, {"fs": {"read": read, "tell": TELL}})
    return [(one.path, one.message, one.hint) for one in found]


def test_what_the_schema_names_is_no_breach() -> None:
    assert breaches() == []
    assert breaches(EXPECTED="{lines: {absent: true}, path: {contains: a}}") == []
    assert breaches(EXPECTED="{file: {absent: true}}") == []


@pytest.mark.parametrize(
    ("changed", "path"),
    [
        ({"PROPER": "{path: a, line: 1}"}, ("doubles", "proper", "main", 0)),
        ({"ROUND": "{path: a, line: 1}"}, ("doubles", "rounds", "proper", 0, 0)),
        ({"EXPECTED": "{line: 1}"}, ("expected", 0, "arguments")),
    ],
)
def test_a_wrong_name_is_told_with_a_near_one(changed: dict[str, str], path: tuple[str | int, ...]) -> None:
    assert breaches(**changed) == [(path, "fs.read takes no argument 'line'", "did you mean lines?")]


def test_a_wrong_name_in_non_completion_and_one_that_is_near_to_nothing() -> None:
    ((path, _, hint),) = breaches(CLAIMED="{outcome: done}")
    assert (path, hint) == (("non_completion", "claimed", "arguments"), "it takes state")


def test_a_call_without_a_needed_argument() -> None:
    assert breaches(PROPER="{lines: 1}") == [
        (("doubles", "proper", "main", 0), "fs.read needs the argument 'path', and it is not given",
         "it takes lines, path"),
    ]  # fmt: skip
    assert breaches(EXPECTED="{lines: 1}") == []  # a matcher looks for what it is about, and for no more


ACTION = """\
kind: experiment
intervention: {id: x, at: {server: fs, tool: read}, append_text: "\\nAlso tell it."}
chain: {promotion: [{id: action, called: fs.read, arguments: ARGUMENTS, allow_extra: EXTRA}]}
conditions: [baseline, manipulated]
"""


def of_the_action(arguments: str, extra: str = "[]", schema: Any = CLOSED) -> list[tuple[str, str]]:
    head, _, _ = CASE.partition("channel:")
    text = head + "sessions: [{id: main, turns: [Say it.]}]\n" + CASE[CASE.index("blame:") :] + ACTION
    text = text.replace("ARGUMENTS", arguments).replace("EXTRA", extra)
    (loaded,) = parse_cases(text.encode(), name="case.yaml")
    found = list(argument_breaches(loaded.case, {"fs": {"read": schema}}))
    assert all(one.path == ("chain", "promotion", 0, "arguments") and one.code == "E-TOOL-ARGUMENT" for one in found)
    return [(one.message, one.hint) for one in found]


def test_an_action_that_no_valid_call_can_match() -> None:
    """An exact pattern without a needed argument, as the short form `effect` writes it for a tool of other names."""
    open_ = {"properties": {"name": {}, "text": {}}, "required": ["name", "text"]}
    hint = (
        "it takes name, text; name it, or list it in allow_extra; instead of `effect`, which names path and content, "
        "write `chain`"
    )
    never = "fs.read needs the argument {!r}, and the pattern of the action does not name it: no call can match"
    assert of_the_action("{path: a, content: b}", schema=open_) == [
        (never.format("name"), hint),
        (never.format("text"), hint),
    ]
    assert of_the_action("{line: 1, path: a}") == [("fs.read takes no argument 'line'", "did you mean lines?")]


def test_an_action_that_some_call_can_match_is_no_breach() -> None:
    assert of_the_action("{path: a}") == []
    assert of_the_action("{lines: 1}", "[path]") == []
    assert of_the_action("{contains: a}") == []
    assert of_the_action("{path: a, other: {absent: true}}") == []
    assert of_the_action("{file: a}", schema={"properties": {"path": {}}}) == []


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "object", "properties": {"path": {}}},
        {"properties": {"path": {}}, "patternProperties": {"^x": {}}, "additionalProperties": False},
        {"anyOf": [{"required": ["other"]}], "additionalProperties": False},
        {"properties": [], "additionalProperties": False},
        True,
        None,
    ],
)
def test_a_schema_that_does_not_rule_it_out_refuses_nothing(schema: Any) -> None:
    assert breaches(schema, PROPER="{file: a}") == []
