"""Limits of the mean of independent values that lie between two known ends, whatever their distribution.

Cases like these may hold a few that are quite unlike those that were seen. Student's t and the bootstrap know only the
spread that was seen: where 2 % of cases always fail and none of them is among a hundred, either is certain of a mean
that is wrong (simulated: 78 % to 91 % instead of 95 %, and 63 % over 20 cases of which all happen to be alike). Here
one more value, at the worse end, is always reckoned with.

    upper    the value that D(1) x(1) + ... + D(n) x(n) + D(0) greatest stays below with a chance of 1 - tail, where the
             D are n + 1 shares of 1 at random (uniform spacings); the lower limit is the mirror image

For values that are all at one end or the other these are the exact limits of a proportion. For others nobody has proved
that they cover, and nobody has found a distribution for which they do not; `make stats` looks for one.

Sources: N. Gaffke, "Three test statistics for a nonparametric one-sided hypothesis on the mean of a nonnegative
variable", Mathematical Methods of Statistics 14 (2005) 451-467; E. Learned-Miller, P. S. Thomas, "A new confidence
interval for the mean of a bounded random variable", arXiv 1905.06208; J. P. Imhof, "Computing the distribution of
quadratic forms in normal variables", Biometrika 48 (1961) 419-426, for the chance, without drawing anything.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import pi
from typing import Any

from oyer.stats.proportions import CONFIDENCE, Interval

__all__ = ["bounded_mean", "bounded_ratio", "chance_above"]

_STEP = 0.1
_FROM, _TO = -33.0, 40.0
"""Where the logarithm of Imhof's variable begins and ends; beyond, nothing is left that a double could hold."""
_CLOSE = 1e-10
"""How closely a limit is found."""


def bounded_mean(
    values: Sequence[float], least: float = 0.0, most: float = 1.0, confidence: float = CONFIDENCE
) -> Interval:
    """Return limits of the mean of what these values are drawn from, each between `least` and `most`.

    Raises: ValueError where there is no value, or one lies outside.
    """
    if not values or not all(least <= value <= most for value in values):
        raise ValueError(f"not values between {least} and {most}: {list(values)!r}")
    tail = (1 - confidence) / 2
    high = _upper(values, most, tail)
    low = -_upper([-value for value in values], -least, tail)
    return Interval(max(float(least), low), min(float(most), high))


def bounded_ratio(parts: Sequence[int], wholes: Sequence[int], most: int, confidence: float = CONFIDENCE) -> Interval:
    """Return limits of the mean part over the mean whole, of units whose whole is at most `most`.

    A ratio h is kept where the mean of part - h whole, which lies between -h most and (1 - h) most, may be 0.
    Raises: ValueError where a part is no part of its whole, or all wholes are 0.
    """
    from scipy.optimize import brentq

    units = list(zip(parts, wholes, strict=True))
    if not all(0 <= part <= whole <= most for part, whole in units) or not sum(wholes):
        raise ValueError(f"not parts of wholes of at most {most}: {units!r}")
    tail, seen = (1 - confidence) / 2, sum(parts) / sum(wholes)

    def kept_below(h: float) -> float:
        return chance_above([*(h * whole - part for part, whole in units), h * most]) - tail

    def kept_above(h: float) -> float:
        return chance_above([*(part - h * whole for part, whole in units), (1 - h) * most]) - tail

    low = 0.0 if seen == 0 else float(brentq(kept_below, 0.0, seen, xtol=_CLOSE)) - _CLOSE
    high = 1.0 if seen == 1 else float(brentq(kept_above, seen, 1.0, xtol=_CLOSE)) + _CLOSE
    return Interval(max(0.0, low), min(1.0, high))


def _upper(values: Sequence[float], most: float, tail: float) -> float:
    """Find the limit, and return the outer side of it."""
    from scipy.optimize import brentq

    values = [float(value) for value in values]

    def over(limit: float) -> float:
        return chance_above([*(value - limit for value in values), most - limit]) - tail

    low, high = min(values), float(most)
    return high if low == high else min(high, float(brentq(over, low, high, xtol=_CLOSE)) + _CLOSE)


def chance_above(weights: Sequence[float]) -> float:
    """Return how likely the sum of these weights, each times its own exponential variable, is above 0."""
    import numpy as np

    if max(weights) <= 0 or min(weights) >= 0:
        return float(max(weights) > 0)
    each, times = np.unique(np.asarray(weights, dtype=float), return_counts=True)
    each = each / np.sqrt((times * each**2).sum())
    # The integrand over the logarithm of its variable is smooth on a whole strip: equal steps are as good as any.
    # A sum whose mean lies many deviations from 0 turns its sine as much faster, and takes smaller ones.
    step = _STEP / max(1.0, abs(float((times * each).sum())) / 4)
    u = np.exp(np.arange(_FROM, _TO, step))
    angle: Any = np.zeros_like(u)
    size: Any = np.zeros_like(u)
    for weight, number in zip(each.tolist(), times.tolist(), strict=True):
        angle += number * np.arctan(weight * u)
        size += number / 2 * np.log1p((weight * u) ** 2)
    found = 0.5 + float((np.sin(angle) * np.exp(-size)).sum()) * step / pi
    return min(1.0, max(0.0, found))
