"""Faults of other harnesses, by the ids of the field's list, and the right value for each that is pure judgement."""

from __future__ import annotations

from fractions import Fraction
from statistics import pstdev

import pytest
from gate_kit import gate, series
from set_kit import case_of, outcome_of, plan_of
from verdict_kit import CLAIM, DIGEST, criterion_of, judged, judgement_of, rubric_of

from oyer.adjudicate import (
    ClaimInput,
    control_member,
    count_ledger,
    gates_exit_code,
    guard_member,
    judge_claim,
    rate_sentence,
    require_conserved,
    statistics_of,
    tallies,
)
from oyer.errors import EvidenceError
from oyer.records import Evaluator, Plan
from oyer.stats import agreement
from oyer.stats.draws import mean_resamples


def test_eval_01_what_crashed_stays_in_the_denominator() -> None:
    """50 planned: 33 pass, 11 fail, 6 end in an infrastructure error. Never a bare 0.75: 0.66 to 0.78."""
    told = [outcome_of("c", n, said="PASS") for n in range(1, 34)]
    told += [outcome_of("c", n, said="FAIL") for n in range(34, 45)]
    told += [outcome_of("c", n, "harness_error", said="UNKNOWN") for n in range(45, 51)]
    case = case_of("c", claims=[{"id": "said", "text": "x", "rubric": "r"}])
    plan = plan_of(["c"], 50).model_copy(update={"rubrics": {"r": DIGEST}})
    (tally,) = tallies(series(plan, told), {"c": case})
    assert tally.line == "50 planned = FAIL 11 + PASS 33 + undecided 6 (harness_error 6)"
    assert tally.rate("PASS").bounds == (Fraction(33, 50), Fraction(39, 50))
    said = rate_sentence("PASS", tally.rate("PASS"))
    assert "0.66" in said
    assert "0.78" in said
    assert "0.75" not in said


def test_eval_05_a_trial_has_one_slot_and_a_second_result_for_it_cannot_be_closed() -> None:
    plan = plan_of(["c"], 2)
    stale, late = outcome_of("c", 1, "harness_error"), outcome_of("c", 1)
    count = count_ledger(plan, [stale, late, outcome_of("c", 2)], ())
    assert sum(count.trials.values()) == count.planned == 2, "counts never go over the plan"
    assert count.twice == ("c.s.r1.plain",)
    with pytest.raises(EvidenceError, match=r"c\.s\.r1\.plain has more than one outcome"):
        require_conserved(count)


REPLIES = {
    "an empty reply": "",
    "a refusal": "Sorry, I will not grade that.",
    "a cut reply": '{"verdict": "PASS"',
    "a reply in another form": "**Grade: C**",
    "no reply": "HTTP 429",
}


@pytest.mark.parametrize("status", ["completed", "evaluator_error"])
@pytest.mark.parametrize(("why", "reply"), REPLIES.items())
def test_eval_07_a_judge_that_gave_no_judgement_grades_nobody(why: str, reply: str, status: str) -> None:
    rubric = rubric_of(criterion_of(evaluators=("judge",)), criterion_of(name="own"), claim="any")
    judge = Evaluator(id="judge", kind="model", model="m", prompt=DIGEST)
    told = judgement_of(evaluator="judge", error=f"{why}: {reply!r}")
    for calibrated in ((), ("judge",)):
        found = judge_claim(
            ClaimInput(
                CLAIM, rubric, DIGEST, status, [told, judgement_of(judged("refuted", 0, "own"))], {"judge": judge},
                calibrated,
            )  # type: ignore[arg-type]
        )  # fmt: skip
        assert [one.verdict for one in found.verdict.criteria] == ["UNKNOWN", "FAIL"]
        assert found.verdict.verdict == "UNKNOWN", "never a FAIL for a judge's silence, and never a half"
        assert found.errors == (f"judge: {why}: {reply!r}",), "each with its own reason"


def test_eval_07_missing_judgements_are_counted_and_shown() -> None:
    told = [outcome_of("c", n, "evaluator_error", said="UNKNOWN") for n in range(1, 6)]
    told += [outcome_of("c", 6, said="PASS")]
    given = series(plan_of(["c"], 6), told)
    assert (given.ledger.trials["completed"], given.ledger.judged, given.ledger.evaluator_error) == (6, 1, 5)
    result = gate("every verdict(c, said) == PASS", given)
    assert (gates_exit_code([result]), "evaluator_error 5" in result.sentence) == (5, True)
    assert gate("status.evaluator_error == 0", given).result == "does_not_hold"


def test_eval_13_attempts_are_not_trials() -> None:
    """However many attempts a trial had, it has one slot, and a failure that completed is the trial's."""
    plan = plan_of(["c"])
    told = outcome_of("c", said="FAIL").model_copy(update={"attempt": 2, "attempts": 2})
    given = series(plan, [told])
    assert given.ledger.trials["completed"] == given.ledger.planned == 1
    assert gate("pass(c, said).rate == 0", given).result == "holds"


@pytest.mark.parametrize("status", ["subject_error", "harness_error", "blocked", "evaluator_error"])
def test_a_status_is_neither_a_fail_nor_a_pass(status: str) -> None:
    """For judges, sets and gates alike: a crash is not a verdict, and silence about it exits 5."""
    told = outcome_of("c", status=status, performed="completed" if status == "evaluator_error" else None)
    assert guard_member("trap", "c", DIGEST, [told]).state == "undecided"
    assert control_member("negative", "c", DIGEST, [told]).state == "undecided"
    for operator in ("==", "!="):
        result = gate(f"verdict(c, said) {operator} PASS", series(plan_of(["c"]), [told]))
        assert gates_exit_code([result]) == 5


def test_eval_03_a_spread_of_eight_is_that_of_resamples_of_eight_and_of_one_there_is_none() -> None:
    """The closed form sqrt(p (1 - p) / n) is 0.171; a resample of n//2 without replacement would say otherwise."""
    outcomes = [1, 0, 1, 1, 0, 1, 0, 1]
    told = [outcome_of("c", n, said="PASS" if one else "FAIL") for n, one in enumerate(outcomes, 1)]
    case = {"c": case_of("c", claims=[{"id": "said", "text": "x", "rubric": "r"}])}
    (one,) = statistics_of(series(said_plan(8), told), case).rates
    assert one.error == pytest.approx(0.171, abs=5e-4)
    drawn = mean_resamples(outcomes, seed=1, draws=20_000)
    assert pstdev(drawn) == pytest.approx(one.error, rel=0.05)
    (one,) = statistics_of(series(said_plan(1), told[:1]), case).rates
    assert (one.error, one.exact, one.rate.interval) == (None, None, None)
    assert one.rate.why_not == "fewer than two trials are decided"


def test_eval_05_a_trial_that_stands_twice_moves_no_rate() -> None:
    """39 results for 20 slots: the numbers are of the 20 that were planned."""
    told = [outcome_of("c", n, said="PASS") for n in range(1, 21)]
    stale = [outcome_of("c", n, "harness_error", said="UNKNOWN") for n in range(1, 20)]
    case = {"c": case_of("c", claims=[{"id": "said", "text": "x", "rubric": "r"}])}
    given = series(said_plan(20), [*stale, *told])
    (one,) = statistics_of(given, case).rates
    assert (one.tally.planned, one.rate.k, one.rate.decided + one.rate.undecided) == (20, 20, 20)
    assert len(given.ledger.twice) == 19


@pytest.mark.parametrize(("human", "judge", "raw"), [([0] * 5, [0] * 5, 1.0), ([1] * 9 + [0], [1] * 10, 0.9)])
def test_eval_11_one_class_gives_no_kappa_and_no_consent(human: list[int], judge: list[int], raw: float) -> None:
    found = agreement(list(zip(human, judge, strict=True)), order=(0, 1), seed=1)
    assert found.raw == pytest.approx(raw)
    assert found.cohen is not None
    for one in (found.cohen, found.alpha):
        assert (one.value is None) == (raw == 1.0), "one class: not estimable"
        assert one.value is None or abs(one.value) < 0.1, "nine of ten alike by chance: no consent"
        assert one.value is not None or one.why_not


def test_eval_13_passed_at_once_and_passed_at_all_are_two_numbers() -> None:
    told = [outcome_of("c", n, said="PASS").model_copy(update={"attempt": n, "attempts": n}) for n in (1, 2)]
    case = {"c": case_of("c", claims=[{"id": "said", "text": "x", "rubric": "r"}])}
    (one,) = statistics_of(series(said_plan(2), told), case).rates
    assert (one.rate.k, one.rate.undecided) == (2, 0)
    assert (one.first_attempt.k, one.first_attempt.undecided) == (1, 1)


def said_plan(repeat: int) -> Plan:
    return plan_of(["c"], repeat).model_copy(update={"rubrics": {"r": DIGEST}})
