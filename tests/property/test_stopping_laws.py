"""Laws of looks: only counts decide, an undecided unit never helps a rule to stop, and stops leave whole units."""

from __future__ import annotations

import itertools
from typing import Any

from gate_kit import series
from hypothesis import given
from hypothesis import strategies as st
from set_kit import outcome_of, plan_of

from oyer.adjudicate import Course, GateInput, RuleStop, looks_of, not_run_by, plan_that_ran, take_look
from oyer.records import Plan, Repeat, Sequential

WORDS = {"+": "completed", "-": "failed", "?": None}
UNITS = st.text("+-?", min_size=1, max_size=16)
TESTS = st.sampled_from(
    [
        {"test": "bernoulli", "p0": 0.5},
        {"test": "bernoulli", "p0": 0.2, "side": "greater"},
        {"test": "bernoulli", "p0": 0.8, "side": "less", "a": 2.0},
        {"test": "sprt", "p0": 0.2, "p1": 0.7},
    ]
)


def planned(asked: dict[str, Any], repeat: int, subjects: tuple[str, ...] = ("s",), **more: Any) -> Plan:
    rule = Sequential.model_validate({"of": "performed(a).completed", "min": 1, "max": 99, **asked, **more})
    return plan_of(["a"], repeat, subjects).model_copy(update={"repeat": Repeat(fixed=repeat, sequential=rule)})


def seen(told: str, asked: dict[str, Any]) -> GateInput:
    outcomes = [
        outcome_of("a", at, "completed" if WORDS[one] else "subject_error", performed=WORDS[one])
        for at, one in enumerate(told, start=1)
    ]
    return series(planned(asked, len(told)), outcomes)


@given(UNITS, TESTS, st.randoms(use_true_random=False))
def test_only_counts_decide(told: str, asked: dict[str, Any], random: Any) -> None:
    mixed = "".join(random.sample(told, len(told)))
    assert take_look(seen(told, asked), "s", len(told)) == take_look(seen(mixed, asked), "s", len(told))


@given(UNITS, TESTS, st.integers(0, 15))
def test_a_unit_that_is_lost_never_brings_a_decision(told: str, asked: dict[str, Any], at: int) -> None:
    """Whatever the rule decides with a unit undecided, it decides with that unit either way."""
    at %= len(told)
    lost = take_look(seen(told[:at] + "?" + told[at + 1 :], asked), "s", len(told))
    if lost.word != "go_on":
        for word in "+-":
            assert take_look(seen(told[:at] + word + told[at + 1 :], asked), "s", len(told)).word == lost.word


@given(st.integers(1, 30), st.integers(1, 9), st.integers(0, 60))
def test_looks_rise_from_min_to_max_and_leave_no_unit_beyond(least: int, step: int, more: int) -> None:
    rule = planned({"test": "bernoulli", "p0": 0.5}, 1, min=least, max=least + more, look_every=step).repeat.sequential
    assert rule is not None
    looks = looks_of(rule)
    assert list(looks) == sorted(set(looks))
    assert (looks[0], looks[-1]) == (least, least + more)
    assert all(after - before <= step for before, after in itertools.pairwise(looks))


@given(st.integers(1, 8), st.integers(1, 8), st.integers(1, 8))
def test_a_stop_leaves_whole_units_and_what_ran_and_what_is_left_are_the_plan(
    repeat: int, one: int, other: int
) -> None:
    plan = planned({"test": "bernoulli", "p0": 0.5}, repeat, ("s", "t"), max=repeat)
    until = {"s": min(one, repeat), "t": min(other, repeat)}
    stops = tuple(RuleStop(who, "sha256:x", n, 0, None, n, 0, "0.0", "rejected") for who, n in until.items())
    ran = {trial.trial for trial in plan.trials if trial.repetition <= until[trial.subject]}
    left = not_run_by(plan, {}, Course(stops=stops, closed=True), ran)
    assert set(left.values()) <= {"rule"}
    assert {trial.trial for trial in plan_that_ran(plan, left).trials} == ran
    assert ran | set(left) == {trial.trial for trial in plan.trials} and not ran & set(left)
