"""Two proportions of one case: against another program, by counting, and whether its evidence grows as sides part."""

from __future__ import annotations

from fractions import Fraction

import pytest
import scipy

from oyer.stats import excluded_at_worst, excluded_by_none, two_proportions


@pytest.mark.parametrize(
    ("k1", "n1", "k2", "n2"), [(0, 4, 4, 4), (3, 10, 9, 10), (5, 20, 6, 17), (0, 3, 0, 9), (7, 8, 2, 30)]
)
def test_p_is_twice_the_smaller_tail_of_another_program(k1: int, n1: int, k2: int, n2: int) -> None:
    table = [[k1, n1 - k1], [k2, n2 - k2]]
    tails = [scipy.stats.fisher_exact(table, alternative=side).pvalue for side in ("less", "greater")]
    assert two_proportions(k1, n1, k2, n2).p == pytest.approx(min(1.0, 2 * min(tails)), rel=1e-9)


@pytest.mark.parametrize(("k1", "n1", "k2", "n2"), [(900, 1500, 960, 1500), (3, 4000, 15, 4100), (0, 2500, 2500, 2500)])
def test_many_trials_are_worked_out_in_floating_point(k1: int, n1: int, k2: int, n2: int) -> None:
    table = [[k1, n1 - k1], [k2, n2 - k2]]
    tails = [scipy.stats.fisher_exact(table, alternative=side).pvalue for side in ("less", "greater")]
    assert two_proportions(k1, n1, k2, n2).p == pytest.approx(min(1.0, 2 * min(tails)), rel=1e-6)


def test_the_difference_is_second_minus_first_and_p_does_not_know_which_is_which() -> None:
    found, turned = two_proportions(1, 4, 3, 4), two_proportions(3, 4, 1, 4)
    assert (found.difference, turned.difference) == (Fraction(1, 2), Fraction(-1, 2))
    assert found.p == turned.p
    assert found.interval == pytest.approx((-turned.interval.high, -turned.interval.low))


def test_evidence_for_a_side_only_grows_as_it_gains() -> None:
    """What makes the two ends of undecided trials enough: between them nothing rejects that neither end would."""
    n1, n2 = 6, 7
    for k1 in range(n1 + 1):
        ps = [two_proportions(k1, n1, k2, n2) for k2 in range(n2 + 1)]
        above = [one.p for one in ps if one.difference > 0]
        below = [one.p for one in ps if one.difference < 0]
        assert above == sorted(above, reverse=True)
        assert below == sorted(below)


@pytest.mark.parametrize(("n1", "n2"), [(2, 2), (3, 8), (6, 6)])
def test_the_limits_hold_as_often_as_they_say_wherever_the_truth_is(n1: int, n2: int) -> None:
    limits = {(a, b): two_proportions(a, n1, b, n2).interval for a in range(n1 + 1) for b in range(n2 + 1)}
    for one in range(1, 20):
        for other in range(1, 20):
            p1, p2 = one / 20, other / 20
            covered = sum(
                scipy.stats.binom.pmf(a, n1, p1) * scipy.stats.binom.pmf(b, n2, p2)
                for (a, b), found in limits.items()
                if found.low <= p2 - p1 <= found.high
            )
            assert covered >= 0.95, (p1, p2)


@pytest.mark.parametrize(("k1", "n1", "k2", "n2"), [(0, 0, 1, 2), (1, 2, 0, 0), (3, 2, 0, 1), (0, 1, -1, 1)])
def test_what_is_no_count_is_refused(k1: int, n1: int, k2: int, n2: int) -> None:
    with pytest.raises(ValueError, match="not counts of trials"):
        two_proportions(k1, n1, k2, n2)


def test_none_seen_excludes_less_where_trials_are_undecided() -> None:
    assert excluded_at_worst(59, 0) == excluded_by_none(59) == pytest.approx(0.0495, abs=5e-4)
    worse = excluded_at_worst(59, 1)
    assert worse is not None
    assert scipy.stats.binom.cdf(1, 60, worse) == pytest.approx(0.05)
    assert excluded_at_worst(0, 5) is None
    with pytest.raises(ValueError, match="not a count"):
        excluded_at_worst(3, -1)
