"""How long something holds under pressure, round by round: discrete hazards with what is open as bounds.

A trial may break in round 0 (before any pressure), in a round 1 to `last`, or in none of them. What is known of it is
an interval of these: one round where that is certain, several where a round could not be told, up to `last + 1` where
it may not have broken at all. Nothing is censored but at the declared last round: a trial that ended in a crash, a
filter or a budget may have been about to break, so it stays in the count as what may have been either.

    hazard      h(k) = broke(k) / at risk(k), k = 1, 2, ...; at risk: not broken before round k, of a trap with k rounds
    bounds      the least and the greatest h(k) over every way in which the open trials may have gone; where nobody may
                be left at risk they are 0 and 1
    limits      Clopper-Pearson, the lower at the least h(k) and the upper at the greatest; where cases repeat, a
                bootstrap over cases, each drawn with all its trials, and widened to Gaffke's limits
                (`oyer.stats.bounded`)

Estimand: the chance that the next trial of this case (one case) or of a case like these (several) breaks in round k,
having held until then.

Sources: J. D. Singer, J. B. Willett, "It's about time: using discrete-time survival analysis", Journal of Educational
Statistics 18 (1993) 155-195; C. F. Manski, "Partial Identification of Probability Distributions" (Springer,
2003), section 1.2; C. J. Clopper, E. S. Pearson, Biometrika 26 (1934) 404-413; A. C. Davison, D. V. Hinkley, "Bootstrap
Methods and their Application" (Cambridge, 1997), section 3.8, for whole clusters. Greenwood's variance is not used: it
is 0 where nobody breaks.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from typing import NamedTuple

from oyer.stats.bounded import bounded_ratio
from oyer.stats.draws import resamples
from oyer.stats.exact import clopper_pearson
from oyer.stats.paired import MANY_CASES, expanded_percentiles
from oyer.stats.proportions import CONFIDENCE, Interval

__all__ = ["LOOKED", "RESAMPLES", "Hazard", "Life", "Survival", "survival"]

RESAMPLES = 2_000
"""How often cases are drawn for the limits of hazards."""
ONE_CASE = "Clopper-Pearson on trials: this case only"
EACH_ONCE = "Clopper-Pearson on cases, each tried once: cases like these"
BY_CASE = (
    f"percentiles of {RESAMPLES} resamples of cases, expanded for their number, and Gaffke's limits: cases like these"
)
LOOKED = "the number of trials depends on what was seen, and these limits hold for a fixed one"
TOO_FEW = f"fewer than {MANY_CASES} cases, which repeat: how cases differ cannot be told from so few"


class Life(NamedTuple):
    """One trial of a case with `last` rounds: it broke in round `earliest` to `latest`; `last + 1` is in none."""

    case: str
    earliest: int
    latest: int
    last: int


class Hazard(NamedTuple):
    """One round: how many are known to have broken in it, of how many known to have come into it and how they left it.

    `undecided` may have broken in it, or not. `bounds` and `limits` hold whichever they did.
    """

    round: int
    broke: int
    at_risk: int
    undecided: int
    bounds: tuple[Fraction, Fraction]
    limits: Interval | None
    formula: str | None
    why_not: str | None

    @property
    def value(self) -> Fraction | None:
        """The hazard among those of whom it is known; None where there are none."""
        return Fraction(self.broke, self.at_risk) if self.at_risk else None


class Survival(NamedTuple):
    """All rounds of some trials. What broke in round 0 broke before any pressure, and stands in no hazard.

    `through` are the bounds of the share of all trials that held in every one of their rounds.
    """

    trials: int
    cases: int
    in_round_0: int
    undecided_in_round_0: int
    hazards: tuple[Hazard, ...]
    held_throughout: int
    through: tuple[Fraction, Fraction] | None


class _Counts(NamedTuple):
    """What one set of trials may add to a hazard: certain breaks, those known to hold, and what is open.

    `open_after` may have held; `open_before` had broken by the end of the round, in it or before.
    """

    broke: int = 0
    held: int = 0
    open_after: int = 0
    open_before: int = 0

    @property
    def low(self) -> tuple[int, int]:
        """Breaks and trials at risk where the hazard is least: what is open held, or had broken before."""
        return self.broke, self.broke + self.held + self.open_after

    @property
    def high(self) -> tuple[int, int]:
        """Breaks and trials at risk where the hazard is greatest: what is open broke in this round."""
        broke = self.broke + self.open_after + self.open_before
        return broke, broke + self.held

    @property
    def known(self) -> bool:
        """Whether somebody is at risk however the open trials went."""
        return self.broke + self.held > 0


def _counts(lives: Sequence[Life], k: int) -> _Counts:
    own = [life for life in lives if life.last >= k and life.latest >= k]
    return _Counts(
        broke=sum(life.earliest == life.latest == k for life in own),
        held=sum(life.earliest > k for life in own),
        open_after=sum(life.earliest <= k < life.latest for life in own),
        open_before=sum(life.earliest < k == life.latest for life in own),
    )


def _bounds(counts: _Counts) -> tuple[Fraction, Fraction]:
    if not counts.known:
        return Fraction(0), Fraction(1)
    return Fraction(*counts.low), Fraction(*counts.high)


def survival(lives: Sequence[Life], *, seed: int, looked: bool = False, confidence: float = CONFIDENCE) -> Survival:
    """Return hazards by round with their bounds and limits; `seed` draws cases where those repeat.

    `looked`: a rule may have ended the series by what it had seen. Then there are counts and bounds, and no limits.
    Raises: ValueError for a trial whose interval does not lie between 0 and one past its last round.
    """
    for life in lives:
        if not 0 <= life.earliest <= life.latest <= life.last + 1:
            raise ValueError(f"no interval of rounds 0 to {life.last} and none: {life}")
    total = len(lives)
    held = sum(life.earliest > life.last for life in lives)
    may_hold = sum(life.latest > life.last for life in lives)
    return Survival(
        trials=total,
        cases=len({life.case for life in lives}),
        in_round_0=sum(life.latest == 0 for life in lives),
        undecided_in_round_0=sum(life.earliest == 0 < life.latest for life in lives),
        hazards=tuple(
            _hazard(lives, k, seed, looked, confidence)
            for k in range(1, max((life.last for life in lives), default=0) + 1)
        ),
        held_throughout=held,
        through=(Fraction(held, total), Fraction(may_hold, total)) if total else None,
    )


def _hazard(lives: Sequence[Life], k: int, seed: int, looked: bool, confidence: float) -> Hazard:
    counts = _counts(lives, k)
    limits, formula, why_not = (None, None, LOOKED) if looked else _limits(lives, k, counts, seed, confidence)
    return Hazard(
        round=k,
        broke=counts.broke,
        at_risk=counts.broke + counts.held,
        undecided=counts.open_after + counts.open_before,
        bounds=_bounds(counts),
        limits=limits,
        formula=formula,
        why_not=why_not,
    )


def _limits(
    lives: Sequence[Life], k: int, counts: _Counts, seed: int, confidence: float
) -> tuple[Interval | None, str | None, str | None]:
    by_case: dict[str, list[Life]] = {}
    for life in lives:
        if life.last >= k and life.latest >= k:
            by_case.setdefault(life.case, []).append(life)
    if counts.broke + counts.held < 2:
        return None, None, "fewer than two trials are known to be at risk"
    if len(by_case) == 1 or all(len(own) == 1 for own in by_case.values()):
        low, high = clopper_pearson(*counts.low, confidence).low, clopper_pearson(*counts.high, confidence).high
        return Interval(low, high), ONE_CASE if len(by_case) == 1 else EACH_ONCE, None
    if len(by_case) < MANY_CASES:
        return None, None, TOO_FEW
    tries = max(Counter(life.case for life in lives if life.last >= k).values())
    return _by_case([_counts(own, k) for own in by_case.values()], tries, seed, confidence), BY_CASE, None


def _by_case(cases: Sequence[_Counts], tries: int, seed: int, confidence: float) -> Interval:
    """Draw cases with all their trials; each draw gives the least and the greatest hazard of what was drawn.

    No resample shows a case of a kind that was not seen; the limits of a ratio of bounded counts reckon with one.
    """
    lows: list[float] = []
    highs: list[float] = []
    for drawn in resamples(len(cases), seed=seed, draws=RESAMPLES):
        picked = [cases[place] for place in drawn]
        least, most = _bounds(_Counts(*(sum(column) for column in zip(*picked, strict=True))))
        lows.append(float(least))
        highs.append(float(most))
    count = len(cases)
    low = expanded_percentiles(sorted(lows), count, confidence).low
    high = expanded_percentiles(sorted(highs), count, confidence).high
    below, above = (
        bounded_ratio([broke for broke, _ in ends], [risk for _, risk in ends], tries, confidence)
        for ends in ([one.low for one in cases], [one.high for one in cases])
    )
    return Interval(min(low, below.low), max(high, above.high))
