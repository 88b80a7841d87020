"""Every field that moved is named, with what it was and what it is; nothing else is."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from oyer.plan import Drift, build_plan, plan_drift
from oyer.records import Case, LoadedCase, Order, Plan, PlannedModel, parse_cases

CASE = """
oyer: Case@1
id: pasture
effect_class: none
servers: {fs: {command: [server]}}
prompt: %s
"""

PLANNED_MODEL = (
    '{"api":"chat","base_url":"u","faults":[],"name":"m","parameters":{},"prices":{},'
    '"reasoning_delimiters":[],"reports":{},"...'
)


def loaded(prompt: str = "Read the notes.") -> LoadedCase:
    return parse_cases((CASE % prompt).encode(), name="notes.yaml")[0]


def plan(prompt: str = "Read the notes.", subjects: tuple[str, ...] = ("one",), **more: Any) -> Plan:
    return build_plan([loaded(prompt)], subjects, **{"seed": 0, **more})


def drift(one: Plan, other: Plan, *cases: Mapping[str, Case]) -> list[Drift]:
    return list(plan_drift(one, other, *cases))


def test_equal_plans_did_not_move() -> None:
    assert drift(plan(), plan(), {"pasture": loaded().case}, {"pasture": loaded().case}) == []


@pytest.mark.parametrize(
    ("changed", "field", "planned", "now"),
    [
        ({"seed": 3}, "seed", "0", "3"),
        ({"worlds": {"pasture": "sha256:b"}}, "cases.pasture.world", "sha256:a", "sha256:b"),
        ({"worlds": {}}, "cases.pasture.world", "sha256:a", "null"),
        ({"models": {"one": PlannedModel(name="n", base_url="u")}}, "models.one.name", "m", "n"),
        (
            {"models": {}},
            "models.one",
            PLANNED_MODEL,
            "absent",
        ),
        ({"order": Order(kind="shuffled")}, "order", "fixed", "shuffled"),
    ],
)
def test_the_field_that_moved_is_named(changed: dict[str, Any], field: str, planned: str, now: str) -> None:
    given: dict[str, Any] = {"worlds": {"pasture": "sha256:a"}, "models": {"one": PlannedModel(name="m", base_url="u")}}
    assert drift(plan(**given), plan(**{**given, **changed})) == [Drift(field, planned, now)]


def test_a_case_that_moved_is_named_by_its_field_and_not_by_the_digest_that_follows() -> None:
    one, other = loaded(), loaded("Read all the notes.")
    found = drift(plan(), plan("Read all the notes."), {"pasture": one.case}, {"pasture": other.case})
    assert found == [
        Drift("cases.pasture.record.sessions[0].turns[0]", "Read the notes.", "Read all the notes."),
    ]


def test_without_the_cases_themselves_the_digests_still_tell() -> None:
    assert [found.field for found in drift(plan(), plan("Read it."))] == ["cases.pasture.digest"]


def test_another_repetition_is_more_trials() -> None:
    fields = [found.field for found in drift(plan(), plan(repeat=2))]
    assert fields[0] == "repeat.fixed" and any(field.startswith("trials") for field in fields)


def test_one_and_true_are_two_values() -> None:
    one = {"one": PlannedModel(name="m", base_url="u", parameters={"n": 1})}
    other = {"one": PlannedModel(name="m", base_url="u", parameters={"n": True})}
    assert drift(plan(models=one), plan(models=other)) == [Drift("models.one.parameters.n", "1", "true")]


def test_long_values_are_cut() -> None:
    long = "word " * 100
    found = drift(plan(), plan(long), {"pasture": loaded().case}, {"pasture": loaded(long).case})
    assert found[-1].now.endswith("...") and len(found[-1].now) < 130


def test_a_digest_stays_named_where_nothing_that_it_is_made_of_is_told() -> None:
    fields = [one.field for one in drift(plan(), plan("Read all the notes.", worlds={"pasture": "sha256:b"}))]
    assert fields == ["cases.pasture.digest", "cases.pasture.world"]
