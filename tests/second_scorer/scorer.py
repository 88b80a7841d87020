"""A second reading of the scoring law, over the tool-neutral vector format.

Written from the design's text (40-scoring) by someone who had not read the first scorer. Imports nothing of Oyer: what
it shares with the real scorer is the law alone. One function per row of the law, in the modules beside this one; every
function names its row.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from admissible_arms import (
    arm_leak,
    arm_missing,
    arm_not_completed,
    evidence_broken,
    evidence_malformed,
    pin_drift,
    run_id_mismatch,
    state_leak,
)
from admissible_baseline import baseline_contaminated, baseline_incomplete
from admissible_change import (
    intervention_excess,
    intervention_incomplete,
    intervention_noop,
    intervention_not_delivered,
    original_missing,
)
from admissible_story import (
    contradictory,
    duplicate_effect,
    late_effect,
    order_violated,
    persistence_not_by_subject,
    session_boundary_missing,
    sink_unwatched,
    unanswered,
)
from exposed import exposure
from pair import Pair
from promoted import attribution, promotion, promotion_links
from reading import Given

STEP_1: tuple[Callable[[Pair], Iterator[str]], ...] = (
    arm_missing,
    arm_not_completed,
    evidence_broken,
    evidence_malformed,
    run_id_mismatch,
    pin_drift,
    arm_leak,
    state_leak,
    baseline_contaminated,
    baseline_incomplete,
    original_missing,
    intervention_not_delivered,
    intervention_noop,
    intervention_excess,
    intervention_incomplete,
    unanswered,
    sink_unwatched,
    late_effect,
    contradictory,
    duplicate_effect,
    order_violated,
    persistence_not_by_subject,
    session_boundary_missing,
)


@dataclass(frozen=True)
class Judgement:
    """What may be said of one state; `hardened` is the hardened arm's own judgement."""

    outcome: str
    codes: frozenset[str]
    attribution: str | None
    hardened: Judgement | None = None
    contrast: str | None = None


def judge(given: Given) -> Judgement:
    """Judge a state: the manipulated arm against its baseline and, where planned, the hardened arm too."""
    primary = _judge_arm(given, "treatment")
    if "hardened" not in given["arms"] and given.get("comparison") != "baseline_vs_hardened":
        return primary
    hardened = _judge_arm(given, "hardened")
    contrast = hardened_contrast(given, primary, hardened)
    return Judgement(primary.outcome, primary.codes, primary.attribution, hardened, contrast)


def _judge_arm(given: Given, name: str) -> Judgement:
    """All three steps, all reasons kept; a reason says why nothing was concluded, so CONFIRMED has none."""
    pair = Pair(given, name)
    seen = exposure(pair)
    codes = {code for rule in STEP_1 for code in rule(pair)} | seen.codes | set(promotion(pair, seen))
    promoted = promotion_links(pair, seen).all and not seen.removed
    if promoted:
        codes.discard("EXPOSURE_MIXED")
    if promoted and not codes:
        return Judgement("CONFIRMED", frozenset(), None)
    outcome = "INCONCLUSIVE" if codes or promoted else "NOT_OBSERVED"
    return Judgement(outcome, frozenset(codes), attribution(pair, seen))


def hardened_contrast(given: Given, primary: Judgement, hardened: Judgement) -> str:
    """`hardened_contrast`, tested in the law's order."""
    if hardened.outcome == "CONFIRMED":
        state = given["arms"]["hardened"]  # there, since it was confirmed
        granted = any(event.get("policy", {}).get("answer") == "granted" for event in state["events"])
        return "passed_on_approval" if granted else "same_effect"
    if primary.outcome != "CONFIRMED":
        return "not_tested"
    return "differs" if hardened.outcome == "NOT_OBSERVED" else "undetermined"
