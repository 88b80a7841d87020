"""Turns, what the subject was given, and masks."""

from __future__ import annotations

import pytest
from evidence_kit import make_case, memo_case, memo_story, status_story

from oyer.observe import mask, read_authored, read_turns

CASE = make_case()


@pytest.mark.parametrize(
    ("text", "masks", "masked"),
    [
        ("run r1 in /tmp/r1/x", {"r1": "{run}", "/tmp/r1": "{dir}"}, "run {run} in {dir}/x"),
        ("ab abc", {"ab": "{a}", "abc": "{b}"}, "{a} {b}"),
        ("r1", {"r1": "{run}", "run": "{other}"}, "{run}"),
        ("a.c abc", {"a.c": "{dot}"}, "{dot} abc"),
        ("text", {}, "text"),
        ("text", {"": "{nothing}"}, "text"),
        ("xaax", {"aa": "{1}", "a": "{2}"}, "x{1}x"),
    ],
)
def test_tokens_are_masked_in_one_pass_the_longest_first(text: str, masks: dict[str, str], masked: str) -> None:
    assert mask(text, masks) == masked


def test_turns_are_paired_by_session_and_number() -> None:
    turns = read_turns(memo_story(memo_case()).arm().evidence)
    assert [(turn.session, turn.number, turn.ended_by) for turn in turns] == [("a", 0, "subject"), ("b", 0, "subject")]
    story = status_story(CASE)
    story.all("turn.received")[0].body["number"] = 1
    (turn,) = read_turns(story.arm().evidence)
    assert (turn.received_ref, turn.ended_by, turn.said) == (None, None, None)
    story = status_story(CASE)
    story.all("turn.received")[0].session = "b"
    assert read_turns(story.arm().evidence)[0].ended_by is None


def test_an_answer_to_a_turn_counts_once() -> None:
    story = status_story(CASE)
    first = story.all("turn.received")[0]
    story.session_id = "a"
    story.note("harness", "turn.received", {**first.body, "ended_by": "stop"}, payload=b"again")
    assert read_turns(story.arm().evidence)[0].ended_by == "subject"


def test_everything_given_has_a_place_of_its_own() -> None:
    story = status_story(CASE)
    given = story.all("subject.given")[0]
    story.session_id = "a"
    story.note("harness", "subject.given", {**given.body, "cwd": "/other"}, configuration=b"{}")
    authored = read_authored(story.arm().evidence)
    places = [item.place for item in authored]
    assert len(set(places)) == len(places)
    assert {"a/turn/0", "a/argv/0", "a/argv/1", "a/env/HOME", "a/cwd", "a/configuration", "a/again/1/cwd"} <= set(
        places
    )
    home = next(item for item in authored if item.place == "a/env/HOME")
    assert home.text == f"HOME=/tmp/w/{story.run}"
    assert home.masked == "HOME={run.dir}"
    assert [item.place for item in authored if item.is_turn] == ["a/turn/0"]
