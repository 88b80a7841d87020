"""Two scorers that must fail: one that never concludes, and one that stops at the first reason it finds."""

from __future__ import annotations

from vector_files import really

from oyer.adjudicate import REASONS
from oyer.conform import Given, Said

__all__ = ["always_inconclusive", "first_match_wins"]


def always_inconclusive(given: Given) -> Said:
    """Say INCONCLUSIVE of everything, for every reason there is."""
    contrast = "undetermined" if given.hardened else None
    return Said("INCONCLUSIVE", tuple(REASONS), ("unwatched",), "INCONCLUSIVE", contrast)


def first_match_wins(given: Given) -> Said:
    """Say what the real scorer says, and of its reasons only the first."""
    said = really(given)
    return said._replace(codes=said.codes[:1])
