"""How a subject performed in one trial: `expected`, `forbidden` and `refusal` looked for in its evidence.

Owns when there is anything to decide; the decision is `oyer.adjudicate.performance`. Source: the scoring design,
"Matched sets".
"""

from __future__ import annotations

from oyer.adjudicate.judging import barred
from oyer.adjudicate.performance import decide_performance
from oyer.adjudicate.stimulus import acted
from oyer.observe import TrialFacts, find_evidence
from oyer.records import Performed

__all__ = ["read_performed"]


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
        find_evidence(case.refusal, facts) if case.refusal is not None else None,
    )
    if found.state == "completed" and not acted(facts):
        return Performed(state="failed", evidence=found.evidence, why="it did nothing: what is expected was so before")
    return found
