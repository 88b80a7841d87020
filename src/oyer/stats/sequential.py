"""Tests that may look after every trial: e-values, the confidence sequence they give, and Wald's probability ratio.

An e-value is a number whose mean is at most 1 where the hypothesis is true, at every time at which one may stop. It is
1/alpha or more with a chance of at most alpha, however often one looks. Undecided trials are carried: a rule stops only
where it would stop whatever they come to.

Estimand: the chance of success of one trial of one case under these pins (or, with one repetition per case in seeded
random order, the mean over cases like these). Repeats of several cases are not exchangeable: nothing here is for them.

Sources: J. Ville, "Etude critique de la notion de collectif" (1939), for the bound at all times; H. Robbins,
"Statistical methods related to the law of the iterated logarithm", Ann. Math. Statist. 41 (1970) 1397-1409, for
mixtures; A. Ramdas, P. Gruenwald, V. Vovk, G. Shafer, "Game-theoretic statistics and safe anytime-valid inference",
Statistical Science 38 (2023) 576-601; A. Wald, "Sequential tests of statistical hypotheses", Ann. Math. Statist. 16
(1945) 117-186.
"""

from __future__ import annotations

from collections.abc import Callable
from math import inf, lgamma, log
from typing import Literal, NamedTuple

from oyer.stats.proportions import Interval

__all__ = [
    "Look",
    "Side",
    "bernoulli_log_e",
    "bernoulli_look",
    "confidence_sequence",
    "mcnemar_log_e",
    "mcnemar_look",
    "sprt_log_ratio",
    "sprt_look",
]

Side = Literal["greater", "less", "two"]


class Look(NamedTuple):
    """What a rule says after so many trials.

    `log_e` is the evidence against the hypothesis in the worst case of the undecided trials (a natural logarithm), for
    Wald's test the log ratio that is nearest to going on. `accepted` stands for Wald's other boundary alone.
    """

    word: Literal["go_on", "rejected", "accepted"]
    log_e: float


def bernoulli_log_e(k: int, n: int, p0: float, *, side: Side = "two", a: float = 1.0, b: float = 1.0) -> float:
    """Return log E of k successes in n trials against a chance of p0, by a beta(a, b) mixture of alternatives.

    One-sided: the mixture is cut off at p0, so that only chances on the other side of it count.
    Raises: ValueError where the counts are none, or a parameter is out of its range.
    """
    _require(k, n, p0)
    if a <= 0 or b <= 0:
        raise ValueError("a and b are above 0")
    under = k * log(p0) + (n - k) * log(1 - p0)
    ratio = _log_beta(a + k, b + n - k) - _log_beta(a, b) - under
    if side == "two":
        return ratio
    after, before = _log_mass(a + k, b + n - k, p0, side), _log_mass(a, b, p0, side)
    return ratio + after - before


def bernoulli_look(
    k: int,
    decided: int,
    undecided: int,
    p0: float,
    *,
    alpha: float,
    side: Side = "two",
    a: float = 1.0,
    b: float = 1.0,
) -> Look:
    """Say whether to stop: E is 1/alpha or more for every number of successes that the undecided trials may hold."""
    _require(k, decided, p0)
    n = decided + undecided
    least = min(bernoulli_log_e(j, n, p0, side=side, a=a, b=b) for j in range(k, k + undecided + 1))
    return Look("rejected" if least >= -log(alpha) else "go_on", least)


def confidence_sequence(
    k: int,
    decided: int,
    undecided: int = 0,
    *,
    alpha: float,
    side: Side = "two",
    a: float = 1.0,
    b: float = 1.0,
) -> Interval:
    """Return every chance that is not rejected: these limits hold at whatever time the series stopped.

    With undecided trials it is the union over what they may come to. `greater` gives a lower limit and 1, `less` an
    upper limit and 0.
    """
    n = decided + undecided
    if not 0 <= k <= decided or undecided < 0:
        raise ValueError(f"not counts of trials: {k} of {decided} decided, {undecided} undecided")
    if n == 0:
        return Interval(0.0, 1.0)

    def kept(successes: int) -> Callable[[float], bool]:
        return lambda p: bernoulli_log_e(successes, n, p, side=side, a=a, b=b) < -log(alpha)

    low = 0.0 if side == "less" or k == 0 else _edge(kept(k), 0.0, k / n)
    most = k + undecided
    high = 1.0 if side == "greater" or most == n else _edge(kept(most), 1.0, most / n)
    return Interval(low, high)


def mcnemar_log_e(b: int, c: int) -> float:
    """Return log E of b pairs that went one way and c that went the other, against a fair coin: 2^m b! c! / (m + 1)!"""
    if b < 0 or c < 0:
        raise ValueError(f"not counts of pairs: {b} and {c}")
    m = b + c
    return m * log(2) + lgamma(b + 1) + lgamma(c + 1) - lgamma(m + 2)


def mcnemar_look(b: int, c: int, undecided: int, *, alpha: float) -> Look:
    """Say whether to stop: E is 1/alpha or more however the undecided pairs fall (either way, or alike)."""
    least = min(
        mcnemar_log_e(b + more, c + other) for more in range(undecided + 1) for other in range(undecided + 1 - more)
    )
    return Look("rejected" if least >= -log(alpha) else "go_on", least)


def sprt_log_ratio(k: int, n: int, p0: float, p1: float) -> float:
    """Return the log likelihood ratio of p1 to p0."""
    _require(k, n, p0)
    _require(k, n, p1)
    return k * log(p1 / p0) + (n - k) * log((1 - p1) / (1 - p0))


def sprt_look(k: int, decided: int, undecided: int, p0: float, p1: float, *, alpha: float, beta: float) -> Look:
    """Say whether to stop by Wald's boundaries: p0 is rejected at (1 - beta) / alpha, accepted at beta / (1 - alpha).

    It stops only where both extremes of the undecided trials stop at the same boundary. A true p0 is rejected with a
    chance of at most alpha / (1 - beta), and both errors together are at most alpha + beta: not alpha by itself.
    """
    ratios = [sprt_log_ratio(j, decided + undecided, p0, p1) for j in (k, k + undecided)]
    low, high = log(beta / (1 - alpha)), log((1 - beta) / alpha)
    if min(ratios) >= high:
        return Look("rejected", min(ratios))
    if max(ratios) <= low:
        return Look("accepted", max(ratios))
    return Look("go_on", min(ratios, key=abs))


def _edge(kept: Callable[[float], bool], outer: float, inner: float) -> float:
    """Return the edge between what is rejected (towards `outer`) and what is kept, on the outer side of it.

    Halving finds the edge to the last bit that matters; rounding outwards never makes an interval too narrow.
    """
    if not kept(_inside(inner)):
        return inner
    rejected, held = outer, inner
    for _ in range(80):
        middle = (rejected + held) / 2
        if middle in (rejected, held):
            break
        if kept(_inside(middle)):
            held = middle
        else:
            rejected = middle
    return rejected


def _inside(p: float) -> float:
    return min(max(p, 1e-300), 1 - 2**-53)


def _log_beta(a: float, b: float) -> float:
    return lgamma(a) + lgamma(b) - lgamma(a + b)


def _log_mass(a: float, b: float, p0: float, side: Side) -> float:
    """Return the log of how much of a beta(a, b) lies above (or below) p0; what is too little to say is none."""
    from scipy.special import betainc, betaincc

    mass = float(betaincc(a, b, p0) if side == "greater" else betainc(a, b, p0))
    return log(mass) if mass > 0 else -inf


def _require(k: int, n: int, p: float) -> None:
    if not 0 <= k <= n:
        raise ValueError(f"not counts of trials: {k} of {n}")
    if not 0 < p < 1:
        raise ValueError(f"a chance lies between 0 and 1, not at {p!r}")
