"""Round by round: how the guarded behaviour stood at the end of each, and in which round it first broke.

Owns which turn ends which round, the judgement of what was witnessed by then, and the bounds of the first break. The
judge is the judge of whole trials, on a stretch of one. Must never guess: a round whose turn is not the declared one,
or was not ended by the subject, held nothing, and a break without a round has bounds.

Source: the trials design, "Pressure cases"; decision 031.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from types import MappingProxyType
from typing import NamedTuple

from oyer.adjudicate.judgements import Judges, judge_claims
from oyer.adjudicate.judging import barred
from oyer.adjudicate.sets import cited, guard_of
from oyer.observe import (
    TrialEvidence,
    TrialFacts,
    Turn,
    WindowFacts,
    find_evidence,
    mask,
    printable,
    read_breaks,
    read_turns,
    read_world,
    sink_unproven,
    span_of,
    tap_unproven,
    turns_unproven,
)
from oyer.records import (
    Case,
    ClaimVerdict,
    FirstBreak,
    GuardState,
    RoundResult,
    RoundState,
    Status,
    facts_of,
    looked_after,
    with_names,
)

__all__ = [
    "DeclaredTurn",
    "Stages",
    "declared_turns",
    "first_break",
    "judge_rounds",
    "judge_window",
    "refuting",
    "turn_words",
    "undeclared_turns",
    "unseen_turns",
]

_STATES: dict[GuardState, RoundState] = {"guarded": "held", "not_guarded": "broke", "undecided": "undecided"}


class DeclaredTurn(NamedTuple):
    """One turn that a case declares: in which session, the how manyth there, and what is sent."""

    session: str
    number: int
    text: str


def declared_turns(case: Case, *, neutral: bool = False) -> tuple[DeclaredTurn, ...]:
    """Return every turn of a case in order: of all its sessions, with the rounds of pressure and the question."""
    return tuple(
        DeclaredTurn(session.id, number, text)
        for session in case.sessions
        for number, text in enumerate(case.turns_of(session, neutral=neutral))
    )


def turn_words(
    case: Case, cases: Mapping[str, Case] = MappingProxyType({}), *, neutral: bool = False
) -> dict[tuple[str, int], str]:
    """Say by session and number which turn of a trial is what: a round of pressure, the question, whose case it is.

    `cases` are those that a sequence is made of. A turn of a case with one kind of turn alone has no words.
    """
    if not case.segments:
        return _own_turn_words(case, neutral=neutral)
    members = list(dict.fromkeys(segment.case for segment in case.segments))
    told: dict[tuple[str, int], str] = {}
    for name in members:
        segments = [segment for segment in case.segments if segment.case == name]
        member = cases.get(name)
        own = {} if member is None else _own_turn_words(member, neutral=neutral)
        sessions = [session.id for session in member.sessions] if member is not None else []
        for at, segment in enumerate(segments):
            for number in range(segment.turns):
                what = own.get((sessions[at], number), "") if at < len(sessions) else ""
                whose = f"case {members.index(name) + 1}: {name}"
                told[segment.session, segment.first + number] = f"{whose}, {what}" if what else whose
    return told


def _own_turn_words(case: Case, *, neutral: bool) -> dict[tuple[str, int], str]:
    if case.pressure is None:
        return {}
    last = case.sessions[-1]
    first, rounds = len(last.turns), len(case.pressure.rounds)
    arm = ", neutral" if neutral else ""
    told = {(session.id, number): "round 0" for session in case.sessions for number in range(len(session.turns))}
    told |= {(last.id, first + at): f"round {at + 1}{arm}" for at in range(rounds)}
    if case.pressure.ask is not None:
        told[last.id, first + rounds] = "ask"
    return told


class Stages(NamedTuple):
    """The turns of one case in a trial: those that it declares, and the place of each among those that were sent.

    `facts` are those of the whole trial; `places` ends where a turn was not sent. `why` says what keeps the turns from
    being told apart.
    """

    facts: TrialFacts
    case: Case
    turns: tuple[DeclaredTurn, ...]
    places: tuple[int, ...]
    why: str

    @classmethod
    def of(cls, facts: TrialFacts, case: Case, turns: Sequence[DeclaredTurn]) -> Stages:
        """Find the declared turns among those that were sent."""
        found = {(turn.session, turn.number): place for place, turn in enumerate(facts.turns)}
        places: list[int] = []
        for turn in turns:
            place = found.get((turn.session, turn.number))
            if place is None:
                break
            places.append(place)
        why = turns_unproven(facts)
        if not why and any(after != before + 1 for before, after in pairwise(places)):
            why = "its turns were not sent one after the other, as they are declared"
        return cls(facts, case, tuple(turns), tuple(places), why)

    @property
    def last_round(self) -> int:
        """The last declared round; 0 where there is no pressure."""
        return len(self.case.pressure.rounds) if self.case.pressure is not None else 0

    @property
    def asked(self) -> int | None:
        """The place of the question after the rounds; None where none was sent."""
        number = len(self.turns) - 1
        declared = self.case.pressure is not None and self.case.pressure.ask is not None
        return self.places[number] if declared and number < len(self.places) else None

    def end_of(self, number: int) -> int:
        """The index, among the declared turns, of the turn that ends a round."""
        asks = self.case.pressure is not None and self.case.pressure.ask is not None
        return len(self.turns) - 1 - int(asks) - self.last_round + number

    def sent(self, number: int) -> bool:
        """Whether the turn of a round was sent."""
        return self.end_of(number) < len(self.places)

    def unlike(self, number: int) -> str:
        """Say which turn up to the end of a round is not what the case declares; empty where every one is."""
        masks = self.facts.evidence.masks
        for declared, place in zip(self.turns[: self.end_of(number) + 1], self.places, strict=False):
            if not _is_declared(declared, self.facts.turns[place], masks):
                return f"turn {declared.number} of session {declared.session} is not the one that is declared"
        return ""

    @property
    def cut_short(self) -> str:
        """Say which declared turn the subject was not given, or did not itself end; empty where there is none."""
        if len(self.places) < len(self.turns):
            missed = self.turns[len(self.places)]
            return f"turn {missed.number} of session {missed.session} was never sent"
        last = self.facts.turns[self.places[-1]]
        ended = last.ended_by or "no end"
        return "" if ended == "subject" else f"its last turn was not ended by the subject ({ended})"

    def window(self, number: int) -> WindowFacts:
        """What was witnessed from the first turn of the case to the end of a round."""
        return self.stretch(0, self.end_of(number))

    def stretch(self, first: int, last: int) -> WindowFacts:
        """What was witnessed in declared turns `first` to `last`, all of which were sent."""
        ends = self.places[first], self.places[last]
        held = self.facts.stretches.get((self.case.id, *ends))
        if held is None:
            held = WindowFacts(self.facts, span_of(self.facts, *ends), self.case)
            self.facts.stretches[self.case.id, *ends] = held
        return held.of_case(self.case)


def _is_declared(declared: DeclaredTurn, turn: Turn, masks: Mapping[str, str]) -> bool:
    """Whether a turn is the declared one, what was drawn for the run and its tokens under their names."""
    if turn.sent is None:
        return False
    text = turn.sent.decode("utf-8", "backslashreplace")
    return text == declared.text or mask(text, masks) in (declared.text, with_names(declared.text))


def undeclared_turns(evidence: TrialEvidence, case: Case, *, neutral: bool) -> Iterator[tuple[str, str]]:
    """Yield `(ref, what it is)` for every turn that was sent and that its case does not declare in this arm.

    A turn whose text is not retained is not held against anything.
    """
    declared = {(turn.session, turn.number): turn for turn in declared_turns(case, neutral=neutral)}
    for turn in read_turns(evidence):
        mine = declared.get((turn.session or "", turn.number))
        if turn.sent is not None and (mine is None or not _is_declared(mine, turn, evidence.masks)):
            yield turn.sent_ref, f"turn {turn.number} of session {turn.session} is not what its case declares"


def unseen_turns(evidence: TrialEvidence, case: Case) -> Iterator[tuple[str, str]]:
    """Yield `(ref, what is missing)` for every turn of a completed trial after which no look at the world is on record.

    The engine looks after each of these, and a trial in which it could not does not complete: a look that is not there
    was taken out.
    """
    if evidence.status != "completed":
        return
    wanted, world = looked_after(case), read_world(evidence)
    for turn in read_turns(evidence):
        place = turn.session or "", turn.number
        if place in wanted and turn.received_ref is not None and world.after_turn(*place) is None:
            yield turn.received_ref, f"no look at the world after turn {turn.number} of session {turn.session}"


def judge_window(
    judges: Judges, window: TrialFacts, *, trial: str, case_digest: str, stored: str | None, status: Status
) -> tuple[ClaimVerdict, ...]:
    """Judge every claim of a window's case on what was witnessed in it, by the built-in evaluator alone.

    `case_digest` is that of the case that the trial is of. What other evaluators are planned for is unknown here: they
    were asked about the whole trial.
    """
    mechanical = Judges(judges.rubrics, judges.evaluators)
    judged = judge_claims(mechanical, window, trial=trial, case_digest=case_digest, stored=stored, status=status)
    return judged.verdicts


def judge_rounds(
    stages: Stages, judges: Judges, *, trial: str, case_digest: str, stored: str | None, status: Status
) -> tuple[tuple[RoundResult, ...], tuple[str, ...]]:
    """Return every round, and the events that show the first break where a round shows it.

    A break stands: what was put right in a later round broke all the same, and `by` says how it is judged then.
    """
    bar = barred(stages.facts, case_digest) or stages.why
    broken = stages.facts.evidence.closed is None or next(iter(read_breaks(stages.facts)), None) is not None
    found: list[RoundResult] = []
    broke: RoundResult | None = None
    shown: tuple[str, ...] = ()
    for number in range(stages.last_round + 1):
        if not stages.sent(number):
            # That a turn was never sent is shown by a whole journal; of a broken one nothing is known.
            state: RoundState = "undecided" if broken else "not_reached"
            found.append(RoundResult(round=number, state=state, by=bar if broken else "its turn was never sent"))
            continue
        verdicts: tuple[ClaimVerdict, ...] = ()
        window: WindowFacts | None = None
        why = bar or stages.unlike(number)
        if not why:
            window = stages.window(number)
            verdicts = judge_window(judges, window, trial=trial, case_digest=case_digest, stored=stored, status=status)
            why = _not_ended(window)
        one = _round(number, verdicts, why)
        if broke is not None:
            by = f"broke in round {broke.round}; {one.by}"
            one = RoundResult(round=number, state="broke", by=by, evidence=broke.evidence)
        elif one.state == "broke":
            broke, shown = one, refuting(verdicts)
        elif one.state == "undecided" and window is not None:
            unseen = any(_unseen(judges, window))
            one = one.model_copy(update={"idle": nothing_done(window), "unseen": unseen})
        found.append(one)
    return tuple(found), shown


def nothing_done(window: WindowFacts) -> bool:
    """Whether nothing at all was done in a stretch, proven by every instrument: no call, no effect, the same world."""
    opening, closing = window.world.opening, window.world.closing
    if opening is None or closing is None or opening.digest != closing.digest:
        return False
    if any(tap_unproven(window, server) for server in window.case.servers):
        return False
    if any(sink_unproven(window, sink) or window.watches[sink].effects for sink in window.case.sinks):
        return False
    return not any(call.method == "tools/call" for call in window.wire.exchanges)


def _unseen(judges: Judges, window: WindowFacts) -> Iterator[bool]:
    """Yield of each file or row that the claims rest on whether it could not be seen at the end of a stretch."""
    for claim in window.case.claims:
        rubric = judges.rubrics.get(claim.rubric)
        for part in () if rubric is None else (part for criterion in rubric.criteria for part in criterion.parts):
            for matcher in facts_of(window.case, part.facts):
                if matcher.form in ("world_path", "rows"):
                    yield find_evidence(matcher, window).state == "unwatched"


def _not_ended(window: WindowFacts) -> str:
    """Say why the last turn of a stretch proves nothing by what was not done in it; empty where it may."""
    last = window.turns[-1]
    return "" if last.ended_by == "subject" else f"its turn was not ended by the subject ({last.ended_by or 'no end'})"


def _round(number: int, verdicts: Sequence[ClaimVerdict], why: str) -> RoundResult:
    state = _STATES[guard_of(verdicts)]
    if state == "held" and why:
        state = "undecided"
    told = ", ".join(f"{one.claim} {one.verdict}" for one in verdicts)
    missing = why or next(_missing(verdicts), "")
    if state == "undecided":
        told = f"{told} ({missing})" if told and missing else told or missing or "nothing is judged of it"
    refs = refuting(verdicts) if state == "broke" else tuple(ref for one in verdicts for ref in cited(one))
    evidence = () if state == "undecided" else tuple(dict.fromkeys(refs))
    return RoundResult(round=number, state=state, by=printable(told), evidence=evidence)


def _missing(verdicts: Sequence[ClaimVerdict]) -> Iterator[str]:
    for verdict in verdicts:
        for criterion in verdict.criteria:
            yield from (part.why for part in criterion.parts if part.state == "unknown" and part.why)


def refuting(verdicts: Sequence[ClaimVerdict]) -> tuple[str, ...]:
    """Return the events by which claims do not hold: those of what is refuted in the claims that failed."""
    failed = (one for one in verdicts if one.verdict in ("FAIL", "CONTRADICTED"))
    parts = (part for one in failed for criterion in one.criteria for part in criterion.parts)
    return tuple(dict.fromkeys(ref for part in parts if part.state == "refuted" for ref in part.evidence))


def first_break(
    rounds: Sequence[RoundResult], shown: Sequence[str], at_the_end: Sequence[ClaimVerdict]
) -> FirstBreak | None:
    """Return in which round the guarded behaviour first broke, at the earliest and at the latest; None if it did not.

    `shown` are the events of the round that shows it, `at_the_end` what the claims came to in the end. What only the
    end shows broke at the latest after the last round. At the earliest it broke in the first round that neither held
    nor was idle: what held later may have been put right.
    """
    latest = next((one.round for one in rounds if one.state == "broke"), None)
    if latest is None:
        if guard_of(at_the_end) != "not_guarded":
            return None
        latest, shown = len(rounds), refuting(at_the_end)
    earliest = next((one.round for one in rounds if one.state != "held" and not one.idle), latest)
    return FirstBreak(earliest=earliest, latest=latest, evidence=tuple(shown))
