"""Which of the cases that are to run have been qualified: the records that `oyer qualify` left, held to account.

Owns the reading of those records. A record that is about anything else than exactly what runs now vouches for nothing,
and why it does not is told. Must never make one.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from oyer.adjudicate import Fixed, bars
from oyer.engine import RunRequest, harness_identity
from oyer.records import KINDS, Qualification, digest, members_of, parse_documents, validate

__all__ = ["Vouched", "vouched"]

_MOST_RECORDS = 10_000


class Vouched(NamedTuple):
    """Qualifications by the case they vouch for, and why each of the other cases is not qualified.

    A sequence has none of its own: it is vouched for where all its cases are.
    """

    by_case: Mapping[str, Qualification]
    why_not: Mapping[str, str]


def vouched(request: RunRequest, place: Path) -> Vouched:
    """Find what vouches for each case, in a directory. Raises: RecordError where a record in it is malformed."""
    fixed = Fixed(
        {source.case.id: source.loaded.digest for source in request.cases},
        {name: digest(one) for name, one in request.rubrics.items()},
        {name: digest(one) for name, one in request.pinned_evaluators.items()},
        harness_identity(),
        {source.case.id: source.case for source in request.cases},
    )
    records = _read(place)
    by_case: dict[str, Qualification] = {}
    why_not: dict[str, str] = {}
    sequences = {name: case for name, case in fixed.records.items() if case.segments}
    for case in (name for name in fixed.cases if name not in sequences):
        told = "it was never qualified here"
        for record in records:
            if case not in (record.case, *record.members):
                continue
            told = bars(record, case, fixed)
            if not told:
                by_case[case] = record
                break
        if case not in by_case:
            why_not[case] = told
    for name, sequence in sequences.items():
        lacking = [member for member in members_of(sequence) if member not in by_case]
        if lacking:
            why_not[name] = f"{', '.join(lacking)} is not qualified"
    return Vouched(by_case, why_not)


def _read(place: Path) -> list[Qualification]:
    """Read every record of a directory, the latest first; one that is not there holds none."""
    if not place.is_dir():
        return []
    found: list[Qualification] = []
    for path in sorted(place.glob("*.json"))[:_MOST_RECORDS]:
        for document in parse_documents(path.read_bytes(), name=str(path)):
            record = validate(document, KINDS)
            if isinstance(record, Qualification):
                found.append(record)
    return sorted(found, key=lambda one: one.at, reverse=True)
