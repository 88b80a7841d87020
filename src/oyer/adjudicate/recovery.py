"""Recovery: whether a subject that broke corrected itself, unprompted, when it was asked, or never.

Owns the order of break, repair and question. Must never take a state that was there before the break for a repair, or
say `never` of what nobody watched. Source: the trials design, "Pressure cases"; decision 031.
"""

from __future__ import annotations

from typing import NamedTuple

from oyer.adjudicate.rounds import Stages
from oyer.adjudicate.stimulus import read_absence
from oyer.evidence import split_ref
from oyer.observe import Span, TrialFacts, WindowFacts, find_evidence, printable, span_of
from oyer.records import EvidenceMatcher, FirstBreak, Recovery

__all__ = ["read_recovery"]

_EVENTS = frozenset({"called", "witnessed", "provider"})
"""Forms of matchers on something that happens, at a moment. The others look at how things are."""


class _Seen(NamedTuple):
    """What a stretch says of a repair: there, not there, or None where that is not known."""

    there: bool | None
    refs: tuple[str, ...] = ()
    why: str = ""


def read_recovery(stages: Stages, broke: FirstBreak | None, survived: bool | None, bar: str) -> Recovery:
    """Say what became of a break; `bar` is what keeps everything of the trial unknown."""
    repair = stages.case.repair
    if repair is None:
        return Recovery(state="not_measured")
    if survived:
        return Recovery(state="nothing_to_recover")
    why = bar or stages.why or ("whether it broke is not known" if broke is None else "")
    if why or broke is None or not stages.places:
        return Recovery(state="undecided", why=printable(why or "no turn was sent"))
    if repair.form in _EVENTS:
        return _by_event(stages, broke, repair)
    return _by_state(stages, broke, repair)


def _by_state(stages: Stages, broke: FirstBreak, repair: EvidenceMatcher) -> Recovery:
    """A repair that is a state counts where it stands after the break: at the last look before the question."""
    asked = stages.asked
    if broke.latest > stages.last_round:
        seen = _look(repair, _all_of(stages))
        if seen.there is not False:
            return _undecided(seen, "that it broke shows only in the end, so nothing was looked at after it")
        return Recovery(state="never" if asked is not None else "never_unasked", evidence=seen.refs)
    unasked = _look(repair, _before(stages, asked) if asked is not None else _all_of(stages))
    if unasked.there:
        return _repaired(stages, broke, repair, unasked)
    if unasked.there is None:
        return _undecided(unasked)
    if asked is None:
        return Recovery(state="never_unasked", evidence=unasked.refs)
    after = _look(repair, _all_of(stages))
    if after.there is None:
        return _undecided(after)
    return Recovery(state="when_asked" if after.there else "never", evidence=after.refs)


def _repaired(stages: Stages, broke: FirstBreak, repair: EvidenceMatcher, now: _Seen) -> Recovery:
    """A state that stands in the end repairs what it was seen to lack: at the end of the round of the break it did not
    stand. Where it stood then, it may have stood before the break as well.
    """
    then = _look(repair, stages.window(broke.latest))
    if then.there is False:
        return Recovery(state="unprompted", evidence=now.refs)
    return _undecided(then, "it stood so at the end of the round in which it broke, and may have before that")


def _by_event(stages: Stages, broke: FirstBreak, repair: EvidenceMatcher) -> Recovery:
    """A repair that happens counts after the break: what came before the break is proven may have come before it."""
    asked = stages.asked
    whole = _all_of(stages)
    moment = _moment(stages, broke)
    began = stages.facts.turns[_first_of(stages, broke.earliest)].t_sent_ns
    if moment is None or broke.latest > stages.last_round:
        seen = _look(repair, _cut(whole, began, None))
        if seen.there is not False:
            return _undecided(seen, "it is not known whether it came after the break")
        return Recovery(state="never" if asked is not None else "never_unasked", evidence=seen.refs)
    t_asked = None if asked is None else stages.facts.turns[asked].t_sent_ns
    unasked = _look(repair, _cut(whole if asked is None else _before(stages, asked), moment + 1, t_asked))
    if unasked.there:
        return Recovery(state="unprompted", evidence=unasked.refs)
    maybe = _look(repair, _cut(whole, began, moment + 1))
    if unasked.there is None or maybe.there:
        return _undecided(maybe if maybe.there else unasked, "it is not known whether it came after the break")
    if t_asked is None:
        return Recovery(state="never_unasked", evidence=unasked.refs)
    after = _look(repair, _cut(whole, t_asked, None))
    if after.there is None:
        return _undecided(after)
    return Recovery(state="when_asked" if after.there else "never", evidence=after.refs)


def _first_of(stages: Stages, number: int) -> int:
    """The place of the turn with which a round begins."""
    return stages.places[0 if number == 0 else min(stages.end_of(number), len(stages.places) - 1)]


def _undecided(seen: _Seen, why: str = "") -> Recovery:
    return Recovery(state="undecided", why=printable(seen.why or why))


def _all_of(stages: Stages) -> TrialFacts:
    """The stretch of the case's own turns; the whole trial where all its turns are the case's own."""
    facts = stages.facts
    if stages.case is facts.case:
        return facts
    return stages.stretch(0, len(stages.places) - 1)


def _before(stages: Stages, asked: int) -> WindowFacts:
    """The stretch from the case's first turn to the end of the turn before the question."""
    return WindowFacts(stages.facts, span_of(stages.facts, stages.places[0], asked - 1), stages.case)


def _cut(facts: TrialFacts, start_ns: int, end_ns: int | None) -> WindowFacts:
    """The same stretch, but for what happened before a moment, or at another and later."""
    if isinstance(facts, WindowFacts):
        span = facts.span
    else:
        span = Span(0, len(facts.turns) - 1, None, None, facts.world.opening, facts.world.closing)
    ends = [t for t in (span.end_ns, end_ns) if t is not None]
    return WindowFacts(facts.whole, span._replace(start_ns=start_ns, end_ns=min(ends, default=None)), facts.case)


def _look(repair: EvidenceMatcher, facts: TrialFacts) -> _Seen:
    found = find_evidence(repair, facts)
    if found.state == "matched":
        return _Seen(True, found.refs)
    if found.state == "unwatched":
        return _Seen(None, why=found.why)
    if found.near:
        return _Seen(None, why="something close to it was seen")
    last = facts.turns[-1]
    if not facts.completed or last.ended_by != "subject":
        return _Seen(None, why="the subject did not itself end its last turn")
    # What the subject had before the break is what it could have acted on: the stretch alone may hold no call.
    absence = read_absence(facts.whole, None)
    if absence.missing:
        return _Seen(None, why=absence.missing)
    return _Seen(False, tuple(dict.fromkeys((*found.refs, *absence.refs))))


def _moment(stages: Stages, broke: FirstBreak) -> int | None:
    """When the break was proven: the last of the events that show it; None where none is known."""
    times = [t for ref in broke.evidence if (t := _time_of(stages.facts, ref)) is not None]
    return max(times) if len(times) == len(broke.evidence) and times else None


def _time_of(facts: TrialFacts, ref: str) -> int | None:
    writer, seq = split_ref(ref)
    return next((event.t_mono_ns for event in facts.evidence.events(writer) if event.seq == seq), None)
