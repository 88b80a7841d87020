"""Limits of a mean of bounded values: exact where they are whole, against draws, and whatever their distribution."""

from __future__ import annotations

import numpy as np
import pytest

from oyer.stats import bounded_mean, bounded_ratio, clopper_pearson
from oyer.stats.bounded import chance_above


@pytest.mark.parametrize(("k", "n"), [(0, 5), (3, 10), (1, 100), (20, 20), (500, 1000)])
def test_of_values_at_the_ends_they_are_the_exact_limits_of_a_proportion(k: int, n: int) -> None:
    assert bounded_mean([1.0] * k + [0.0] * (n - k)) == pytest.approx(clopper_pearson(k, n), abs=1e-9)


@pytest.mark.parametrize("weights", [[-0.3, -0.2, 0.5], [0.01] * 9 + [-0.2], [-0.1] * 20 + [0.6, 0.6, 0.6]])
def test_the_chance_is_that_of_drawn_exponentials(weights: list[float]) -> None:
    drawn = np.random.default_rng(1).exponential(size=(200_000, len(weights))) @ np.array(weights)
    assert chance_above(weights) == pytest.approx((drawn > 0).mean(), abs=0.004)


def test_two_weights_by_hand() -> None:
    """P(a E > b F) = a / (a + b) for independent exponentials."""
    assert chance_above([0.3, -0.7]) == pytest.approx(0.3, abs=1e-9)
    assert chance_above([1e-7, -1.0]) == pytest.approx(1e-7 / (1 + 1e-7), abs=1e-9)
    far = chance_above([-0.02] * 999 + [0.5])
    assert far == pytest.approx(1.04**-999, abs=1e-9), "many deviations from 0 the integrand turns fast"
    assert chance_above([0.02] * 999 + [-0.5]) == pytest.approx(1 - 1.04**-999, abs=1e-9)
    assert (chance_above([0.0, 1.0]), chance_above([-1.0, 0.0])) == (1.0, 0.0)


def test_values_all_alike_exclude_only_what_so_many_exclude() -> None:
    low, high = bounded_mean([0.0] * 20, -1, 1)
    assert -low == high == pytest.approx(2 * clopper_pearson(0, 20).high * 0.5, abs=1e-9)


def test_they_move_with_the_values_and_mirror() -> None:
    one, more = bounded_mean([0.1, 0.4, 0.4, 0.9]), bounded_mean([0.1, 0.5, 0.4, 0.9])
    assert one.low < more.low and one.high < more.high
    assert bounded_mean([0.9, 0.6, 0.6, 0.1]) == pytest.approx((1 - one.high, 1 - one.low), abs=1e-9)


def test_rare_cases_of_another_kind_are_covered() -> None:
    """3 % of cases always succeed, the others one time in five: Student's t covers 89 %."""
    draw, hit, count = np.random.default_rng(3), 0, 250
    for _ in range(count):
        means = draw.binomial(5, np.where(draw.random(50) < 0.03, 1.0, 0.2)) / 5
        low, high = bounded_mean(means.tolist())
        hit += low <= 0.224 <= high
    assert hit / count >= 0.94


@pytest.mark.parametrize("values", [[], [1.2], [-0.1, 0.5], [float("nan")]])
def test_what_does_not_lie_between_is_refused(values: list[float]) -> None:
    with pytest.raises(ValueError, match="not values"):
        bounded_mean(values)


def test_a_ratio_of_equal_wholes_is_a_mean_and_moves_with_it() -> None:
    parts = [0, 1, 1, 2, 4, 0, 3]
    assert bounded_ratio(parts, [4] * 7, 4) == pytest.approx(bounded_mean([part / 4 for part in parts]), abs=1e-8)
    assert bounded_ratio([0] * 9, [1] * 9, 1) == pytest.approx(clopper_pearson(0, 9), abs=1e-8)
    assert bounded_ratio([3] * 9, [3] * 9, 3) == pytest.approx(clopper_pearson(9, 9), abs=1e-8)


def test_a_ratio_reckons_with_a_rare_kind() -> None:
    """One case in twenty breaks at once, the others one time in ten: in a third of all series none of it is seen."""
    found = bounded_ratio([0, 1] * 12, [5] * 24, 5)
    assert found.low < 0.1 < found.high
    assert found.high > 0.145


@pytest.mark.parametrize(("parts", "wholes"), [([2], [1]), ([0], [0]), ([1], [9])])
def test_what_is_no_part_is_refused(parts: list[int], wholes: list[int]) -> None:
    with pytest.raises(ValueError, match="not parts"):
        bounded_ratio(parts, wholes, 5)
