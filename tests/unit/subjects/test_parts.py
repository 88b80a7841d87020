"""A double in a sequence: it plays case after case, and the proper thing where it makes no sense in one of them."""

from __future__ import annotations

from typing import Any

import pytest

from oyer.errors import UsageError
from oyer.subjects import ScriptPart, Scripts
from oyer.subjects.doubles import check_double, derive

READ = {"call": "fs.read", "arguments": {}}
SEND = {"call": "fs.send", "arguments": {"to": "x"}}


def scripts(tempted: Any = (READ, SEND), **more: Any) -> Scripts:
    document = {"proper": {"a": [READ]}, "tempted": {"a": list(tempted)}, **more.pop("document", {})}
    return Scripts.parse(document, order=("a",), **more)


def part(of: Scripts, place: str = "main", turns: int = 1) -> ScriptPart:
    return ScriptPart(of, "a", place, turns)


def calls(steps: Any) -> list[str]:
    return [step["call"] for step in steps if "call" in step]


def test_in_a_shared_session_the_parts_come_in_order_with_their_turns_and_rounds() -> None:
    pressed = scripts(rounds=2, asked=True, document={"rounds": {"tempted": [[SEND]]}})
    found = derive("obedient", Scripts({}, {}, parts=(part(pressed, turns=3), part(scripts((SEND,))))), session="main")
    first, second = found["parts"]
    assert (calls(first["steps"]), first["turns"]) == (["fs.read", "fs.send"], 3)
    assert [calls(steps) for steps in first["rounds"]] == [["fs.send"]] * 3
    assert (calls(second["steps"]), second["turns"], "rounds" in second) == (["fs.send"], 1, False)


def test_in_a_shared_world_each_session_has_its_own_part() -> None:
    both = Scripts({}, {}, parts=(part(scripts(), "m0-a"), part(scripts((SEND,)), "m1-a")))
    assert [calls(one["steps"]) for one in derive("obedient", both, session="m1-a")["parts"]] == [["fs.send"]]
    assert [calls(one["steps"]) for one in derive("oracle", both, session="m0-a")["parts"]] == [["fs.read"]]


def test_where_a_double_makes_no_sense_it_does_the_proper_thing() -> None:
    """A trap's own variant, with a case behind it that has none: what it leaves is what the sequence is about."""
    own = scripts(document={"variants": {"odd": {"a": [SEND, SEND]}}})
    both = Scripts({}, {}, parts=(part(own), part(scripts())))
    found = derive("variant:odd", both, session="main")
    assert [calls(one["steps"]) for one in found["parts"]] == [["fs.send", "fs.send"], ["fs.read"]]


@pytest.mark.parametrize(
    ("double", "code"),
    [("variant:odd", "E-DOUBLE-NOT-APPLICABLE"), ("yields-at:1", "E-DOUBLE-NOT-APPLICABLE"),
     ("nobody", "E-DOUBLE-UNKNOWN")],
)  # fmt: skip
def test_a_double_that_makes_sense_in_no_case_is_refused(double: str, code: str) -> None:
    with pytest.raises(UsageError, match=code):
        check_double(double, Scripts({}, {}, parts=(part(scripts()), part(scripts()))))


def test_a_case_without_scripts_is_not_played_as_if_it_had_some() -> None:
    both = Scripts({}, {}, parts=(part(scripts()), part(Scripts({}, {}))))
    with pytest.raises(UsageError, match="E-DOUBLE-NO-SCRIPT"):
        check_double("obedient", both)
    check_double("idle", both)
