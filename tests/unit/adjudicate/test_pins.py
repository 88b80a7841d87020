"""What one arm's evidence shows of the pinned fields; what it does not show is None."""

from __future__ import annotations

import pytest
from evidence_kit import Story, make_case, memo_case, memo_story, status_story
from model_streams import APIS, PATHS, STREAMS

from oyer.adjudicate import observed_pins
from oyer.records import directory_digest

CASE = make_case()


def test_what_an_arm_shows() -> None:
    arm = status_story(CASE, gateway=True).arm()
    pins = observed_pins(arm)
    assert pins.case == arm.case_digest
    assert pins.world == directory_digest(())
    assert pins.subject == "someone (scripted 1)"
    assert dict(pins.models) == {"m-1": "m-1-2026"}
    assert (pins.parameters, dict(pins.listings), pins.harness, pins.dependencies, pins.python) == (
        None,
        {},
        None,
        None,
        None,
    )


def test_prompts_are_pinned_of_arms_that_came_to_their_end() -> None:
    story = status_story(CASE)
    story.status = "subject_error"
    assert observed_pins(story.arm()).prompts is None
    assert (
        observed_pins(status_story(CASE).arm()).prompts == observed_pins(status_story(CASE, "baseline").arm()).prompts
    )


def test_a_model_that_reports_nothing_is_a_value_of_its_own() -> None:
    story = status_story(CASE, gateway=True)
    for answer in story.all("model.response"):
        answer.body["reported_model"] = None
    assert dict(observed_pins(story.arm()).models) == {"m-1": "(none reported)"}


def page(story: Story, id_: int, connection: int, tools: bytes, cursor: str | None = None) -> None:
    params = b"" if cursor is None else b',"params":{"cursor":"%s"}' % cursor.encode()
    raw = b'{"jsonrpc":"2.0","id":%d,"method":"tools/list"%s}\n' % (id_, params)
    sent = story.frame("mcp.sent", raw, connection)
    story.deliver(sent, "to_server", raw)
    reply = b'{"jsonrpc":"2.0","id":%d,"result":{"tools":%s}}\n' % (id_, tools)
    story.deliver(story.frame("mcp.received", reply, connection), "to_subject", reply)


def test_pages_of_one_listing_belong_to_their_connection() -> None:
    apart, mixed = Story(CASE), Story(CASE)
    for story in (apart, mixed):
        story.begin("a")
    for connection in (0, 1):
        page(apart, 1, connection, b"[1]")
        page(apart, 2, connection, b"[2]", "c")
    page(mixed, 1, 0, b"[1]")
    page(mixed, 1, 1, b"[1]")
    page(mixed, 2, 1, b"[2]", "c")
    page(mixed, 2, 0, b"[2]", "c")
    listings = [dict(observed_pins(story.finish().arm()).listings) for story in (apart, mixed)]
    assert listings[0] == listings[1]
    assert " + " not in listings[0]["desk"]


def test_later_turns_and_sessions_are_pinned_too() -> None:
    case = memo_case()
    story = memo_story(case)
    story.all("turn.sent")[1].payloads["payload"] += b"!"
    assert observed_pins(story.arm()).prompts != observed_pins(memo_story(case).arm()).prompts


def test_an_error_of_the_endpoint_reports_no_model_and_pins_none() -> None:
    story = status_story(CASE, gateway=True)
    first = story.all("model.response")[0]
    first.body.update(http_status=429, reported_model=None)
    first.payloads["payload"] = b'{"error": {"message": "slow down"}}'
    assert dict(observed_pins(story.arm()).models) == {"m-1": "m-1-2026"}


@pytest.mark.parametrize("name", APIS)
def test_a_silent_swap_in_a_stream_is_seen_and_a_constant_alias_is_none(name: str) -> None:
    story = status_story(CASE, gateway=True)
    for asked, answer in zip(story.all("model.request"), story.all("model.response"), strict=True):
        asked.body["path"] = PATHS[name]
        answer.payloads["payload"] = STREAMS[name]
    assert dict(observed_pins(story.arm()).models) == {"m-1": "m-1-2026"}
    story.all("model.response")[-1].body["reported_model"] = "m-0-cheap"
    assert dict(observed_pins(story.arm()).models) == {"m-1": "m-0-cheap + m-1-2026"}
