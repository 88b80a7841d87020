"""Which models answered over all trials of a series: what one trial says, and which runs others speak against."""

from __future__ import annotations

from typing import Any

import pytest
from evidence_kit import make_case, status_story

from oyer.adjudicate import Reported, Told, swapped_runs, told_models
from oyer.observe import read_trial
from oyer.records import Plan, PlannedCase, PlannedTrial, digest

CASE = make_case()
DIGEST = str(digest(CASE))


def plan(**subjects: str) -> Plan:
    trials = tuple(
        PlannedTrial(
            trial=trial,
            position=at,
            case=CASE.id,
            case_digest=DIGEST,
            subject=subject,
            repetition=at + 1,
            condition="plain",
        )
        for at, (trial, subject) in enumerate(subjects.items())
    )
    cases = (PlannedCase(id=CASE.id, revision=1, digest=DIGEST),)
    return Plan(cases=cases, subjects=tuple(sorted(set(subjects.values()))), seed=1, trials=trials)


def told(run: str, *pairs: tuple[str, str]) -> Told:
    return Told(run, tuple(Reported(*pair, f"gateway:{at}") for at, pair in enumerate(pairs)))


def test_every_run_that_asked_for_the_name_is_spoken_against_by_the_others() -> None:
    trials = {
        "a": told("ra", ("m", "m-1"), ("aux", "aux-1")),
        "b": told("rb", ("m", "m-2")),
        "c": told("rc", ("aux", "aux-1")),
    }
    found = swapped_runs(trials, plan(a="s", b="s", c="s"))
    assert {run: [(one.about, one.refs) for one in swaps] for run, swaps in found.items()} == {
        "ra": [("models.m", ("b/gateway:0",))],
        "rb": [("models.m", ("a/gateway:0",))],
    }
    assert found["ra"][0].why == "m-1 answered here, and m-2 in other trials of this series"


def test_another_subject_another_name_and_one_trial_alone_are_no_swap() -> None:
    trials = {"a": told("ra", ("m", "m-1")), "b": told("rb", ("m", "m-2")), "c": told("rc", ("x", "1"), ("y", "2"))}
    assert swapped_runs(trials, plan(a="s", b="t", c="s")) == {}
    alone = {"a": told("ra", ("m", "m-1"), ("m", "m-2"))}
    assert swapped_runs(alone, plan(a="s")) == {}


@pytest.mark.parametrize(
    ("spoilt", "reports"),
    [
        ({}, [("m-1", "m-1-2026")]),
        ({"http_status": 500}, []),
        ({"complete": False}, []),
        ({"reported_model": None}, []),
        ({"source": "declared"}, []),
    ],
)
def test_only_whole_answers_of_a_model_report(spoilt: dict[str, Any], reports: list[tuple[str, str]]) -> None:
    story = status_story(CASE, gateway=True)
    for answer in story.all("model.response"):
        answer.body.update(spoilt)
    sealed = story.seal()
    found = told_models(read_trial(sealed.journals, sealed.blobs.get, expect=sealed.envelope))
    assert [(one.requested, one.reported) for one in found.reports] == reports
    assert found.run == sealed.envelope.run
