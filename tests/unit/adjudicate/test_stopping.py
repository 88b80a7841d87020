"""What a rule counts and decides at a look, which trials it leaves, and what may be said of a rate afterwards."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from gate_kit import gate, series
from set_kit import case_of, outcome_of, plan_of

from oyer.adjudicate import (
    Course,
    GateInput,
    RuleStop,
    check_rule,
    count_ledger,
    counted_of,
    drawn_units,
    least_trials,
    left_repetitions,
    limits_of,
    looks_of,
    not_run_by,
    plan_that_ran,
    stop_body,
    tabulate,
    take_look,
    tallies,
    told_stops,
    units_of,
)
from oyer.adjudicate.rates import rate_sentence
from oyer.errors import RecordError
from oyer.records import Order, Plan, Repeat, Sequential, SeriesBudget
from oyer.stats import bernoulli_look, confidence_sequence, excluded_by_none

WORDS = {"+": "completed", "-": "failed", "?": None}
EXPECTING = case_of("a", expected=[{"id": "done", "called": {"server": "x", "tool": "y"}}])


def rule(**fields: Any) -> Sequential:
    given = {"test": "bernoulli", "of": "performed(a).completed", "p0": 0.5, "min": 1, "max": 40}
    return Sequential.model_validate({**given, **fields})


def ruled(plan: Plan, asked: Sequential) -> Plan:
    return plan.model_copy(update={"repeat": Repeat(fixed=plan.repeat.fixed, sequential=asked)})


def seen(told: str, asked: Sequential, subjects: tuple[str, ...] = ("s",)) -> GateInput:
    """A series whose units came to + (completed), - (failed) or ? (crashed)."""
    plan = ruled(plan_of(["a"], len(told), subjects), asked)
    outcomes = [
        outcome_of("a", at, "completed" if WORDS[one] else "subject_error", performed=WORDS[one])
        for at, one in enumerate(told, start=1)
    ]
    return series(plan, outcomes)._replace(stopped="rule")


@pytest.mark.parametrize("told", ["++++++++", "+++++++", "++-+-", "-" * 9, "++?++++++", "?" * 12, "+" * 10 + "??"])
def test_a_look_counts_every_unit_and_decides_by_the_worst_case_of_the_undecided(told: str) -> None:
    asked = rule()
    look = take_look(seen(told, asked), "s", len(told))
    counts = told.count("+"), len(told) - told.count("?"), told.count("?")
    assert (look.k, look.decided, look.undecided) == counts
    expected = bernoulli_look(*counts, 0.5, alpha=0.05)
    assert (look.word, look.log_e) == (expected.word, pytest.approx(expected.log_e))


def test_the_last_look_without_a_decision_is_undecided_and_never_rounded() -> None:
    assert take_look(seen("+" * 6, rule()), "s", 6).word == "go_on"
    assert take_look(seen("+" * 6, rule(max=6)), "s", 6).word == "undecided"
    assert take_look(seen("+" * 20, rule(max=20)), "s", 20).word == "rejected"


def test_it_looks_after_min_then_after_every_step_and_at_the_end() -> None:
    assert looks_of(rule(min=3, max=12, look_every=4)) == (3, 7, 11, 12)
    assert looks_of(rule(min=5, max=5)) == (5,)
    assert looks_of(rule(min=1, max=3)) == (1, 2, 3)


def test_what_is_counted_is_one_operand_with_a_word() -> None:
    assert counted_of(rule(of="pass(merge, truthful)")).word == "PASS"
    assert counted_of(rule(of="verdict(*, truthful).FAIL")).case == "*"
    for wrong in ("status.completed", "performed(a)", "performed(a).completed.rate", "performed(a).undecided", "x",
                  "performed(a).completed.rate >= 0 or set(a).MIXED"):  # fmt: skip
        with pytest.raises(RecordError):
            counted_of(rule(of=wrong))


def test_units_are_repetitions_or_drawn_cases_with_their_controls() -> None:
    controls = {"negative": ["t/n"], "positive": ["t/p"]}
    cases = {
        "t": case_of("t", "trap", controls=controls),
        "t/n": case_of("t/n", "negative_control"),
        "t/p": case_of("t/p", "positive_control"),
        "a": EXPECTING,
    }
    asked = rule(of="set(*).DISCRIMINATES", max=1)
    assert drawn_units(asked, list(cases.values())[:3]) == (("t", "t/n", "t/p"),)
    plan = ruled(plan_of(["t/p", "t", "t/n"]), asked)
    assert set(units_of(plan, cases).values()) == {1}
    twice = ruled(plan_of(["a"], 3), rule())
    assert sorted(units_of(twice, cases).values()) == [1, 2, 3]
    assert [flaw.message for flaw in check_rule(asked, cases, Order())] == [
        "a cannot be counted by set(*).DISCRIMINATES, and would belong to no unit"
    ]


def test_the_least_that_runs_is_all_before_the_first_look_or_before_the_second_unit_of_a_budget() -> None:
    plan = plan_of(["a"], 5, ("s", "t"))
    assert least_trials(plan, {}) == 10
    assert least_trials(ruled(plan, rule(min=2, max=5)), {}) == 4
    tight = SeriesBudget(wall_s=60)
    both = plan.model_copy(update={"repeat": Repeat(fixed=5, budget=tight)})
    assert least_trials(both, {}) == 1
    pairs = plan_of({"t": ("plain", "neutral")}, 3).model_copy(update={"repeat": Repeat(fixed=3, budget=tight)})
    assert least_trials(pairs, {}) == 2, "a repetition is not cut in two"


def test_trials_beyond_a_stop_are_left_by_it_and_are_in_no_count() -> None:
    asked = rule()
    plan = ruled(plan_of(["a"], 5, ("s", "t")), asked)
    stop = RuleStop("s", "sha256:x", 3, 3, None, 3, 0, "3.0", "rejected", 9)
    ran = {trial.trial for trial in plan.trials if trial.repetition <= 3 or trial.subject == "t"}
    left = not_run_by(plan, {}, Course(stops=(stop,), closed=True), ran)
    assert sorted(left.values()) == ["rule", "rule"] and not set(left) & ran
    assert {trial.trial for trial in plan_that_ran(plan, left).trials} == ran
    cut = not_run_by(plan, {}, Course(stops=(stop,), closed=True, interrupted=True), list(ran)[:4])
    assert set(cut.values()) == {"rule", "operator"}
    assert plan_that_ran(plan, dict.fromkeys(left, "operator")) is plan


def test_statuses_count_nothing_that_the_rule_left_and_everything_else_that_did_not_run() -> None:
    plan = ruled(plan_of(["a"], 5), rule())
    done = [outcome_of("a", at, performed="completed") for at in range(1, 4)]

    def counted(text: str, why: tuple[str, str]) -> str:
        names = [trial.trial for trial in plan.trials][3:]
        ledger = count_ledger(plan, done, (), not_run=dict(zip(names, why, strict=True)))
        found = gate(text, series(plan, done)._replace(ledger=ledger, stopped="rule"))
        assert why != ("rule", "rule") or "2 left by the rule and in no count" in found.sentence
        return found.result

    cases = {"status.harness_error == 0": "undecided", "status.not_run == 0": "does_not_hold"}
    for text, otherwise in cases.items():
        assert counted(text, ("rule", "rule")) == "holds"
        for other in ("budget", "operator", "unknown"):
            assert counted(text, ("rule", other)) == otherwise
    assert counted("status.completed == 3", ("rule", "rule")) == "holds"
    assert counted("status.completed == 4", ("rule", "rule")) == "does_not_hold"


def stopped(told: str, asked: Sequential) -> Any:
    body = stop_body(asked, take_look(seen(told, asked), "s", len(told)))
    return next(told_stops(ruled(plan_of(["a"]), asked), Course(stops=(RuleStop(**body),))))


def test_no_event_says_what_it_excludes_whenever_it_stopped_and_had_n_been_fixed() -> None:
    """0 of 59: .05 for a fixed number, .113 for a rule that looked after each."""
    found = stopped("-" * 59, rule(p0=0.05, max=59))
    assert found.word == "undecided"
    assert found.excluded == pytest.approx(0.113, abs=5e-4)
    assert found.excluded_fixed == excluded_by_none(59) == pytest.approx(0.0495, abs=5e-4)
    assert "none seen excludes rates above 0.113 (0.050 had n been fixed)" in found.told


def test_what_it_came_to_is_told_with_its_sequence_and_what_is_undecided() -> None:
    found = stopped("+" * 14 + "?", rule())
    assert found.sequence == confidence_sequence(14, 14, 1, alpha=0.05)
    assert "1 undecided, carried either way" in found.told and "of at most 40 units" in found.told
    assert found.e is not None and found.e >= 20


def test_after_a_rule_rates_have_their_sequence_and_no_interval() -> None:
    asked = rule()
    (tally,) = tallies(seen("++++++++-?", asked), {"a": EXPECTING})
    rate = tally.rate("completed")
    assert rate.interval is rate.limits is None
    assert rate.sequence is not None and rate.sequence.limits == confidence_sequence(8, 9, 1, alpha=0.05)
    told = rate_sentence("completed", rate)
    assert "95 % confidence sequence" in told and "Wilson" not in told
    assert "due by the rule" in tally.line
    other = limits_of(rule(side="greater", a=2.0), "performed", "a", "", "failed")
    assert other is not None and (other.side, other.a) == ("two", 1.0)
    own = limits_of(rule(side="greater", a=2.0), "performed", "a", "", "completed")
    assert own is not None and (own.side, own.a) == ("greater", 2.0)
    assert limits_of(None, "performed", "a", "", "completed") is None


GATES: Mapping[str, Sequence[str]] = {
    "performed(a).completed.lower > 0.5": ("holds", "holds", "undecided"),
    "performed(a).completed.lower > 0.6": ("holds", "does_not_hold", "does_not_hold"),
    "performed(a).completed.upper < 0.9": ("does_not_hold", "does_not_hold", "does_not_hold"),
    "performed(a).completed.rate >= 0.9": ("holds", "holds", "undecided"),
    "every performed(a) == completed": ("holds", "holds", "undecided"),
    "any performed(a) == failed": ("does_not_hold", "does_not_hold", "undecided"),
}


@pytest.mark.parametrize("text", GATES)
def test_gates_on_limits_are_of_the_sequence_with_every_undecided_trial_against_them(text: str) -> None:
    """Eight of eight: Wilson's lower limit is .68, the sequence's .52; an undecided one is counted both ways."""
    told = "+" * 8
    fixed = series(plan_of(["a"], 8), [outcome_of("a", at, performed="completed") for at in range(1, 9)])
    by_rule, carried = seen(told, rule()), seen(told + "?", rule())
    wilson_low, low = 0.676, confidence_sequence(8, 8, alpha=0.05).low
    assert wilson_low > 0.6 > low > 0.5
    found = tuple(gate(text, given).result for given in (fixed, by_rule, carried))
    assert found == GATES[text]


def pairs(first: str, second: str, arms: tuple[str, str]) -> GateInput:
    """Units whose two arms came to P (PASS), F (FAIL) or ? (crashed)."""
    asked = rule(test="mcnemar", p0=None, of="verdict(a, honest).FAIL", between=list(arms))
    plan = ruled(plan_of({"a": arms}, len(first)), asked)
    outcomes = [
        outcome_of("a", at, "subject_error", condition=arm)
        if word == "?"
        else outcome_of("a", at, condition=arm, honest={"P": "PASS", "F": "FAIL"}[word])
        for arm, told in zip(arms, (first, second), strict=True)
        for at, word in enumerate(told, start=1)
    ]
    return series(plan, outcomes)


def test_arms_of_one_repetition_are_pairs_and_the_neutral_one_is_read_by_itself() -> None:
    look = take_look(pairs("FFFPFF?", "PPPFFPP", ("plain", "neutral")), "s", 7)
    assert (look.subject, look.k, look.other, look.decided, look.undecided) == ("s", 4, 1, 6, 1)
    assert look.word == "go_on"
    assert take_look(pairs("F" * 8, "P" * 8, ("plain", "neutral")), "s", 8).word == "rejected"
    assert take_look(pairs("P" * 8, "P" * 8, ("plain", "neutral")), "s", 8).k == 0


def test_subjects_of_one_repetition_are_pairs() -> None:
    asked = rule(test="mcnemar", p0=None, between=["s", "t"])
    plan = ruled(plan_of(["a"], 3, ("s", "t")), asked)
    outcomes = [outcome_of("a", at, subject="s", performed="completed") for at in (1, 2, 3)]
    outcomes += [outcome_of("a", at, subject="t", performed="failed") for at in (1, 2)]
    look = take_look(series(plan, outcomes), None, 3)
    assert (look.subject, look.k, look.other, look.decided, look.undecided) == (None, 2, 0, 2, 1)


def test_drawn_cases_are_one_unit_each() -> None:
    asked = rule(of="performed(*).completed", max=3)
    plan = ruled(plan_of(["a", "b", "c"]), asked)
    outcomes = [outcome_of(name, performed=word) for name, word in (("a", "completed"), ("b", "failed"))]
    cases = {name: case_of(name, expected=plain_expected()) for name in "abc"}
    look = take_look(series(plan, outcomes), "s", 3)
    assert (look.k, look.decided, look.undecided, look.word) == (1, 2, 1, "undecided")
    assert sorted(units_of(plan, cases).values()) == [1, 2, 3]


def plain_expected() -> list[dict[str, Any]]:
    return [{"id": "done", "called": {"server": "x", "tool": "y"}}]


def test_tables_of_sets_count_no_repetition_that_a_rule_left_out() -> None:
    asked = rule(of="set(a).DISCRIMINATES", max=5)
    repeat = Repeat(fixed=5, sequential=asked)
    plan = plan_of(["a"], 5, ("s", "t")).model_copy(update={"repeat": repeat})
    ran = plan_that_ran(plan, {one.trial: "rule" for one in plan.trials if one.repetition > 2 and one.subject == "s"})
    left = left_repetitions(plan, ran)
    assert left == {("a", "s"): 3}
    trap = case_of("a", "trap", controls={"negative": ["n"], "positive": ["p"]})
    cells = tabulate(plan, {"a": trap}, (), left).rows[0].cells
    assert [dict(cell) for cell in cells] == [{"not_run": 2}, {"not_run": 5}]
