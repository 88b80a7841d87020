"""The language of gates, and the column of what is wrong."""

from __future__ import annotations

from fractions import Fraction

import pytest

from oyer.adjudicate import parse_gate
from oyer.adjudicate.gate_tree import AllOf, AnyOf, GateTest, NotGate, comparisons_of
from oyer.errors import RecordError


def one(text: str) -> GateTest:
    root = parse_gate(text).root
    assert isinstance(root, GateTest)
    return root


def test_the_gates_of_the_design() -> None:
    first = one("every mechanical_outcome(cascade-memo) == NOT_OBSERVED")
    assert (first.quantifier, first.operand.kind, first.operand.case) == ("every", "mechanical_outcome", "cascade-memo")
    assert (first.operator, first.value) == ("==", "NOT_OBSERVED")
    second = one("set(impossible-merge).DISCRIMINATES.lower >= 0.8")
    assert (second.operand.word, second.operand.measure, second.value) == ("DISCRIMINATES", "lower", Fraction(4, 5))
    third = one("status.harness_error == 0")
    assert (third.operand.kind, third.operand.word, third.value) == ("status", "harness_error", 0)


def test_every_operand() -> None:
    verdict = one("any verdict(a/b.c-d, true.claim) != PASS")
    assert (verdict.operand.case, verdict.operand.claim, verdict.quantifier) == ("a/b.c-d", "true.claim", "any")
    share = one("pass(a, b).upper<1")
    assert (share.operand.kind, share.operand.word, share.operand.measure) == ("verdict", "PASS", "upper")
    assert one("verdict(a, b).PASS.upper < 1").operand[:5] == share.operand[:5]
    assert one("performed(a).completed.rate > 0.5").operand.word == "completed"
    assert one("performed(a) == refused").value == "refused"


def test_names_may_look_like_words_of_the_language() -> None:
    found = one("set(and/not.every-or) == MIXED")
    assert found.operand.case == "and/not.every-or"


def test_and_binds_tighter_than_or_and_not_tightest() -> None:
    a, b, c = (f"status.blocked == {n}" for n in (1, 2, 3))
    root = parse_gate(f"{a} or not {b} and {c}").root
    assert isinstance(root, AnyOf)
    assert isinstance(root.parts[1], AllOf)
    assert isinstance(root.parts[1].parts[0], NotGate)
    grouped = parse_gate(f"({a} or {b}) and {c}").root
    assert isinstance(grouped, AllOf)
    assert isinstance(grouped.parts[0], AnyOf)
    assert [test.value for test in comparisons_of(root)] == [1, 2, 3]
    assert parse_gate(f"not not ({a})").root == NotGate(
        NotGate(one(a)._replace(column=10)._replace(operand=one(a).operand._replace(column=10)))
    )


@pytest.mark.parametrize(
    ("text", "code", "column"),
    [
        ("", "SYNTAX", 1),
        ("status.blocked == 0 )", "SYNTAX", 21),
        ("(status.blocked == 0", "SYNTAX", 21),
        ("status.blocked", "SYNTAX", 15),
        ("status.blocked = 0", "SYNTAX", 16),
        ("status.blocked == 0 and", "SYNTAX", 24),
        ("set trap == MIXED", "SYNTAX", 5),
        ("set(Trap) == MIXED", "SYNTAX", 5),
        ("verdict(a) == PASS", "SYNTAX", 10),
        ("pass(a, b) >= 0.5", "SYNTAX", 12),
        ("set(a).MIXED >= 0.5", "SYNTAX", 14),
        ("reading(a) == MIXED", "WORD", 1),
        ("status.crashed == 0", "WORD", 8),
        ("set(a) == CONFIRMED", "WORD", 11),
        ("mechanical_outcome(a) == PASS", "WORD", 26),
        ("set(a).UNDETERMINED.rate < 0.1", "WORD", 8),
        ("set(a).MIXED.mean < 0.1", "WORD", 14),
        ("set(a) >= MIXED", "TYPE", 8),
        ("set(a) == 1", "TYPE", 11),
        ("status.blocked == MIXED", "TYPE", 19),
        ("every status.blocked == 0", "TYPE", 1),
        ("not any pass(a, b).rate == 1", "TYPE", 5),
        ("pass(a, b).rate >= 80", "VALUE", 20),
        ("status.blocked == 0.5", "VALUE", 19),
        ("status.blocked == -1", "VALUE", 19),
        ("pass(a, b).rate >= -0.5", "VALUE", 20),
        ("pass(a, b).rate >= 80%", "VALUE", 20),
        ("status.blocked == \u0661", "TYPE", 19),
        ("pass(a, b).rate >= 0.\u0665", "TYPE", 20),
    ],
)
def test_what_is_wrong_is_named_with_its_column(text: str, code: str, column: int) -> None:
    with pytest.raises(RecordError) as caught:
        parse_gate(text)
    assert (caught.value.code, caught.value.where) == (f"E-GATE-{code}", f"column {column}")


def test_a_near_word_is_offered() -> None:
    with pytest.raises(RecordError) as caught:
        parse_gate("set(a) == DISCRIMINATE")
    assert caught.value.hint == "did you mean DISCRIMINATES?"


def test_length_and_depth_are_bounded() -> None:
    for text in ("(" * 51 + "status.blocked == 0" + ")" * 51, "not " * 60 + "status.blocked == 0", " " * 2001):
        with pytest.raises(RecordError, match="E-GATE-SYNTAX"):
            parse_gate(text)
    deep = "(" * 40 + "status.blocked == 0" + ")" * 40
    assert isinstance(parse_gate(deep).root, GateTest)


@pytest.mark.parametrize(
    ("text", "told", "hint"),
    [
        ("pass(a, b).rate >= 80%", "80% is a percentage", "write 0.8"),
        ("pass(a, b).rate >= 33.5%", "33.5% is a percentage", "write 0.335"),
        ("status.blocked == 5%", "5% is a percentage", "leave out the %"),
        ("pass(a, b).rate >= 80", "80 says nothing", "80 of a hundred is 0.8"),
        ("pass(a, b).rate >= 800", "800 says nothing", "as in >= 0.8"),
        ("status.blocked == -1", "-1 is none", "0 or more"),
        ("set(a).DISCRIMINATES == 0.4", "a measure (.rate, .lower, .upper) was expected", ""),
        ("pass(a, b) >= 0.4", "a measure (.rate, .lower, .upper) was expected", ""),
    ],
)
def test_what_is_wrong_with_a_number_says_how_to_write_it(text: str, told: str, hint: str) -> None:
    with pytest.raises(RecordError) as caught:
        parse_gate(text)
    [problem] = caught.value.problems
    assert told in problem.message
    assert hint in problem.hint
