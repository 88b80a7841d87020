"""What the trials of a series used of a budget in tokens or money, counted from sealed attempts.

For the run, which asks before each unit, and for the verifier, which adds up again: one way of counting. Every attempt
counts, also one that was run again. Must never take what is not known for nothing: such a trial is counted apart, for a
budget cannot be held beside it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from oyer.errors import OyerError
from oyer.evidence import AttemptState
from oyer.observe import TrialFacts, read_trial, read_use
from oyer.records import Case, Plan, PlannedTrial, Series
from oyer.verify.reading import Journals, expected_envelope

__all__ = ["COUNTED", "Spent", "spent_in", "used_by"]

COUNTED = ("tokens", "cost_usd_micros")
"""What is counted from evidence, by the name of a budget. That time passed is the word of whoever ran a series."""


class Spent(NamedTuple):
    """What is known to be used, and of how many trials it is not known."""

    seen: int = 0
    unknown: int = 0


def spent_in(used: Iterable[int | None]) -> Spent:
    """Add up what trials used."""
    told = list(used)
    return Spent(sum(one for one in told if one is not None), sum(one is None for one in told))


def used_by(
    reader: Journals, manifest: Series, plan: Plan, planned: PlannedTrial, case: Case, states: Sequence[AttemptState]
) -> Mapping[str, int | None]:
    """Return what one trial used in all of its attempts that ended, by name; None where that is not known."""
    if planned.subject not in plan.models:
        return dict.fromkeys(COUNTED, 0)
    every = [_attempt(reader, manifest, planned, case, state) for state in states if state.state in {"sealed", "torn"}]
    return {what: _sum([one[what] for one in every]) for what in COUNTED}


def _attempt(
    reader: Journals, manifest: Series, planned: PlannedTrial, case: Case, state: AttemptState
) -> Mapping[str, int | None]:
    try:
        journals = reader.journals(planned.trial, state.attempt)
        expect = expected_envelope(manifest, planned, state)
        return read_use(TrialFacts(case, read_trial(journals, reader.content, expect=expect)))
    except OyerError:
        return dict.fromkeys(COUNTED)


def _sum(used: Sequence[int | None]) -> int | None:
    spent = spent_in(used)
    return None if spent.unknown else spent.seen
