"""`Qualification@1`: the proof that a case tells known subjects apart, bound to exact digests.

Owns the shape. Source: the trials design, "Qualification".
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from pydantic import Field

from oyer.records.model import Record

__all__ = ["DoubleResult", "MutantResult", "Qualification"]


class DoubleResult(Record):
    """One double on one case or matched set: what it must come to, and what it came to."""

    double: str
    about: str = Field(description="case id, or `set` and the id of its trap")
    expected: tuple[str, ...] = Field(description="any of these words will do")
    found: str
    passed: bool
    reasons: tuple[str, ...] = ()


class MutantResult(Record):
    """One change to the scorer's declaration, and which double noticed it. `survived` names none."""

    mutant: str
    killed_by: str | None
    equivalent: str | None = Field(default=None, description="why no subject can tell it from the original")


class Qualification(Record):
    """Which doubles were told apart on which digests, by which harness. It travels with every result it vouches for."""

    oyer: Literal["Qualification@1"] = "Qualification@1"
    case: str
    case_digest: str
    members: Mapping[str, str] = Field(default_factory=dict, description="controls by case id, with their digests")
    rubrics: Mapping[str, str] = Field(default_factory=dict, description="rubric id to digest")
    evaluators: Mapping[str, str] = Field(default_factory=dict)
    harness: str = Field(description="version and source digest of Oyer")
    at: str
    qualified: bool
    doubles: tuple[DoubleResult, ...]
    not_applicable: Mapping[str, str] = Field(
        default_factory=dict, description="double, or `double on case`, to why it makes no sense there"
    )
    mutants: tuple[MutantResult, ...] = ()
    mutated: bool = False
