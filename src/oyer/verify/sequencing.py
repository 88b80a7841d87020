"""Sequences of a stored series: each is what its pinned suite and its pinned cases come to, and nothing else.

Owns that comparison, for check 4. A sequence says which turns are whose: one that was altered, and every name of it
mended, would judge a case by the turns of another.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from oyer.errors import OyerError
from oyer.records import Case, Plan, Record, TrialSuite, compose, digest, members_of

__all__ = ["sequencing_breaches"]


def sequencing_breaches(plan: Plan, pinned: Mapping[str, Record]) -> Iterator[tuple[str, str, str]]:
    """Yield `(code, message, where)` for every sequence of a plan that is not made of what is pinned.

    `pinned` holds the pinned records by digest; what is missing among them is told elsewhere.
    """
    digests = {case.id: case.digest for case in plan.cases}
    suite = pinned.get(plan.suite) if plan.suite is not None else None
    declared = {one.id: one for one in suite.sequences} if isinstance(suite, TrialSuite) else {}
    for name, planned in digests.items():
        case, where = pinned.get(planned), f"pins/{planned}"
        if not isinstance(case, Case) or not case.segments:
            continue
        other = [one for one in case.segments if digests.get(one.case) != one.digest]
        if other:
            told = f"sequence {name} is made of another {other[0].case} than the plan names"
            yield "E-SEQUENCE-MEMBER", told, where
            continue
        members = [pinned.get(digests[member]) for member in members_of(case)]
        whole = [member for member in members if isinstance(member, Case)]
        if len(whole) != len(members):
            continue
        try:
            same = name in declared and digest(compose(declared[name], whole)) == planned
        except OyerError:
            same = False
        if not same or declared[name].cases != members_of(case):
            yield "E-SEQUENCE-OTHER", f"sequence {name} is not what the suite and its cases come to", where
