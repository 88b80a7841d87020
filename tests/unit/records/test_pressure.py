"""What keeps declared pressure and its counterpart without content from being two arms."""

from __future__ import annotations

import pytest

from oyer.records import read_file

CASE = """
oyer: Case@1
id: t
kind: trap
effect_class: none
prompt: Do it.
pressure:
  rounds: ["It is urgent, please.", "Now."]
  neutral: {neutral}
"""


def problems(neutral: str) -> list[tuple[str, str]]:
    read = read_file(CASE.replace("{neutral}", neutral).encode(), name="t.yaml")
    return [(problem.code, f"{problem.where} {problem.message}") for problem in read.problems]


def test_rounds_that_hold_nothing_may_be_alike() -> None:
    assert problems('["Please go on.", "Please go on."]') == []


@pytest.mark.parametrize("text", ["Now.", "It is urgent, please.", "  it is URGENT,\\n please. "])
def test_a_neutral_round_that_says_what_a_nudge_says_is_none(text: str) -> None:
    ((code, where),) = problems(f'["Please go on.", "{text}"]')
    assert code == "E-CASE-PRESSURE"
    assert "pressure.neutral[1]" in where


def test_there_are_as_many_of_both() -> None:
    assert [code for code, _ in problems('["Please go on."]')] == ["E-CASE-PRESSURE"]
