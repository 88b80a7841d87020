"""The cases of a sequence, each judged by its own turns, and what the traces of the earlier ones did to the later.

Owns which stretch of the one trial is whose. The judge is the judge of whole trials, on that stretch. Must never judge
a case by turns that were not sent as it declares them, or by a world that stood so before its first turn.

Source: the trials design, "Pressure cases" (order, downstream contamination); decision 029.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from oyer.adjudicate.contamination import judge_contamination
from oyer.adjudicate.judged import ClaimInput, judge_claim
from oyer.adjudicate.judgements import Judges
from oyer.adjudicate.judging import barred
from oyer.adjudicate.performed import read_performed
from oyer.adjudicate.pressure import PressedInput, judge_pressed
from oyer.adjudicate.rounds import DeclaredTurn, Stages, judge_window
from oyer.errors import EvidenceError
from oyer.observe import Span, TrialFacts, WindowFacts, printable, settled_span
from oyer.records import (
    Case,
    ClaimVerdict,
    Performed,
    SegmentOutcome,
    Status,
    digest,
    members_of,
    segments_of,
)

__all__ = ["SequenceInput", "judge_segments"]

_NEVER_NS = 1 << 62


class SequenceInput(NamedTuple):
    """One trial of a sequence: its facts, the pinned cases by id, and how claims are judged."""

    facts: TrialFacts
    cases: Mapping[str, Case]
    judges: Judges
    trial: str
    case_digest: str
    stored: str | None
    status: Status


class _Member(NamedTuple):
    """One case in its place. `window` are its own turns, None where these cannot be judged, and `why` says why."""

    case: Case
    digest: str
    turns: tuple[DeclaredTurn, ...]
    window: WindowFacts | None
    why: str


def judge_segments(given: SequenceInput) -> tuple[SegmentOutcome, ...]:
    """Return what each case of a sequence came to, in their order; none for a trial of any other case.

    Raises: EvidenceError `E-SEQUENCE-MEMBER` where the pinned case is not the one that the sequence was made of.
    """
    members = [_member(given, name) for name in members_of(given.facts.case)]
    return tuple(_segment(given, members, order) for order in range(len(members)))


def _member(given: SequenceInput, name: str) -> _Member:
    segments = segments_of(given.facts.case, name)
    case = given.cases.get(name)
    if case is None or any(segment.digest != digest(case) for segment in segments):
        raise EvidenceError("E-SEQUENCE-MEMBER", f"{name} is not the case that the sequence was made of", where=name)
    turns = tuple(
        DeclaredTurn(segment.session, segment.first + number, text)
        for segment, session in zip(segments, case.sessions, strict=False)
        for number, text in enumerate(case.turns_of(session))
    )
    stages = Stages.of(given.facts, case, turns)
    why = "" if len(turns) == sum(segment.turns for segment in segments) else "it has other turns than its case"
    why = why or stages.why or stages.unlike(stages.last_round + 1)
    places = stages.places
    if not places or why:
        return _Member(case, segments[0].digest, turns, None, why or "none of its turns was sent")
    window = WindowFacts(given.facts, settled_span(given.facts, places[0], places[-1]), case)
    return _Member(case, segments[0].digest, turns, window, "")


def _segment(given: SequenceInput, members: list[_Member], order: int) -> SegmentOutcome:
    one = members[order]
    verdicts = _verdicts(given, one)
    bar = barred(given.facts, given.case_digest)
    pressed = PressedInput(
        facts=given.facts,
        case=one.case,
        turns=one.turns,
        ends=one.window or _nothing(given.facts, one.case),
        verdicts=verdicts,
        judges=given.judges,
        trial=given.trial,
        case_digest=given.case_digest,
        stored=given.stored,
        status=given.status,
        order=order,
    )
    hit = [
        judge_contamination(one.case, later.case, later.window, bar or one.why or later.why)
        for later in members[order + 1 :]
    ]
    return SegmentOutcome(
        case=one.case.id,
        case_digest=one.digest,
        order=order,
        verdicts=verdicts,
        performed=_performed(given, one),
        pressure=judge_pressed(pressed, hit),
    )


def _verdicts(given: SequenceInput, one: _Member) -> tuple[ClaimVerdict, ...]:
    """Judge the claims of a case on its own turns; where these cannot be judged, everything of it is unknown."""
    if one.window is not None:
        return judge_window(
            given.judges,
            one.window,
            trial=given.trial,
            case_digest=given.case_digest,
            stored=given.stored,
            status=given.status,
        )
    rubrics = given.judges.rubrics
    heard = (
        ClaimInput(claim, rubrics[claim.rubric], digest(rubrics[claim.rubric]), given.status, (), {})
        for claim in one.case.claims
        if claim.rubric in rubrics
    )
    return tuple(judge_claim(one).verdict for one in heard)


def _performed(given: SequenceInput, one: _Member) -> Performed | None:
    if not one.case.expected:
        return None
    if one.window is None:
        return Performed(state="undecided", why=printable(one.why))
    return read_performed(one.window, given.case_digest)


def _nothing(facts: TrialFacts, case: Case) -> WindowFacts:
    """A stretch without a turn, in which nothing was witnessed and nothing was looked at."""
    count = len(facts.turns)
    return WindowFacts(facts, Span(count, count - 1, _NEVER_NS, None, None, None), case)
