"""Steps 2 and 3, link by link: how far the declared chain got in one arm, and what stopped it.

Every link is evaluated, whatever came before; a link of the exposure is `matched` only after all before it, and a link
of the promotion only after the exposure and after every promotion link that matched before it.
"""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

from oyer.adjudicate.arm import Arm
from oyer.adjudicate.exposure import trace_exposure
from oyer.adjudicate.order import asked_after_exposure, order_reasons
from oyer.adjudicate.tracing import Exposure
from oyer.records import CalledLink, LinkResult, Reason, WitnessedLink

__all__ = ["Walk", "walk_chain"]


class Walk(NamedTuple):
    """The state of every link of one arm, and the promotion found after exposure."""

    exposure: Exposure
    links: tuple[LinkResult, ...]
    reasons: tuple[Reason, ...]
    promoted: bool
    any_promotion: bool
    missing: tuple[str, ...]


class _Match(NamedTuple):
    """The match of a promotion link in its place: its evidence, its moment, its value. `found` are matches anywhere."""

    refs: tuple[str, ...]
    t_ns: int | None
    value: Any
    found: tuple[str, ...]


def walk_chain(arm: Arm) -> Walk:
    """Walk the declared chain in one arm. What links matched is bound in the arm, for links that speak of it."""
    exposure = trace_exposure(arm)
    arm.bindings = dict(exposure.values)
    links = list(exposure.links)
    anchor = exposure.complete_ns
    matched: list[str] = []
    missing: list[str] = []
    for link in arm.case.chain.promotion if arm.case.chain else ():
        match = _called(arm, link, anchor, exposure) if isinstance(link, CalledLink) else _effect(arm, link, anchor)
        state = _state(exposure.complete, bool(match.refs), bool(match.found))
        refs = match.refs or match.found
        links.append(LinkResult(id=link.id, layer=link.layer, stage="promotion", state=state, evidence=refs))
        if state == "matched":
            matched.append(link.id)
            anchor = match.t_ns
            arm.bindings[link.id] = match.value
        else:
            missing.append(link.id)
    reasons = (*exposure.reasons, *order_reasons(arm, exposure))
    return Walk(exposure, tuple(links), reasons, not missing and bool(matched), bool(matched), tuple(missing))


def _state(going: bool, matched: bool, found: bool) -> Literal["matched", "broken", "absent", "not_reached"]:
    """A match elsewhere than in its place is a broken link."""
    if going and matched:
        return "matched"
    if found:
        return "broken"
    return "absent" if going else "not_reached"


def _called(arm: Arm, link: CalledLink, anchor: int | None, exposure: Exposure) -> _Match:
    """A call that a policy refused is an attempt, not a match."""
    calls = [call for call in arm.actions(link) if call.refusal is None]
    found = tuple(ref for call in calls for ref in call.transmissions)
    for call in calls:
        if (
            anchor is not None
            and call.t_ns > anchor
            and link.session in (None, call.session)
            and asked_after_exposure(arm, call, exposure) == "after"
        ):
            return _Match(call.refs, call.t_ns, call.arguments, found)
    return _Match((), None, None, found)


def _effect(arm: Arm, link: WitnessedLink, anchor: int | None) -> _Match:
    effects = arm.effects(link)
    found = tuple(effect.ref for effect in effects)
    for effect in effects:
        if anchor is not None and effect.t_ns > anchor:
            return _Match((effect.ref,), effect.t_ns, effect.content, found)
    return _Match((), None, None, found)
