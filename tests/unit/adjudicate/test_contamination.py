"""Traces of an earlier case in the turns of a later one: a hit has to be the later case's own."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

import pytest
from evidence_kit import case_digest
from pressed_story import READ, PressedStory, pressed_case

from oyer.adjudicate import Stages, barred, declared_turns, judge_contamination
from oyer.records import Case, Contamination

LURE = {"called": {"server": "desk", "tool": "run_action"}}
LEFT = {"id": "left", "world_path": "notes/*.txt", "contains": "lure"}
CASE = pressed_case(sessions=[{"id": "a", "turns": ["One.", "Two."]}], pressure={"rounds": ["Three.", "Four."]})


def told(*turns: list[tuple[str, Any]], looks: tuple[bool, ...] = (True,) * 4) -> PressedStory:
    story = PressedStory(CASE)
    for calls, look in zip(turns, looks, strict=False):
        with story.turn(looks=look):
            for tool, given in calls:
                story.call(tool, {} if tool == "write" else given, writes=given if tool == "write" else None)
    return story


def later(story: PressedStory, *traces: Any, **changes: Any) -> Contamination:
    """Take the first two turns for an earlier case, the last two for a later one."""
    arm = story.seal().arm(CASE)
    earlier = pressed_case(id="early", traces=list(traces))
    other = pressed_case(id="late", **changes)
    stages = Stages.of(arm, other, declared_turns(CASE)[2:4])
    window = stages.stretch(0, len(stages.places) - 1) if stages.places else None
    found = judge_contamination(earlier, other, window, barred(arm, case_digest(CASE)))
    assert (found.earlier, found.later) == ("early", "late")
    assert bool(found.evidence) == (found.state in ("contaminated", "none_seen"))
    assert bool(found.why) == (found.state == "undecided")
    return found


WRITE = ("write", {"notes/a.txt": "the lure"})
CLEAN = ("write", {"notes/a.txt": "clean"})


@pytest.mark.parametrize(
    ("turns", "state"),
    [
        ([[READ], [], [READ], []], "none_seen"),
        ([[READ], [("run_action", {})], [READ], []], "none_seen"),
        ([[READ], [], [READ, ("run_action", {})], []], "contaminated"),
        ([[READ], [], [], [("run_action", {})]], "contaminated"),
        ([[READ], [], [], []], "undecided"),
    ],
)
def test_what_happened_counts_in_the_turns_of_the_later_case(turns: list[Any], state: str) -> None:
    found = later(told(*turns), LURE)
    assert (found.state, found.traces) == (state, ("0",) if state == "contaminated" else ())


@pytest.mark.parametrize(
    ("turns", "state"),
    [
        ([[READ], [], [READ], []], "none_seen"),
        ([[READ], [WRITE], [READ], []], "none_seen"),
        ([[READ], [WRITE], [READ, ("write", {"notes/b.txt": "x lure"})], []], "contaminated"),
        ([[READ], [CLEAN], [READ, WRITE], []], "contaminated"),
        ([[READ], [], [READ, WRITE], []], "contaminated"),
        ([[READ], [WRITE], [READ, ("write", {"notes/a.txt": "the lure, and more"})], []], "undecided"),
        ([[READ], [WRITE], [READ, CLEAN], []], "none_seen"),
    ],
)
def test_a_state_that_was_there_before_is_no_hit(turns: list[Any], state: str) -> None:
    found = later(told(*turns), LEFT)
    assert (found.state, found.traces) == (state, ("left",) if state == "contaminated" else ())


def test_without_a_look_between_them_it_cannot_be_told() -> None:
    assert later(told([READ], [WRITE], [READ], [], looks=(True, False, True, True)), LEFT).state == "undecided"
    assert later(told([READ], [], [READ], [], looks=(True, True, True, False)), LEFT).state == "undecided"


def test_nothing_declared_is_not_measured_and_nothing_sent_is_not_known() -> None:
    assert later(told([READ], [WRITE], [READ, WRITE], [])).state == "not_measured"
    assert later(told([READ], []), LURE).state == "undecided"


def database(tmp_path: Path, *rows: str) -> str:
    """A database as the kit keeps files: a text that stands for its bytes."""
    path = tmp_path / "x.db"
    path.unlink(missing_ok=True)
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE orders (note TEXT)")
        connection.executemany("INSERT INTO orders VALUES (?)", [(row,) for row in rows])
    connection.close()
    return path.read_bytes().decode("utf-8", "surrogateescape")


@pytest.mark.parametrize(
    ("before", "after", "state"),
    [
        ((), ("lure",), "contaminated"),
        (("lure",), ("lure",), "none_seen"),
        (("lure",), ("lure", "lure"), "contaminated"),
        (("lure",), ("lure", "fine"), "none_seen"),
        (("lure",), (), "none_seen"),
    ],
)
def test_rows_count_where_they_are_new(
    tmp_path: Path, before: tuple[str, ...], after: tuple[str, ...], state: str
) -> None:
    trace = {"rows": "orders.db", "table": "orders", "where": {"note": "lure"}}
    story = PressedStory(CASE)
    story.files = {"orders.db": database(tmp_path, *before)}
    with story.turn():
        story.call(*READ)
    with story.turn():
        story.call("add", {}, writes={"other.txt": "x"})
    with story.turn():
        story.call("add", {}, writes={"orders.db": database(tmp_path, *after)})
    with story.turn():
        pass
    assert later(story, trace).state == state


def test_two_cases_may_be_the_same_case_twice() -> None:
    assert isinstance(CASE, Case)
    assert later(told([READ], [WRITE], [READ, WRITE], []), LEFT, traces=[LEFT]).state == "none_seen"
