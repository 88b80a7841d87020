"""One arm of a comparison: its sealed evidence, read once, and the questions every rule asks of it."""

from __future__ import annotations

from functools import cached_property
from typing import Any

from oyer.adjudicate.pins import observed_pins
from oyer.observe import (
    Bindings,
    Effect,
    Exchange,
    TrialEvidence,
    TrialFacts,
    call_failed,
    call_matches,
    match_json,
    protocol_selector,
    selects,
)
from oyer.records import CalledLink, Case, Condition, EvidenceMatcher, PinSet, WitnessedLink, fill_matcher

__all__ = ["Arm", "call_failed", "call_matches", "effect_matches"]


class Arm(TrialFacts):
    """A condition with the evidence of its one counted attempt. Every view is computed once, on demand.

    `bindings` holds what earlier links matched, for patterns that speak of another link; the walk along the chain
    fills it.
    """

    def __init__(
        self,
        condition: Condition,
        trial: str,
        attempt: int,
        evidence: TrialEvidence,
        *,
        case: Case,
        case_digest: str,
        stored: str | None,
    ) -> None:
        super().__init__(case, evidence)
        self.condition = condition
        self.trial = trial
        self.attempt = attempt
        self.case_digest = case_digest
        self.stored = stored
        self.bindings: dict[str, Any] = {}

    def anew(self, case: Case) -> Arm:
        """Return this arm as if it had just been read, for a case that differs in nothing that is seen of it."""
        arm = self.of_case(case)
        arm.bindings = {}
        return arm

    @cached_property
    def pins(self) -> PinSet:
        """The pinned fields as this arm's evidence shows them."""
        return observed_pins(self)

    @cached_property
    def declared(self) -> tuple[Exchange, ...]:
        """The requests at which the change is declared, whatever occurrence, in order; a call sent again is one."""
        if self.case.intervention is None:
            return ()
        if self.case.intervention.at.gateway:
            return self.shown.results
        selector = protocol_selector(self.case.intervention.at)
        return tuple(e for e in self.wire.exchanges if selects(selector, e))

    @cached_property
    def reached(self) -> tuple[Exchange, ...]:
        """The declared occurrences themselves: one exchange, or with `every` all of them; empty if never reached."""
        at = self.case.intervention.at if self.case.intervention else None
        if at is None:
            return ()
        if at.occurrence == "every":
            return self.declared
        return self.declared[at.occurrence - 1 : at.occurrence]

    def place_of(self, session: str | None) -> int | None:
        """The place of a session in the order the Case declares, None where it is no session of the Case."""
        names = [declared.id for declared in self.case.sessions]
        return names.index(session) if session in names else None

    def actions(self, link: CalledLink) -> tuple[Exchange, ...]:
        """Every call that is exactly the action, in any session, in order."""
        return tuple(
            e
            for e in self.wire.exchanges
            if e.server == link.called.server
            and e.tool == link.called.tool
            and match_json(
                link.arguments, e.arguments, exact=True, allow_extra=link.allow_extra, bindings=self.bindings
            )
        )

    def all_actions(self) -> tuple[Exchange, ...]:
        """Every call that is exactly an action of the chain, in order of the links."""
        links = self.case.chain.promotion if self.case.chain else ()
        return tuple(call for link in links if isinstance(link, CalledLink) for call in self.actions(link))

    def attempts(self, link: CalledLink) -> tuple[Exchange, ...]:
        """Every call that matches the Case's `attempt` (by default the action's tool), benign ones apart."""
        matchers = tuple(self._placed(m) for m in self.case.attempt) or (EvidenceMatcher(called=link.called),)
        benign = tuple(m for m in (fill_matcher(m, self.drawn) for m in self.case.benign) if m is not None)
        return tuple(
            e
            for e in self.wire.exchanges
            if any(call_matches(m, e) for m in matchers) and not any(call_matches(m, e) for m in benign)
        )

    def _placed(self, matcher: EvidenceMatcher) -> EvidenceMatcher:
        """Put in what was drawn. Where that is not on record, every call of the tool is one: none is overlooked."""
        return fill_matcher(matcher, self.drawn) or EvidenceMatcher(called=matcher.called)

    def foreign(self, effect: Effect) -> str:
        """Say why an effect is not on record as this run's; empty where it is. The place of a world sink is its own."""
        declared = self.case.sinks.get(effect.sink)
        placed = declared is not None and declared.kind == "world"
        return effect.foreign_to(self.evidence.run, placed=placed)

    def own_effects(self, sink: str) -> tuple[Effect, ...]:
        """Every effect of a sink that is on record as this run's. What another run did is no effect of this one."""
        watch = self.watches.get(sink)
        return tuple(effect for effect in watch.effects if not self.foreign(effect)) if watch else ()

    def effects(self, link: WitnessedLink) -> tuple[Effect, ...]:
        """Every effect of this run in the link's sink that is exactly the declared one."""
        return tuple(e for e in self.own_effects(link.witnessed) if effect_matches(link, e, self.bindings))


def effect_matches(link: WitnessedLink, effect: Effect, bindings: Bindings) -> bool:
    """Whether an effect is exactly the declared one."""
    return effect.readable and match_json(
        link.match, effect.content, exact=True, allow_extra=link.allow_extra, bindings=bindings
    )
