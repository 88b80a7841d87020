"""What answers cost: exactly, by the name that they report, and unknown where anything is not known."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from evidence_kit import make_case, status_story

from oyer.observe import cost_of, cost_unknown, in_micros, read_cost
from oyer.observe.costing import Prices

PRICES: Prices = {
    "small-2026": {"input": "2.50", "output": "10"},
    "cached": {"input": "3", "output": "15", "cache_read": "0.30", "cache_write": "3.75"},
}


def cost(
    usage: Any, *, reported: str | None = "small-2026", requested: str | None = "small", source: Any = None
) -> Any:
    return cost_of(PRICES, requested=requested, reported=reported, usage=usage, source=source)


def test_dollars_a_million_tokens_are_millionths_of_a_dollar_a_token() -> None:
    assert cost({"input": 10, "output": 5}) == Fraction(75)
    assert cost({"input": 1, "output": 0}) == Fraction(5, 2)


def test_what_a_total_holds_beside_the_input_costs_as_output() -> None:
    assert cost({"input": 10, "output": 5, "total": 20}) == Fraction(125)
    assert cost({"input": 10, "output": 5, "total": 9}) is None


def test_tokens_of_a_cache_cost_what_is_said_of_them_and_else_nobody_knows() -> None:
    usage = {"input": 10, "output": 1, "cache_read": 100, "cache_write": 4}
    assert cost(usage, reported="cached") == Fraction(30 + 15 + 30 + 15)
    assert cost(usage) is None and cost({**usage, "cache_read": 0, "cache_write": 0}) == Fraction(35)


@pytest.mark.parametrize("usage", [None, {}, {"input": 1}, {"output": 1}, {"total": 3}])
def test_usage_that_is_not_whole_is_an_unknown_cost_and_never_0(usage: Any) -> None:
    assert cost(usage) is None


def test_the_reported_name_decides_and_the_requested_one_only_where_there_is_none() -> None:
    usage = {"input": 1, "output": 1}
    assert cost(usage, reported="swapped", requested="small-2026") is None
    assert cost(usage, reported=None, requested="small-2026") == Fraction(25, 2)
    assert cost(usage, reported=None, requested=None) is None


@pytest.mark.parametrize("source", ["scripted", "replay", "declared"])
def test_what_no_endpoint_answered_costs_nothing(source: str) -> None:
    assert cost_of({}, requested="m", reported="m", usage=None, source=source) == 0


def test_a_sum_is_exact_rounded_up_and_unknown_where_a_part_is() -> None:
    assert in_micros([Fraction(1, 3)] * 3) == 1 and in_micros([Fraction(1, 3)]) == 1
    assert in_micros([Fraction(1), None]) is None and in_micros([]) is None


@pytest.mark.parametrize(
    ("prices", "usage", "why"),
    [({}, {"input": 1}, "no price"), (PRICES, None, "no usage"), (PRICES, {"input": 1}, "does not say")],
)
def test_why_a_cost_is_unknown_is_said(prices: Any, usage: Any, why: str) -> None:
    assert why in cost_unknown(prices, requested="small", reported="small-2026", usage=usage)


def test_a_trial_without_prices_has_no_cost_and_one_without_a_model_none_either() -> None:
    assert read_cost(status_story(make_case(), gateway=True).arm()) is None
    assert read_cost(status_story(make_case()).arm()) is None
