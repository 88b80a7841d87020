"""Comparisons on the same cases: paired trials, series with repeats, and families of tests.

`mcnemar` is only for pairs by design (arms of one repetition in randomised order; under a fixed order time is
confounded, and whoever prints it has to say so). Two series with repeats are compared by the differences of their case
means. A pair of which one side is undecided is undecided: it is counted, and every number is also given for the worst
that it may have been.

Estimands: the difference between two conditions or series on these cases (permutation), or on cases like these
(bootstrap).

Sources: Q. McNemar, Psychometrika 12 (1947) 153-157, by the exact binomial; R. A. Fisher, "The Design of Experiments"
(1935), section 21, for sign flips, and section 11 of "Statistical Methods for Research Workers" (1925) for counts with
their margins as they are; B. Phipson, G. K. Smyth, "Permutation p-values should never be zero", Stat. Appl. Genet.
Mol. Biol. 9 (2010) 39; T. C. Hesterberg, "What teachers should know about the bootstrap", The American Statistician 69
(2015) 371-386, for the expanded percentile; S. Holm, Scand. J. Statist. 6 (1979) 65-70; V. Vovk, R. Wang, "E-values:
calibration, combination and applications", Ann. Statist. 49 (2021) 1736-1754, for e-values.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import product
from math import comb, lcm, log, sqrt
from typing import NamedTuple

from oyer.stats.bounded import bounded_mean
from oyer.stats.draws import mean_resamples, shares, sign_sums
from oyer.stats.proportions import CONFIDENCE, Interval

__all__ = [
    "MANY_CASES",
    "McNemar",
    "Permutation",
    "cluster_bootstrap",
    "expanded_percentiles",
    "holm",
    "holm_by_e",
    "mcnemar",
    "mcnemar_worst_case",
    "relabelled",
    "sign_flip",
]

MANY_CASES = 20
"""From so many cases on a bootstrap over cases is offered."""
MANY_PAIRS = 1_000
"""Up to so many pairs that differ McNemar's test is worked out in whole numbers."""
Counts = tuple[int, int, int, int]
"""k1 of n1 on one side of a case, k2 of n2 on the other."""
_ROUNDING = 1e-9
ALL_FLIPS = 14
"""Up to so many differences that are not 0 every flip is counted; beyond it `draws` are drawn."""


class McNemar(NamedTuple):
    """Pairs that went one way (`b`: only the first succeeded), the other (`c`), and alike; `p` is exact, two-sided."""

    b: int
    c: int
    alike: int
    undecided: int
    p: float
    difference: Fraction | None


class Permutation(NamedTuple):
    """A sign-flip test: the mean difference, its p-value, over how many cases, and whether every flip was counted."""

    difference: Fraction | None
    p: float
    cases: int
    exact: bool


def mcnemar(b: int, c: int, alike: int, undecided: int = 0) -> McNemar:
    """Return the exact test over decided pairs. Without a pair that differs p is 1.

    Raises: ValueError where the counts are none.
    """
    if min(b, c, alike, undecided) < 0:
        raise ValueError(f"not counts of pairs: {b}, {c}, {alike}, {undecided}")
    m = b + c
    p = min(1.0, 2 * _fair_tail(min(b, c), m)) if m else 1.0
    decided = m + alike
    return McNemar(b, c, alike, undecided, p, Fraction(b - c, decided) if decided else None)


def _fair_tail(k: int, m: int) -> float:
    """Return the chance of at most k heads in m throws of a fair coin; in whole numbers where that is quick."""
    if m <= MANY_PAIRS:
        return float(sum(comb(m, j) for j in range(k + 1)) / 2**m)
    from scipy.special import bdtr

    return float(bdtr(k, m, 0.5))


def mcnemar_worst_case(b: int, c: int, alike: int, undecided: int) -> tuple[McNemar, McNemar]:
    """Return the test with every undecided pair against the first, then with every one for it.

    Where the two do not agree in what they reject, the comparison is not decided.
    """
    return mcnemar(b, c + undecided, alike), mcnemar(b + undecided, c, alike)


def sign_flip(differences: Sequence[Fraction], *, seed: int, draws: int = 20_000) -> Permutation:
    """Test whether the differences of case means lie around 0: how often random signs give a mean as far from it.

    Two-sided. All flips are counted for few cases; otherwise the drawn ones and the observed one, so p is never 0.
    """
    if not differences:
        return Permutation(None, 1.0, 0, exact=True)
    mean = sum(differences, Fraction(0)) / len(differences)
    moved = [abs(one) for one in differences if one]
    seen = abs(sum(differences, Fraction(0)))
    if len(moved) <= ALL_FLIPS:
        flips = product((1, -1), repeat=len(moved))
        far = sum(abs(sum((s * d for s, d in zip(signs, moved, strict=True)), Fraction(0))) >= seen for signs in flips)
        return Permutation(mean, far / 2 ** len(moved), len(differences), exact=True)
    # Whole numbers over one denominator: exact, and quick enough for tens of thousands of draws.
    scale = 1
    for one in moved:
        scale = lcm(scale, one.denominator)
    whole = [int(one * scale) for one in moved]
    bound = int(seen * scale)
    far = 1 + sum(abs(one) >= bound for one in sign_sums(whole, seed=seed, draws=draws))
    return Permutation(mean, far / (draws + 1), len(differences), exact=False)


def relabelled(counts: Sequence[Counts], *, seed: int, draws: int = 10_000) -> Permutation:
    """Test whether in each case both sides have one chance: how often labels drawn anew give means as far apart.

    Each of `counts` is k1 of n1 on the first side and k2 of n2 on the second. Within a case the trials keep what they
    came to, and are dealt anew to sides of n1 and n2: for differences of means of unequal numbers a random sign is no
    test, since they are skewed (one trial against fifty, both of a chance of .1: simulated to reject in 39 %). Twice
    the smaller tail, with the observed deal among the drawn ones, so p is never 0.
    Raises: ValueError where these are no counts, or a side has no trial.
    """
    import numpy as np

    for k1, n1, k2, n2 in counts:
        if not (0 <= k1 <= n1 and 0 <= k2 <= n2 and n1 and n2):
            raise ValueError(f"not counts of two sides: {k1} of {n1} and {k2} of {n2}")
    if not counts:
        return Permutation(None, 1.0, 0, exact=True)
    apart = [Fraction(k2, n2) - Fraction(k1, n1) for k1, n1, k2, n2 in counts]
    found = np.zeros(draws)
    # Which side is named first must not choose the deals: both ways round draw the same ones.
    turned = [(k2, n2, k1, n1) for k1, n1, k2, n2 in counts] < list(counts)
    for (k1, n1, k2, n2), column in zip(counts, shares(len(counts), seed=seed, draws=draws), strict=True):
        total = k1 + k2
        least, most = max(0, total - n1), min(n2, total)
        ways = [comb(n2, k) * comb(n1, total - k) for k in range(least, most + 1)]
        every = sum(ways)
        ends = np.array([float(Fraction(sum(ways[: place + 1]), every)) for place in range(len(ways) - 1)])
        dealt = least + np.searchsorted(ends, 1 - column if turned else column, side="right")
        found += dealt / n2 - (total - dealt) / n1
    seen = float(sum(apart, Fraction(0)))
    # What differs by rounding alone is as far out: p is never too small for it.
    above, below = int((found >= seen - _ROUNDING).sum()), int((found <= seen + _ROUNDING).sum())
    p = min(1.0, 2 * (1 + min(above, below)) / (draws + 1))
    return Permutation(sum(apart, Fraction(0)) / len(apart), p, len(counts), exact=False)


def cluster_bootstrap(
    differences: Sequence[float], *, seed: int, draws: int = 10_000, confidence: float = CONFIDENCE
) -> Interval | None:
    """Return limits of the mean over cases like these, each case drawn with all that belongs to it.

    None below `MANY_CASES`: with fewer it covers less often than it says. Percentiles are expanded for the number of
    cases, and widened to the limits of any mean of values between -1 and 1: what no case showed no resample shows.
    `draws` and `seed` belong into the plan. Raises: ValueError for a value outside -1 and 1.
    """
    count = len(differences)
    if count < MANY_CASES:
        return None
    means = mean_resamples(differences, seed=seed, draws=draws)
    drawn = expanded_percentiles(means, count, confidence)
    whatever = bounded_mean(differences, -1, 1, confidence)
    return Interval(min(drawn.low, whatever.low), max(drawn.high, whatever.high))


def expanded_percentiles(sorted_draws: Sequence[float], count: int, confidence: float = CONFIDENCE) -> Interval:
    """Return the percentiles of bootstrap draws, moved outwards as Student's t is wider than the normal."""
    from scipy.special import ndtr, stdtrit

    quantile = float(stdtrit(count - 1, (1 + confidence) / 2)) * sqrt(count / (count - 1))
    tail = float(ndtr(-quantile))
    last = len(sorted_draws) - 1
    low = sorted_draws[max(0, int(tail * len(sorted_draws)) - 1)]
    high = sorted_draws[min(last, last - int(tail * len(sorted_draws)) + 1)]
    return Interval(low, high)


def holm(p_values: Mapping[str, float]) -> dict[str, float]:
    """Return p-values adjusted for a declared family, step down; each is at least what it was, and at most 1."""
    ordered = sorted(p_values, key=lambda name: p_values[name])
    adjusted: dict[str, float] = {}
    floor = 0.0
    for rank, name in enumerate(ordered):
        floor = max(floor, min(1.0, (len(ordered) - rank) * p_values[name]))
        adjusted[name] = floor
    return {name: adjusted[name] for name in p_values}


def holm_by_e(log_e_values: Mapping[str, float], alpha: float) -> dict[str, bool]:
    """Say which of a family of sequential tests reject: E is at least m / alpha, for a family of m."""
    bar = log(len(log_e_values) / alpha) if log_e_values else 0.0
    return {name: value >= bar for name, value in log_e_values.items()}
