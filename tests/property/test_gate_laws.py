"""Laws of gates: what is undecided never makes one hold or fail; the truth tables; no order."""

from __future__ import annotations

from itertools import product

import pytest
from gate_kit import gate, performances
from hypothesis import given, settings
from hypothesis import strategies as st

from oyer.adjudicate import compared_words, gates_exit_code, parse_gate
from oyer.adjudicate.gate_tree import comparisons_of
from oyer.errors import OyerError

WORDS = ("completed", "refused", "failed")
SYMBOLS = {"holds": True, "does_not_hold": False, "undecided": None}
OF = {True: "performed(a) == completed", False: "performed(a) == failed", None: "performed(b) == completed"}
SMALL = performances({"a": ["completed"], "b": [None]})


def kleene_and(one: bool | None, other: bool | None) -> bool | None:
    return False if one is False or other is False else None if None in (one, other) else True


def kleene_or(one: bool | None, other: bool | None) -> bool | None:
    return True if one is True or other is True else None if None in (one, other) else False


@pytest.mark.parametrize(("one", "other"), list(product((True, False, None), repeat=2)))
def test_the_truth_tables(one: bool | None, other: bool | None) -> None:
    assert SYMBOLS[gate(f"{OF[one]} and {OF[other]}", SMALL).result] is kleene_and(one, other)
    assert SYMBOLS[gate(f"{OF[one]} or {OF[other]}", SMALL).result] is kleene_or(one, other)
    assert SYMBOLS[gate(f"not ({OF[one]})", SMALL).result] is (None if one is None else not one)


def leaves(case: str) -> st.SearchStrategy[str]:
    share = st.sampled_from(["0", "0.2", "0.34", "0.5", "0.75", "1"])
    order = st.sampled_from(["<", "<=", ">", ">=", "==", "!="])
    measure = st.sampled_from(["rate", "lower", "upper"])
    words = st.builds(
        "{} performed({}) {} {}".format,
        st.sampled_from(["every", "any"]),
        st.just(case),
        st.sampled_from(["==", "!="]),
        st.sampled_from([*WORDS, "undecided"]),
    )
    shares = st.builds("performed({}).{}.{} {} {}".format, st.just(case), st.sampled_from(WORDS), measure, order, share)
    return words | shares


GATES = st.recursive(
    leaves("a") | leaves("b"),
    lambda inner: (
        st.builds("({} and {})".format, inner, inner)
        | st.builds("({} or {})".format, inner, inner)
        | st.builds("not ({})".format, inner)
    ),
    max_leaves=5,
)
TOLD = st.lists(st.none() | st.sampled_from(WORDS), min_size=1, max_size=6)


@given(text=GATES, first=TOLD, second=TOLD, data=st.data())
def test_what_is_settled_stays_so_however_the_undecided_come_out(
    text: str, first: list[str | None], second: list[str | None], data: st.DataObject
) -> None:
    """So neither holding nor failing ever rests on a trial that said nothing."""
    before = gate(text, performances({"a": first, "b": second})).result
    whole = {
        name: [word if word is not None else data.draw(st.none() | st.sampled_from(WORDS)) for word in words]
        for name, words in (("a", first), ("b", second))
    }
    after = gate(text, performances(whole)).result
    if before != "undecided":
        assert after == before, whole


@given(text=GATES, first=TOLD, second=TOLD, data=st.data())
def test_the_order_of_repetitions_changes_nothing(
    text: str, first: list[str | None], second: list[str | None], data: st.DataObject
) -> None:
    mixed = {"a": data.draw(st.permutations(first)), "b": data.draw(st.permutations(second))}
    assert gate(text, performances(mixed)).result == gate(text, performances({"a": first, "b": second})).result


@given(text=leaves("a"), told=TOLD, crashes=st.integers(1, 5))
def test_more_crashes_never_settle_anything(text: str, told: list[str | None], crashes: int) -> None:
    before = gate(text, performances({"a": told})).result
    after = gate(text, performances({"a": [*told, *[None] * crashes]})).result
    assert after in (before, "undecided")


@given(text=GATES, first=TOLD, second=TOLD)
def test_a_contrary_is_contrary_and_undecided_stays(
    text: str, first: list[str | None], second: list[str | None]
) -> None:
    told = performances({"a": first, "b": second})
    straight, turned = SYMBOLS[gate(text, told).result], SYMBOLS[gate(f"not ({text})", told).result]
    assert turned is (None if straight is None else not straight)
    assert gate(f"({text}) and not ({text})", told).result != "holds"
    assert gate(f"({text}) or not ({text})", told).result != "does_not_hold"


@given(text=GATES, told=TOLD)
def test_each_result_has_its_exit_code_and_names_its_counts(text: str, told: list[str | None]) -> None:
    result = gate(text, performances({"a": told, "b": told}))
    assert gates_exit_code([result]) == {"holds": 0, "does_not_hold": 1, "undecided": 5}[result.result]
    for seen in result.operands:
        assert f"{seen.operand}{compared_words(seen)}: {len(told)} planned = " in result.sentence
        assert seen.compared is None or seen.compared[0] <= seen.compared[1]
        assert seen.decided + seen.undecided == len(seen.words) == len(told)
    assert "planned trials" in result.ledger


@settings(max_examples=200)
@given(
    text=st.text(max_size=60)
    | st.lists(
        st.sampled_from(
            "every any not and or ( ) set(a) status.blocked .rate .MIXED == >= 0.5 PASS pass(a, b)".split()
        ),
        max_size=12,
    ).map(" ".join)
)
def test_any_text_is_a_gate_or_a_named_error_with_its_column(text: str) -> None:
    try:
        parsed = parse_gate(text)
    except OyerError as error:
        assert error.code.startswith("E-GATE-")
        assert 1 <= int(error.where.removeprefix("column ")) <= len(text) + 1
    else:
        for one in comparisons_of(parsed.root):
            assert text[one.column - 1 :].startswith(one.text)
            assert text[one.operand.column - 1 :].startswith(one.operand.text)
