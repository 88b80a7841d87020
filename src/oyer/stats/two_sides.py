"""One case on two sides: whether its two proportions differ, and by how much.

Estimand: the difference of the chances of one more trial of this case on either side, *this case only*. Trials are
independent, their numbers fixed before the first. Nothing here may be used across cases.

Sources: R. A. Fisher, "The logic of inductive inference", Journal of the Royal Statistical Society 98 (1935) 39-82,
for the exact test, here with twice the smaller tail, so that its evidence only grows as the sides move apart; C. J.
Clopper, E. S. Pearson, Biometrika 26 (1934) 404-413, for the limits of each side, which hold together as often as the
product of what each promises. A score interval of the difference was looked at, and covers too little for few trials
near the ends (exactly: 83 % for three trials on each side).
"""

from __future__ import annotations

from fractions import Fraction
from math import comb, exp, fsum, lgamma, sqrt
from typing import NamedTuple

from oyer.stats.exact import clopper_pearson
from oyer.stats.proportions import CONFIDENCE, Interval

__all__ = ["TwoProportions", "two_proportions"]

MANY_TRIALS = 2_000
"""Up to so many trials on both sides together the test is worked out in whole numbers."""


class TwoProportions(NamedTuple):
    """`difference` is the second minus the first; `p` is two-sided; the limits of `interval` lie within -1 and 1."""

    difference: Fraction
    p: float
    interval: Interval


def two_proportions(k1: int, n1: int, k2: int, n2: int, confidence: float = CONFIDENCE) -> TwoProportions:
    """Compare k1 of n1 with k2 of n2. Raises: ValueError where these are no counts, or a side has no trial."""
    for k, n in ((k1, n1), (k2, n2)):
        if not 0 <= k <= n or n == 0:
            raise ValueError(f"not counts of trials: {k} of {n}")
    each = sqrt(confidence)
    one, other = clopper_pearson(k1, n1, each), clopper_pearson(k2, n2, each)
    interval = Interval(other.low - one.high, other.high - one.low)
    return TwoProportions(Fraction(k2, n2) - Fraction(k1, n1), _exact(k1, n1, k2, n2), interval)


def _exact(k1: int, n1: int, k2: int, n2: int) -> float:
    """Return twice the smaller tail of the hypergeometric distribution of k1, with all margins as they are."""
    total = k1 + k2
    least, most = max(0, total - n2), min(n1, total)
    if n1 + n2 > MANY_TRIALS:
        return _by_logarithms(k1, n1, n2, range(least, most + 1), total)
    ways = {k: comb(n1, k) * comb(n2, total - k) for k in range(least, most + 1)}
    every = sum(ways.values())
    below = sum(number for k, number in ways.items() if k <= k1)
    above = sum(number for k, number in ways.items() if k >= k1)
    return min(1.0, float(Fraction(2 * min(below, above), every)))


def _by_logarithms(k1: int, n1: int, n2: int, ways: range, total: int) -> float:
    """The same in floating point: whole numbers of so many digits take too long."""

    def log_ways(k: int) -> float:
        return -(lgamma(k + 1) + lgamma(n1 - k + 1) + lgamma(total - k + 1) + lgamma(n2 - total + k + 1))

    logs = [log_ways(k) for k in ways]
    top = max(logs)
    weights = [exp(one - top) for one in logs]
    at = k1 - ways.start
    tail = min(fsum(weights[: at + 1]), fsum(weights[at:]))
    return min(1.0, 2 * tail / fsum(weights))
