"""Repeats of several cases: what their mean is known to, how cases differ, and how often k tries would do.

Repeats of one case are alike, so trials are not independent across a suite: what counts is the number of cases. Each
result says its estimand: *this case only* where there is one case, *cases like these* where there are several.

Sources: N. Gaffke (2005), as in `oyer.stats.bounded`, for limits of a mean of shares whatever their distribution; C. J.
Clopper, E. S. Pearson, Biometrika 26 (1934) 404-413, for exact limits of one case; K.-Y. Liang, S. L. Zeger,
Biometrika 73 (1986) 13-22, for the clustered standard error, with the factor G / (G - 1); M. Chen et al., "Evaluating
large language models trained on code", arXiv 2107.03374, for pass@k without bias; S. Yao et al., "tau-bench", arXiv
2406.12045, for pass^k.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from math import comb, sqrt
from typing import Literal, NamedTuple

from oyer.stats.bounded import bounded_mean
from oyer.stats.exact import clopper_pearson
from oyer.stats.proportions import CONFIDENCE, Interval

__all__ = [
    "CaseCounts",
    "CasesRate",
    "Chance",
    "Spread",
    "cases_rate",
    "clustered_error",
    "pass_at_k",
    "pass_hat_k",
    "spread",
]

Estimand = Literal["this case only", "cases like these"]
FEW_CASES = 5
"""Below so many cases no interval is offered: how cases differ cannot be told from so few."""


class CaseCounts(NamedTuple):
    """The repeats of one case: k successes of `decided`, and `undecided` beside them."""

    k: int
    decided: int
    undecided: int = 0


class CasesRate(NamedTuple):
    """The mean of case means over the decided trials, with what is known of it.

    `bounds` count every undecided trial first as a failure, then as a success; `limits` hold for both readings. None
    where nothing can be said, with the reason in `why_not`.
    """

    estimand: Estimand
    cases: int
    decided: int
    undecided: int
    mean: Fraction | None
    bounds: tuple[Fraction, Fraction] | None
    interval: Interval | None
    limits: Interval | None
    formula: str
    why_not: str | None = None


class Spread(NamedTuple):
    """How cases differ, and how repeats of one case do: standard deviations; None where one number says nothing."""

    between: float | None
    within: float | None


class Chance(NamedTuple):
    """An estimate, or its bounds where too few trials are decided for one."""

    value: Fraction | None
    bounds: tuple[Fraction, Fraction] | None


def cases_rate(cases: Sequence[CaseCounts], confidence: float = CONFIDENCE) -> CasesRate:
    """Return what is known of the mean over cases. A case without any trial is refused.

    Raises: ValueError where the counts are none, or a case has no trial.
    """
    _require(cases)
    decided, undecided = sum(case.decided for case in cases), sum(case.undecided for case in cases)
    estimand: Estimand = "this case only" if len(cases) == 1 else "cases like these"
    low = [Fraction(case.k, case.decided + case.undecided) for case in cases]
    high = [Fraction(case.k + case.undecided, case.decided + case.undecided) for case in cases]
    bounds = (_mean(low), _mean(high)) if cases else None
    told = [Fraction(case.k, case.decided) for case in cases if case.decided]
    mean = _mean(told) if told else None

    def result(interval: Interval | None, limits: Interval | None, formula: str, why: str | None = None) -> CasesRate:
        return CasesRate(
            estimand, len(cases), decided, undecided, mean, bounds, interval, limits, formula, why
        )  # fmt: skip

    if decided < 2:
        return result(None, None, "none", "fewer than two trials are decided")
    if len(cases) == 1:
        one = cases[0]
        n = one.decided + one.undecided
        limits = Interval(clopper_pearson(one.k, n, confidence).low,
                          clopper_pearson(one.k + one.undecided, n, confidence).high)  # fmt: skip
        return result(clopper_pearson(one.k, one.decided, confidence), limits, "Clopper-Pearson on trials")
    if len(cases) < FEW_CASES:
        return result(None, None, "none", f"fewer than {FEW_CASES} cases: how cases differ cannot be told from so few")
    limits = Interval(
        _limits([(case.k, case.decided + case.undecided) for case in cases], confidence).low,
        _limits([(case.k + case.undecided, case.decided + case.undecided) for case in cases], confidence).high,
    )
    some = [(case.k, case.decided) for case in cases if case.decided]
    if len(some) < FEW_CASES:
        return result(None, limits, "none", f"fewer than {FEW_CASES} cases have a decided trial")
    return result(
        limits if not undecided else _limits(some, confidence),
        limits,
        "Gaffke's limits of the mean of case means",
    )


def _limits(cases: Sequence[tuple[int, int]], confidence: float) -> Interval:
    return bounded_mean([k / n for k, n in cases], confidence=confidence)


def clustered_error(cases: Sequence[CaseCounts]) -> float | None:
    """Return the standard error of the mean over decided trials, clustered by case; None for fewer than two cases."""
    _require(cases)
    some = [case for case in cases if case.decided]
    if len(some) < 2:
        return None
    trials = sum(case.decided for case in some)
    mean = sum(case.k for case in some) / trials
    squares = sum((case.k - case.decided * mean) ** 2 for case in some)
    return sqrt(squares * len(some) / (len(some) - 1)) / trials


def spread(cases: Sequence[CaseCounts]) -> Spread:
    """Return the standard deviation of case means, and the pooled one of repeats within a case."""
    _require(cases)
    some = [case for case in cases if case.decided]
    means = [case.k / case.decided for case in some]
    centre = sum(means) / len(means) if means else 0.0
    between = sqrt(sum((each - centre) ** 2 for each in means) / (len(means) - 1)) if len(means) > 1 else None
    free = sum(case.decided - 1 for case in some)
    squares = sum(case.k * (case.decided - case.k) / case.decided for case in some)
    return Spread(between, sqrt(squares / free) if free > 0 else None)


def pass_at_k(case: CaseCounts, k: int) -> Chance:
    """Return the chance that at least one of k tries does it: 1 - C(n - c, k) / C(n, k)."""
    return _chance(case, k, lambda n, c: 1 - Fraction(comb(n - c, k), comb(n, k)))


def pass_hat_k(case: CaseCounts, k: int) -> Chance:
    """Return the chance that all of k tries do it: C(c, k) / C(n, k)."""
    return _chance(case, k, lambda n, c: Fraction(comb(c, k), comb(n, k)))


def _chance(case: CaseCounts, k: int, of: Callable[[int, int], Fraction]) -> Chance:
    _require([case])
    if k < 1:
        raise ValueError(f"k counts tries, and {k} is none")
    n = case.decided + case.undecided
    bounds = (of(n, case.k), of(n, case.k + case.undecided)) if n >= k else None
    return Chance(of(case.decided, case.k) if case.decided >= k else None, bounds)


def _mean(values: Sequence[Fraction]) -> Fraction:
    return sum(values, Fraction(0)) / len(values)


def _require(cases: Sequence[CaseCounts]) -> None:
    for case in cases:
        if not 0 <= case.k <= case.decided or case.undecided < 0 or case.decided + case.undecided == 0:
            raise ValueError(f"not counts of a case: {case.k} of {case.decided} decided, {case.undecided} undecided")
