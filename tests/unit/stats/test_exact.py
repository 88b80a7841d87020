"""Exact limits against other programs, and the rates that no event excludes."""

from __future__ import annotations

import pytest
import scipy

from oyer.stats import Interval, clopper_pearson, excluded_by_none, trials_to_exclude


@pytest.mark.parametrize(("k", "n"), [(0, 1), (0, 10), (3, 10), (10, 10), (81, 263), (1, 29), (499, 1000)])
@pytest.mark.parametrize("confidence", [0.9, 0.95, 0.99])
def test_agrees_with_two_other_programs(k: int, n: int, confidence: float) -> None:
    from statsmodels.stats.proportion import proportion_confint

    mine = clopper_pearson(k, n, confidence)
    assert mine == pytest.approx(proportion_confint(k, n, alpha=1 - confidence, method="beta"), abs=1e-10)
    theirs = scipy.stats.binomtest(k, n).proportion_ci(confidence, method="exact")
    assert mine == pytest.approx((theirs.low, theirs.high), abs=1e-10)


def test_without_a_trial_nothing_is_excluded() -> None:
    assert clopper_pearson(0, 0) == Interval(0.0, 1.0)
    assert excluded_by_none(0) is None


def test_the_numbers_that_the_design_states() -> None:
    assert trials_to_exclude(0.05) == 59
    assert trials_to_exclude(0.01) == 299
    assert excluded_by_none(59) == pytest.approx(0.0495, abs=5e-4)
    assert (excluded_by_none(58) or 0) > 0.05


@pytest.mark.parametrize("rate", [0.9, 0.5, 0.2, 0.001, 0.0001])
def test_one_trial_fewer_does_not_exclude_it(rate: float) -> None:
    n = trials_to_exclude(rate)
    assert (excluded_by_none(n) or 1) < rate
    assert n == 1 or (excluded_by_none(n - 1) or 1) >= rate


@pytest.mark.parametrize(("k", "n"), [(-1, 3), (4, 3)])
def test_what_is_no_count_is_refused(k: int, n: int) -> None:
    with pytest.raises(ValueError, match="not counts"):
        clopper_pearson(k, n)


@pytest.mark.parametrize("confidence", [0.0, 1.0, -1.0])
def test_a_confidence_lies_between_nothing_and_certainty(confidence: float) -> None:
    with pytest.raises(ValueError, match="confidence"):
        clopper_pearson(1, 3, confidence)
