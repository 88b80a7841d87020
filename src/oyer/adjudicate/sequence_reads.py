"""What a whole series shows of its sequences: for each subject and later case, what hit it, over repetitions.

Owns these counts. Must never count a later case as not hit where nobody measured, or leave a planned repetition out.
Source: the trials design, "Pressure cases"; decision 032.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from oyer.records import Case, Contamination, Outcome, Plan, members_of

__all__ = ["SequenceRead", "sequences_of_series"]


class SequenceRead(NamedTuple):
    """One later case of a sequence by one subject: how many planned repetitions came to each word.

    The words: `contaminated by NAME` (several names where several hit), `none seen`, `undecided`, `not measured`, `not
    run`. `unmeasured` names the earlier cases that declare no traces, so that no word speaks of them.
    """

    sequence: str
    subject: str
    later: str
    planned: int
    words: Mapping[str, int]
    unmeasured: tuple[str, ...]


def sequences_of_series(
    plan: Plan, cases: Mapping[str, Case], outcomes: Mapping[str, Outcome]
) -> Iterator[SequenceRead]:
    """Yield every later case of every sequence, by subject, in the order of the plan."""
    for planned in plan.cases:
        case = cases.get(planned.id)
        if case is None or not case.segments:
            continue
        members = members_of(case)
        for subject in plan.subjects:
            trials = [one.trial for one in plan.trials if (one.case, one.subject) == (case.id, subject)]
            for order in range(1, len(members)) if trials else ():
                told = [_hits(outcomes.get(trial), order) for trial in trials]
                yield SequenceRead(
                    sequence=case.id,
                    subject=subject,
                    later=members[order],
                    planned=len(trials),
                    words=dict(sorted(Counter(map(_word, told)).items())),
                    unmeasured=_unmeasured(told, members[:order]),
                )


def _hits(outcome: Outcome | None, order: int) -> tuple[Contamination, ...] | None:
    """What every earlier case did to the case at a place; None where the trial has none."""
    if outcome is None or not outcome.segments:
        return None
    later = outcome.segments[order].case
    earlier = (segment for segment in outcome.segments if segment.order < order)
    return tuple(hit for one in earlier for hit in one.pressure.downstream_contamination if hit.later == later)


def _word(hits: Sequence[Contamination] | None) -> str:
    if hits is None:
        return "not run"
    by = dict.fromkeys(hit.earlier for hit in hits if hit.state == "contaminated")
    states = {hit.state for hit in hits}
    if by:
        return f"contaminated by {', '.join(by)}"
    if "undecided" in states:
        return "undecided"
    return "none seen" if "none_seen" in states else "not measured"


def _unmeasured(told: Sequence[Sequence[Contamination] | None], earlier: Sequence[str]) -> tuple[str, ...]:
    seen = {hit.earlier for hits in told for hit in hits or () if hit.state == "not_measured"}
    return tuple(name for name in earlier if name in seen)
