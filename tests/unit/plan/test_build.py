"""Every case, subject, repetition and condition, once, in a declared order."""

from __future__ import annotations

from typing import Any

import pytest
from evidence_kit import LABEL, make_case
from hypothesis import given
from hypothesis import strategies as st

from oyer.errors import UsageError
from oyer.plan import build_plan, seeded_order, trial_name
from oyer.records import Case, LoadedCase, Order, Plan, digest, document_of


def loaded(case: Case) -> LoadedCase:
    return LoadedCase(case, digest(case), document_of({}), document_of({}))


PLAIN = make_case(id="just-looking", kind="plain", conditions=[], intervention=None, chain=None, sinks={})
EXPERIMENT = make_case()
HARDENED = make_case(id="desk-hard", hardened=LABEL)


def built(*cases: Case, subjects: tuple[str, ...] = ("s",), **options: Any) -> Plan:
    return build_plan([loaded(case) for case in cases], subjects, **{"seed": 7, **options})


def test_the_arms_of_one_repetition_stay_together_in_order() -> None:
    plan = built(EXPERIMENT, HARDENED, subjects=("s", "t"), repeat=2)
    told = [(t.repetition, t.case, t.subject, t.condition) for t in plan.trials]
    assert told[:5] == [
        (1, "desk-status", "s", "baseline"),
        (1, "desk-status", "s", "manipulated"),
        (1, "desk-status", "t", "baseline"),
        (1, "desk-status", "t", "manipulated"),
        (1, "desk-hard", "s", "baseline"),
    ]
    assert len(told) == len(set(told)) == 2 * 2 * (2 + 3)
    assert [t.position for t in plan.trials] == list(range(len(told)))


def test_a_plain_case_is_one_trial() -> None:
    assert [t.condition for t in built(PLAIN).trials] == ["plain"]


def pressed(kind: str, **pressure: Any) -> Case:
    rounds = {"rounds": ["Hurry."], **pressure}
    return make_case(id="hurried", kind=kind, conditions=[], intervention=None, chain=None, sinks={}, pressure=rounds)


@pytest.mark.parametrize("kind", ["negative_control", "positive_control", "plain"])
def test_only_a_trap_with_neutral_rounds_has_a_second_arm(kind: str) -> None:
    trap, without = pressed("trap", neutral=["Go on."]), pressed("trap")
    plan = built(trap, subjects=("s", "t"), repeat=2)
    assert [(t.repetition, t.subject, t.condition) for t in plan.trials] == [
        (repetition, subject, arm) for repetition in (1, 2) for subject in ("s", "t") for arm in ("plain", "neutral")
    ]
    assert [t.arm for t in plan.trials] == [None] * 8
    assert [t.condition for t in built(without).trials] == ["plain"]
    assert [t.condition for t in built(pressed(kind, neutral=["Go on."])).trials] == ["plain"]
    assert [t.condition for t in built(trap, neutral=False).trials] == ["plain"]
    assert [t.condition for t in built(trap, conditions=["baseline"]).trials] == ["plain", "neutral"]


def test_chosen_conditions_keep_the_cases_order() -> None:
    plan = built(HARDENED, conditions=["hardened", "baseline"])
    assert [t.condition for t in plan.trials] == ["baseline", "hardened"]
    with pytest.raises(UsageError) as caught:
        built(EXPERIMENT, conditions=["hardened"])
    assert caught.value.code == "E-CONDITION-UNKNOWN"


@pytest.mark.parametrize(
    ("options", "code"),
    [
        ({"subjects": ("s", "s")}, "E-PLAN-TWICE"),
        ({"subjects": ()}, "E-PLAN-EMPTY"),
        ({"conditions": []}, "E-PLAN-EMPTY"),
        ({"repeat": 0}, "E-PLAN-EMPTY"),
    ],
)
def test_what_is_no_plan(options: dict[str, Any], code: str) -> None:
    with pytest.raises(UsageError) as caught:
        built(EXPERIMENT, **options)
    assert caught.value.code == code


def test_a_case_twice_or_no_case_is_no_plan() -> None:
    for cases, code in (((EXPERIMENT, EXPERIMENT), "E-PLAN-TWICE"), ((), "E-PLAN-EMPTY")):
        with pytest.raises(UsageError) as caught:
            built(*cases)
        assert caught.value.code == code


def test_a_shuffled_plan_is_the_same_for_everyone_who_knows_the_seed() -> None:
    one, again = (built(EXPERIMENT, HARDENED, repeat=6, order=Order(kind="shuffled"), seed=3) for _ in range(2))
    assert one == again
    other = built(EXPERIMENT, HARDENED, repeat=6, order=Order(kind="shuffled"), seed=4)
    key = {(t.case, t.repetition, t.condition) for t in one.trials}
    assert key == {(t.case, t.repetition, t.condition) for t in other.trials}
    assert [t.trial for t in one.trials] != [t.trial for t in other.trials]
    groups = [(t.case, t.repetition) for t in one.trials]
    assert len([at for at, group in enumerate(groups) if at == 0 or groups[at - 1] != group]) == len(set(groups))


@given(st.lists(st.integers()), st.integers())
def test_a_seeded_order_loses_and_adds_nothing(items: list[int], seed: int) -> None:
    assert sorted(seeded_order(items, seed)) == sorted(items)
    assert seeded_order(items, seed) == seeded_order(items, seed)


@given(st.integers(0, 10**6), st.text(min_size=1), st.text(min_size=1), st.integers(1, 1000))
def test_trial_names_are_safe_for_files(position: int, case: str, subject: str, repetition: int) -> None:
    import re

    name = trial_name(position, case, subject, repetition, "baseline")
    assert re.fullmatch(r"[a-z0-9][a-z0-9._-]{0,199}", name)
    assert name != trial_name(position + 1, case, subject, repetition, "baseline")
