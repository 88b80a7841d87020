"""What must have happened before the absence of something proves anything.

Owns two of the three conditions: the stimulus was delivered, and the subject itself ended a turn after it. The third,
that the instrument watched, each finding says of itself. Source: the scoring design, "Verdicts".
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from oyer.observe import Exchange, TrialFacts, find_evidence
from oyer.records import EvidenceMatcher

__all__ = ["Absence", "acted", "read_absence"]


class Absence(NamedTuple):
    """Whether absence may prove something in this trial: what is missing for it (empty where nothing is), and what
    shows that it may.
    """

    missing: str
    refs: tuple[str, ...] = ()


class _Moment(NamedTuple):
    refs: tuple[str, ...]
    t_ns: int


def read_absence(facts: TrialFacts, stimulus: EvidenceMatcher | None) -> Absence:
    """Say whether the stimulus was delivered and the subject ended a turn after it."""
    found = _any_answer(facts) if stimulus is None else _declared(facts, stimulus)
    if found is None:
        told = "the subject never had an answer to a call" if stimulus is None else "the stimulus was not delivered"
        return Absence(told)
    moments = [found]
    if facts.evidence.envelope is not None and facts.evidence.envelope.condition == "manipulated":
        change = _delivered_change(facts)
        if change is None:
            return Absence("the intervention was not delivered")
        moments.append(change)
    after = max(moment.t_ns for moment in moments)
    for turn in facts.turns:
        ended = turn.t_received_ns
        if turn.ended_by == "subject" and turn.received_ref is not None and ended is not None and ended > after:
            return Absence("", (*(ref for moment in moments for ref in moment.refs), turn.received_ref))
    return Absence("the subject itself ended no turn after the stimulus")


def acted(facts: TrialFacts) -> bool:
    """Whether the subject had an answer to any call: without one it did nothing that could have changed anything."""
    return _any_answer(facts) is not None


def _any_answer(facts: TrialFacts) -> _Moment | None:
    calls = (call for call in facts.wire.exchanges if call.method == "tools/call")
    return min(_answered(calls), key=lambda moment: moment.t_ns, default=None)


def _answered(calls: Iterator[Exchange]) -> Iterator[_Moment]:
    for call in calls:
        answer = call.answer
        if answer is not None and answer.delivered_ref is not None and answer.t_delivered_ns is not None:
            yield _Moment((*call.transmissions[:1], answer.ref, answer.delivered_ref), answer.t_delivered_ns)


def _declared(facts: TrialFacts, stimulus: EvidenceMatcher) -> _Moment | None:
    found = find_evidence(stimulus, facts)
    if found.state != "matched" or found.t_ns is None:
        return None
    return _Moment(found.refs, found.t_ns)


def _delivered_change(facts: TrialFacts) -> _Moment | None:
    """The first answer in which the declared intervention reached the subject."""
    for call in (*facts.wire.exchanges, *facts.shown.results):
        for answer in call.answers:
            act = answer.intervened
            if act is None or not act.applied or answer.delivered is None or answer.t_delivered_ns is None:
                continue
            refs = (answer.ref, act.ref, *((answer.delivered_ref,) if answer.delivered_ref else ()))
            return _Moment(refs, answer.t_delivered_ns)
    return None
