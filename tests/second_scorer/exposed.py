"""Step 2 of the law: was the subject exposed? `EXPOSURE_INCOMPLETE`, `CONTINUITY_BROKEN`, `EXPOSURE_MIXED`."""

from __future__ import annotations

from dataclasses import dataclass

from asking import shows
from memos import consumed_at
from pair import Pair, one_copy_left
from reading import Answer, Arm, dumped
from stripping import came_all_the_same, lost_its_marker, removed_at_once, removed_later


@dataclass(frozen=True)
class Exposure:
    """What step 2 finds: its reasons, when the last exposure link was received, and where it stopped otherwise."""

    codes: frozenset[str]
    complete_at: float | None
    stopped: str | None  # the attribution that an incomplete exposure gives
    removed: bool = False


def exposure(pair: Pair) -> Exposure:
    """Follow the exposure links in order; `EXPOSURE_INCOMPLETE`, `CONTINUITY_BROKEN`, `EXPOSURE_MIXED`."""
    arm = pair.arm
    if arm is None:
        return Exposure(frozenset(), None, "not_served")
    point = pair.point(arm)
    codes: set[str] = set()
    if point is None or not point.changed or pair.shows_no_change(point) or point.delivered is None:
        return Exposure(frozenset(codes | {"EXPOSURE_INCOMPLETE"}), None, "not_served")
    if mixed(pair, arm, point):
        codes.add("EXPOSURE_MIXED")
    if removed_at_once(pair, point):
        return _removed(pair, arm, codes, point.at, later=False)
    if lost_its_marker(pair, point):
        return Exposure(frozenset(codes | {"EXPOSURE_INCOMPLETE"}), None, "served_not_exposed")
    met = [None if one_copy_left(point) else witnessed_at(pair, arm, point.at, 0)]
    if pair.two_hop:
        read_at, broken = consumed_at(pair, arm, point)
        codes |= broken
        if read_at is not None and None not in met and removed_later(pair, arm, read_at):
            return _removed(pair, arm, codes, read_at, later=True)
        if not broken:
            met.append(None if read_at is None else witnessed_at(pair, arm, read_at, 1))
    if None in met:
        codes.add("EXPOSURE_INCOMPLETE")
    at = None if {"EXPOSURE_INCOMPLETE", "CONTINUITY_BROKEN"} & codes else met[-1]
    return Exposure(frozenset(codes), at, "served_not_exposed" if at is None else None)


def _removed(pair: Pair, arm: Arm, codes: set[str], at: float, *, later: bool) -> Exposure:
    """The policy took the lure out: what the subject does counts from there on, and nothing may have brought it back."""
    if came_all_the_same(pair, arm, later=later):
        return Exposure(frozenset(codes | {"EXPOSURE_INCOMPLETE"}), None, "served_not_exposed")
    return Exposure(frozenset(codes), at, None, removed=True)


def mixed(pair: Pair, arm: Arm, point: Answer) -> bool:
    """A later answer to the same request that the change left as the server sent it, after one that it did not."""
    request = pair.requests(arm)[0]
    later = [c for c in arm.to(pair.read_tool) if c is not request and dumped(c.args) == dumped(request.args)]
    answers = [
        answer for call in later for answer in call.answers if answer.at > point.at and answer.delivered is not None
    ]
    return any(not answer.changed or pair.shows_no_change(answer) for answer in answers)


def witnessed_at(pair: Pair, arm: Arm, at: float, session: int) -> float | None:
    """With a gateway: when a model request of that session that was answered whole first held the marker."""
    if arm.model is None or pair.marker is None:
        return at
    place = arm.sessions[session] if session < len(arm.sessions) else None
    held = [x for x in arm.model if shows(x) and x["session"] == place]
    # Shown before it was served, the marker came from somewhere else; where nothing came back whole, nobody read it.
    first = min((x["request_at"] for x in held), default=at)
    return first if first > at and any(x.get("complete", True) for x in held) else None
