"""Repeats of several cases: against statsmodels, by hand, and by counting every way to choose."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
import scipy

from oyer.stats import (
    CaseCounts,
    cases_rate,
    clopper_pearson,
    clustered_error,
    pass_at_k,
    pass_hat_k,
    spread,
)

MANY = [CaseCounts(k, 10) for k in (2, 3, 5, 5, 6, 7, 4, 5, 5, 6, 8, 3, 5, 4, 6, 5, 7, 4, 5, 5)]


def test_it_is_wider_than_students_t_on_case_means_and_narrower_than_cases_counted_whole() -> None:
    found = cases_rate(MANY)
    means = np.array([case.k / case.decided for case in MANY])
    low, high = scipy.stats.t.interval(
        0.95, len(means) - 1, loc=means.mean(), scale=means.std(ddof=1) / len(means) ** 0.5
    )
    assert found.interval is not None
    whole = clopper_pearson(10, 20)
    assert whole.low < found.interval.low < low < high < found.interval.high < whole.high
    assert found.estimand == "cases like these"
    assert float(found.mean or 0) == pytest.approx(means.mean())


def test_one_case_speaks_of_itself_alone() -> None:
    found = cases_rate([CaseCounts(3, 10)])
    assert (found.estimand, found.interval) == ("this case only", clopper_pearson(3, 10))


def test_where_all_cases_are_alike_each_counts_once() -> None:
    found = cases_rate([CaseCounts(20, 20)] * 6)
    assert found.interval == pytest.approx(clopper_pearson(6, 6), abs=1e-9)


def test_a_hundred_cases_do_not_exclude_the_few_that_none_of_them_showed() -> None:
    """Where 2 % of cases always fail, one series in eight holds none of them: Student's t then ends at .11."""
    found = cases_rate([CaseCounts(2, 20)] * 50 + [CaseCounts(1, 20), CaseCounts(3, 20)] * 25).interval
    assert found is not None
    assert found.low < 0.1 and found.high > 0.118


def test_few_successes_are_widened() -> None:
    cases = [CaseCounts(0, 20)] * 18 + [CaseCounts(1, 20)] * 2
    found = cases_rate(cases)
    assert found.interval is not None
    assert 0 < found.interval.low < 0.001
    assert found.interval.high > 0.1


def test_few_cases_give_counts_and_no_interval() -> None:
    found = cases_rate([CaseCounts(1, 5)] * 4)
    assert found.interval is None and found.limits is None
    assert "fewer than 5 cases" in (found.why_not or "")
    assert found.bounds == (Fraction(1, 5), Fraction(1, 5))


def test_the_undecided_bound_every_number() -> None:
    cases = [CaseCounts(5, 8, 2)] * 10
    found = cases_rate(cases)
    assert found.bounds == (Fraction(1, 2), Fraction(7, 10))
    assert found.limits is not None and found.interval is not None
    assert found.limits.low <= found.interval.low
    assert found.limits.high >= found.interval.high
    assert found.undecided == 20


def test_seven_crashes_of_ten_leave_bounds_three_tenths_wide_or_more() -> None:
    found = cases_rate([CaseCounts(3, 3, 7)])
    low, high = found.bounds or (0, 0)
    assert (low, high) == (Fraction(3, 10), Fraction(1))
    assert found.limits is not None
    assert found.limits.low < 0.3


def test_one_decided_trial_is_no_interval() -> None:
    assert cases_rate([CaseCounts(1, 1, 4)]).why_not == "fewer than two trials are decided"
    assert cases_rate([CaseCounts(0, 0, 4)]).mean is None


def test_clustered_error_is_that_of_a_regression_with_clusters() -> None:
    import statsmodels.api as sm

    y = np.concatenate([[1.0] * case.k + [0.0] * (case.decided - case.k) for case in MANY])
    groups = np.repeat(np.arange(len(MANY)), [case.decided for case in MANY])
    fit = sm.OLS(y, np.ones_like(y)).fit(cov_type="cluster", cov_kwds={"groups": groups, "df_correction": True})
    n = len(y)
    # statsmodels also multiplies by (N - 1) / (N - 1 parameter), which is 1 here.
    assert clustered_error(MANY) == pytest.approx(float(fit.bse[0]) * ((n - 1) / (n - 1)) ** 0.5, rel=1e-9)
    assert clustered_error(MANY[:1]) is None


def test_spread_between_and_within() -> None:
    found = spread([CaseCounts(0, 4), CaseCounts(4, 4)])
    assert found.within == 0.0
    assert found.between == pytest.approx(0.5**0.5)
    assert spread([CaseCounts(1, 2)]).between is None
    assert spread([CaseCounts(1, 1), CaseCounts(0, 1)]).within is None


@pytest.mark.parametrize(("k", "n", "c"), [(1, 5, 2), (3, 5, 2), (5, 5, 0), (2, 6, 6), (4, 8, 3)])
def test_chances_are_shares_of_all_ways_to_choose(k: int, n: int, c: int) -> None:
    tries = [True] * c + [False] * (n - c)
    chosen = list(combinations(tries, k))
    case = CaseCounts(c, n)
    assert pass_at_k(case, k).value == Fraction(sum(any(one) for one in chosen), len(chosen))
    assert pass_hat_k(case, k).value == Fraction(sum(all(one) for one in chosen), len(chosen))


def test_too_few_decided_trials_leave_bounds() -> None:
    found = pass_hat_k(CaseCounts(2, 2, 3), 3)
    assert found.value is None
    assert found.bounds == (Fraction(0), Fraction(1))
    assert pass_at_k(CaseCounts(0, 1, 1), 5).bounds is None


@pytest.mark.parametrize("case", [CaseCounts(3, 2), CaseCounts(0, 0), CaseCounts(0, 1, -1)])
def test_what_is_no_case_is_refused(case: CaseCounts) -> None:
    with pytest.raises(ValueError, match="not counts"):
        cases_rate([case])
    with pytest.raises(ValueError, match="counts tries"):
        pass_at_k(CaseCounts(1, 2), 0)
