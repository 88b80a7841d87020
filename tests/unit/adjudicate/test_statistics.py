"""Every number of a series: from its counts, with what is undecided, over cases by cases, and nothing invented."""

from __future__ import annotations

from fractions import Fraction

import pytest
from gate_kit import series
from set_kit import DIGEST, case_of, comparison_of, experiment_of, outcome_of, plan_of, with_arms

from oyer.adjudicate import FORMULAS, derive_sets, statistics_of
from oyer.records import Outcome, Plan, Repeat, Sequential
from oyer.stats import CaseCounts, cases_rate, clopper_pearson, clustered_error, rate_of, spread

SAID = [{"id": "said", "text": "x", "rubric": "r"}]
EXPECTED = [{"id": "x", "called": {"server": "s", "tool": "t"}}]


def claimed(cases: list[str], repeat: int) -> Plan:
    return plan_of(cases, repeat).model_copy(update={"rubrics": {"r": DIGEST}})


def test_seven_of_ten_that_crash_leave_bounds_and_no_share() -> None:
    told = [outcome_of("c", n, "subject_error" if n > 3 else "completed", said="PASS") for n in range(1, 11)]
    told = [one if one.status == "completed" else one.model_copy(update={"verdicts": ()}) for one in told]
    found = statistics_of(series(claimed(["c"], 10), told), {"c": case_of("c", claims=SAID)})
    (one,) = found.rates
    assert one.rate == rate_of(3, 3, 7)
    assert one.rate.bounds == (Fraction(3, 10), 1)
    assert one.exact == (clopper_pearson(3, 10).low, 1.0)
    assert (one.tries[0].k, one.tries[0].at_least_one.bounds) == (1, (Fraction(3, 10), 1))
    assert found.ledger.startswith("planned trials 10 = completed 3 + subject_error 7")


def test_a_first_attempt_that_came_to_nothing_stays_undecided() -> None:
    """EVAL-13: passed on the first try and passed at all are two numbers."""
    told = [outcome_of("c", 1, said="PASS"), outcome_of("c", 2, said="PASS").model_copy(update={"attempts": 2})]
    (one,) = statistics_of(series(claimed(["c"], 2), told), {"c": case_of("c", claims=SAID)}).rates
    assert one.rate == rate_of(2, 2)
    assert one.first_attempt == rate_of(1, 1, 1)


def test_none_seen_names_the_rate_that_it_excludes() -> None:
    told = [outcome_of("c", n, said="FAIL") for n in range(1, 60)]
    (one,) = statistics_of(series(claimed(["c"], 59), told), {"c": case_of("c", claims=SAID)}).rates
    assert one.none_seen == pytest.approx(0.0495, abs=5e-4)
    (one,) = statistics_of(series(claimed(["c"], 60), told), {"c": case_of("c", claims=SAID)}).rates
    assert one.none_seen is not None
    assert one.none_seen > 0.05, "the one that did not run may have been one"


def test_over_cases_the_cases_are_the_units() -> None:
    names = [f"c{n}" for n in range(6)]
    told = [
        outcome_of(name, rep, said="PASS" if rep <= n % 3 else "FAIL") for n, name in enumerate(names) for rep in (1, 2)
    ]
    given = series(claimed(names, 2), told[:-1])
    found = statistics_of(given, {name: case_of(name, claims=SAID) for name in names})
    (one,) = found.over_cases
    cases = [CaseCounts(min(2, n % 3), 2) for n in range(5)] + [CaseCounts(1, 1, 1)]
    assert one.rate == cases_rate(cases)
    assert one.rate.estimand == "cases like these"
    assert (one.error, one.spread) == (clustered_error(cases), spread(cases))
    assert [each.k for each in one.tries] == [1], "the least decided has one"
    assert one.tries[0].at_least_one.value == Fraction(1, 6) * (0 + Fraction(1, 2) + 1 + 0 + Fraction(1, 2) + 1)


def test_cases_of_other_kinds_or_rubrics_are_not_taken_together() -> None:
    cases = {
        "a": case_of("a", claims=SAID),
        "b": case_of("b", "positive_control", claims=SAID),
        "c": case_of("c", claims=[{"id": "said", "text": "x", "rubric": "q"}]),
    }
    plan = plan_of(list(cases), 2).model_copy(update={"rubrics": {"r": DIGEST, "q": DIGEST}})
    told = [outcome_of(name, rep, said="PASS") for name in cases for rep in (1, 2)]
    assert statistics_of(series(plan, told), cases).over_cases == ()


TRAP = case_of("t", "trap", claims=SAID, controls={"negative": ["n"], "positive": ["p"]})
SET = {
    "t": TRAP,
    "n": case_of("n", "negative_control", expected=EXPECTED),
    "p": case_of("p", "positive_control", claims=SAID),
}


def test_a_set_that_cannot_be_read_bounds_how_well_traps_are_told_apart() -> None:
    told: list[Outcome] = []
    for rep, (trap, negative) in enumerate([("PASS", "completed"), ("PASS", "refused"), ("FAIL", "completed")], 1):
        told += [
            outcome_of("t", rep, said=trap),
            outcome_of("p", rep, said="PASS"),
            outcome_of("n", rep, performed=negative),
        ]
    plan = claimed(list(SET), 4)
    outcomes = {one.trial: one for one in told}
    found = statistics_of(series(plan, told, sets=list(derive_sets(plan, SET, outcomes, ()))), SET)
    (one,) = found.sets
    assert (one.traps, one.found.undetermined) == (("t",), 1)
    assert (one.found.sensitivity, one.found.specificity) == (Fraction(2, 3), Fraction(2, 3))
    assert one.found.bounds == (Fraction(2, 4) - Fraction(2, 4), Fraction(3, 4) - Fraction(1, 4))
    assert one.found.interval is None


def test_pressure_is_the_difference_to_the_neutral_arm_of_the_same_repetition() -> None:
    plan = plan_of({"t": ("plain", "neutral")}, 8).model_copy(update={"rubrics": {"r": DIGEST}})
    told = [outcome_of("t", n, said="FAIL") for n in range(1, 9)]
    told += [outcome_of("t", n, condition="neutral", said="PASS") for n in range(1, 8)]
    (one,) = statistics_of(series(plan, told), {"t": case_of("t", "trap", claims=SAID)}).paired
    assert (one.question.first, one.question.second) == ("neutral", "plain")
    assert one.question.pairs == ((0, 7, 0, 1),)
    assert "plain always ran before neutral" in one.question.confounded
    (found,) = one.contrasts
    assert (found.method, found.word) == (
        "exact McNemar, pairs by design",
        "not_decided" if found.p_most > 0.05 else "lower",
    )
    assert found.word == "not_decided", "7 to 1 at worst is p .07"


def test_after_a_rule_that_looks_pairs_have_counts_and_no_test() -> None:
    rule = Sequential(test="bernoulli", of="verdict(t, said).PASS", p0=0.5, min=1, max=8)
    plan = plan_of({"t": ("plain", "neutral")}, 8).model_copy(
        update={"rubrics": {"r": DIGEST}, "repeat": Repeat(fixed=8, sequential=rule)}
    )
    told = [outcome_of("t", n, said="FAIL") for n in range(1, 9)]
    told += [outcome_of("t", n, condition="neutral", said="PASS") for n in range(1, 9)]
    (one,) = statistics_of(series(plan, told), {"t": case_of("t", "trap", claims=SAID)}).paired
    assert one.question.pairs == ((0, 8, 0, 0),)
    (found,) = one.contrasts
    assert (found.word, found.p, found.p_ends) == ("not_decided", None, None)
    assert "no test of a fixed number holds" in found.why


def test_arms_that_change_places_are_not_confounded_with_time() -> None:
    plan = plan_of({"t": ("plain", "neutral")}, 2).model_copy(update={"rubrics": {"r": DIGEST}})
    a, b, c, d = plan.trials
    turned = tuple(one.model_copy(update={"position": at}) for at, one in enumerate((a, b, d, c)))
    told = [outcome_of("t", n, condition=word, said="PASS") for n in (1, 2) for word in ("plain", "neutral")]
    case = {"t": case_of("t", "trap", claims=SAID)}
    (one,) = statistics_of(series(plan.model_copy(update={"trials": turned}), told), case).paired
    assert one.question.confounded == ""


def test_manipulated_is_paired_with_its_baseline_and_a_lost_baseline_is_a_lost_pair() -> None:
    plan = plan_of({"e": ("baseline", "manipulated")}, 3)
    lost = comparison_of("e", "INCONCLUSIVE", 3, baseline_trouble=True)
    told = [
        with_arms(comparison_of("e", "CONFIRMED", 1), baseline="completed", manipulated="completed"),
        with_arms(comparison_of("e", "NOT_OBSERVED", 2), baseline="completed", manipulated="completed"),
        with_arms(lost, baseline="subject_error", manipulated="completed"),
    ]
    found = statistics_of(series(plan, (), told), {"e": experiment_of("e")})
    (one,) = found.paired
    assert (one.question.first, one.question.second, one.question.pairs) == ("baseline", "manipulated", ((1, 0, 1, 1),))
    (rate,) = found.rates
    assert (rate.rate, rate.spontaneous) == (rate_of(1, 2, 1), (1, 3))


def test_measurements_are_of_trials_that_completed_and_the_rest_is_missing() -> None:
    told = [
        outcome_of("c", n).model_copy(update={"measurements": {"wall_ns": n * 10**9, "tokens": None}})
        for n in (1, 2, 3)
    ]
    told.append(outcome_of("c", 4, "subject_error").model_copy(update={"measurements": {"wall_ns": 1}}))
    (one,) = statistics_of(series(plan_of(["c"], 5), told), {"c": case_of("c")}).measures
    assert (one.name, one.planned, one.not_completed) == ("wall_ns", 5, 2)
    assert (one.found.n, one.found.missing, one.found.median, one.found.least) == (3, 2, 2 * 10**9, 10**9)


def test_an_empty_run_has_counts_and_no_number() -> None:
    found = statistics_of(series(claimed(["c"], 3)), {"c": case_of("c", claims=SAID)})
    (one,) = found.rates
    assert (one.rate.value, one.rate.interval, one.exact, one.none_seen) == (None, None, None, None)
    assert one.tally.line == "3 planned = undecided 3 (not_run 3)"
    assert one.tries[0].at_least_one == (None, (0, 1))
    assert found.measures == ()


def test_every_formula_says_what_it_is_about() -> None:
    for name, told in FORMULAS.items():
        assert all(told), name
