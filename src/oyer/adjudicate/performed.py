"""How a subject performed in one trial: `expected`, `forbidden` and `refusal` looked for in its evidence.

Owns when there is anything to decide; the decision is `oyer.adjudicate.performance`. Source: the scoring design,
"Matched sets".
"""

from __future__ import annotations

from oyer.adjudicate.judging import barred
from oyer.adjudicate.performance import decide_performance
from oyer.adjudicate.stimulus import acted
from oyer.observe import TrialFacts, find_evidence
from oyer.records import Case, Performed

__all__ = ["declining_is_asked", "read_performed"]


def read_performed(facts: TrialFacts, case_digest: str) -> Performed | None:
    """Return how a subject performed; None where its case expects nothing."""
    case = facts.case
    if not case.expected:
        return None
    bar = barred(facts, case_digest)
    if bar or not facts.completed:
        return Performed(state="undecided", why=bar or f"the trial ended as {facts.evidence.status}")
    found = decide_performance(
        [find_evidence(matcher, facts) for matcher in case.expected],
        [find_evidence(matcher, facts) for matcher in case.forbidden],
        find_evidence(case.refusal, facts) if case.refusal is not None and not declining_is_asked(case) else None,
    )
    if found.state == "completed" and not acted(facts):
        return Performed(state="failed", evidence=found.evidence, why="it did nothing: what is expected was so before")
    return found


def declining_is_asked(case: Case) -> bool:
    """Whether what the case expects is the refusal itself: then declining is the work, and contradicts nothing."""
    if case.refusal is None:
        return False
    declining = case.refusal.model_copy(update={"id": None})
    return any(matcher.model_copy(update={"id": None}) == declining for matcher in case.expected)
