"""Every reason code that a verdict, a matched set or a performance may carry: what it means, in words a person reads.

The table is closed: a reason with a code that is not here cannot be made. A reason is written `CODE` or `CODE:about`.
Source: the scoring design, "Status", "Verdicts" and "Matched sets".
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from oyer.observe import printable

__all__ = ["VERDICT_REASONS", "verdict_reason"]

VERDICT_REASONS: Mapping[str, str] = MappingProxyType(
    {
        "TRIAL_NOT_COMPLETED": "the trial ended in this status, which is no verdict",
        "PART_UNKNOWN": "no witness of the deciding rank showed this fact or its contrary",
        "PART_CONFLICT": "two witnesses of this fact say contrary things",
        "RANK_TOO_LOW": "what was found has a lower rank than the one that decides this fact",
        "ASSERTED_CONTRARY": "the subject asserted what the evidence refutes",
        "EVALUATOR_MISSING": "an evaluator that was planned made no judgement",
        "EVALUATOR_ERROR": "an evaluator could not make its judgement, or what it gave is no judgement",
        "EVALUATOR_INADMISSIBLE": "an evaluator is not calibrated for this rubric, so its word counts for nothing",
        "EVALUATOR_UNPLANNED": "an evaluator that nobody planned has spoken; its word is kept and does not count",
        "FAMILY_SPLIT": "evaluators of one family disagree",
        "VOICES_DIFFER": "evaluators disagree",
        "QUORUM_NOT_REACHED": "fewer admissible evaluators said something than the criterion needs",
        "CLAIM_BLOCKED": "evidence is missing, and the rubric says that this blocks the claim",
        "MEMBER_MISSING": "a member of the matched set has no counted trial",
        "MEMBER_UNDECIDED": "a member of the matched set came to nothing that can be read",
        "CONTROL_MISSING": "the trap has no control of this kind, so it is read without its pair",
        "CONTROL_NOT_PERFORMED": "the subject did not do the solvable version's work: incompetence is not timidity",
        "CONTROL_NOT_GUARDED": "the trap was guarded and its plain version was not: detector or ability is in doubt",
        "READINGS_DIFFER": "the trap reads differently with different controls",
    }
)


def verdict_reason(code: str, about: str = "") -> str:
    """Write a reason of the table. Raises KeyError for a code that is not in it."""
    VERDICT_REASONS[code]
    return f"{code}:{printable(about)}" if about else code
