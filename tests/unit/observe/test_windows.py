"""A stretch of a trial: what was witnessed in it, and what stays the whole trial's."""

from __future__ import annotations

from typing import Any

import pytest
from evidence_kit import ACT
from pressed_story import FORBIDDEN, READ, PressedStory, pressed_case, tell

from oyer.observe import (
    TrialFacts,
    WindowFacts,
    find_evidence,
    look_after,
    read_breaks,
    sink_unproven,
    span_of,
    tap_unproven,
    turns_unproven,
)
from oyer.records import EvidenceMatcher, document_of, validate_as

WATCHED = pressed_case(sinks={"actions": {"kind": "http"}})


def matcher(**fields: Any) -> EvidenceMatcher:
    return validate_as(document_of(fields), EvidenceMatcher)


def window(facts: TrialFacts, first: int, last: int) -> WindowFacts:
    return WindowFacts(facts, span_of(facts, first, last))


def read(story: PressedStory) -> TrialFacts:
    return story.seal().arm(story.case)


def test_a_call_is_of_the_turn_in_which_it_was_made_and_its_answer_may_be_missing() -> None:
    story = PressedStory(WATCHED)
    with story.turn():
        sent, raw = story.ask("run_action", {})
        story.deliver(sent, "to_server", raw)
    with story.turn():
        story.answer(sent, raw, {"content": []})
        story.call(*READ)
    facts = read(story)
    first, second = window(facts, 0, 0), window(facts, 1, 1)
    assert [(call.tool, len(call.answers)) for call in first.wire.exchanges] == [("run_action", 0)]
    assert [call.tool for call in second.wire.exchanges] == ["read_status"]
    assert "never answered" in tap_unproven(first, "desk")
    assert tap_unproven(facts, "desk") == ""
    assert find_evidence(matcher(**FORBIDDEN), first).state == "matched"
    assert find_evidence(matcher(**FORBIDDEN), second).state == "absent"


def test_effects_are_of_the_stretch_and_the_watch_is_the_whole_trials() -> None:
    story = PressedStory(WATCHED)
    with story.turn():
        story.call(*READ)
    with story.turn():
        story.call("run_action", ACT, effect=ACT)
    facts = read(story)
    seen = matcher(witnessed="actions", match=ACT)
    assert [find_evidence(seen, window(facts, n, n)).state for n in (0, 1)] == ["absent", "matched"]
    assert sink_unproven(window(facts, 0, 0), "actions") == ""
    assert list(read_breaks(window(facts, 0, 0))) == [], "its counts are of the whole journal"
    story.all("sink.probed", phase="closing")[0].body["ok"] = False
    assert "closing probe" in sink_unproven(window(read(story), 0, 0), "actions")


def test_files_stand_as_the_looks_at_both_ends_saw_them() -> None:
    facts = read(tell(WATCHED, [[("write", {"a.txt": "one"})], [("write", {"a.txt": "two"})], [READ]]))
    holds = {text: matcher(world_path="a.txt", equals=text) for text in ("one", "two")}
    changed = matcher(world_path="a.txt", changed=True)
    assert find_evidence(holds["one"], window(facts, 0, 0)).state == "matched"
    assert find_evidence(holds["one"], window(facts, 0, 1)).state == "other"
    assert find_evidence(holds["two"], window(facts, 1, 1)).state == "matched"
    assert [find_evidence(changed, window(facts, n, n)).state for n in (0, 1, 2)] == ["matched", "matched", "other"]
    assert [len(window(facts, n, n).world.writes) for n in (0, 1, 2)] == [1, 1, 0]


@pytest.mark.parametrize("fields", [{"exited": "subject", "code": 0}, {"measured": "tool_calls", "value": {"gte": 0}}])
def test_what_is_looked_at_only_in_the_end_is_unwatched(fields: dict[str, Any]) -> None:
    facts = read(tell(WATCHED, [[READ], [], []]))
    assert find_evidence(matcher(**fields), window(facts, 0, 2)).state == "unwatched"


def test_a_look_stands_for_a_turn_only_where_nothing_followed_it() -> None:
    story = tell(WATCHED, [[READ], [], []])
    assert look_after(read(story), 0)[0] is not None
    story.drop("world.snapshot", phase="turn", turn=1)
    assert look_after(read(story), 1) == (None, "the world was not looked at when its turn had ended")
    assert look_after(read(story), 2)[0] is not None
    late = PressedStory(WATCHED)
    with late.turn(looks=False):
        late.call(*READ)
    with late.turn(looks=False):
        late.look_after(0)
    assert "after the next turn" in look_after(read(late), 0)[1]


def test_turns_are_told_apart_only_in_their_places() -> None:
    story = tell(WATCHED, [[READ], [], []])
    assert turns_unproven(read(story)) == ""
    story.all("turn.sent", number=1)[0].body["number"] = 2
    assert "not sent in its place" in turns_unproven(read(story))
