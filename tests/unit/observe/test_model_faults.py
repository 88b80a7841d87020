"""Declared faults of a model's endpoint that are not on record as they were declared."""

from __future__ import annotations

from typing import Any

import pytest
from evidence_kit import Draft, Story, make_case, status_story

from oyer.observe import untrue_records

CASE = make_case()


def faulted(*declared: str) -> Story:
    story = status_story(CASE, gateway=True)
    story.all("trial.opened")[0].body["model_faults"] = list(declared)
    return story


def act(story: Story, text: str, exchange: int, **more: Any) -> None:
    """Put the record of a declared fault between a request and its answer."""
    noted = story.note("gateway", "model.fault", {"exchange": exchange, "declared": text}, **more)
    story.drafts.remove(noted)
    (answer,) = [one for one in story.all("model.response") if one.body["exchange"] == exchange]
    noted.t_ns = answer.t_ns
    story.drafts.insert(story.drafts.index(answer), noted)


def answer_of(story: Story, exchange: int) -> Draft:
    (answer,) = [one for one in story.all("model.response") if one.body["exchange"] == exchange]
    return answer


def refuse(story: Story, exchange: int, status: int = 429, **more: Any) -> None:
    answer = answer_of(story, exchange)
    answer.body.update(http_status=status, reported_model=None, usage=None, finish=None, **more)
    answer.payloads["payload"] = b'{"error": {"message": "no"}}'


def wrong(story: Story) -> list[str]:
    return [why for why, _ in untrue_records(story.arm().evidence)]


def test_a_fault_as_declared_is_right() -> None:
    story = faulted("429@1")
    act(story, "429@1", 0)
    refuse(story, 0, source="declared")
    assert wrong(story) == []


def test_a_declared_fault_at_another_request_is_named_and_so_is_the_one_that_is_missing() -> None:
    story = faulted("429@2")
    act(story, "429@2", 0)
    refuse(story, 0, source="declared")
    first, second = wrong(story)
    assert "at another request than it is declared for (429@2)" in first and "was not acted (429@2)" in second


def test_requests_that_the_gateway_turned_away_or_that_ask_no_model_are_not_counted() -> None:
    story = faulted("429@1")
    refuse(story, 0, 401, source="gateway")
    act(story, "429@1", 1)
    refuse(story, 1, source="declared")
    assert wrong(story) == []
    story.all("model.request")[0].body["path"] = "/v1/models"
    del answer_of(story, 0).body["source"]
    assert wrong(story) == []


@pytest.mark.parametrize("status", [429, 500])
def test_the_endpoints_own_error_is_no_declared_one(status: int) -> None:
    story = faulted(f"{status}@1")
    act(story, f"{status}@1", 0)
    refuse(story, 0, status)
    (why,) = wrong(story)
    assert "recorded as a declared fault" in why


@pytest.mark.parametrize("fault", ["cut@1", "slow:5ms@1"])
def test_the_endpoints_own_failure_is_no_declared_one(fault: str) -> None:
    refused, broken = faulted(fault), faulted(fault)
    act(refused, fault, 0, payload=b"{}")
    refuse(refused, 0, 500)
    act(broken, fault, 0, payload=b'data: {"choices": []}\n\n')
    answer_of(broken, 0).body["complete"] = False
    for story in (refused, broken):
        (why,) = wrong(story)
        assert "a failure of the model's endpoint is recorded as a declared one" in why


def test_what_broke_off_as_declared_is_right_and_what_came_whole_is_not() -> None:
    story = faulted("cut@1")
    whole = answer_of(story, 0).payloads["payload"]
    act(story, "cut@1", 0, payload=whole)
    (why,) = wrong(story)
    assert "came whole, and was to break off" in why
    answer_of(story, 0).body["complete"] = False
    answer_of(story, 0).payloads["payload"] = whole[: len(whole) // 2]
    assert wrong(story) == []


def test_an_answer_in_the_models_place_needs_a_declared_fault() -> None:
    story = faulted()
    refuse(story, 0, source="declared")
    (why,) = wrong(story)
    assert "without a declared fault on record" in why


def test_a_fault_that_was_not_acted_is_named_but_where_the_endpoint_failed_by_itself() -> None:
    story = faulted("cut@1")
    (why,) = wrong(story)
    assert "was not acted (cut@1)" in why
    refuse(story, 0, 500)
    assert wrong(story) == []


def test_two_acts_at_one_request_and_one_after_the_answer() -> None:
    story = faulted("429@1")
    refuse(story, 0, source="declared")
    story.note("gateway", "model.fault", {"exchange": 0, "declared": "429@1"})
    story.note("gateway", "model.fault", {"exchange": 0, "declared": "429@1"})
    story.note("gateway", "model.fault", {"exchange": 77, "declared": "429@1"})
    late, twice, nowhere = wrong(story)
    assert "not on record between request and answer" in late and "two declared faults" in twice
    assert "no recorded request" in nowhere
