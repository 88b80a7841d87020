"""How a series went, told: what a rule came to, what a budget used up, and an order that was not the planned one."""

from __future__ import annotations

from set_kit import plan_of

from oyer.adjudicate import BudgetStop, Course, RuleStop, told_stops
from oyer.records import Plan, Repeat, Sequential
from oyer.report import Look, course_value, page_text, render_course

RULE = Sequential(test="bernoulli", of="performed(a).completed", p0=0.5, min=2, max=9)


def ruled(repeat: int = 9) -> Plan:
    plan = plan_of(["a"], repeat)
    return plan.model_copy(update={"repeat": Repeat(fixed=repeat, sequential=RULE)})


def told(plan: Plan, course: Course, whole: bool = False) -> str:
    page = render_course(plan, course, tuple(told_stops(plan, course)), Look(), whole=whole)
    return " ".join(page_text(page).split())


def names(plan: Plan, *places: int) -> tuple[str, ...]:
    return tuple(plan.trials[at].trial for at in places)


def test_a_series_that_ran_as_planned_by_no_rule_says_nothing() -> None:
    plan = plan_of(["a"], 3)
    assert render_course(plan, Course(opened=names(plan, 0, 1, 2), closed=True), (), Look()) == ()


def test_a_rule_is_told_as_it_was_declared_with_what_it_came_to() -> None:
    stop = RuleStop("s", "sha256:x", 8, 8, None, 8, 0, "3.347953", "rejected", 9)
    text = told(ruled(), Course(stops=(stop,), closed=True))
    assert "Bernoulli e-value of performed(a).completed against p0 0.5, two-sided, alpha 0.05" in text
    assert "looks after 2 units, then after each, at most 9." in text
    assert "s: rejected after 8 of at most 9 units; completed in 8 of 8 decided; 0 undecided; E 28.44" in text
    assert "95 % confidence sequence 0.523 to 1.000." in text


def test_a_rule_that_came_to_nothing_is_not_rounded() -> None:
    assert "no look decided anything: the series ended before" in told(ruled(), Course())
    pairs = RULE.model_copy(update={"test": "mcnemar", "p0": None, "between": ("s", "t")})
    plan = ruled().model_copy(update={"repeat": Repeat(fixed=9, sequential=pairs)})
    stop = RuleStop(None, "sha256:x", 9, 2, 1, 8, 1, "-1.386294", "undecided", 9)
    text = told(plan, Course(stops=(stop,)))
    assert "paired e-McNemar of performed(a).completed between s and t" in text
    assert "s against t: undecided after 9 of at most 9 units; 2 pairs s alone, 1 t alone, of 8 decided" in text
    assert "1 undecided, carried either way" in text and "sequence" not in text


def test_a_budget_says_what_was_used_up_and_what_intervals_are_of() -> None:
    text = told(plan_of(["a"], 3), Course(budget=BudgetStop("tokens", 100, 120)))
    assert "Stopped by the declared budget: tokens 120 of 100." in text and "nothing fixed" in text
    held = told(plan_of(["a"], 3), Course(budget=BudgetStop("tokens", 100, 20, unknown=2)))
    assert "20 of 100 are known, and what 2 trials used is not" in " ".join(held.split())


def test_an_order_that_was_not_the_planned_one_is_named() -> None:
    plan = plan_of(["a"], 4)
    moved = Course(opened=names(plan, 0, 2, 1, 3), closed=True)
    assert told(plan, moved) == "", "nothing that is compared changed places"
    assert "not the planned one (fixed): 1 trial began before one that is planned earlier" in told(plan, moved, True)
    assert names(plan, 2)[0] in told(plan, moved, True)
    value = course_value(plan, moved, ())
    assert (value["as_planned"], value["realised"]) == (False, list(names(plan, 0, 2, 1, 3)))
    assert course_value(plan, Course(opened=names(plan, 0, 1)), ())["as_planned"] is True
    balanced = plan.model_copy(update={"order": "williams"})
    assert "Order williams: trials began as planned." in told(balanced, Course(opened=names(plan, 0, 1)))


def test_a_pair_whose_sides_changed_places_is_told_in_a_line() -> None:
    plan = plan_of({"t": ("plain", "neutral")}, 2)
    turned = Course(opened=names(plan, 0, 1, 3, 2), closed=True)
    line = "1 trial began before one that is planned earlier: in 1 pair another side came first."
    assert told(plan, turned) == line
    assert told(plan, Course(opened=names(plan, 2, 3, 0, 1), closed=True)) == "", "pairs as wholes changed places"


def test_subjects_are_a_pair_where_a_rule_compares_them() -> None:
    plan = plan_of(["a"], 1, ("s", "t"))
    turned = Course(opened=names(plan, 1, 0), closed=True)
    assert told(plan, turned) == ""
    rule = RULE.model_copy(update={"test": "mcnemar", "p0": None, "between": ("s", "t")})
    assert "in 1 pair another side came first" in told(
        plan.model_copy(update={"repeat": Repeat(sequential=rule)}), turned
    )


def test_an_order_that_is_to_balance_and_did_not_is_told() -> None:
    plan = plan_of(["a"], 3).model_copy(update={"order": "williams"})
    text = told(plan, Course(opened=names(plan, 1, 0, 2), closed=True))
    assert text == "1 trial began before one that is planned earlier: the order does not balance as planned."
