"""What answers of a model cost by the pinned prices, exactly. What is not known is None, and None is never 0.

Owns the rule: the name that an answer reports decides its price, the name that was asked for where it reports none. An
answer that no endpoint gave (a script, a recording, a declared fault) costs nothing. Where an API reports a total, what
of it is not input costs as output (thinking that is reported apart). Must never round before a sum is whole.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import Final

__all__ = ["Prices", "cost_of", "cost_unknown", "in_micros"]

Prices = Mapping[str, Mapping[str, str]]
"""By the name of a model what a million tokens cost in dollars: `input`, `output`, `cache_read`, `cache_write`."""

_CACHES: Final = ("cache_read", "cache_write")


def cost_of(
    prices: Prices, *, requested: str | None, reported: str | None, usage: Mapping[str, int] | None, source: str | None
) -> Fraction | None:
    """Return the cost of one answer in millionths of a dollar; None where it is not known."""
    if source is not None:
        return Fraction(0)
    price = prices.get(reported or requested or "")
    if price is None or usage is None or "input" not in usage:
        return None
    total, told = usage.get("total"), usage["input"]
    output = usage.get("output") if total is None else total - told
    if output is None or output < 0 or any(usage.get(name) and name not in price for name in _CACHES):
        return None
    counts = {"input": told, "output": output, **{name: usage.get(name, 0) for name in _CACHES}}
    # Dollars for a million tokens are millionths of a dollar for one.
    return sum((count * Fraction(price[name]) for name, count in counts.items() if count), Fraction(0))


def cost_unknown(prices: Prices, *, requested: str | None, reported: str | None, usage: object) -> str:
    """Say why the cost of an answer is not known."""
    name = reported or requested
    if name not in prices:
        return f"no price is pinned for {name or 'an unnamed model'}"
    return (
        f"the usage that is reported for {name} does not say what its price needs" if usage else "no usage is reported"
    )


def in_micros(costs: Iterable[Fraction | None]) -> int | None:
    """Return a sum of costs in whole millionths of a dollar, rounded up; None where one of them is not known."""
    found = list(costs)
    known = [cost for cost in found if cost is not None]
    if not found or len(known) < len(found):
        return None
    whole = sum(known, Fraction(0))
    return -(-whole.numerator // whole.denominator)
