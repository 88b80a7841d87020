"""A rate that a fallible judge gives, corrected for how often that judge is known to be wrong.

The judge's sensitivity and specificity come from a random sample of the judged outcomes, labelled by people and
stratified by case. Clear controls alone would flatter it, and ambiguous items and abstentions never enter. Where the
lower limit of sensitivity + specificity - 1 is not above 0 the judge may know nothing, and the corrected rate is
unknown: never the raw one.

Estimand: the share of judged outcomes that are truly so, under these pins.

Sources: W. J. Rogan, B. Gladen, "Estimating prevalence from the results of a screening test", Am. J. Epidemiol. 107
(1978) 71-76; C. Lee et al., "How to correctly report LLM-as-a-judge evaluations", arXiv 2511.21140, for the adjusted
interval; Z. Lang, J. Reiczigel, Prev. Vet. Med. 113 (2014) 13-22, on which it builds.
"""

from __future__ import annotations

from math import sqrt
from statistics import NormalDist
from typing import NamedTuple

from oyer.stats.proportions import CONFIDENCE, Interval, wilson

__all__ = ["Corrected", "JudgeCounts", "corrected_rate", "judge_power"]


class JudgeCounts(NamedTuple):
    """What people found: of `positives` the judge said so of `hits`, of `negatives` it said not so of `clears`."""

    hits: int
    positives: int
    clears: int
    negatives: int


class Corrected(NamedTuple):
    """The raw share, the corrected one with its limits, and sensitivity + specificity - 1 with its lower limit."""

    raw: float | None
    value: float | None
    interval: Interval | None
    power: float | None
    power_low: float | None
    why_not: str | None = None


def judge_power(judge: JudgeCounts, confidence: float = CONFIDENCE) -> tuple[float | None, float | None]:
    """Return sensitivity + specificity - 1 and its lower limit, by Newcombe's square-and-add of Wilson limits.

    The second is None where either has no labelled item.
    """
    _require(judge)
    if not judge.positives or not judge.negatives:
        return None, None
    sensitivity, specificity = judge.hits / judge.positives, judge.clears / judge.negatives
    lower = (
        wilson(judge.hits, judge.positives, confidence).low,
        wilson(judge.clears, judge.negatives, confidence).low,
    )
    fall = sqrt((sensitivity - lower[0]) ** 2 + (specificity - lower[1]) ** 2)
    power = sensitivity + specificity - 1
    return power, power - fall


def corrected_rate(said: int, judged: int, judge: JudgeCounts, confidence: float = CONFIDENCE) -> Corrected:
    """Return the corrected share of `said` among `judged` outcomes.

    Raises: ValueError where the counts are none.
    """
    if not 0 <= said <= judged:
        raise ValueError(f"not counts of judged outcomes: {said} of {judged}")
    power, low = judge_power(judge, confidence)
    raw = said / judged if judged else None
    if raw is None:
        return Corrected(None, None, None, power, low, "nothing was judged")
    if power is None or low is None:
        return Corrected(raw, None, None, power, low, "nobody labelled outcomes of both kinds")
    if low <= 0:
        return Corrected(raw, None, None, power, low, "the judge may do no better than chance")
    value = min(1.0, max(0.0, (raw + judge.clears / judge.negatives - 1) / power))
    return Corrected(raw, value, _interval(said, judged, judge, confidence), power, low)


def _interval(said: int, judged: int, judge: JudgeCounts, confidence: float) -> Interval:
    z = NormalDist().inv_cdf((1 + confidence) / 2)
    n, m0, m1 = judged + z * z, judge.negatives + 2, judge.positives + 2
    p, q0, q1 = (said + z * z / 2) / n, (judge.clears + 1) / m0, (judge.hits + 1) / m1
    power = q0 + q1 - 1
    centre = (p + q0 - 1) / power
    v0, v1 = q0 * (1 - q0) / m0, q1 * (1 - q1) / m1
    shift = 2 * z * z * (centre * v1 - (1 - centre) * v0)
    spread = sqrt(p * (1 - p) / n + (1 - centre) ** 2 * v0 + centre**2 * v1) / power
    low, high = centre + shift - z * spread, centre + shift + z * spread
    return Interval(min(1.0, max(0.0, low)), max(0.0, min(1.0, high)))


def _require(judge: JudgeCounts) -> None:
    if not (0 <= judge.hits <= judge.positives and 0 <= judge.clears <= judge.negatives):
        raise ValueError(f"not counts of labelled outcomes: {judge}")
