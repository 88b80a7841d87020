"""Comparisons on the same cases: against statsmodels, by counting every flip, and by hand."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import log

import pytest
import scipy

from oyer.stats import (
    cluster_bootstrap,
    holm,
    holm_by_e,
    mcnemar,
    mcnemar_worst_case,
    relabelled,
    sign_flip,
    two_proportions,
)


@pytest.mark.parametrize(
    ("b", "c"), [(0, 0), (1, 0), (6, 0), (5, 3), (12, 2), (7, 7), (40, 21), (700, 640), (12_000, 11_800)]
)
def test_mcnemar_is_that_of_statsmodels(b: int, c: int) -> None:
    from statsmodels.stats.contingency_tables import mcnemar as their_mcnemar

    found = mcnemar(b, c, 10)
    theirs = their_mcnemar([[5, b], [c, 5]], exact=True).pvalue if b + c else 1.0
    assert found.p == pytest.approx(min(1.0, theirs), rel=1e-10)
    assert found.difference == Fraction(b - c, b + c + 10)


def test_no_pair_is_no_difference() -> None:
    assert mcnemar(0, 0, 0, 5).difference is None
    assert mcnemar(0, 0, 0, 5).p == 1.0


def test_losses_that_depend_on_the_arm_leave_it_undecided() -> None:
    against, for_it = mcnemar_worst_case(8, 0, 2, 10)
    assert mcnemar(8, 0, 2).p < 0.05
    assert against.p > 0.05
    assert for_it.p < 0.05


DIFFERENCES = [Fraction(1, 3), Fraction(-1, 2), Fraction(2, 5), Fraction(1), Fraction(0), Fraction(1, 4)]


def test_every_flip_is_counted() -> None:
    seen = abs(sum(DIFFERENCES))
    flips = list(product((1, -1), repeat=len(DIFFERENCES)))
    far = sum(abs(sum(s * d for s, d in zip(signs, DIFFERENCES, strict=True))) >= seen for signs in flips)
    found = sign_flip(DIFFERENCES, seed=1)
    assert found.exact
    assert found.p == far / len(flips)


def test_drawn_flips_come_near_the_exact_ones_and_are_never_zero() -> None:
    many = [Fraction(1, 2 + i % 5) * (-1) ** (i % 3 == 0) for i in range(18)]
    drawn = sign_flip(many, seed=7)
    seen, sums = abs(sum(many)), {Fraction(0): 1}
    for one in many:
        after: dict[Fraction, int] = {}
        for total, ways in sums.items():
            for moved in (total + one, total - one):
                after[moved] = after.get(moved, 0) + ways
        sums = after
    exact = sum(ways for total, ways in sums.items() if abs(total) >= seen) / 2 ** len(many)
    assert not drawn.exact
    assert drawn.p == pytest.approx(exact, abs=0.015)
    assert sign_flip([Fraction(1)] * 40, seed=1, draws=100).p == pytest.approx(1 / 101)
    assert sign_flip(many, seed=7) == drawn
    assert sign_flip([], seed=1).p == 1.0


def test_labels_dealt_anew_are_fishers_test_for_one_case() -> None:
    found = relabelled([(1, 8, 7, 9)], seed=3, draws=40_000)
    assert found.p == pytest.approx(two_proportions(1, 8, 7, 9).p, abs=0.003)
    assert found.difference == Fraction(7, 9) - Fraction(1, 8)
    assert relabelled([(1, 8, 7, 9)], seed=3, draws=40_000) == found
    assert relabelled([], seed=1).p == 1.0
    assert relabelled([(0, 4, 0, 9)] * 7, seed=1).p == 1.0
    with pytest.raises(ValueError, match="not counts"):
        relabelled([(1, 0, 1, 2)], seed=1)


def test_one_trial_against_fifty_of_the_same_chance_is_no_difference() -> None:
    """Ten cases, both sides .1: signs flipped on these skewed differences reject in more than a third of all series."""
    counts = [(0, 1, 5, 50)] * 10
    assert sign_flip([Fraction(k2, n2) - Fraction(k1, n1) for k1, n1, k2, n2 in counts], seed=1).p < 0.01
    assert relabelled(counts, seed=1).p > 0.2
    assert relabelled([(0, 4, 50, 50)] * 10, seed=1).p < 0.001


def test_evidence_for_a_side_grows_as_it_gains() -> None:
    counts = [(2, 4, k, 9) for k in (5, 6, 4, 7, 5, 6, 8)]
    seen = [relabelled([*counts[:-1], (2, 4, k, 9)], seed=5).p for k in range(6, 10)]
    assert seen == sorted(seen, reverse=True)


def test_cases_all_alike_have_limits_for_those_that_are_not() -> None:
    """Twenty differences of 0 do not show that there are none: where 5 % of cases differ, 36 % of series look so."""
    found = cluster_bootstrap([0.0] * 20, seed=1)
    assert found is not None
    assert found.low < -0.1 < 0.1 < found.high


def test_the_bootstrap_is_near_that_of_scipy_and_a_little_wider() -> None:
    values = [((i * 37) % 20 - 9) / 20 for i in range(40)]
    mine = cluster_bootstrap(values, seed=3)
    theirs = scipy.stats.bootstrap(
        (values,), lambda x, axis: x.mean(axis=axis), method="percentile", rng=3
    ).confidence_interval
    assert mine is not None
    assert mine.low <= theirs.low + 0.01
    assert mine.high >= theirs.high - 0.01
    assert mine == pytest.approx((theirs.low, theirs.high), abs=0.12), "a case at either end is reckoned with"
    assert cluster_bootstrap(values, seed=3) == mine
    assert cluster_bootstrap(values[:19], seed=3) is None


def test_holm_is_that_of_statsmodels() -> None:
    from statsmodels.stats.multitest import multipletests

    p = {"a": 0.01, "b": 0.04, "c": 0.03, "d": 0.005, "e": 0.9}
    theirs = multipletests(list(p.values()), method="holm")[1]
    assert list(holm(p).values()) == pytest.approx(list(theirs))
    assert list(holm(p)) == list(p)
    assert holm({}) == {}


def test_a_family_of_sequential_tests_needs_more_evidence_each() -> None:
    assert holm_by_e({"a": log(60), "b": log(30), "c": log(1)}, 0.05) == {"a": True, "b": False, "c": False}
    assert holm_by_e({"a": log(21)}, 0.05) == {"a": True}


def test_what_is_no_count_is_refused() -> None:
    with pytest.raises(ValueError, match="not counts"):
        mcnemar(-1, 0, 0)
