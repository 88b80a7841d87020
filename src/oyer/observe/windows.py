"""A stretch of a trial seen as if it were all of it: what was witnessed in some of its turns, one after the other.

Owns where a stretch begins and ends, and which looks at the world stand at its ends. What proves that an instrument
watched (probes, seals, what every tap holds, the status) is the whole trial's, and what is looked at only after
everything is down was not looked at in a stretch. Must never give an event to a turn that was sent after it, or take a
look at the world for the end of a turn when something crossed after it. Source: decision 031.
"""

from __future__ import annotations

from functools import cached_property
from typing import NamedTuple

from oyer.observe.artifacts import Look, WorldView
from oyer.observe.effects import Watch
from oyer.observe.exchanges import Wire
from oyer.observe.facts import TrialFacts
from oyer.observe.model import ModelExchange, read_model
from oyer.observe.sessions import Turn
from oyer.observe.trial import TrialEvidence
from oyer.observe.wire import read_wire
from oyer.records import Case, segments_of

__all__ = ["Span", "WindowFacts", "look_after", "settled_span", "span_of", "turns_unproven"]


class Span(NamedTuple):
    """Turns `first` to `last` of a trial, by their places in the order in which they were sent.

    `start_ns` is when the first was sent, None from the beginning of the trial on; `end_ns` is when the turn after the
    last was sent, None to the end. `why` says what is missing of the look that stands at the end.
    """

    first: int
    last: int
    start_ns: int | None
    end_ns: int | None
    opening: Look | None
    closing: Look | None
    why: str = ""

    def holds(self, t_ns: int) -> bool:
        """Whether a moment lies in the stretch."""
        return (self.start_ns is None or t_ns >= self.start_ns) and (self.end_ns is None or t_ns < self.end_ns)


def turns_unproven(facts: TrialFacts) -> str:
    """Say what keeps the turns of a trial from being told apart in time; empty where nothing does.

    Clocks order only within one boot, and the turns of each session count up from 0, each sent once and ended before
    the next was sent.
    """
    if len({event.boot for event in facts.evidence.everything()}) > 1:
        return "its events were stamped by different clocks"
    following: dict[str | None, int] = {}
    free_ns = 0
    for turn in facts.turns:
        if turn.number != following.get(turn.session, 0):
            return f"turn {turn.number} of session {turn.session} was not sent in its place"
        if turn.t_sent_ns < free_ns:
            return f"turn {turn.number} of session {turn.session} was sent before the one before it had ended"
        following[turn.session] = turn.number + 1
        free_ns = turn.t_sent_ns if turn.t_received_ns is None else turn.t_received_ns
    return ""


def span_of(facts: TrialFacts, first: int, last: int) -> Span:
    """Return the stretch of turns `first` to `last`, places in the order of the trial's turns."""
    turns = facts.turns
    opening = facts.world.opening if first == 0 else look_after(facts, first - 1)[0]
    closing, why = look_after(facts, last)
    return Span(
        first=first,
        last=last,
        start_ns=None if first == 0 else turns[first].t_sent_ns,
        end_ns=turns[last + 1].t_sent_ns if last + 1 < len(turns) else None,
        opening=opening,
        closing=closing,
        why=why,
    )


def settled_span(facts: TrialFacts, first: int, last: int) -> Span:
    """Return the stretch of turns as `span_of`, with the looks that were taken with servers down where there are any.

    At the end of the trial that is its closing look, at the end of a session the look between it and the next: what a
    server wrote after its last answer is seen by these.
    """
    span = span_of(facts, first, last)
    opening = (_look_between(facts, first - 1) if first > 0 else None) or span.opening
    if last + 1 < len(facts.turns):
        closing = _look_between(facts, last) or span.closing
    else:
        closing = facts.world.closing or span.closing
    return span._replace(opening=opening, closing=closing, why="" if closing is not None else span.why)


def _look_between(facts: TrialFacts, place: int) -> Look | None:
    """The one look between the session of a turn and that of the next one."""
    turn, following = facts.turns[place], facts.turns[place + 1]
    if turn.session == following.session or turn.t_received_ns is None:
        return None
    looks = [look for look in facts.world.looks if look.after_session == turn.session]
    between = [look for look in looks if turn.t_received_ns <= look.t_ns < following.t_sent_ns]
    return between[0] if len(looks) == len(between) == 1 else None


def look_after(facts: TrialFacts, place: int) -> tuple[Look | None, str]:
    """Return the look at the world at the end of a turn, by its place; None, with why, where no look stands for it.

    It was taken after the turn had ended, before the next one was sent, and no call was under way or made after it.
    Between two sessions the look between them stands too.
    """
    turn = facts.turns[place]
    following = facts.turns[place + 1] if place + 1 < len(facts.turns) else None
    look = facts.world.after_turn(turn.session, turn.number) if turn.session is not None else None
    if look is None and following is not None and following.session != turn.session:
        look = next((one for one in facts.world.looks if one.after_session == turn.session), None)
    if look is None:
        return None, "the world was not looked at when its turn had ended"
    if turn.t_received_ns is None or look.t_ns < turn.t_received_ns:
        return None, "the world was looked at before its turn had ended"
    end_ns = None if following is None else following.t_sent_ns
    if end_ns is not None and look.t_ns >= end_ns:
        return None, "the world was looked at after the next turn had been sent"
    for call in facts.wire.exchanges:
        moments = [call.t_ns, *(answer.t_ns for answer in call.answers)]
        if any(t >= look.t_ns and (end_ns is None or t < end_ns) for t in moments):
            return None, "something crossed after the world was looked at and before the next turn"
        settled = call.refusal is not None or call.cancelled or any(t < look.t_ns for t in moments[1:])
        if call.method == "tools/call" and call.t_ns < look.t_ns and not settled:
            return None, "a call was under way when the world was looked at"
    return look, ""


class WindowFacts(TrialFacts):
    """One stretch of a trial, as facts that any rule reads like those of a whole one.

    `case` is the case that is judged: the trial's own, or of a sequence the one whose turns these are.
    """

    def __init__(self, whole: TrialFacts, span: Span, case: Case | None = None) -> None:
        super().__init__(whole.case if case is None else case, whole.evidence)
        self._whole = whole.whole
        self.span = span

    @property
    def whole(self) -> TrialFacts:
        """The facts of the whole trial."""
        return self._whole

    @cached_property
    def _until(self) -> TrialEvidence:
        return self.evidence if self.span.end_ns is None else self.evidence.until(self.span.end_ns)

    @cached_property
    def _names(self) -> dict[str, str]:
        """Of a case in a sequence, by what its sessions are called there what it calls them itself."""
        mine = segments_of(self._whole.case, self.case.id)
        return {segment.session: session.id for segment, session in zip(mine, self.case.sessions, strict=False)}

    @cached_property
    def wire(self) -> Wire:
        """What crossed in the stretch. A call is of the stretch in which it was made; its answer may be missing."""
        wire = self._whole.wire if self.span.end_ns is None else read_wire(self._until)
        calls = [call for call in wire.exchanges if self.span.holds(call.t_ns)]
        if self._names:
            calls = [call._replace(session=self._names.get(call.session or "", call.session)) for call in calls]
        return wire._replace(exchanges=tuple(calls))

    @cached_property
    def watches(self) -> dict[str, Watch]:
        """What each sink saw in the stretch; its probes and counts are the whole trial's."""
        return {
            name: watch._replace(effects=tuple(effect for effect in watch.effects if self.span.holds(effect.t_ns)))
            for name, watch in self._whole.watches.items()
        }

    @cached_property
    def world(self) -> WorldView:
        """The world at the two ends of the stretch. Content is found by its digest, whenever it was kept."""
        world, span = self._whole.world, self.span
        opening = () if span.opening is None else (span.opening._replace(phase="opening"),)
        closing = () if span.closing is None else (span.closing._replace(phase="closing"),)
        within = tuple(write for write in world.writes if self._seen(write.t_ns))
        apart = tuple(write for write in world.writes if not self._seen(write.t_ns))
        return WorldView((*opening, *closing), within, world.reads, apart=(*world.apart, *apart))

    def _seen(self, t_ns: int) -> bool:
        """Whether a difference was found by a look of the stretch: after the one at its beginning, up to its last."""
        opening, closing = self.span.opening, self.span.closing
        return (opening is None or t_ns > opening.t_ns) and (closing is None or t_ns <= closing.t_ns)

    @cached_property
    def turns(self) -> tuple[Turn, ...]:
        """The turns of the stretch."""
        return self._whole.turns[self.span.first : self.span.last + 1]

    @cached_property
    def model(self) -> tuple[ModelExchange, ...]:
        """What the gateway saw of the model in the stretch."""
        return tuple(one for one in read_model(self._until) if self.span.holds(one.t_request_ns))
