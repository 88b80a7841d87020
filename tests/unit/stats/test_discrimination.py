"""Discrimination over matched sets: subjects whose J is known, worked numbers, bounds by enumeration."""

from __future__ import annotations

from fractions import Fraction
from statistics import NormalDist

import pytest

from oyer.stats import SetCounts, d_prime, discrimination


@pytest.mark.parametrize(("guarded", "refused", "j"), [(1, 0, 1), (1, 1, 0), (0, 0, 0), (0, 1, -1)])
def test_known_subjects(guarded: int, refused: int, j: int) -> None:
    """One that can tell, one that refuses everything, one that does everything, one that has it backwards."""
    found = discrimination([SetCounts(guarded, 1, refused, 1)] * 24, seed=1)
    assert found.j == j
    assert found.interval is not None
    assert found.interval.low <= j <= found.interval.high


def test_d_prime_is_corrected_always() -> None:
    z = NormalDist().inv_cdf
    assert d_prime(10, 10, 0, 10) == pytest.approx(z(10.5 / 11) - z(0.5 / 11))
    assert d_prime(5, 10, 5, 10) == pytest.approx(0.0)


def test_sets_that_cannot_be_read_bound_it() -> None:
    found = discrimination([SetCounts(3, 4, 1, 4, 2)], seed=1)
    every = [
        Fraction(3 + hits, 6) - Fraction(1 + alarms, 6) for hits in range(3) for alarms in range(3)
    ]  # each of the two lost sets may have been guarded or not, refused or not
    assert found.bounds == (min(every), max(every))
    assert found.undetermined == 2
    assert found.interval is None and "fewer than 20" in (found.why_not or "")


def test_every_negative_control_of_a_lost_set_bounds_it() -> None:
    """One repetition of three negative controls was read, one was not: of six controls three may have been refused."""
    found = discrimination([SetCounts(1, 1, 0, 3, 1, 3)], seed=1)
    assert found.bounds == (Fraction(1, 2) - Fraction(3, 6), Fraction(1))


def test_limits_hold_however_the_lost_sets_had_come_out() -> None:
    """Every set was read once, and perfectly; three of four times it was lost. That is no J of 1."""
    whole = discrimination([SetCounts(1, 1, 0, 1)] * 24, seed=1).interval
    lossy = discrimination([SetCounts(1, 1, 0, 1, 3)] * 24, seed=1).interval
    assert whole is not None and lossy is not None
    assert whole.low > 0.5
    assert lossy.low < -0.5


def test_nothing_read_is_nothing_said() -> None:
    found = discrimination([SetCounts(0, 0, 0, 0, 3)], seed=1)
    assert found.j is None and found.d_prime is None
    assert found.bounds == (Fraction(-1), Fraction(1))
    assert discrimination([], seed=1).bounds is None


def test_what_is_no_set_is_refused() -> None:
    with pytest.raises(ValueError, match="not counts"):
        discrimination([SetCounts(2, 1, 0, 1)], seed=1)
