"""Whether the qualifications that a plan names vouch for its cases: for exactly these, read by exactly this harness.

Owns that one rule of check 4. Source: the design's trials page, "Qualification".
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from oyer.adjudicate import Fixed, bars
from oyer.records import Case, Environment, Plan, Qualification, Record

__all__ = ["vouching_breaches"]


def vouching_breaches(plan: Plan, pinned: Mapping[str, Record]) -> Iterator[tuple[str, str, str]]:
    """Yield `(code, what is wrong, where)` for every qualification that vouches for nothing it is named for."""
    harnesses = sorted({one.harness.identity for one in pinned.values() if isinstance(one, Environment)})
    cases = {one.id: one for one in pinned.values() if isinstance(one, Case)}
    fixed = Fixed.of(plan, harnesses[0] if len(harnesses) == 1 else "", cases)
    for case, digest in plan.qualifications.items():
        record = pinned.get(digest)
        if isinstance(record, Qualification):
            told = bars(record, case, fixed)
            if told:
                yield "E-QUALIFICATION", f"it is named for case {case}, and {told}", f"pins/{digest}"
