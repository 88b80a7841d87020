"""Seeded draws: resamples of units, and random signs. The same seed gives the same numbers on every machine.

Owns where chance comes from in this room: the raw bits of PCG64 (M. E. O'Neill, 2014), whose stream is fixed, and not
the library's distributions, whose streams may change from one of its versions to the next. Must never draw without a
seed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

__all__ = ["mean_resamples", "resamples", "shares", "sign_sums"]


def resamples(count: int, *, seed: int, draws: int) -> Iterator[list[int]]:
    """Yield for each draw which of `count` units it holds, with replacement."""
    from numpy.random import PCG64

    bits = PCG64(seed)
    for _ in range(draws):
        # 64 bits over so few units: what the modulus adds to some of them is below 1e-15.
        yield (bits.random_raw(count) % count).tolist()


def mean_resamples(values: Sequence[float], *, seed: int, draws: int) -> list[float]:
    """Return the means of resamples of these values, sorted."""
    import numpy as np

    table = np.asarray(values, dtype=float)
    bits = np.random.PCG64(seed)
    picked = bits.random_raw(draws * len(values)).reshape(draws, len(values)) % len(values)
    found: Any = np.sort(table[picked].mean(axis=1))
    return [float(one) for one in found]


def shares(columns: int, *, seed: int, draws: int) -> Iterator[Any]:
    """Yield columns of `draws` numbers from 0 to below 1, each of 53 random bits."""
    from numpy.random import PCG64

    bits = PCG64(seed)
    for _ in range(columns):
        yield (bits.random_raw(draws) >> 11) * 2.0**-53


def sign_sums(values: Sequence[int], *, seed: int, draws: int) -> Iterator[int]:
    """Yield sums of these values with a random sign each; exact, in whole numbers of any size."""
    from numpy.random import PCG64

    bits = PCG64(seed)
    total = sum(values)
    for _ in range(draws):
        raw = bits.random_raw(len(values)).tolist()
        # The highest bit is as good as any of PCG64's.
        yield total - 2 * sum(value for value, one in zip(values, raw, strict=True) if one >> 63)
