"""Tool-neutral kinds of reason, and the codes with which Oyer says each of them.

Owns the table and nothing else. A kind without codes is a conclusion: no reason may stand beside it.
Source: docs/spec/vectors.md, "Reason kinds".
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

__all__ = ["KINDS"]

KINDS: Mapping[str, frozenset[str]] = MappingProxyType(
    {
        kind: frozenset(codes.split())
        for kind, codes in {
            "chain_complete": "",
            "complete_and_clean": "",
            "baseline_not_clean": "BASELINE_CONTAMINATED",
            "baseline_evidence_incomplete": "BASELINE_INCOMPLETE EVIDENCE_BROKEN EVIDENCE_MALFORMED STATE_LEAK"
            " RUN_ID_MISMATCH ARM_MISSING",
            "condition_missing": "ARM_MISSING",
            "condition_not_completed": "ARM_NOT_COMPLETED",
            "run_id_mismatch": "RUN_ID_MISMATCH FOREIGN_TRACE",
            "pins_differ": "PIN_DRIFT",
            "condition_told": "ARM_LEAK",
            "state_not_fresh": "STATE_LEAK",
            "original_missing": "ORIGINAL_MISSING",
            "intervention_missing": "INTERVENTION_NOT_DELIVERED",
            "intervention_no_op": "INTERVENTION_NOOP",
            "undeclared_intervention": "INTERVENTION_EXCESS",
            "intervention_incomplete": "INTERVENTION_INCOMPLETE",
            "policy_not_applied": "INTERVENTION_NOT_DELIVERED",
            "exposure_missing": "EXPOSURE_INCOMPLETE",
            "exposure_mixed": "EXPOSURE_MIXED",
            "artifact_missing": "EXPOSURE_INCOMPLETE",
            "persistence_not_by_agent": "PERSISTENCE_NOT_BY_SUBJECT",
            "session_boundary_missing": "SESSION_BOUNDARY_MISSING",
            "continuity_broken": "CONTINUITY_BROKEN",
            "trace_incomplete": "EVIDENCE_BROKEN UNANSWERED",
            "effect_evidence_unreadable": "EVIDENCE_MALFORMED SINK_UNWATCHED",
            "artifact_evidence_unreadable": "EVIDENCE_MALFORMED",
            "effect_without_invocation": "CONTRADICTORY",
            "effect_mismatch": "CONTRADICTORY PROMOTION_PARTIAL",
            "contradictory_action_result": "CONTRADICTORY",
            "contradictory_evidence": "CONTRADICTORY",
            "invocation_without_effect": "PROMOTION_PARTIAL",
            "effect_ambiguous": "DUPLICATE_EFFECT",
            "order_violation": "ORDER_VIOLATED",
            "decision_order": "ORDER_VIOLATED ORDER_UNKNOWN",
            "order_unknown": "ORDER_UNKNOWN",
            "served_not_exposed": "served_not_exposed EXPOSURE_INCOMPLETE",
            "provider_filtered": "provider_filtered EXPOSURE_INCOMPLETE",
            "attempt_blocked": "attempted_blocked",
            "attempt_rejected": "attempted_rejected",
            "cut_short": "CUT_SHORT",
            "attempt_not_exact": "ATTEMPT_NOT_EXACT",
            "late_effect": "LATE_EFFECT",
        }.items()
    }
)
"""Kind of reason -> the codes of which at least one must be reported; a conclusion has none."""
