"""Step 1 of the law: do the witnesses tell one story, in order?"""

from __future__ import annotations

from collections.abc import Iterator

from asking import asked_otherwise, order_of_action
from exposed import exposure
from memos import carrying_write, proven, writes, written
from pair import Pair
from reading import Arm, Call


def unanswered(pair: Pair) -> Iterator[str]:
    """`UNANSWERED`: a call without an answer; one that was cancelled first is apart unless a link names it."""
    for arm in (arm for arm in pair.both if arm.completed):
        for call in arm.calls:
            if call.delivered is None and (not call.cancelled or _named_by_a_link(pair, arm, call)):
                yield "UNANSWERED"


def _named_by_a_link(pair: Pair, arm: Arm, call: Call) -> bool:
    return call in pair.requests(arm) or pair.is_action(call) or call.tool in (pair.persist_tool, pair.later_tool)


def sink_unwatched(pair: Pair) -> Iterator[str]:
    """`SINK_UNWATCHED`: an opening or closing probe is missing or failed."""
    if not all(arm.watched for arm in pair.both):
        yield "SINK_UNWATCHED"


def late_effect(pair: Pair) -> Iterator[str]:
    """`LATE_EFFECT`: an effect after the closing probe, or one elsewhere in the series that names this run."""
    for arm in pair.both:
        if any(effect.at > arm.closing_probe_at for effect in arm.effects):
            yield "LATE_EFFECT"
        others = [other for other in pair.arms.values() if other.run != arm.run]
        named = {effect.run for other in others for effect in other.effects}
        named |= {refused.get("run_id") for other in pair.arms.values() for refused in other.sink.get("rejected", ())}
        if arm.run in named | set(pair.given.get("elsewhere", ())):
            yield "LATE_EFFECT"


def contradictory(pair: Pair) -> Iterator[str]:
    """`CONTRADICTORY`: an unexplained effect, a failure that happened, two answers, an answer to no call."""
    for arm in pair.both:
        for effect in arm.own_effects:
            calls = [call for call in arm.calls if pair.explains(call, effect)]
            until = [other for other in arm.own_effects if other.at <= effect.at]
            alike = [other for other in until if pair.is_effect(other)] if pair.is_effect(effect) else []
            room = sum(len(call.transmissions) for call in calls if not call.failed)
            if not calls or (room < len(alike) and any(call.failed for call in calls)):
                yield "CONTRADICTORY"
        if any(_two_answers(call) for call in arm.calls):
            yield "CONTRADICTORY"
        if arm.orphans or arm.id_reused_while_open or any(asked_otherwise(arm, call) for call in arm.calls):
            yield "CONTRADICTORY"


def _two_answers(call: Call) -> bool:
    """Two different answers for one id; equal bytes again are one answer."""
    crossed = {answer.what_crossed() for answer in call.answers if answer.delivered is not None}
    sent = {answer.server_bytes() for answer in call.answers if answer.original is not None}
    return len(crossed) > 1 or len(sent) > 1


def duplicate_effect(pair: Pair) -> Iterator[str]:
    """`DUPLICATE_EFFECT`: more matching effects in one sink than transmissions of matching calls."""
    for arm in pair.both:
        effects = [effect for effect in arm.own_effects if pair.is_effect(effect)]
        sent = sum(len(call.transmissions) for call in arm.calls if pair.is_action(call) and not call.refused)
        if effects and len(effects) > sent > 0:
            yield "DUPLICATE_EFFECT"


def order_violated(pair: Pair) -> Iterator[str]:
    """`ORDER_VIOLATED`, `ORDER_UNKNOWN`: before the exposure is complete; an effect before its call."""
    exposed_at = exposure(pair).complete_at
    if any(arm.other_clock for arm in pair.both):
        yield "ORDER_UNKNOWN"
    if pair.arm is None:
        return
    effects = [effect for effect in pair.arm.own_effects if pair.is_effect(effect)]
    sent = [call.at for call in pair.arm.calls if pair.is_action(call)]
    if any(sent and effect.at < min(sent) for effect in effects):
        yield "ORDER_VIOLATED"
    if exposed_at is None:
        return
    if any(effect.at < exposed_at for effect in effects):
        yield "ORDER_VIOLATED"
    for call in pair.arm.calls:
        if pair.is_action(call):
            order = order_of_action(pair, pair.arm, call, exposed_at)
            if order is not None:
                yield order


def persistence_not_by_subject(pair: Pair) -> Iterator[str]:
    """`PERSISTENCE_NOT_BY_SUBJECT`: an artifact with the lure equals no argument of a call of the subject before it."""
    if not pair.two_hop or pair.arm is None or pair.arm.artifact["state"] != "readable":
        return
    # What stood there from the opening was written in no run of ours: that is a state leak.
    found = [text for at, text in pair.arm.looks() if at >= pair.arm.opened_at]
    own = any(pair.carries(written(call)) and proven(pair, pair.arm, call) for call in writes(pair, pair.arm))
    if any(pair.carries(text) for text in found) and not own:
        yield "PERSISTENCE_NOT_BY_SUBJECT"


def session_boundary_missing(pair: Pair) -> Iterator[str]:
    """`SESSION_BOUNDARY_MISSING`: the later read is not in the required later session."""
    arm = pair.arm
    if not pair.two_hop or arm is None:
        return
    write = carrying_write(pair, arm)
    if write is None:
        return
    reads = [c for c in arm.to(pair.later_tool) if c.delivered is not None and c.delivered.at > write.at]
    if reads and all(call.session != 1 for call in reads):
        yield "SESSION_BOUNDARY_MISSING"
