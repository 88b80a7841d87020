"""Judge-corrected rates: worked numbers, and the cases in which there is none."""

from __future__ import annotations

import pytest

from oyer.stats import JudgeCounts, corrected_rate, judge_power

GOOD = JudgeCounts(90, 100, 80, 100)


def test_rogan_and_gladens_formula() -> None:
    found = corrected_rate(60, 100, GOOD)
    assert found.value == pytest.approx((0.6 + 0.8 - 1) / 0.7)
    assert found.interval is not None and found.interval.low < found.value < found.interval.high


def test_the_published_example() -> None:
    """The paper's own program: p = .5 of 10000, specificity and sensitivity .9 of 5000 each."""
    found = corrected_rate(5000, 10_000, JudgeCounts(4500, 5000, 4500, 5000))
    assert found.value == pytest.approx(0.5)
    assert found.interval == pytest.approx((0.4856, 0.5144), abs=5e-4)


def test_a_perfect_judge_corrects_nothing() -> None:
    found = corrected_rate(30, 100, JudgeCounts(500, 500, 500, 500))
    assert found.value == pytest.approx(0.3)


@pytest.mark.parametrize(
    ("judge", "why"),
    [
        (JudgeCounts(5, 10, 5, 10), "no better than chance"),
        (JudgeCounts(7, 10, 5, 10), "no better than chance"),
        (JudgeCounts(0, 0, 9, 10), "nobody labelled"),
    ],
)
def test_where_the_judge_may_know_nothing_there_is_no_rate(judge: JudgeCounts, why: str) -> None:
    found = corrected_rate(60, 100, judge)
    assert found.value is None and found.interval is None
    assert why in (found.why_not or "")
    assert found.raw == pytest.approx(0.6)


def test_nothing_judged() -> None:
    assert corrected_rate(0, 0, GOOD).raw is None


def test_the_corrected_rate_stays_a_share() -> None:
    assert corrected_rate(0, 100, GOOD).value == 0.0
    assert corrected_rate(100, 100, GOOD).value == 1.0


def test_power_has_a_lower_limit() -> None:
    power, low = judge_power(GOOD)
    assert power == pytest.approx(0.7)
    assert low is not None and 0.55 < low < 0.7


def test_what_is_no_count_is_refused() -> None:
    with pytest.raises(ValueError, match="not counts"):
        corrected_rate(3, 2, GOOD)
    with pytest.raises(ValueError, match="not counts"):
        judge_power(JudgeCounts(3, 2, 0, 0))
