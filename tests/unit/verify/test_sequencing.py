"""A stored sequence is what its pinned suite and its pinned cases come to: nothing else says whose turns are whose."""

from __future__ import annotations

from sequence_kit import DAYS, DESK_FILE, RULES, TURNED, WRITE

from oyer.cli.scopes import load_suite
from oyer.cli.selection import judged_by
from oyer.plan import build_plan
from oyer.records import Case, Plan, Record, TrialSuite, digest
from oyer.verify.sequencing import sequencing_breaches


def pinned() -> tuple[Plan, dict[str, Record], dict[str, Case], TrialSuite]:
    placed = load_suite(str(DESK_FILE))
    rubrics, evaluators = judged_by(placed.cases, placed.scope)
    loaded = [one.loaded for one in placed.cases]
    plan = build_plan(loaded, ["idle"], seed=0, suite=placed.suite, rubrics=rubrics, evaluators=evaluators)
    pins: dict[str, Record] = {one.digest: one.case for one in loaded}
    return plan, {**pins, digest(placed.suite): placed.suite}, {one.case.id: one.case for one in loaded}, placed.suite


def codes(plan: Plan, pins: dict[str, Record]) -> list[tuple[str, str]]:
    return [(code, where) for code, _, where in sequencing_breaches(plan, pins)]


def with_case(plan: Plan, pins: dict[str, Record], name: str, case: Case) -> tuple[Plan, dict[str, Record]]:
    """The plan and the pins with another case of a name, every name of it mended."""
    new = digest(case)
    cases = tuple(one.model_copy(update={"digest": new}) if one.id == name else one for one in plan.cases)
    return plan.model_copy(update={"cases": cases}), {**pins, new: case}


def test_what_was_composed_is_found_to_be() -> None:
    plan, pins, _, _ = pinned()
    assert codes(plan, pins) == []


def test_a_sequence_of_swapped_turns_is_told() -> None:
    plan, pins, cases, _ = pinned()
    one, two = cases[DAYS].segments
    segments = (
        two.model_copy(update={"session": one.session, "turns": one.turns}),
        one.model_copy(update={"session": two.session, "turns": two.turns}),
    )
    forged = cases[DAYS].model_copy(update={"segments": segments})
    assert codes(*with_case(plan, pins, DAYS, forged)) == [("E-SEQUENCE-OTHER", f"pins/{digest(forged)}")]


def test_a_sequence_in_the_place_of_another_is_told() -> None:
    """Composed rightly, but not what the suite says under this name: its cases come in another order."""
    plan, pins, cases, _ = pinned()
    forged = cases[TURNED].model_copy(update={"id": DAYS})
    assert codes(*with_case(plan, pins, DAYS, forged)) == [("E-SEQUENCE-OTHER", f"pins/{digest(forged)}")]


def test_a_sequence_that_the_suite_does_not_declare_is_told() -> None:
    plan, pins, _, suite = pinned()
    fewer = suite.model_copy(update={"sequences": suite.sequences[:1]})
    plan = plan.model_copy(update={"suite": digest(fewer)})
    assert [code for code, _ in codes(plan, {**pins, digest(fewer): fewer})] == ["E-SEQUENCE-OTHER"] * 2


def test_members_that_the_plan_names_otherwise_are_told() -> None:
    plan, pins, cases, _ = pinned()
    other = cases[WRITE].model_copy(update={"revision": 2})
    assert {code for code, _ in codes(*with_case(plan, pins, WRITE, other))} == {"E-SEQUENCE-MEMBER"}


def test_what_is_not_retained_is_told_elsewhere() -> None:
    plan, pins, cases, _ = pinned()
    del pins[digest(cases[RULES])]
    assert codes(plan, pins) == []
