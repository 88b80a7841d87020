"""Distributions of cost, latency and tokens: never only a mean.

Owns the least, the quartiles, the 95th percentile from 20 values on, the most, and how many values are missing.
Quantiles by linear interpolation between order statistics (definition 7 of R. J. Hyndman, Y. Fan, The American
Statistician 50 (1996) 361-365).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

__all__ = ["Summary", "summarise"]

ENOUGH = 20
"""From so many values on a 95th percentile is given: below, it would be little more than the greatest value."""


class Summary(NamedTuple):
    """Of `n` values; `missing` were not measured. Everything is None where there is no value to say it of."""

    n: int
    missing: int
    least: float | None
    lower_quartile: float | None
    median: float | None
    upper_quartile: float | None
    p95: float | None
    most: float | None


def summarise(values: Iterable[float | None]) -> Summary:
    """Return the distribution of values; None among them is a value that was not measured."""
    told = list(values)
    known = sorted(value for value in told if value is not None)
    missing = len(told) - len(known)
    if not known:
        return Summary(0, missing, None, None, None, None, None, None)

    def quantile(q: float) -> float:
        place = q * (len(known) - 1)
        below = int(place)
        above = min(below + 1, len(known) - 1)
        return known[below] + (place - below) * (known[above] - known[below])

    return Summary(
        n=len(known),
        missing=missing,
        least=known[0],
        lower_quartile=quantile(0.25),
        median=quantile(0.5),
        upper_quartile=quantile(0.75),
        p95=quantile(0.95) if len(known) >= ENOUGH else None,
        most=known[-1],
    )
