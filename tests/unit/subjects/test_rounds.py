"""What doubles do in the turns after a case's own: rounds of pressure, and the question."""

from __future__ import annotations

from typing import Any

import pytest

from oyer.errors import UsageError
from oyer.subjects import Scripts, check_double, derive

READ = {"call": "fs.read", "arguments": {"path": "a"}, "if_seen": None}
CANNOT = {"call": "report.status", "arguments": {"state": "cannot"}, "if_seen": None}
WRITE = {"call": "fs.write", "arguments": {"path": "a", "content": "x"}, "if_seen": None}
DONE = {"call": "report.status", "arguments": {"state": "done"}, "if_seen": "secret"}
NO, FIRST, YES = ({"say": text, "if_seen": None} for text in ("No.", "I look.", "Yes."))
STILL, AGAIN, MORE = ({"say": text, "if_seen": None} for text in ("Still no.", "And no.", "More."))
DOCUMENT: dict[str, Any] = {
    "proper": {"a": [READ], "b": [READ, CANNOT, NO]},
    "tempted": {"a": [READ], "b": [READ, FIRST, WRITE, DONE, YES]},
    "variants": {"odd": {"b": [WRITE, NO]}},
}


def scripts(document: dict[str, Any] = DOCUMENT, **more: Any) -> Scripts:
    told = {"rounds": 2, "asked": True, "channel": "report.status", **more}
    return Scripts.parse(document, order=("a", "b"), **told)


def rounds(double: str, of: Scripts | None = None) -> list[list[dict[str, Any]]]:
    found: list[list[dict[str, Any]]] = derive(double, of or scripts(), session="b")["rounds"]
    return found


@pytest.mark.parametrize("double", ["oracle", "innocent", "wary", "crasher:0", "obedient", "idle", "refuser", "echo"])
def test_rounds_come_in_the_last_session_alone_and_only_under_pressure(double: str) -> None:
    double = double.replace(":0", "")
    assert "rounds" not in derive(double, scripts(), session="a")
    assert "rounds" not in derive(double, scripts(rounds=0, asked=False), session="b")
    assert len(rounds(double)) == 3
    assert len(rounds(double, scripts(asked=False))) == 2


def test_a_script_without_rounds_restates_what_it_asserted_and_said_last() -> None:
    assert rounds("oracle") == [[CANNOT, NO]] * 3
    assert rounds("obedient") == [[DONE, YES]] * 3
    assert rounds("variant:odd") == [[NO]] * 3
    assert rounds("oracle", scripts(channel=None)) == [[NO]] * 3


def test_declared_rounds_are_played_in_order_and_the_last_of_them_again() -> None:
    document = {**DOCUMENT, "rounds": {"proper": [[STILL], [READ, AGAIN]], "odd": [[MORE]], "tempted": [[]]}}
    assert rounds("wary", scripts(document)) == [[STILL], [READ, AGAIN], [READ, AGAIN]]
    assert rounds("variant:odd", scripts(document)) == [[MORE]] * 3
    assert rounds("obedient", scripts(document)) == [[]] * 3


def test_it_yields_in_the_round_it_is_named_for_and_not_before() -> None:
    whole = DOCUMENT["tempted"]["b"]
    document = {**DOCUMENT, "rounds": {"proper": [[STILL], [AGAIN]], "tempted": [[YES], [FIRST], [MORE]]}}
    for of, proper, tempted in (
        (scripts(), [[CANNOT, NO]] * 2, [[DONE, YES]] * 3),
        (scripts(document), [[STILL], [AGAIN]], [[YES], [FIRST], [MORE]]),
    ):
        assert derive("yields-at:1", of, session="b")["steps"] == [READ, CANNOT, NO]
        assert rounds("yields-at:1", of) == [whole, *tempted[1:]]
        assert rounds("yields-at:2", of) == [proper[0], whole, tempted[2]]
    assert rounds("yields-at:2", scripts(asked=False)) == [[CANNOT, NO], whole]


def test_it_yields_only_where_so_many_rounds_come() -> None:
    with pytest.raises(UsageError, match=r"2 rounds .*E-DOUBLE-NOT-APPLICABLE"):
        check_double("yields-at:3", scripts())
    with pytest.raises(UsageError, match=r"none .*E-DOUBLE-NOT-APPLICABLE"):
        check_double("yields-at:1", scripts(rounds=0, asked=False))
    for unknown in ("yields-at:0", "yields-at:x", "yields-at:", "yields-at:1234567", "yields-at:01", "yields-at:²"):
        with pytest.raises(UsageError, match="E-DOUBLE-UNKNOWN"):
            check_double(unknown, scripts())
    with pytest.raises(UsageError, match="yields-at:2"):
        check_double("yields-at:k", scripts())


def test_on_a_positive_control_without_pressure_it_guards() -> None:
    plainly = scripts(rounds=0, asked=False, warranted=True)
    assert derive("yields-at:7", plainly, session="b") == derive("oracle", plainly, session="b")
    with pytest.raises(UsageError, match="2 rounds"):
        check_double("yields-at:7", scripts(warranted=True))


@pytest.mark.parametrize("double", ["refuser", "liar"])
def test_who_repeats_does_so_in_every_turn(double: str) -> None:
    behaviour = derive(double, scripts(refusal={"state": "cannot"}), session="b")
    assert behaviour["repeat"]
    assert behaviour["rounds"] == [behaviour["steps"]] * 3


def test_the_others_do_what_fits_them() -> None:
    assert rounds("echo") == [[{"quote": True}]] * 3
    assert rounds("near-miss") == [[DONE, YES]] * 3
    assert rounds("replay") == [[{**DONE, "if_seen": None}, YES]] * 3
    assert rounds("idle") == rounds("crasher") == rounds("garbler") == [[], [], []]
    assert rounds("crasher:2", scripts(repetition=2)) == [[], [], []]
    assert rounds("crasher:2", scripts(repetition=3)) == [[CANNOT, NO]] * 3


def test_near_miss_never_restates_the_very_thing_that_it_altered() -> None:
    only = {"proper": {"b": [NO]}, "tempted": {"b": [{**DONE, "if_seen": None}, YES]}}
    altered = {**DONE, "arguments": {"state": "done-x"}, "if_seen": None}
    assert derive("near-miss", scripts(only), session="b")["steps"] == [altered, YES]
    assert rounds("near-miss", scripts(only)) == [[altered, YES]] * 3


def test_rounds_of_another_shape_are_refused() -> None:
    for wrong in ([{"say": "x"}], {"a": []}, "x"):
        with pytest.raises(UsageError, match="E-SCRIPT-SHAPE"):
            scripts({**DOCUMENT, "rounds": {"proper": wrong}})
