"""Records of the gateway beside their own bytes: what says something else than it keeps is evidence against itself."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from evidence_kit import Story, make_case, require_outcome, require_reasons, score_status, status_story

from oyer.observe import read_cost, read_measurements, untrue_records

CASE = make_case()


def judged(wrong: Callable[[Story], object]) -> Any:
    """The same is wrong in both arms, so that no comparison of the two can show it."""
    stories = [status_story(CASE, name, gateway=True) for name in ("manipulated", "baseline")]
    for story in stories:
        wrong(story)
    return score_status(CASE, *stories)


def altered(kind: str, place: int = 0, **body: Any) -> Callable[[Story], object]:
    return lambda story: story.all(kind)[place].body.update(body)


def test_records_that_say_what_their_bytes_say() -> None:
    story = status_story(CASE, acts=True, gateway=True)
    assert not list(untrue_records(story.arm().evidence))
    require_outcome(judged(lambda _: None), "NOT_OBSERVED")


@pytest.mark.parametrize(
    "wrong",
    [
        altered("model.response", reported_model="m-1-2027"),
        altered("model.response", reported_model=None),
        altered("model.response", usage={"total": 11}),
        altered("model.response", usage=None),
        altered("model.response", finish="content_filter"),
        altered("model.response", finish=None),
        altered("model.response", requested_model="m-2"),
        altered("model.request", requested_model="m-2"),
        altered("model.response", source="declared"),
        altered("model.response", source="declared", http_status=429),
    ],
)
def test_a_record_that_its_bytes_deny(wrong: Callable[[Story], object]) -> None:
    require_reasons(judged(wrong), "EVIDENCE_BROKEN")


@pytest.mark.parametrize("opened", ["endpoint", "scripted", "replay"])
@pytest.mark.parametrize("source", [None, "scripted", "replay"])
def test_an_answer_of_another_source_than_its_trial_was_opened_with(opened: str, source: str | None) -> None:
    story = status_story(CASE, gateway=True)
    altered("trial.opened", model_source=opened)(story)
    for answer in story.all("model.response"):
        answer.body.update({} if source is None else {"source": source})
    told = [why for why, _ in untrue_records(story.arm().evidence)]
    if (source or "endpoint") == opened:
        assert told == []
    else:
        assert len(told) == len(story.all("model.response")) and all("another source" in why for why in told)
        assert read_measurements(story.arm())["tokens"].value is None and read_cost(story.arm()) is None


def test_nothing_is_measured_by_such_a_record() -> None:
    story = status_story(CASE, gateway=True)
    assert read_measurements(story.arm())["tokens"].value == 20
    altered("model.response", usage={"total": 1})(story)
    assert read_measurements(story.arm())["tokens"].value is None and read_cost(story.arm()) is None
