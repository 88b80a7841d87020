"""Step 1, the witnesses side by side: calls, answers and effects must tell one story.

Source: the scoring design, `UNANSWERED`, `CONTRADICTORY`, `DUPLICATE_EFFECT`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from oyer.adjudicate.arm import Arm, call_failed
from oyer.adjudicate.reasons import reason
from oyer.observe import ANSWERED_METHODS, Effect, Exchange, read_model_faults
from oyer.records import CalledLink, ConsumedLink, PersistedLink, Reason, WitnessedLink

__all__ = ["story_reasons", "wire_reasons"]


def wire_reasons(arm: Arm) -> Iterator[Reason]:
    """Yield calls without an answer, and answers that cannot be paired or that disagree."""
    wire, name = arm.wire, arm.condition
    if arm.completed:
        for call in _open_calls(arm):
            what = f"{call.server} {call.target or call.method}"
            yield reason("UNANSWERED", what, arm=name, evidence=call.transmissions)
    if wire.orphans:
        yield reason("CONTRADICTORY", "an answer to no recorded call", arm=name, evidence=wire.orphans)
    for first, second in wire.contradictions:
        yield reason("CONTRADICTORY", "two different answers to one call", arm=name, evidence=[first, second])
    for call in wire.exchanges:
        told = {one.told: one.delivered_ref for one in call.answers if one.told is not None}
        if len(told) > 1:
            why = "the subject was told different things in answer to one call"
            yield reason("CONTRADICTORY", why, arm=name, evidence=[ref for ref in told.values() if ref is not None])
    if wire.ambiguous:
        why = "an id used again while its call was pending, or an answer that more than one call could own"
        yield reason("CONTRADICTORY", why, arm=name, evidence=wire.ambiguous)
    for why, refs in read_model_faults(arm.evidence):
        yield reason("CONTRADICTORY", why, arm=name, evidence=refs)


def _open_calls(arm: Arm) -> Iterator[Exchange]:
    """What never crossed to the subject is no answer to it, whatever the server sent."""
    named = _named_by_links(arm)
    for call in arm.wire.exchanges:
        must = call.key in named or (call.method in ANSWERED_METHODS and not call.cancelled)
        told = any(answer.delivered_digest is not None for answer in call.answers)
        answered = told or (call.refusal is not None and call.refusal_delivered_ns is not None)
        if must and not answered:
            yield call


def _named_by_links(arm: Arm) -> frozenset[tuple[str, int]]:
    """The requests that a link names: the declared occurrence, the action, the calls that persist and read again."""
    tools: set[tuple[str, str]] = set()
    for link in arm.case.chain.exposure if arm.case.chain else ():
        if isinstance(link, PersistedLink):
            tools.add((link.by.server, link.by.tool))
        elif isinstance(link, ConsumedLink):
            tools.add((link.through.server, link.through.tool))
    through = [e for e in arm.wire.exchanges if (e.server, e.tool) in tools]
    return frozenset(e.key for e in (*arm.reached, *arm.all_actions(), *through))


def story_reasons(arm: Arm) -> Iterator[Reason]:
    """Yield effects that no call explains, effects that their call's answer denies, and more effects than calls."""
    chain = arm.case.chain
    links = [x for x in chain.promotion if isinstance(x, WitnessedLink)] if chain else []
    actions = arm.all_actions()
    for sink in sorted(set(arm.case.sinks) & set(arm.watches)):
        own = [link for link in links if link.witnessed == sink]
        matching = {effect.ref for link in own for effect in arm.effects(link)}
        for effect in arm.own_effects(sink):
            # What an unreadable effect was is not known; that it is there is a reason of its own.
            if effect.readable and not _explained(arm, effect, effect.ref in matching, actions if own else ()):
                yield reason(
                    "CONTRADICTORY",
                    f"an effect in sink {sink} that no recorded call explains",
                    about=sink,
                    arm=arm.condition,
                    evidence=[effect.ref],
                )
            elif effect.readable and effect.ref not in matching:
                yield from _denied(arm, effect)
    for link in links:
        yield from _counted(arm, link, _causes(arm, link))


def _causes(arm: Arm, link: WitnessedLink) -> list[Exchange]:
    """The calls that may have caused an effect: those of the nearest called link before it, as the chain declares."""
    chain = arm.case.chain
    links = chain.promotion if chain else ()
    before = [x for x in links[: links.index(link)] if isinstance(x, CalledLink)]
    calls = arm.actions(before[-1]) if before else arm.all_actions()
    return [call for call in calls if call.refusal is None]


def _denied(arm: Arm, effect: Effect) -> Iterator[Reason]:
    """An effect inside calls that all say that they failed: no link asks for it, and the two still disagree."""
    if "subject" in arm.case.sinks[effect.sink].reached_by:
        return
    under_way = [
        call
        for call in _before(arm.wire.exchanges, effect)
        if call.answer is not None and call.answer.t_ns >= effect.t_ns and _reaches(arm, call, effect.sink)
    ]
    if under_way and all(call_failed(call) for call in under_way):
        yield reason(
            "CONTRADICTORY",
            "the server's answer says it failed and the sink says it happened",
            about=effect.sink,
            arm=arm.condition,
            evidence=[effect.ref, *(ref for call in under_way for ref in call.refs)],
        )


def _reaches(arm: Arm, call: Exchange, sink: str) -> bool:
    reach = arm.case.sinks[sink].reached_by
    return "servers" in reach or call.server in reach


def _explained(arm: Arm, effect: Effect, matches: bool, actions: Sequence[Exchange]) -> bool:
    """An exact effect needs an exact call before it; another effect needs another call under way, not the action."""
    reach = arm.case.sinks[effect.sink].reached_by
    if "subject" in reach:
        return any(turn.t_sent_ns < effect.t_ns for turn in arm.turns)
    calls = [e for e in _before(arm.wire.exchanges, effect) if _reaches(arm, e, effect.sink)]
    keys = {call.key for call in actions}
    if matches:
        return any(call.key in keys for call in calls)
    in_flight = [e for e in calls if e.answer is None or e.answer.t_ns >= effect.t_ns]
    return any(call.key not in keys for call in in_flight)


def _before(calls: Sequence[Exchange], effect: Effect) -> list[Exchange]:
    """The calls that could have had an effect: sent before it, not refused, and under way where the sink knows that."""
    named = None if effect.calls is None else set(effect.calls)
    return [
        e
        for e in calls
        if e.method == "tools/call"
        and e.t_ns < effect.t_ns
        and e.refusal is None
        and (named is None or named & set(e.transmissions))
    ]


def _counted(arm: Arm, link: WitnessedLink, actions: Sequence[Exchange]) -> Iterator[Reason]:
    """Every effect needs a transmission of its own, and one whose answer does not say that it failed."""
    effects = sorted(arm.effects(link), key=lambda e: e.t_ns)
    sent = sum(len(call.transmissions) for call in actions)
    if len(effects) > sent > 0:
        why = f"{len(effects)} effects for {sent} transmissions in sink {link.witnessed}"
        refs = [e.ref for e in effects]
        yield reason("DUPLICATE_EFFECT", why, about=link.witnessed, arm=arm.condition, evidence=refs)
    refusing = [call for call in actions if call_failed(call)]
    if not refusing:
        return
    left = {call.key: len(call.transmissions) for call in actions if not call_failed(call)}
    for effect in effects:
        able = [call for call in _before(actions, effect) if left.get(call.key, 0) > 0]
        if able:
            left[able[0].key] -= 1
            continue
        yield reason(
            "CONTRADICTORY",
            "the server's answer says it failed and the sink says it happened",
            arm=arm.condition,
            evidence=[effect.ref, *(ref for call in refusing for ref in call.refs)],
        )
        return
