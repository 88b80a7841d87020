"""Wilson's interval and worst-case bounds, against published values."""

from __future__ import annotations

import json
from fractions import Fraction

import pytest

from oyer.stats import Interval, rate_of, standard_error, wilson, wilson_worst_case, worst_case

NEWCOMBE = {
    (81, 263): (0.2553, 0.3662),
    (15, 148): (0.0624, 0.1605),
    (0, 20): (0.0000, 0.1611),
    (1, 29): (0.0061, 0.1718),
}
"""Newcombe, Statistics in Medicine 17 (1998), table I, method 3: the score method without continuity correction."""

SEVEN_DIGITS = {
    (8, 10): (0.4901625, 0.9433178),
    (0, 5): (0.0, 0.4344825),
    (5, 5): (0.5655175, 1.0),
    (0, 10): (0.0, 0.2775328),
}
"""As statsmodels' `proportion_confint(..., method="wilson")` and R's `prop.test(..., correct=FALSE)` give them."""


@pytest.mark.parametrize(("counts", "limits"), NEWCOMBE.items())
def test_newcombes_table(counts: tuple[int, int], limits: tuple[float, float]) -> None:
    assert wilson(*counts) == pytest.approx(limits, abs=5e-5)


@pytest.mark.parametrize(("counts", "limits"), SEVEN_DIGITS.items())
def test_values_of_other_programs(counts: tuple[int, int], limits: tuple[float, float]) -> None:
    assert wilson(*counts) == pytest.approx(limits, abs=5e-8)


def test_the_ends_are_exact() -> None:
    assert wilson(0, 7).low == 0.0
    assert wilson(7, 7).high == 1.0


def test_without_a_trial_nothing_is_excluded() -> None:
    assert wilson(0, 0) == Interval(0.0, 1.0)


def test_twenty_nine_of_twenty_nine_reach_nine_tenths_one_sided() -> None:
    """The trials design: a lower bound of 0.9 needs at least 29 error-free positives (one-sided 95 %, exact).

    Wilson's lower limit is laxer there: n / (n + z^2) with z of the two-sided 90 %.
    """
    assert 0.05 ** (1 / 29) >= 0.9 > 0.05 ** (1 / 28)
    assert wilson(29, 29, 0.9).low == pytest.approx(29 / (29 + 1.6448536269514722**2))


def test_other_confidences() -> None:
    assert wilson(10, 10, 0.99).low == pytest.approx(10 / (10 + 6.634897), abs=1e-7), "chi-square, 1 df, 0.99"
    wide, narrow = wilson(8, 10, 0.97), wilson(8, 10, 0.5)
    assert wide.low < wilson(8, 10).low < narrow.low < 0.8 < narrow.high < wilson(8, 10).high < wide.high
    for wrong in (0.0, 1.0, -1.0, float("nan")):
        with pytest.raises(ValueError, match="confidence"):
            wilson(1, 2, wrong)


def test_manskis_homeless_men() -> None:
    """Of 106 men 64 were found again and 21 of these had a home: between 0.20 and 0.59 of all (Manski 2003, ch. 1)."""
    low, high = worst_case(21, 64, 42)
    assert (round(float(low), 2), round(float(high), 2)) == (0.20, 0.59)
    assert (low, high) == (Fraction(21, 106), Fraction(63, 106))


def test_limits_hold_for_both_readings_of_what_is_undecided() -> None:
    limits = wilson_worst_case(8, 10, 5)
    assert limits == Interval(wilson(8, 15).low, wilson(13, 15).high)
    assert wilson_worst_case(8, 10, 0) == wilson(8, 10)


@pytest.mark.parametrize(("k", "decided", "undecided"), [(3, 2, 0), (-1, 2, 0), (0, -1, 0), (1, 2, -1)])
def test_what_is_no_count_is_refused(k: int, decided: int, undecided: int) -> None:
    for call in (worst_case, wilson_worst_case, rate_of):
        with pytest.raises(ValueError, match="not counts"):
            call(k, decided, undecided)
    with pytest.raises(ValueError, match="no trial"):
        worst_case(0, 0, 0)


def test_a_rate_keeps_failures_of_the_infrastructure_in_its_denominator() -> None:
    """EVAL-01: 50 planned, 33 pass, 11 fail, 6 crashed. Not a bare 0.75: 0.66 at worst, 0.78 at best."""
    rate = rate_of(33, 44, 6)
    assert (rate.k, rate.decided, rate.undecided) == (33, 44, 6)
    assert rate.bounds == (Fraction(66, 100), Fraction(78, 100))
    assert rate.value == Fraction(3, 4)
    assert rate.limits is not None
    assert rate.limits.low < 0.66
    assert rate.limits.high > 0.78


def test_one_trial_has_no_interval_and_says_why() -> None:
    """EVAL-03: n = 1 is not estimable by a named reason, never NaN and never 0."""
    rate = rate_of(1, 1)
    assert (rate.value, rate.interval, rate.limits, rate.why_not) == (
        1,
        None,
        None,
        "fewer than two trials are decided",
    )
    none = rate_of(0, 0, 3)
    assert (none.value, none.interval, none.bounds, none.why_not) == (None, None, (0, 1), "no trial is decided")
    assert rate_of(0, 0).bounds is None
    for one in (rate, none):
        json.dumps([one.interval, one.limits, one.why_not], allow_nan=False)


def test_the_spread_of_eight_agrees_with_the_closed_form() -> None:
    """EVAL-03: 5 of 8 has a standard error of 0.171. Wilson's half-width over z is this error, shrunk by n + z^2."""
    interval, z = wilson(5, 8), 1.959963984540054
    half = (interval.high - interval.low) / 2
    variance = ((half * (8 + z * z) / z) ** 2 - z * z / 4) / 8
    assert (variance / 8) ** 0.5 == pytest.approx(0.171, rel=0.05)
    assert variance == pytest.approx(5 / 8 * 3 / 8)


@pytest.mark.parametrize(("k", "n"), [(0, 0), (1, 1), (0, 9), (9, 9)])
def test_a_standard_error_is_never_nothing(k: int, n: int) -> None:
    assert standard_error(k, n) is None
    assert standard_error(5, 8) == pytest.approx((5 / 8 * 3 / 8 / 8) ** 0.5)
