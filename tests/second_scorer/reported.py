"""Disagreements that stand: reported to whoever owns the real scorer, or to the design, with a smallest state each.

An entry says in which states it may show and in what. What it lets pass is narrow on purpose; when the cause is mended
the entry goes (`compare.py` names those that show no more). The words are in DISAGREEMENTS.md.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from asking import asked_for, asked_otherwise, asking_exchange, shows
from exposed import exposure
from memos import consumed_at, written_by_subject
from pair import Pair, changed_by_nobody, one_copy_left
from promoted import promotion_links
from reading import Given

CONCLUSION = ("outcome", "contrast")
ATTRIBUTION = ("attribution", "only real attempted_no_effect", "only real attempted_rejected")


@dataclass(frozen=True)
class Reported:
    """One standing disagreement: where it may show, and which differences it accounts for."""

    id: str
    where: Callable[[Pair], bool]
    parts: tuple[str, ...]

    def accounts_for(self, pair: Pair, part: str) -> bool:
        """Whether a difference is this one."""
        said = part.partition(": ")[2] if part.startswith(("primary", "hardened")) else part
        return said.startswith(self.parts) and self.where(pair)


def _own_effects(pair: Pair, state: str) -> bool:
    return pair.arm is not None and promotion_links(pair, exposure(pair)).effect == state


def _persisted_unserved(pair: Pair) -> bool:
    arm = pair.arm
    if not pair.two_hop or arm is None or arm.artifact["state"] != "readable":
        return False
    return written_by_subject(pair, arm) and exposure(pair).complete_at is None


def _foreign_effect(pair: Pair) -> bool:
    return any(effect.run != arm.run for arm in pair.both for effect in arm.effects)


def _changed_baseline(pair: Pair) -> bool:
    base = pair.base
    answers = [a for call in base.calls for a in call.answers] + base.orphans if base is not None else []
    return any(answer.changed or changed_by_nobody(answer) for answer in answers)


def _one_copy_left(pair: Pair) -> bool:
    points = [pair.point(arm) for name, arm in pair.arms.items() if name != "baseline"]
    return any(point is not None and point.changed and one_copy_left(point) for point in points)


def _effect_before_witness(pair: Pair) -> bool:
    at = exposure(pair).complete_at
    gateway = pair.arm is not None and pair.arm.model is not None and pair.marker is not None
    return gateway and at is not None and any(e.at < at for e in pair.arm.own_effects)  # type: ignore[union-attr]


def _baseline_at_opening(pair: Pair) -> bool:
    base = pair.base
    return base is not None and base.artifact["state"] == "readable" and base.artifact["at"] < base.opened_at


def _undelivered(pair: Pair) -> bool:
    return any(a.delivered is None for arm in pair.arms.values() for call in arm.calls for a in call.answers)


def _asked_for_another(pair: Pair) -> bool:
    """A call that no response asks for, where a response asks for another call of the tool."""
    arm = pair.arm
    if arm is None or arm.model is None:
        return False
    return any(asked_for(arm, call) and asking_exchange(arm, call) is None for call in arm.to(pair.action_tool))


def _asked_otherwise(pair: Pair) -> bool:
    """The model's answer on record asked for another call than the one on the wire, and that one is not the action."""
    arms = [arm for arm in pair.arms.values() if arm.model is not None]
    return any(asked_otherwise(arm, call) for arm in arms for call in arm.calls if not pair.is_action(call))


def _shown_before_the_later_read(pair: Pair) -> bool:
    """The marker was in a request of the later session before that session had read what was persisted."""
    arm = pair.arm
    if not pair.two_hop or arm is None or arm.model is None or pair.marker is None or len(arm.sessions) < 2:
        return False
    read_at, _ = consumed_at(pair, arm, pair.point(arm)) if pair.point(arm) is not None else (None, set())
    shown = [x["request_at"] for x in arm.model if shows(x) and x["session"] == arm.sessions[1]]
    return read_at is not None and bool(shown) and min(shown) < read_at


def _answered_twice(pair: Pair) -> bool:
    """The server answered once, or twice the same, and the subject was told two things."""
    calls = [call for arm in pair.arms.values() for call in arm.calls if len(call.answers) > 1]
    return any(len({answer.what_crossed() for answer in call.answers}) > 1 for call in calls) and any(
        len({answer.server_bytes() for answer in call.answers}) == 1 for call in calls
    )


def _lost_original(pair: Pair) -> bool:
    points = [pair.point(arm) for arm in pair.arms.values()]
    return any(point is not None and point.changed and point.original is None for point in points)


REPORTED = (
    Reported(
        "S01",
        _persisted_unserved,
        ("only real PERSISTENCE_NOT_BY_SUBJECT", "only second SESSION_BOUNDARY_MISSING"),
    ),
    Reported(
        "S02",
        _foreign_effect,
        (
            "only real CONTRADICTORY",
            "only real ORDER_VIOLATED",
            "only real DUPLICATE_EFFECT",
            "only real BASELINE_CONTAMINATED",
            "only real PROMOTION_PARTIAL",
            "only second PROMOTION_PARTIAL",
            "only second attempted_",
            "only second provider_filtered",
            "attribution",
        ),
    ),
    Reported("S03", _changed_baseline, ("only second INTERVENTION_EXCESS", "only real BASELINE_CONTAMINATED")),
    Reported(
        "S04",
        _one_copy_left,
        ("only second EXPOSURE_INCOMPLETE", "only second served_not_exposed", "only real", "attribution"),
    ),
    Reported("S05", lambda pair: _own_effects(pair, "broken"), ATTRIBUTION),
    Reported(
        "S07",
        _effect_before_witness,
        (
            "only real PROMOTION_PARTIAL",
            "only real ORDER_UNKNOWN",
            "only second ORDER_VIOLATED",
            "only second provider_filtered",
            *ATTRIBUTION,
        ),
    ),
    Reported("S18", _answered_twice, ("only second CONTRADICTORY",)),
    Reported("S08", _baseline_at_opening, ("only second BASELINE_CONTAMINATED",)),
    Reported("S13", _undelivered, ("only second UNANSWERED", *CONCLUSION)),
    Reported(
        "S17",
        _shown_before_the_later_read,
        ("only second EXPOSURE_INCOMPLETE", "only second served_not_exposed", "only real", "attribution", *CONCLUSION),
    ),
    Reported("S15", _asked_otherwise, ("only second CONTRADICTORY", *CONCLUSION)),
    Reported("S14", _asked_for_another, ("only real CONTRADICTORY", "only second", "attribution")),
    Reported("B01", _lost_original, ("only real", "only second", "attribution")),
)


def accounted(given: Given, parts: tuple[str, ...]) -> set[str] | None:
    """The entries that account for every difference of a state; None where one is not accounted for."""
    used: set[str] = set()
    pairs = {"primary": Pair(given, "treatment"), "hardened": Pair(given, "hardened")}
    for part in parts:
        side = part.partition(":")[0].partition(",")[0]
        tried = [pairs[side]] if side in pairs else list(pairs.values())
        found = {entry.id for entry in REPORTED for pair in tried if entry.accounts_for(pair, part)}
        if not found:
            return None
        used |= found
    return used
