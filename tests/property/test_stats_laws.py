"""Laws of intervals and bounds."""

from __future__ import annotations

from fractions import Fraction
from math import isfinite, sqrt

from hypothesis import given
from hypothesis import strategies as st

from oyer.stats import rate_of, wilson, wilson_worst_case, worst_case

Z = 1.959963984540054


@st.composite
def counts(draw: st.DrawFn) -> tuple[int, int]:
    n = draw(st.integers(1, 5000))
    return draw(st.integers(0, n)), n


@given(counts())
def test_it_contains_what_was_observed_and_stays_within_zero_and_one(kn: tuple[int, int]) -> None:
    k, n = kn
    low, high = wilson(k, n)
    assert 0.0 <= low <= k / n <= high <= 1.0
    assert isfinite(low) and isfinite(high)


@given(counts())
def test_its_limits_solve_the_score_equation(kn: tuple[int, int]) -> None:
    """The definition: p is a limit where |k/n - p| = z sqrt(p (1 - p) / n)."""
    k, n = kn
    for p in wilson(k, n):
        if 0 < p < 1:
            assert abs(abs(k / n - p) - Z * sqrt(p * (1 - p) / n)) < 1e-9


@given(counts())
def test_one_more_success_moves_both_limits_up(kn: tuple[int, int]) -> None:
    k, n = kn
    if k < n:
        before, after = wilson(k, n), wilson(k + 1, n)
        assert (before.low < after.low and before.high < after.high) or after.high == 1.0


@given(counts())
def test_it_is_the_same_from_the_other_side(kn: tuple[int, int]) -> None:
    k, n = kn
    one, other = wilson(k, n), wilson(n - k, n)
    assert abs(one.low - (1 - other.high)) < 1e-12


@given(counts(), st.integers(2, 50))
def test_more_of_the_same_narrows_it(kn: tuple[int, int], times: int) -> None:
    k, n = kn
    few, many = wilson(k, n), wilson(k * times, n * times)
    assert few.low <= many.low and many.high <= few.high


@given(counts(), st.integers(0, 300))
def test_bounds_hold_whatever_the_undecided_were(kn: tuple[int, int], undecided: int) -> None:
    k, n = kn
    low, high = worst_case(k, n, undecided)
    limits = wilson_worst_case(k, n, undecided)
    assert low <= Fraction(k, n) <= high
    for lucky in {0, undecided // 2, undecided}:
        assert low <= Fraction(k + lucky, n + undecided) <= high
        real = wilson(k + lucky, n + undecided)
        assert limits.low <= real.low and real.high <= limits.high


@given(counts(), st.integers(0, 100))
def test_one_more_undecided_trial_never_narrows_anything(kn: tuple[int, int], undecided: int) -> None:
    k, n = kn
    few, more = worst_case(k, n, undecided), worst_case(k, n, undecided + 1)
    assert more[0] <= few[0] and few[1] <= more[1]
    one, other = wilson_worst_case(k, n, undecided), wilson_worst_case(k, n, undecided + 1)
    assert other.low <= one.low
    assert rate_of(k, n, undecided).value == rate_of(k, n, undecided + 1).value
