"""Orders of a plan: what stands where, what follows what, and which rounds may mix."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from typing import Any

import pytest
from evidence_kit import LABEL, make_case

from oyer.plan import Rule, build_plan, squares_of, williams
from oyer.records import Case, LoadedCase, Order, Plan, Sequential, digest, document_of

HARDENED = make_case(id="desk-hard", hardened=LABEL)
PLAIN = {"kind": "plain", "conditions": [], "intervention": None, "chain": None, "sinks": {}}
CASES = [make_case(id=f"case-{letter}", **PLAIN) for letter in "abc"]
RULE = Sequential(test="bernoulli", of="mechanical_outcome(desk-hard).CONFIRMED", p0=0.5, min=3, max=9)


def built(*cases: Case, subjects: tuple[str, ...] = ("s",), **options: Any) -> Plan:
    loaded = [LoadedCase(case, digest(case), document_of({}), document_of({})) for case in cases]
    return build_plan(loaded, subjects, **{"seed": 7, **options})


def followed(rows: list[list[str]]) -> Counter[tuple[str, str]]:
    return Counter(pair for row in rows for pair in pairwise(row))


def conditions_by_repetition(plan: Plan) -> list[list[str]]:
    rows: dict[tuple[str, str, int], list[str]] = {}
    for trial in plan.trials:
        rows.setdefault((trial.subject, trial.case, trial.repetition), []).append(trial.condition)
    return list(rows.values())


def test_a_design_needs_a_treatment() -> None:
    assert williams(1) == ((0,),)
    assert williams(2) == ((0, 1), (1, 0))
    assert williams(4)[0] == (0, 1, 3, 2)
    with pytest.raises(ValueError, match="has treatments"):
        williams(0)


def test_three_conditions_are_balanced_over_six_repetitions_and_not_over_five() -> None:
    complete = built(HARDENED, repeat=6, order=Order(kind="williams"))
    assert set(followed(conditions_by_repetition(complete)).values()) == {2}
    assert [(one.over, one.rows, one.taken, one.complete) for one in squares_of(complete)] == [(3, 6, 6, True)]
    short = built(HARDENED, repeat=5, order=Order(kind="williams"))
    assert len(set(followed(conditions_by_repetition(short)).values())) > 1
    assert [one.complete for one in squares_of(short)] == [False]


def test_cases_of_a_round_are_balanced_too_for_every_subject() -> None:
    plan = built(*CASES, subjects=("s", "t"), repeat=6, order=Order(kind="williams"))
    rows: dict[tuple[str, int], list[str]] = {}
    for trial in plan.trials:
        rows.setdefault((trial.subject, trial.repetition), []).append(trial.case)
    follows = followed(list(rows.values()))
    assert set(follows.values()) == {4}
    assert len(follows) == 3 * 2
    assert [(one.about, one.rows) for one in squares_of(plan)] == [("cases", 6)]


def test_another_seed_begins_with_another_row_and_the_same_seed_with_the_same() -> None:
    plans = [built(HARDENED, repeat=6, order=Order(kind="williams"), seed=seed) for seed in (1, 1, 2, 3, 4)]
    orders = [tuple(trial.condition for trial in plan.trials) for plan in plans]
    assert orders[0] == orders[1]
    assert len(set(orders)) > 1


def test_grouped_by_condition_runs_every_baseline_first() -> None:
    plan = built(HARDENED, *CASES[:1], subjects=("s", "t"), repeat=2, order=Order(kind="grouped", by="condition"))
    told = [trial.condition for trial in plan.trials]
    assert told == ["baseline"] * 4 + ["manipulated"] * 4 + ["hardened"] * 4 + ["plain"] * 4
    assert squares_of(plan) == ()


def test_a_rule_plans_all_it_may_come_to_run_in_whole_rounds() -> None:
    for kind in ("fixed", "shuffled", "williams"):
        plan = built(HARDENED, subjects=("s", "t"), order=Order(kind=kind), rule=Rule(RULE))
        told = [trial.repetition for trial in plan.trials]
        assert told == sorted(told)
        assert plan.repeat.fixed == 9
    shuffled = built(HARDENED, subjects=("s", "t"), order=Order(kind="shuffled"), rule=Rule(RULE))
    first = [trial.subject for trial in shuffled.trials[::3]]
    assert {tuple(first[at : at + 2]) for at in range(0, len(first), 2)} == {("s", "t"), ("t", "s")}


def test_the_rule_is_part_of_the_plan() -> None:
    bound, free = built(HARDENED, rule=Rule(RULE)), built(HARDENED, repeat=9)
    assert bound.trials == free.trials
    assert digest(bound) != digest(free)
    other = RULE.model_copy(update={"alpha": 0.01})
    assert digest(built(HARDENED, rule=Rule(other))) != digest(bound)


def test_drawn_cases_run_once_in_seeded_order_and_no_more_than_max() -> None:
    rule = RULE.model_copy(update={"of": "performed(*).completed", "min": 1, "max": 2})
    drawn = [(case.id,) for case in CASES]
    plans = [built(*CASES, rule=Rule(rule, drawn=drawn), seed=seed) for seed in range(12)]
    orders = {tuple(trial.case for trial in plan.trials) for plan in plans}
    assert len(orders) > 2
    assert all(len(order) == len(set(order)) == 2 for order in orders)
    assert {trial.repetition for plan in plans for trial in plan.trials} == {1}
