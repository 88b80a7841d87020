"""Exact limits of a proportion, and the rate that no event at all excludes.

Estimand: the chance of success of one more trial under these pins, if trials are independent and their number was fixed
before the first. After a sequential rule use `oyer.stats.sequential`; for repeats of several cases
`oyer.stats.repeats`.

Sources: C. J. Clopper, E. S. Pearson, "The use of confidence or fiducial limits illustrated in the case of the
binomial", Biometrika 26 (1934) 404-413, by the quantiles of the beta distribution; J. A. Hanley, A. Lippman-Hand, "If
nothing goes wrong, is everything all right?", JAMA 249 (1983) 1743-1745, in its exact form.
"""

from __future__ import annotations

from oyer.stats.proportions import CONFIDENCE, Interval

__all__ = ["clopper_pearson", "excluded_at_worst", "excluded_by_none", "trials_to_exclude"]


def clopper_pearson(k: int, n: int, confidence: float = CONFIDENCE) -> Interval:
    """Return the exact limits of a proportion: they cover at least as often as they say. All of 0 to 1 where n is 0.

    Raises: ValueError where the counts are none, or the confidence is not between 0 and 1.
    """
    if not 0 <= k <= n:
        raise ValueError(f"not counts of trials: {k} of {n}")
    if not 0 < confidence < 1:
        raise ValueError(f"a confidence lies between 0 and 1, not at {confidence!r}")
    from scipy.special import betaincinv

    tail = (1 - confidence) / 2
    low = 0.0 if k == 0 else float(betaincinv(k, n - k + 1, tail))
    high = 1.0 if k == n else float(betaincinv(k + 1, n - k, 1 - tail))
    return Interval(low, high)


def excluded_by_none(n: int, confidence: float = CONFIDENCE) -> float | None:
    """Return the rate above which n clean trials would be unlikely (one-sided); None without a trial.

    n = 59 excludes a rate of .05, n = 299 one of .01: for trials whose number was fixed, independent, none undecided.
    """
    return None if n < 1 else 1 - (1 - confidence) ** (1 / n)


def excluded_at_worst(decided: int, undecided: int, confidence: float = CONFIDENCE) -> float | None:
    """Return the rate above which no event in `decided` trials would be unlikely, were every undecided trial one.

    Without undecided trials it is `excluded_by_none`. None where no trial is decided: nothing is excluded then.
    """
    if undecided < 0:
        raise ValueError(f"not a count of trials: {undecided}")
    if decided < 1:
        return None
    if undecided == 0:
        return excluded_by_none(decided, confidence)
    return clopper_pearson(undecided, decided + undecided, 2 * confidence - 1).high


def trials_to_exclude(rate: float, confidence: float = CONFIDENCE) -> int:
    """Return how many clean trials exclude a rate. Raises: ValueError for a rate that is not between 0 and 1."""
    if not 0 < rate < 1:
        raise ValueError(f"a rate lies between 0 and 1, not at {rate!r}")
    n = 1
    while (excluded_by_none(n, confidence) or 1.0) >= rate:
        n = max(n + 1, int(n * 1.001))
    # The steps grow with n, so the last one may have passed the first n that does.
    while n > 1 and (excluded_by_none(n - 1, confidence) or 1.0) < rate:
        n -= 1
    return n
