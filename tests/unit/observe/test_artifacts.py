"""Looks at the world and writes in it."""

from __future__ import annotations

import pytest
from evidence_kit import LURED_MEMO, Story, memo_case, memo_story

from oyer.evidence import digest_of
from oyer.observe import WorldView, read_world

CASE = memo_case()


def world(story: Story) -> WorldView:
    return read_world(story.arm().evidence)


def test_looks_and_writes() -> None:
    view = world(memo_story(CASE))
    assert [(look.phase, look.after_session, look.files) for look in view.looks] == [
        ("opening", None, {}),
        ("between", "a", {"memo.txt": digest_of(LURED_MEMO.encode())}),
        ("closing", None, {"memo.txt": digest_of(LURED_MEMO.encode())}),
    ]
    (write,) = view.writes
    assert (write.path, write.before, write.content) == ("memo.txt", None, LURED_MEMO.encode())
    assert view.content("memo.txt", digest_of(LURED_MEMO.encode())) == LURED_MEMO.encode()
    assert view.content("memo.txt", digest_of(b"x")) is None
    assert view.opening == view.looks[0]
    assert view.first_look_after(write.t_ns) == view.looks[1]
    assert view.first_look_after(view.looks[-1].t_ns + 1) is None


def turn_look(story: Story, session: str | None, turn: int, files: bytes = b"[]") -> None:
    """Add a look at the end of a turn, in which the world was empty."""
    body = {"phase": "turn", "digest": story.all("world.snapshot", phase="opening")[0].body["digest"], "turn": turn}
    story.note("world", "world.snapshot", body, entries=files)
    story.all("world.snapshot", phase="turn")[-1].session = session


def test_looks_after_turns_stand_apart_from_those_that_decide() -> None:
    story = memo_story(CASE)
    for session, turn in (("a", 0), ("a", 1), ("b", 0)):
        turn_look(story, session, turn)
    view = world(story)
    assert [look.phase for look in view.looks] == ["opening", "between", "closing"]
    assert [(look.session, look.turn, look.files) for look in view.turn_looks] == [
        ("a", 0, {}),
        ("a", 1, {}),
        ("b", 0, {}),
    ]
    found = view.after_turn("a", 1)
    assert found is view.turn_looks[1]
    assert view.after_turn("a", 2) is None
    assert view.first_look_after(view.turn_looks[0].t_ns) is view.closing


def test_two_looks_after_one_turn_are_none_and_one_that_is_damaged_is_named() -> None:
    story = memo_story(CASE)
    turn_look(story, "a", 0)
    turn_look(story, "a", 0)
    turn_look(story, "a", 1, files=b"{}")
    turn_look(story, None, 2)
    view = world(story)
    assert view.after_turn("a", 0) is None
    damaged = view.after_turn("a", 1)
    assert damaged is not None
    assert damaged.files is None
    assert view.unreadable == (damaged.ref,)
    assert view.after_turn("a", 2) is None


@pytest.mark.parametrize(
    "entries",
    [
        b"",
        b"{}",
        b"[5]",
        b'[["memo.txt"]]',
        b'[["memo.txt",0,1,"sha256:x","file"]]',
        b'[["memo.txt",false,true,"sha256:x","file"]]',
        b'[["memo.txt",false,-1,"sha256:x","file"]]',
        b'[["memo.txt",false,1e3,"sha256:x","file"]]',
        b'[["/etc/x",false,1,"sha256:' + b"0" * 64 + b'","file"]]',
        b"[]",
    ],
)
def test_entries_that_are_not_what_the_digest_says(entries: bytes) -> None:
    story = memo_story(CASE)
    story.all("world.snapshot", phase="between")[0].payloads["entries"] = entries
    view = world(story)
    assert view.looks[1].files is None
    assert view.unreadable == (view.looks[1].ref,)


def test_links_are_listed_though_their_digest_cannot_be_made_again() -> None:
    story = memo_story(CASE)
    row = b'[["l",false,4,"sha256:' + b"1" * 64 + b'","symlink"]]'
    story.all("world.snapshot", phase="between")[0].payloads["entries"] = row
    assert world(story).looks[1].files == {"l": "sha256:" + "1" * 64}


def test_content_that_is_not_what_the_look_saw_does_not_count() -> None:
    story = memo_story(CASE)
    story.all("world.written")[0].payloads["payload"] = b"something that came after"
    assert world(story).writes[0].content is None
