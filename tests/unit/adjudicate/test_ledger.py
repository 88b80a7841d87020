"""The conserved count, and what counts as spontaneous."""

from __future__ import annotations

import pytest
from evidence_kit import (
    CLEAN_MEMO,
    Story,
    make_case,
    memo_case,
    memo_story,
    score,
    status_story,
)
from set_kit import case_of, claim_of

from oyer.adjudicate import LedgerCount, count_ledger, planned_claims, require_conserved
from oyer.errors import EvidenceError
from oyer.records import Comparison, Exclusion, Outcome, Plan, PlannedCase, PlannedTrial

DIGEST = "sha256:" + "0" * 64


def plan_of(count: int) -> Plan:
    trials = tuple(
        PlannedTrial(
            trial=f"t{n}", position=n, case="c", case_digest=DIGEST, subject="s", repetition=n + 1, condition="baseline"
        )
        for n in range(count)
    )
    return Plan(cases=(PlannedCase(id="c", revision=1, digest=DIGEST),), subjects=("s",), seed=0, trials=trials)


def outcome_of(trial: str, status: str = "completed") -> Outcome:
    return Outcome(
        trial=trial,
        run="r",
        case="c",
        case_digest=DIGEST,
        subject="s",
        repetition=1,
        condition="baseline",
        attempt=1,
        attempts=1,
        status=status,  # type: ignore[arg-type]
        evidence=None,
    )


def counted(*comparisons: Comparison) -> LedgerCount:
    return count_ledger(plan_of(1), (), comparisons)


def test_every_planned_trial_is_in_exactly_one_row() -> None:
    statuses = ("completed", "subject_error", "harness_error", "evaluator_error", "blocked")
    outcomes = [outcome_of(f"t{n}", status) for n, status in enumerate(statuses)]
    count = count_ledger(plan_of(7), outcomes, ())
    rows = {"completed": 2, "subject_error": 1, "harness_error": 1, "blocked": 1, "not_run": 2}
    assert count.trials == rows, "an evaluator's trouble comes after a trial that completed"
    assert sum(count.trials.values()) == count.planned == 7
    assert count.missing == ("t5", "t6")


def test_an_outcome_that_nobody_planned_is_named_and_counted_nowhere() -> None:
    count = count_ledger(plan_of(1), [outcome_of("t0"), outcome_of("t9")], ())
    assert (sum(count.trials.values()), count.missing, count.unplanned) == (1, (), ("t9",))


def test_comparisons_are_exposed_or_unexposed_by_a_reason() -> None:
    case, memo = make_case(), memo_case()
    silent = score(case, status_story(case, "baseline"), status_story(case))
    clean = score(memo, memo_story(memo, "baseline"), memo_story(memo, memo=CLEAN_MEMO))
    absent = score(case, status_story(case, "baseline"))
    count = counted(silent, clean, absent)
    assert (count.exposed, count.unexposed) == (1, 2)
    assert count.unexposed_by == {"ARM_MISSING:manipulated": 1, "EXPOSURE_INCOMPLETE:memo": 1}
    assert count.comparisons == {"CONFIRMED": 0, "NOT_OBSERVED": 1, "INCONCLUSIVE": 2}


def test_what_no_model_request_shows_is_not_exposed() -> None:
    case = make_case()
    story = Story(case, gateway=True)
    with story.session("a"):
        story.call("read_status", says="status: pending review")
        story.messages[-1] = {"role": "tool", "content": "cut"}
    baseline = Story(case, "baseline", gateway=True)
    with baseline.session("a"):
        baseline.call("read_status", says="status: pending review")
    count = counted(score(case, baseline, story))
    assert (count.exposed, count.unexposed_by) == (0, {"EXPOSURE_INCOMPLETE:modified": 1})


def test_a_baseline_that_acted_or_cannot_be_decided_is_spontaneous() -> None:
    case = make_case()
    treated = status_story(case, acts=True)
    acted = score(case, status_story(case, "baseline", acts=True), treated)
    broken = status_story(case, "baseline")
    broken.status = "subject_error"
    undecided = score(case, broken, treated)
    missing = score(case, treated)
    good = score(case, status_story(case, "baseline"), treated)
    count = counted(acted, undecided, missing, good)
    assert (count.spontaneous, count.baselines) == (3, 4)


def test_trouble_of_the_treated_arm_is_not_laid_to_the_baseline() -> None:
    case = make_case()
    broken = status_story(case)
    broken.status = "harness_error"
    assert counted(score(case, status_story(case, "baseline"), broken)).spontaneous == 0


def test_an_empty_series() -> None:
    count = count_ledger(plan_of(1), (), ())
    assert (count.exposed, count.unexposed, count.spontaneous, count.baselines) == (0, 0, 0, 0)


def judged(trial: str, *claims: str, status: str = "completed") -> Outcome:
    return outcome_of(trial, status).model_copy(update={"verdicts": tuple(claim_of(name, "PASS") for name in claims)})


def test_what_completed_was_judged_or_could_not_be() -> None:
    told = [judged("t0", "a", "b"), judged("t1", "a", status="evaluator_error"), outcome_of("t2", "subject_error")]
    count = count_ledger(plan_of(3), told, (), claims={"c": ["a", "b"]})
    assert (count.judged, count.evaluator_error, count.unjudged) == (1, 1, ())
    assert count.trials["completed"] == count.judged + count.evaluator_error
    require_conserved(count)
    assert count_ledger(plan_of(1), [outcome_of("t0")], ()).judged == 1, "nothing was to be judged"


def test_a_missing_row_cannot_be_closed_and_is_named() -> None:
    told = [judged("t0", "a"), judged("t1", "a", "b"), outcome_of("t9")]
    count = count_ledger(plan_of(4), told, (), claims={"c": ["a", "b"]})
    with pytest.raises(EvidenceError, match="E-LEDGER-CONSERVED") as caught:
        require_conserved(count, on_record={"t3"})
    assert [one.message for one in caught.value.problems] == [
        "trial t2 is planned, and neither an outcome nor a reason is on record",
        "trial t9 has an outcome, and is in no plan",
        "trial t0 completed, and is neither judged nor an evaluator_error",
    ]


def test_counts_that_do_not_add_up_cannot_be_closed() -> None:
    whole = count_ledger(plan_of(2), [judged("t0"), judged("t1")], ())
    require_conserved(whole)
    for broken in (whole._replace(planned=3), whole._replace(judged=1)):
        with pytest.raises(EvidenceError, match="E-LEDGER-CONSERVED"):
            require_conserved(broken)


def test_an_exclusion_is_counted_by_its_rule_and_leaves_no_row() -> None:
    rules = [
        Exclusion(id="down", status="blocked", why="the licence server"),
        Exclusion(id="never", status="harness_error", why="known trouble"),
    ]
    count = count_ledger(plan_of(2), [outcome_of("t0", "blocked"), outcome_of("t1")], (), exclude=rules)
    assert count.excluded == {"down": 1, "never": 0}
    assert (sum(count.trials.values()), count.trials["blocked"], count.judged) == (2, 1, 1)


def test_only_claims_whose_rubric_is_planned_are_to_be_judged() -> None:
    case = case_of("c", claims=[{"id": "a", "text": "x", "rubric": "r"}, {"id": "b", "text": "x", "rubric": "other"}])
    plan = plan_of(1).model_copy(update={"rubrics": {"r": DIGEST}})
    assert planned_claims(plan, {"c": case}) == {"c": ("a",)}
