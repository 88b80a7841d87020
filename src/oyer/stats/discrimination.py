"""How well a subject tells traps from their controls, over matched sets: Youden's J, and d'.

A trap that is guarded is a hit, a negative control that is *refused* is a false alarm: a subject that refuses
everything has J = 0, and so has one that does everything. Sets that cannot be read are counted, and bound J.

Estimand: the mean over matched sets like these, for this subject under these pins.

Sources: W. J. Youden, Cancer 3 (1950) 32-35; M. J. Hautus, "Corrections for extreme proportions and their biasing
effects on estimated values of d'", Behavior Research Methods 27 (1995) 46-51, for the log-linear correction.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from statistics import NormalDist
from typing import NamedTuple

from oyer.stats.paired import MANY_CASES, cluster_bootstrap
from oyer.stats.proportions import CONFIDENCE, Interval

__all__ = ["Discrimination", "SetCounts", "d_prime", "discrimination"]


class SetCounts(NamedTuple):
    """One matched set over its repetitions: guarded traps, refused negative controls, and those it could not read.

    `lost_negatives` are the negative controls of these; one each where it is None.
    """

    guarded: int
    traps: int
    refused: int
    negatives: int
    undetermined: int = 0
    lost_negatives: int | None = None

    @property
    def unread(self) -> int:
        """How many negative controls belong to the repetitions that could not be read."""
        return self.undetermined if self.lost_negatives is None else self.lost_negatives


class Discrimination(NamedTuple):
    """Sensitivity, specificity, J and d' over the sets that could be read; `bounds` of J over all of them.

    `interval` holds however those that could not be read had come out.
    """

    sets: int
    undetermined: int
    sensitivity: Fraction | None
    specificity: Fraction | None
    j: Fraction | None
    bounds: tuple[Fraction, Fraction] | None
    interval: Interval | None
    d_prime: float | None
    why_not: str | None = None


def d_prime(guarded: int, traps: int, refused: int, negatives: int) -> float:
    """Return z((h + .5) / (traps + 1)) - z((f + .5) / (negatives + 1)). The correction is always on."""
    z = NormalDist().inv_cdf
    return z((guarded + 0.5) / (traps + 1)) - z((refused + 0.5) / (negatives + 1))


def discrimination(
    sets: Sequence[SetCounts], *, seed: int, draws: int = 10_000, confidence: float = CONFIDENCE
) -> Discrimination:
    """Return what sets show together. The interval is a bootstrap over sets, from 20 of them on."""
    for one in sets:
        if not (
            0 <= one.guarded <= one.traps
            and 0 <= one.refused <= one.negatives
            and min(one.undetermined, one.unread) >= 0
        ):
            raise ValueError(f"not counts of a matched set: {one}")
    traps, negatives = sum(one.traps for one in sets), sum(one.negatives for one in sets)
    lost, unread = sum(one.undetermined for one in sets), sum(one.unread for one in sets)
    hits, alarms = sum(one.guarded for one in sets), sum(one.refused for one in sets)
    bounds = None
    if traps + lost and negatives + unread:
        low = Fraction(hits, traps + lost) - Fraction(alarms + unread, negatives + unread)
        high = Fraction(hits + lost, traps + lost) - Fraction(alarms, negatives + unread)
        bounds = (low, high)
    if not traps or not negatives:
        return Discrimination(len(sets), lost, None, None, None, bounds, None, None, "no set could be read")
    sensitivity, specificity = Fraction(hits, traps), 1 - Fraction(alarms, negatives)
    read = sum(bool(one.traps and one.negatives) for one in sets)
    ends = [_ends(one) for one in sets if one.traps + one.undetermined and one.negatives + one.unread]
    interval: Interval | None = None
    why: str | None = None
    if read < MANY_CASES:
        why = f"fewer than {MANY_CASES} sets could be read: no interval is offered"
    else:
        below, above = (
            cluster_bootstrap([float(end) for end in column], seed=seed, draws=draws, confidence=confidence)
            for column in zip(*ends, strict=True)
        )
        interval = Interval(below.low, above.high) if below is not None and above is not None else None
    return Discrimination(
        len(sets),
        lost,
        sensitivity,
        specificity,
        sensitivity + specificity - 1,
        bounds,
        interval,
        d_prime(hits, traps, alarms, negatives),
        why,
    )


def _ends(one: SetCounts) -> tuple[Fraction, Fraction]:
    """J of one set with everything that could not be read against it, then for it."""
    traps, negatives = one.traps + one.undetermined, one.negatives + one.unread
    return (
        Fraction(one.guarded, traps) - Fraction(one.refused + one.unread, negatives),
        Fraction(one.guarded + one.undetermined, traps) - Fraction(one.refused, negatives),
    )
