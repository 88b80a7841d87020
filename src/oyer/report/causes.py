"""What stands beside a matched set: why a member of it is undecided, and whether its trap broke without the nudges too.

Owns the words. Must never name a cause that no outcome on record has, or take a neutral arm that is not known for one
that held.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from oyer.records import ClaimVerdict, Comparison, MatchedSet, Outcome, SetMember, TrialError
from oyer.report.page import Segment, say

__all__ = ["Beside", "cause_of"]

_DECIDED = frozenset({"PASS", "FAIL", "CONTRADICTED"})


Key = tuple[str, str, int]
"""A case, a subject and a repetition."""


class Beside(NamedTuple):
    """The outcomes of a series by trial; its neutral arms, and its comparisons, by case, subject and repetition."""

    outcomes: Mapping[str, Outcome] = {}
    neutral: Mapping[Key, Outcome] = {}
    compared: Mapping[Key, Comparison] = {}

    @classmethod
    def of(cls, outcomes: Mapping[str, Outcome], comparisons: Iterable[Comparison] = ()) -> Beside:
        """Look up what a page of sets says of their trials."""
        told = (one for one in outcomes.values() if one.condition == "neutral")
        return cls(
            outcomes,
            {(one.case, one.subject, one.repetition): one for one in told},
            {(one.case, one.subject, one.repetition): one for one in comparisons},
        )

    def cause(self, found: MatchedSet, member: SetMember) -> str:
        """Say what makes a member of a set undecided; of an experiment the first reason of its comparison."""
        compared = self.compared.get((member.case, found.subject, found.repetition))
        scored = None if compared is None or member.role == "negative" else compared.primary
        if scored is not None and scored.mechanical_outcome == "INCONCLUSIVE" and scored.reasons:
            first = scored.reasons[0]
            return f"INCONCLUSIVE: {first.name}" + (f" in the {first.arm} arm" if first.arm else "")
        return cause_of(member, self.outcomes)

    def reasons(self, found: MatchedSet) -> tuple[str, ...]:
        """Return the reasons of a set; of every undecided member with what it is undecided by."""
        lacking = {f"MEMBER_UNDECIDED:{one.case}": self.cause(found, one)
                   for one in found.members if one.state == "undecided"}  # fmt: skip
        return tuple(f"{one} ({lacking[one]})" if lacking.get(one) else one for one in found.reasons)

    def neutral_words(self, sets: Sequence[MatchedSet]) -> list[Segment]:
        """Say of sets that read as yielding under pressure how many broke in their neutral arm as well."""
        yielding = [one for one in sets if one.reading == "YIELDS_UNDER_PRESSURE"]
        arms = [self.neutral.get((one.trap, one.subject, one.repetition)) for one in yielding]
        states = [_broke(one) for one in arms if one is not None]
        if not any(states):
            open_ = states.count(None)
            several = f" in {open_} of {len(yielding)}" if len(yielding) > 1 else ""
            told = f"whether it breaks without the nudges too is undecided{several} (neutral arm)"
            return [say(told, "warn")] if open_ else []
        several = f" in {states.count(True)} of {len(yielding)}" if len(yielding) > 1 else ""
        open_words = f", {states.count(None)} undecided" if None in states else ""
        return [say(f"also broke without the nudges{several}{open_words} (neutral arm)", "warn")]


def _broke(arm: Outcome) -> bool | None:
    if arm.pressure is None:
        return None
    return True if arm.pressure.first_break is not None else False if arm.pressure.survived else None


def cause_of(member: SetMember, outcomes: Mapping[str, Outcome]) -> str:
    """Say what makes a member undecided: status and first fault, or the claim and what it lacks; else its word."""
    told = [outcomes[name] for name in member.trials if name in outcomes]
    if not told:
        return "no trial of it is on record" if member.by == "MEMBER_MISSING" else member.by
    broken = next((one for one in told if one.status != "completed"), None)
    if broken is not None:
        fault = broken.error or next(iter(broken.faults), None)
        return broken.status if fault is None else f"{broken.status}: {_fault(fault)}"
    if member.role == "negative":
        why = next((one.performed.why for one in told if one.performed is not None), "")
        return why or member.by
    lacking = [claim for one in told for claim in one.verdicts
               if claim.verdict not in _DECIDED or not claim.may_be_cited]  # fmt: skip
    return _lacks(lacking[0]) if lacking else member.by


def _fault(fault: TrialError) -> str:
    return f"{fault.error_class} at {fault.where}"


def _lacks(claim: ClaimVerdict) -> str:
    """A claim with its verdict, and the first thing that keeps it from being decided."""
    told = f"{claim.claim} {claim.verdict}"
    if claim.verdict in _DECIDED:
        return f"{told}, which may not be cited"
    for criterion in claim.criteria:
        if criterion.verdict not in _DECIDED:
            why = next((part.why for part in criterion.parts if part.why), "") or ", ".join(criterion.reasons)
            return f"{told}, {criterion.criterion}: {why}" if why else f"{told}, {criterion.criterion}"
    return f"{told}, {', '.join(claim.reasons)}" if claim.reasons else told
