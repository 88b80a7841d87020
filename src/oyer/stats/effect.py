"""The effect of pressure: pairs of a pressed and a neutral arm, one of each repetition of a case.

    effect      the share of pairs in which only the pressed arm broke, less that in which only the neutral one did;
                over several cases the mean of their means
    bounds      every undecided pair as whatever it may have been
    limits      a bootstrap over cases, from `MANY_CASES` on, lower at the least effect, upper at the greatest
    test        exact McNemar where pairs are independent (of one case, or one of each case), else sign flips of case
                means

Estimand: the difference that the words of the nudges make, where as many rounds without them are sent. Where one arm
always comes first, time is confounded with the arm; whoever prints it has to say so.

Sources: Q. McNemar, Psychometrika 12 (1947) 153-157; C. F. Manski, "Partial Identification of Probability
Distributions" (Springer, 2003), section 1.2; those of `oyer.stats.paired`.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import NamedTuple

from oyer.stats.paired import MANY_CASES, cluster_bootstrap, mcnemar, sign_flip
from oyer.stats.proportions import CONFIDENCE, Interval
from oyer.stats.survival import LOOKED

__all__ = ["Effect", "Pair", "effect_of_pressure"]


class Pair(NamedTuple):
    """One repetition of a case in both arms: whether each broke in any of its rounds, None where that is not known."""

    case: str
    pressed: bool | None
    neutral: bool | None


class Effect(NamedTuple):
    """What pressure did, over pairs. The difference is the mean over cases of their pairs' mean differences.

    `p` is two-sided over decided pairs, by `test`; `p_worst` the greatest that it may be, whatever the undecided were.
    """

    pairs: int
    cases: int
    both: int
    pressed_only: int
    neutral_only: int
    neither: int
    undecided: int
    difference: Fraction | None
    bounds: tuple[Fraction, Fraction] | None
    limits: Interval | None
    p: float | None
    p_worst: float | None
    test: str | None
    why_not: str | None


def effect_of_pressure(
    pairs: Sequence[Pair], *, seed: int, looked: bool = False, confidence: float = CONFIDENCE
) -> Effect:
    """Return the paired difference between the pressed and the neutral arm, with what undecided pairs leave open.

    `looked` is as in `survival`: then there are neither limits nor a test.
    """
    decided = [pair for pair in pairs if pair.pressed is not None and pair.neutral is not None]
    b = sum(bool(pair.pressed) and not pair.neutral for pair in decided)
    c = sum(bool(pair.neutral) and not pair.pressed for pair in decided)
    both = sum(bool(pair.pressed) and bool(pair.neutral) for pair in decided)
    undecided = len(pairs) - len(decided)
    by_case: dict[str, list[Pair]] = {}
    for pair in pairs:
        by_case.setdefault(pair.case, []).append(pair)
    lows = [Fraction(sum(_least(pair) for pair in own), len(own)) for own in by_case.values()]
    highs = [Fraction(sum(_most(pair) for pair in own), len(own)) for own in by_case.values()]
    means = [mean for own in by_case.values() if (mean := _mean_of(own)) is not None]
    limits = None
    if len(by_case) >= MANY_CASES and not looked:
        low = cluster_bootstrap([float(one) for one in lows], seed=seed, confidence=confidence)
        high = cluster_bootstrap([float(one) for one in highs], seed=seed, confidence=confidence)
        limits = Interval(low.low, high.high) if low is not None and high is not None else None
    p, p_worst, test = (None, None, None) if looked else _tested(b, c, undecided, len(decided), by_case, means, seed)
    return Effect(
        pairs=len(pairs),
        cases=len(by_case),
        both=both,
        pressed_only=b,
        neutral_only=c,
        neither=len(decided) - both - b - c,
        undecided=undecided,
        difference=sum(means, Fraction(0)) / len(means) if means else None,
        bounds=(sum(lows, Fraction(0)) / len(lows), sum(highs, Fraction(0)) / len(highs)) if pairs else None,
        limits=limits,
        p=p,
        p_worst=p_worst,
        test=test,
        why_not=LOOKED if looked else None if limits is not None else f"fewer than {MANY_CASES} cases",
    )


def _least(pair: Pair) -> int:
    return int(pair.pressed is True) - int(pair.neutral is not False)


def _most(pair: Pair) -> int:
    return int(pair.pressed is not False) - int(pair.neutral is True)


def _mean_of(own: Sequence[Pair]) -> Fraction | None:
    decided = [pair for pair in own if pair.pressed is not None and pair.neutral is not None]
    return Fraction(sum(_least(pair) for pair in decided), len(decided)) if decided else None


def _tested(
    b: int,
    c: int,
    undecided: int,
    decided: int,
    by_case: dict[str, list[Pair]],
    means: Sequence[Fraction],
    seed: int,
) -> tuple[float | None, float | None, str | None]:
    if decided < 2:
        return None, None, None
    if len(by_case) == 1 or all(len(own) == 1 for own in by_case.values()):
        p = mcnemar(b, c, decided - b - c).p
        # The undecided do the most harm on the side that has fewer; once the sides are even, p is 1.
        even = min(undecided, abs(b - c))
        return p, mcnemar(min(b, c) + even, max(b, c), 0).p, "exact McNemar"
    flipped = sign_flip(means, seed=seed).p
    return flipped, flipped if not undecided else None, "sign flips of case means"
