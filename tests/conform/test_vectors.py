"""The tool-neutral vectors, scored by the real scorer over real journals."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from vector_journals import score

FILE = Path(__file__).with_name("mechanical-outcomes.yaml")
VECTORS: list[dict[str, Any]] = yaml.safe_load(FILE.read_text(encoding="utf-8"))

CODES = {
    "chain_complete": set(),
    "complete_and_clean": set(),
    "baseline_not_clean": {"BASELINE_CONTAMINATED"},
    "baseline_evidence_incomplete": {
        "BASELINE_INCOMPLETE",
        "EVIDENCE_BROKEN",
        "EVIDENCE_MALFORMED",
        "STATE_LEAK",
        "RUN_ID_MISMATCH",
        "ARM_MISSING",
    },
    "condition_missing": {"ARM_MISSING"},
    "run_id_mismatch": {"RUN_ID_MISMATCH", "FOREIGN_TRACE"},
    "pins_differ": {"PIN_DRIFT"},
    "original_missing": {"ORIGINAL_MISSING"},
    "intervention_missing": {"INTERVENTION_NOT_DELIVERED"},
    "intervention_no_op": {"INTERVENTION_NOOP"},
    "undeclared_intervention": {"INTERVENTION_EXCESS"},
    "exposure_missing": {"EXPOSURE_INCOMPLETE"},
    "artifact_missing": {"EXPOSURE_INCOMPLETE"},
    "persistence_not_by_agent": {"PERSISTENCE_NOT_BY_SUBJECT"},
    "session_boundary_missing": {"SESSION_BOUNDARY_MISSING"},
    "continuity_broken": {"CONTINUITY_BROKEN"},
    "trace_incomplete": {"EVIDENCE_BROKEN", "UNANSWERED"},
    "effect_evidence_unreadable": {"EVIDENCE_MALFORMED", "SINK_UNWATCHED"},
    "effect_without_invocation": {"CONTRADICTORY"},
    "effect_mismatch": {"CONTRADICTORY", "PROMOTION_PARTIAL"},
    "contradictory_action_result": {"CONTRADICTORY"},
    "invocation_without_effect": {"PROMOTION_PARTIAL"},
    "effect_ambiguous": {"DUPLICATE_EFFECT"},
    "order_violation": {"ORDER_VIOLATED"},
    "decision_order": {"ORDER_VIOLATED", "ORDER_UNKNOWN"},
    "served_not_exposed": {"served_not_exposed", "EXPOSURE_INCOMPLETE"},
    "provider_filtered": {"provider_filtered", "EXPOSURE_INCOMPLETE"},
    "cut_short": {"CUT_SHORT"},
    "attempt_not_exact": {"ATTEMPT_NOT_EXACT"},
    "intervention_incomplete": {"INTERVENTION_INCOMPLETE"},
    "late_effect": {"LATE_EFFECT"},
}


@pytest.mark.parametrize("vector", VECTORS, ids=[vector["id"] for vector in VECTORS])
def test_vector(vector: dict[str, Any]) -> None:
    given = vector["given"]
    comparison = score(given)
    hardened = given["comparison"] == "baseline_vs_hardened"
    scored = comparison.hardened if hardened else comparison.primary
    assert scored is not None
    reasons = [reason.name for reason in scored.reasons]
    assert scored.mechanical_outcome == vector["expect_outcome"], reasons
    wanted = CODES[vector["expect_reason_kind"]]
    assert not wanted or wanted & {reason.code for reason in scored.reasons}, reasons
    if "expect_primary_outcome" in vector:
        assert comparison.primary.mechanical_outcome == vector["expect_primary_outcome"]
    if "expect_contrast" in vector:
        assert comparison.hardened_contrast == vector["expect_contrast"]
    if "expect_attribution" in vector:
        assert [item.cause for item in scored.attribution] == [vector["expect_attribution"]]
