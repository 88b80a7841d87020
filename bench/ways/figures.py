"""Interleaved rounds over several ways to one place, and what they come to: ratios within this run, never times alone.

In every round each way has its turn, so that whatever else the machine does falls on all alike. What a way adds is its
median of a round less that of the direct way in the same round; over the rounds the median of that counts. On a machine
that others use too, the quietest quarter of the rounds says more about the ways and less about the others.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

__all__ = ["Way", "interleave", "table"]


@dataclass
class Way:
    """One way and its measurements: `batches` of single costs per round (ns), `rates` of calls per second."""

    name: str
    batches: list[list[int]] = field(default_factory=list)
    rates: list[float] = field(default_factory=list)

    def median(self) -> float:
        """The median over all rounds' medians, ns."""
        return statistics.median(map(statistics.median, self.batches))

    def tail(self) -> float:
        """The 99th percentile of all, ns."""
        return statistics.quantiles([one for batch in self.batches for one in batch], n=100)[98]

    def added(self, direct: Way) -> float:
        """What it adds to the direct way, ns."""
        pairs = zip(self.batches, direct.batches, strict=True)
        return statistics.median(statistics.median(own) - statistics.median(bare) for own, bare in pairs)

    def quiet(self) -> float:
        """The lower quartile over all rounds of a round's median, ns: what it costs while others are quiet."""
        return statistics.quantiles(map(statistics.median, self.batches), n=4)[0]

    def rate(self) -> float:
        """The median of its rates."""
        return statistics.median(self.rates) if self.rates else 0.0


def interleave(ways: list[Way], rounds: int, batch: Callable[[Way], list[int]], rate: Callable[[Way], float]) -> None:
    """Give each way its turn in each round, each time another one first; the first round only warms up."""
    for number in range(rounds + 1):
        first = number % len(ways)
        for way in ways[first:] + ways[:first]:
            batched, rated = batch(way), rate(way)
            if number:
                way.batches.append(batched)
                way.rates.append(rated)


def table(title: str, ways: list[Way], *, direct: str, bare: str, notes: Mapping[str, str]) -> str:
    """Write what each way adds, as a multiple of what the bare forwarder adds (`quiet`: in the quietest quarter of the
    rounds); `notes` of rows that are not there.
    """
    named = {way.name: way for way in ways}
    floor, quiet = named[bare].added(named[direct]), named[bare].quiet() - named[direct].quiet()
    rows = [
        f"{title}\n",
        f"{'way':<34}{'median us':>11}{'p99 us':>9}{'added us':>9}{'x bare':>8}{'quiet':>8}{'calls/s':>9}{'direct':>8}",
    ]
    for way in ways:
        added = way.added(named[direct])
        calm = (way.quiet() - named[direct].quiet()) / quiet
        times = f"{'':16}" if way.name == direct else f"{added / floor:>8.2f}{calm:>8.2f}"
        rows.append(
            f"{way.name:<34}{way.median() / 1e3:>11.0f}{way.tail() / 1e3:>9.0f}"
            f"{'' if way.name == direct else f'{added / 1e3:.0f}':>9}{times}"
            f"{way.rate():>9.0f}{way.rate() / named[direct].rate():>8.0%}"
        )
    return "\n".join([*rows, *(f"{name:<34}{why}" for name, why in notes.items())]) + "\n"
