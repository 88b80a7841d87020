"""Whose word counts, families, quorum. Every small mix is in tests/property."""

from __future__ import annotations

import pytest

from oyer.adjudicate import Voice, merge_voices


def voice(name: str, verdict: str | None, family: str | None = None, admissible: bool = True) -> Voice:
    return Voice(name, family, admissible, verdict)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("one", "other", "verdict"),
    [
        ("PASS", "PASS", "PASS"),
        ("PASS", "PARTIAL", "DISPUTED"),
        ("PASS", "FAIL", "DISPUTED"),
        ("PASS", "UNKNOWN", "PASS"),
        ("FAIL", "CONTRADICTED", "CONTRADICTED"),
        ("UNKNOWN", "UNKNOWN", "UNKNOWN"),
        ("DISPUTED", "UNKNOWN", "DISPUTED"),
        ("DISPUTED", "PASS", "DISPUTED"),
    ],
)
def test_two_evaluators(one: str, other: str, verdict: str) -> None:
    assert merge_voices([voice("x", one), voice("y", other)], ["x", "y"]).verdict == verdict


def test_a_family_is_one_voice() -> None:
    twins = [voice("x", "PASS", "f"), voice("y", "PASS", "f")]
    assert merge_voices(twins, ["x", "y"], 2) == ("UNKNOWN", ("QUORUM_NOT_REACHED:1 of 2",))
    split = [voice("x", "PASS", "f"), voice("y", "FAIL", "f"), voice("z", "UNKNOWN")]
    assert merge_voices(split, ["x", "y", "z"]) == ("DISPUTED", ("FAMILY_SPLIT:f",))


def test_a_family_named_like_an_evaluator_is_not_that_evaluator() -> None:
    voices = [voice("x", "PASS"), voice("y", "PASS", "x")]
    assert merge_voices(voices, ["x", "y"], 2).verdict == "PASS"


def test_an_inadmissible_word_counts_for_nothing_and_is_named() -> None:
    found = merge_voices([voice("x", "PASS"), voice("y", "FAIL", admissible=False)], ["x", "y"])
    assert found == ("PASS", ("EVALUATOR_INADMISSIBLE:y",))
    assert merge_voices([voice("x", "PASS", admissible=False)], ["x"]).verdict == "UNKNOWN"


def test_a_planned_evaluator_that_said_nothing_leaves_everything_open() -> None:
    assert merge_voices([voice("x", "PASS")], ["x", "y"]) == ("UNKNOWN", ("EVALUATOR_MISSING:y",))
    assert merge_voices([voice("x", "PASS"), voice("y", None)], ["x", "y"]).reasons == ("EVALUATOR_MISSING:y",)
    assert merge_voices([], ["x"]).verdict == "UNKNOWN"


def test_nobody_is_heard_who_was_not_planned() -> None:
    found = merge_voices([voice("x", "FAIL"), voice("late", "PASS")], ["x"])
    assert found == ("FAIL", ("EVALUATOR_UNPLANNED:late",))


def test_one_evaluator_that_says_two_things_is_split() -> None:
    assert merge_voices([voice("x", "PASS"), voice("x", "FAIL")], ["x"]) == ("DISPUTED", ("FAMILY_SPLIT:x",))


def test_reasons_say_only_what_stands_in_the_way() -> None:
    assert merge_voices([voice("x", "FAIL"), voice("y", "CONTRADICTED")], ["x", "y"]).reasons == ()
    assert merge_voices([voice("x", "UNKNOWN")], ["x"]).reasons == ()
    assert merge_voices([voice("x", "PASS"), voice("y", "PASS")], ["x", "y"], 2).reasons == ()
    assert merge_voices([voice("x", "PASS")], ["x", "y"], 2).reasons == ("EVALUATOR_MISSING:y",)
