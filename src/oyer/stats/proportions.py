"""A rate with its denominator: its limits, and the bounds that undecided trials leave.

Wilson's interval covers 95 % on average over chances, and far less near the ends (exactly: down to 82 % for 2 trials,
84 % for 20, 92 % for 100). So what is decided by, and what is called a limit, is exact: Clopper-Pearson's.

Estimand: the chance of success of one more trial of this case under these pins, if trials are independent. Repetitions
of several cases are not; nothing here may be used across cases.

Sources: E. B. Wilson, "Probable inference, the law of succession, and statistical inference", JASA 22 (1927) 209-212;
R. G. Newcombe, "Two-sided confidence intervals for the single proportion", Statistics in Medicine 17 (1998) 857-872,
method 3; C. F. Manski, "Partial Identification of Probability Distributions" (Springer, 2003), section 1.2, the bounds
on the probability of an event with missing outcomes.
"""

from __future__ import annotations

from fractions import Fraction
from math import sqrt
from statistics import NormalDist
from typing import NamedTuple

__all__ = [
    "CONFIDENCE",
    "Anytime",
    "Interval",
    "Rate",
    "exact_worst_case",
    "rate_of",
    "standard_error",
    "wilson",
    "wilson_worst_case",
    "worst_case",
]

CONFIDENCE = 0.95

_QUANTILES = {0.9: 1.6448536269514722, 0.95: 1.959963984540054, 0.99: 2.5758293035489004}
"""Written out, so that the usual intervals are the same bits on every machine."""


class Interval(NamedTuple):
    """A lower and an upper limit, both within 0 and 1."""

    low: float
    high: float


class Anytime(NamedTuple):
    """Limits that hold at whatever time a series stopped, but for a chance of alpha in all."""

    alpha: float
    limits: Interval


class Rate(NamedTuple):
    """`k` of `decided`, with what is undecided beside it. Never printed without the three.

    `value` is None where nothing is decided; `interval` is None where fewer than two are, with the reason in words.
    `bounds` are exact: every undecided trial first as a failure, then as a success. `limits` are Clopper-Pearson's, and
    hold for both readings; `interval` is Wilson's, which is near 95 % on average alone.
    After a rule that looked at the trials neither holds: both are None, and `sequence` has the limits that do.
    """

    k: int
    decided: int
    undecided: int
    value: Fraction | None
    interval: Interval | None
    bounds: tuple[Fraction, Fraction] | None
    limits: Interval | None
    why_not: str | None
    sequence: Anytime | None = None


def wilson(k: int, n: int, confidence: float = CONFIDENCE) -> Interval:
    """Return the score interval of a proportion. Without a trial it is all from 0 to 1: nothing is excluded.

    Raises: ValueError where the counts are none, or the confidence is not between 0 and 1.
    """
    _require_counts(k, n, 0)
    if n == 0:
        return Interval(0.0, 1.0)
    z = _quantile(confidence)
    centre, spread = k + z * z / 2, z * sqrt(k * (n - k) / n + z * z / 4)
    low, high = (centre - spread) / (n + z * z), (centre + spread) / (n + z * z)
    # At the ends the formula gives 0 and 1 but for rounding; and a limit never passes what was observed.
    return Interval(0.0 if k == 0 else min(low, k / n), 1.0 if k == n else max(high, k / n))


def standard_error(k: int, n: int) -> float | None:
    """Return sqrt(p (1 - p) / n) of independent trials.

    None for fewer than two trials, and where all came out alike: the formula would say 0, and nothing is that certain.
    """
    _require_counts(k, n, 0)
    return sqrt(k * (n - k) / n) / n if n > 1 and 0 < k < n else None


def worst_case(k: int, decided: int, undecided: int) -> tuple[Fraction, Fraction]:
    """Return what the share of successes would be if every undecided trial had failed, and if each had succeeded.

    Raises: ValueError where the counts are none, or there is no trial at all.
    """
    _require_counts(k, decided, undecided)
    n = decided + undecided
    if n == 0:
        raise ValueError("no trial, so no share")
    return Fraction(k, n), Fraction(k + undecided, n)


def wilson_worst_case(k: int, decided: int, undecided: int, confidence: float = CONFIDENCE) -> Interval:
    """Return the lower limit with every undecided trial a failure, and the upper one with every one a success."""
    _require_counts(k, decided, undecided)
    n = decided + undecided
    return Interval(wilson(k, n, confidence).low, wilson(k + undecided, n, confidence).high)


def exact_worst_case(k: int, decided: int, undecided: int, confidence: float = CONFIDENCE) -> Interval:
    """Return the exact lower limit with every undecided trial a failure, and the upper one with every one a success."""
    from oyer.stats.exact import clopper_pearson

    _require_counts(k, decided, undecided)
    n = decided + undecided
    return Interval(clopper_pearson(k, n, confidence).low, clopper_pearson(k + undecided, n, confidence).high)


def rate_of(k: int, decided: int, undecided: int = 0, confidence: float = CONFIDENCE) -> Rate:
    """Return everything that may be said of a rate from counts, and why where something may not."""
    _require_counts(k, decided, undecided)
    bounds = worst_case(k, decided, undecided) if decided + undecided else None
    if decided == 0:
        return Rate(k, 0, undecided, None, None, bounds, None, "no trial is decided")
    value = Fraction(k, decided)
    if decided == 1:
        return Rate(k, 1, undecided, value, None, bounds, None, "fewer than two trials are decided")
    interval, limits = wilson(k, decided, confidence), exact_worst_case(k, decided, undecided, confidence)
    return Rate(k, decided, undecided, value, interval, bounds, limits, None)


def _quantile(confidence: float) -> float:
    if not 0 < confidence < 1:
        raise ValueError(f"a confidence lies between 0 and 1, not at {confidence!r}")
    known = _QUANTILES.get(confidence)
    return known if known is not None else NormalDist().inv_cdf((1 + confidence) / 2)


def _require_counts(k: int, decided: int, undecided: int) -> None:
    if not 0 <= k <= decided or undecided < 0:
        raise ValueError(f"not counts of trials: {k} of {decided} decided, {undecided} undecided")
