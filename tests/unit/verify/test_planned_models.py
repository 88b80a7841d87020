"""What was pinned of a model is what was planned of it."""

from __future__ import annotations

from typing import Any

import pytest
from evidence_kit import make_case

from oyer.records import PinSet as Pins
from oyer.records import Plan, PlannedCase, PlannedModel, PlannedTrial, Series, digest
from oyer.verify.check_04_records import _unplanned

CASE = make_case()


def planned(**model: Any) -> Plan:
    trial = {"trial": "t", "position": 0, "case": CASE.id, "case_digest": digest(CASE), "subject": "one"}
    return Plan(
        cases=(PlannedCase(id=CASE.id, revision=1, digest=digest(CASE)),),
        subjects=("one",),
        models={"one": PlannedModel(name="m", base_url="u", **model)},
        seed=0,
        trials=(PlannedTrial(**trial, repetition=1, condition="baseline"),),
    )


@pytest.mark.parametrize(
    ("told", "pinned", "good"),
    [
        ({}, {}, True),
        ({"m": "m-1"}, {"m": "m-1"}, True),
        ({"m": "m-1"}, {"m": "m-2"}, False),
        ({"m": "m-1"}, {}, False),
    ],
)
def test_the_names_that_answers_report_are_the_planned_ones(told: Any, pinned: Any, good: bool) -> None:
    plan = planned(reports=told)
    blank = dict.fromkeys(name for name in Pins.model_fields if name not in ("oyer", "models", "listings"))
    pins = Pins(**blank, models=pinned)
    manifest = Series(
        series="s",
        opened="2026-01-01T00:00:00Z",
        plan=digest(plan),
        cases={},
        environments={},
        pinsets={"one": {CASE.id: "pin"}},
        condition_order=("baseline",),
        seed=0,
        jobs=1,
        vocabulary=5,
        boot="b",
    )
    codes = [code for code, _, _ in _unplanned(manifest, plan, {"pin": pins})]
    assert codes == ([] if good else ["E-PLAN-MODEL"])
