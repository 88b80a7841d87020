"""The scorer as a function of a vector's `given`, in plain values: what tests that make vectors import."""

from __future__ import annotations

from typing import Any

from oyer.conform import Given
from oyer.conform import score as score_given
from oyer.records import Comparison, document_of, validate_as

__all__ = ["score"]


def score(given: dict[str, Any]) -> Comparison:
    """Build the journals of a vector and score them."""
    return score_given(validate_as(document_of(given), Given))
