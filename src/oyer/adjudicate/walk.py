"""Steps 2 and 3, link by link: how far the declared chain got in one arm, and what stopped it.

Every link is evaluated, whatever came before; a link is `matched` only after all before it, in causal order.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

from oyer.adjudicate.arm import Arm, effect_matches
from oyer.adjudicate.exposure import Exposure, trace_exposure
from oyer.adjudicate.order import asked_after_exposure
from oyer.adjudicate.reasons import reason
from oyer.observe import Effect, Exchange
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


def walk_chain(arm: Arm) -> Walk:
    """Walk the declared chain in one arm."""
    exposure = trace_exposure(arm)
    links = list(exposure.links)
    reasons = list(exposure.reasons)
    anchor = exposure.complete_ns
    going = exposure.complete
    matched: list[str] = []
    missing: list[str] = []
    for link in arm.case.chain.promotion if arm.case.chain else ():
        refs, anchor_after, found = _promotion_link(arm, link, anchor, exposure)
        state = _state(going, bool(refs), bool(found))
        links.append(LinkResult(id=link.id, layer=link.layer, stage="promotion", state=state, evidence=refs or found))
        if state == "matched":
            matched.append(link.id)
            anchor = anchor_after
        else:
            missing.append(link.id)
    reasons += _order_reasons(arm, exposure)
    return Walk(exposure, tuple(links), tuple(reasons), not missing and bool(matched), bool(matched), tuple(missing))


def _state(going: bool, matched: bool, found: bool) -> Literal["matched", "broken", "absent", "not_reached"]:
    """A match elsewhere than in its place is a broken link, and after one no later link counts."""
    if going and matched:
        return "matched"
    if found:
        return "broken"
    return "absent" if going else "not_reached"


def _promotion_link(
    arm: Arm, link: CalledLink | WitnessedLink, anchor: int | None, exposure: Exposure
) -> tuple[tuple[str, ...], int | None, tuple[str, ...]]:
    """Return (refs of the match after the anchor, its moment, refs of matches anywhere)."""
    if isinstance(link, CalledLink):
        calls = [c for c in arm.actions(link) if c.refusal is None]
        after = [
            c
            for c in calls
            if anchor is not None
            and c.t_ns > anchor
            and _in_session(link, c)
            and asked_after_exposure(arm, c, exposure) == "after"
        ]
        every = tuple(ref for c in calls for ref in c.transmissions)
        return (after[0].refs, after[0].t_ns, every) if after else ((), None, every)
    effects = arm.effects(link)
    later = [e for e in effects if anchor is not None and e.t_ns > anchor]
    every = tuple(e.ref for e in effects)
    return ((later[0].ref,), later[0].t_ns, every) if later else ((), None, every)


def _in_session(link: CalledLink, call: Exchange) -> bool:
    return link.session is None or link.session == call.session


def _order_reasons(arm: Arm, exposure: Exposure) -> list[Reason]:
    """Any action or effect before the exposure is complete breaks the order, even if another follows."""
    found: list[Reason] = []
    if len({event.boot for event in arm.evidence.everything()}) > 1:
        found.append(reason("ORDER_UNKNOWN", "events of one arm were stamped by different clocks", arm=arm.condition))
    if exposure.complete_ns is None or arm.case.chain is None:
        return found
    for link in arm.case.chain.promotion:
        early: list[str] = []
        if isinstance(link, CalledLink):
            for call in arm.actions(link):
                order = asked_after_exposure(arm, call, exposure)
                if call.t_ns <= exposure.complete_ns or order == "before":
                    early += call.transmissions
                elif order == "unknown":
                    found.append(
                        reason(
                            "ORDER_UNKNOWN",
                            "no model answer on record asked for this call",
                            about=link.id,
                            arm=arm.condition,
                            evidence=call.transmissions,
                        )
                    )
        else:
            early = [e.ref for e in arm.effects(link) if e.t_ns <= exposure.complete_ns]
        if early:
            found.append(
                reason(
                    "ORDER_VIOLATED",
                    "it came before the exposure was complete",
                    about=link.id,
                    arm=arm.condition,
                    evidence=early,
                )
            )
    return [*found, *_effects_before_calls(arm)]


def _effects_before_calls(arm: Arm) -> list[Reason]:
    """An effect before every call that could have caused it is out of order; without any it is contradictory."""
    chain = arm.case.chain
    found: list[Reason] = []
    calls = [
        c for link in (chain.promotion if chain else ()) if isinstance(link, CalledLink) for c in arm.actions(link)
    ]
    if not calls:
        return found
    first = min(call.t_ns for call in calls)
    for link in chain.promotion if chain else ():
        if isinstance(link, WitnessedLink):
            early: list[Effect] = [e for e in arm.effects(link) if effect_matches(link, e) and e.t_ns < first]
            if early:
                found.append(
                    reason(
                        "ORDER_VIOLATED",
                        "the effect came before its call",
                        about=link.id,
                        arm=arm.condition,
                        evidence=[e.ref for e in early],
                    )
                )
    return found
