"""The vector files of this directory, and what the real scorer says of an evidence state, found out once."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from oyer.conform import Given, Said, Vector, parse_vectors, say

__all__ = ["HERE", "OWN", "SHARED", "really"]

HERE = Path(__file__).parent


def _vectors(name: str) -> tuple[Vector, ...]:
    return parse_vectors((HERE / name).read_bytes(), name=name)


SHARED = _vectors("mechanical-outcomes.yaml")
OWN = _vectors("own-vectors.yaml")


@cache
def really(given: Given) -> Said:
    """Say what the real scorer says."""
    return say(given)
