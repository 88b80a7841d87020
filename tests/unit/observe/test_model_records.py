"""Records of the gateway beside their own bytes: what says something else than it keeps is evidence against itself."""

from __future__ import annotations

import json
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


def test_nothing_is_measured_by_such_a_record() -> None:
    story = status_story(CASE, gateway=True)
    assert read_measurements(story.arm())["tokens"].value == 20
    altered("model.response", usage={"total": 1})(story)
    assert read_measurements(story.arm())["tokens"].value is None and read_cost(story.arm()) is None


def declared(story: Story, text: str, *, status: int, source: str | None = "declared", times: int = 1) -> None:
    (opened,) = story.all("trial.opened")
    opened.body["model_faults"] = [text]
    answer = story.all("model.response")[0]
    for _ in range(times):
        story.note("gateway", "model.fault", {"exchange": 0, "declared": text})
    told = {"reported_model": None, "usage": None, "finish": None, "http_status": status}
    answer.body.update(told if source is None else {**told, "source": source})
    answer.payloads["payload"] = json.dumps({"error": {"message": "x"}}).encode()


@pytest.mark.parametrize(
    ("text", "more", "count"),
    [
        ("429@1", {"status": 429}, 0),
        ("429@1", {"status": 500}, 1),
        ("429@1", {"status": 429, "source": None}, 1),
        ("429@1", {"status": 429, "times": 2}, 1),
        ("429@1x2", {"status": 429, "times": 2}, 0),
        ("slow:10ms@1", {"status": 429}, 1),
    ],
)
def test_a_declared_fault_stands_in_both_of_its_records(text: str, more: Any, count: int) -> None:
    story = status_story(CASE, gateway=True)
    declared(story, text, **more)
    assert len(list(untrue_records(story.arm().evidence))) == count
