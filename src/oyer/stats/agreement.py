"""How far raters agree: raw, Cohen's and Fleiss's kappa, Krippendorff's alpha, always together with the table.

Never one number alone: raw agreement is high where one answer is common, and kappa is low there. Where only one
category is in use nothing can be told apart, and every coefficient is unknown (None), never 1.

Sources: J. Cohen, Educ. Psychol. Meas. 20 (1960) 37-46; J. L. Fleiss, Psychol. Bull. 76 (1971) 378-382; K.
Krippendorff, "Content Analysis", 4th ed. (2018), chapter 12, by the library `krippendorff`.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Literal, NamedTuple

from oyer.stats.draws import resamples
from oyer.stats.paired import MANY_CASES, expanded_percentiles
from oyer.stats.proportions import CONFIDENCE, Interval

__all__ = ["Agreement", "Coefficient", "agreement"]

Level = Literal["nominal", "ordinal"]
Units = Sequence[Sequence[Hashable | None]]
"""One row a unit, one column a rater; None where a rater said nothing of it."""


class Coefficient(NamedTuple):
    """A coefficient with its bootstrap limits over units; None with the reason where it cannot be told."""

    value: float | None
    interval: Interval | None
    why_not: str | None = None


class Agreement(NamedTuple):
    """Everything about one set of ratings. `confusion` counts pairs of the first two raters; it is empty for more."""

    units: int
    raters: int
    missing: int
    raw: float | None
    confusion: Mapping[tuple[Hashable, Hashable], int]
    cohen: Coefficient | None
    fleiss: Coefficient | None
    alpha: Coefficient


def agreement(
    units: Units,
    *,
    order: Sequence[Hashable],
    level: Level = "nominal",
    seed: int = 0,
    draws: int = 2_000,
    confidence: float = CONFIDENCE,
) -> Agreement:
    """Return how far raters agree. `order` lists the categories, from low to high where they are ordinal.

    Raises: ValueError for a rating that is no category, or rows of different lengths.
    """
    raters = len(units[0]) if units else 0
    known = set(order)
    for row in units:
        if len(row) != raters or any(one is not None and one not in known for one in row):
            raise ValueError(f"not one rating a rater, each a category or none: {list(row)!r}")
    whole = [row for row in units if all(one is not None for one in row)]
    pairs = [(row[i], row[j]) for row in units for i in range(raters) for j in range(i) if None not in (row[i], row[j])]
    used = {one for row in units for one in row if one is not None}
    why = "only one category is in use" if len(used) < 2 else "no unit has two ratings" if not pairs else None

    def coefficient(of: Callable[[Units], float | None], rows: Units) -> Coefficient:
        if why is not None:
            return Coefficient(None, None, why)
        value = of(rows)
        if value is None:
            return Coefficient(None, None, "not estimable from these units")
        if len(rows) < MANY_CASES:
            return Coefficient(value, None, f"fewer than {MANY_CASES} units: no interval is offered")
        picks = resamples(len(rows), seed=seed, draws=draws)
        found = sorted(one for picked in picks if (one := of([rows[i] for i in picked])) is not None)
        if len(found) < 0.9 * draws:
            return Coefficient(value, None, "most resamples use only one category: no interval is offered")
        if found[0] == found[-1]:
            return Coefficient(value, None, "every resample gives the same: how units differ was not seen")
        return Coefficient(value, expanded_percentiles(found, len(rows), confidence))

    return Agreement(
        units=len(units),
        raters=raters,
        missing=sum(one is None for row in units for one in row),
        raw=sum(a == b for a, b in pairs) / len(pairs) if pairs else None,
        confusion=Counter((row[0], row[1]) for row in whole) if raters == 2 else {},
        cohen=coefficient(_cohen, whole) if raters == 2 else None,
        fleiss=coefficient(_fleiss, whole) if raters > 2 else None,
        alpha=coefficient(lambda rows: _alpha(rows, order, level), units),
    )


def _cohen(rows: Units) -> float | None:
    n = len(rows)
    if n == 0:
        return None
    seen = sum(row[0] == row[1] for row in rows) / n
    first, second = Counter(row[0] for row in rows), Counter(row[1] for row in rows)
    chance = sum(first[one] * second[one] for one in first) / n**2
    return None if chance == 1 else (seen - chance) / (1 - chance)


def _fleiss(rows: Units) -> float | None:
    n = len(rows)
    if n == 0:
        return None
    m = len(rows[0])
    counts = [Counter(row) for row in rows]
    seen = sum((sum(c * c for c in count.values()) - m) / (m * (m - 1)) for count in counts) / n
    total: Counter[Hashable] = Counter(one for row in rows for one in row if one is not None)
    chance = sum((one / (n * m)) ** 2 for one in total.values())
    return None if chance == 1 else (seen - chance) / (1 - chance)


def _alpha(rows: Units, order: Sequence[Hashable], level: Level) -> float | None:
    import krippendorff

    place = {one: index for index, one in enumerate(order)}
    if len({one for row in rows for one in row if one is not None}) < 2:
        return None
    raters = len(rows[0])
    table = [[math.nan if row[r] is None else float(place[row[r]]) for row in rows] for r in range(raters)]
    try:
        value = float(
            krippendorff.alpha(
                reliability_data=table, level_of_measurement=level, value_domain=[float(i) for i in range(len(order))]
            )
        )
    except ValueError:
        return None
    return value if math.isfinite(value) else None
