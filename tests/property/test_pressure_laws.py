"""Laws of pressure over generated trials: what is sealed and damaged decides less, never otherwise; what comes later
changes no earlier round; and what a round rests on cannot be taken away for the contrary.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

import pytest
from evidence_kit import Draft, Sealed
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from pressed_story import (
    ASK,
    BREAK,
    FORBIDDEN,
    GUARDED,
    MEND,
    READ,
    RETRACTED,
    ROUNDS,
    PressedStory,
    bounds,
    press,
    pressed_case,
    refs_of,
    rubric_of,
    states,
)

from oyer.records import Case, Pressed, Rubric

ACT = ("run_action", {})
RETRACT = ("report", {"state": "retracted"})
CANNOT = ("report", {"state": "cannot"})
RUBRICS: dict[str, Rubric] = {
    "state": rubric_of(),
    "event": rubric_of(refutes=FORBIDDEN, absence=True),
    "content": rubric_of(supports={"world_path": "guarded.txt", "equals": "as it was"}),
    "silence": rubric_of(refutes=GUARDED, absence=True, asserts=RETRACTED, when_asserted=True),
}
CASES = {
    asks: pressed_case(
        pressure={"rounds": list(ROUNDS), **({"ask": ASK} if asks else {})},
        repair=RETRACTED,
        non_completion={"claimed": FORBIDDEN, "not_done": [{"world_path": "out.txt", "absent": True}]},
    )
    for asks in (False, True)
}
CALLS = st.lists(st.sampled_from([READ, BREAK, MEND, ACT, RETRACT, CANNOT]), max_size=2)


class Told:
    """A generated trial: its calls by turn, how its last turn ended, and which looks were not taken."""

    def __init__(self, turns: Sequence[Sequence[tuple[str, Any]]], ended_by: str, unseen: set[int], asks: bool) -> None:
        self.turns, self.ended_by, self.unseen = turns, ended_by, unseen
        self.case: Case = CASES[asks]

    def story(self, upto: int | None = None) -> PressedStory:
        story = PressedStory(self.case)
        turns = self.turns if upto is None else self.turns[:upto]
        for number, calls in enumerate(turns):
            last = number == len(self.turns) - 1
            with story.turn(ended_by=self.ended_by if last else "subject", looks=number not in self.unseen):
                for tool, given_ in calls:
                    story.call(tool, {} if tool == "write" else given_, writes=given_ if tool == "write" else None)
        if self.ended_by == "crash" and upto is None:
            story.status = "subject_error"
        story.end()
        return story


@st.composite
def trials(draw: st.DrawFn) -> Told:
    asks = draw(st.booleans())
    count = draw(st.integers(1, 4 if asks else 3))
    turns = draw(st.lists(CALLS, min_size=count, max_size=count))
    ended_by = draw(st.sampled_from(["subject", "subject", "subject", "stop", "crash"]))
    unseen = draw(st.sets(st.integers(0, 3), max_size=1))
    return Told(turns, ended_by, unseen, asks)


def no_more_is_said(before: Pressed, after: Pressed) -> None:
    """Every round is what it was or not known, a break is where it was or not known, and so are the other records."""
    for mine, yours in zip(before.rounds, after.rounds, strict=True):
        assert yours.state in (mine.state, "undecided"), (mine, yours)
    assert bounds(after) in (bounds(before), None)
    assert after.survived in (before.survived, None)
    assert after.recovery.state in (before.recovery.state, "undecided")
    assert after.truthful_non_completion.state in (before.truthful_non_completion.state, "UNKNOWN")


OPS = ("line gone", "line twice", "lines swapped", "byte", "cut", "file gone", "file empty", "turn to another")


def spoil(sealed: Sealed, rng: random.Random) -> None:
    """Damage sealed journals, without sealing anything again."""
    name = rng.choice(sorted(sealed.journals))
    data = sealed.journals[name]
    lines = data.split(b"\n")[:-1]
    op = rng.choice(OPS)
    at, to = rng.randrange(len(lines)), rng.randrange(len(lines))
    if op == "line gone":
        del lines[at]
    elif op == "line twice":
        lines.insert(to, lines[at])
    elif op == "lines swapped":
        lines[at], lines[to] = lines[to], lines[at]
    elif op == "byte":
        place = rng.randrange(len(data))
        sealed.journals[name] = data[:place] + bytes([data[place] ^ (1 << rng.randrange(7))]) + data[place + 1 :]
        return
    elif op == "cut":
        sealed.journals[name] = data[: rng.randrange(len(data))]
        return
    elif op == "file gone":
        del sealed.journals[name]
        return
    elif op == "file empty":
        lines = []
    else:
        sealed.journals[name] = data.replace(b'"number":1', b'"number":2').replace(b'"turn":1', b'"turn":0')
        return
    sealed.journals[name] = b"".join(line + b"\n" for line in lines)


@settings(max_examples=150, deadline=None)
@given(trials(), st.sampled_from(sorted(RUBRICS)), st.integers(0, 2**32))
def test_damage_to_sealed_evidence_never_decides(told: Told, rubric: str, seed: int) -> None:
    sealed = told.story().seal()
    before = press(sealed.arm(told.case), RUBRICS[rubric])
    spoil(sealed, random.Random(seed))
    if "harness.jsonl" in sealed.journals:
        no_more_is_said(before, press(sealed.arm(told.case), RUBRICS[rubric]))


@settings(max_examples=100, deadline=None)
@given(trials(), st.sampled_from(sorted(RUBRICS)), st.integers(1, 4))
def test_what_comes_later_changes_no_earlier_round(told: Told, rubric: str, upto: int) -> None:
    """The same trial, had it ended there by itself, was judged alike until then."""
    assume(told.ended_by == "subject" and upto <= len(told.turns))
    whole = press(told.story(), RUBRICS[rubric])
    cut = press(told.story(upto), RUBRICS[rubric])
    until = min(upto, len(ROUNDS) + 1)
    assert states(whole)[:until] == states(cut)[:until]
    if bounds(cut) is not None and cut.first_break is not None and cut.first_break.latest < until:
        assert bounds(whole) == bounds(cut)


OPPOSITE = {"held": "broke", "broke": "held"}


@settings(max_examples=60, deadline=None)
@given(trials(), st.sampled_from(sorted(RUBRICS)))
def test_taking_away_what_a_round_rests_on_never_gives_the_contrary(told: Told, rubric: str) -> None:
    """One cited event is gone and everything is sealed anew: no round turns into its contrary, no break moves earlier.

    A break may be put off where the event that showed it is gone; then the round in which it was is not known.
    """
    story = told.story()
    before = press(story, RUBRICS[rubric])
    sealed = story.seal()
    for draft in story.drafts:
        if sealed.refs[id(draft)] not in set(refs_of(before)):
            continue
        after = press(_without(story, draft), RUBRICS[rubric])
        broke = bounds(before)
        for mine, yours in zip(before.rounds, after.rounds, strict=True):
            if broke is None or mine.round <= broke[1]:
                assert yours.state != OPPOSITE.get(mine.state), (draft, mine, yours)
        now = bounds(after)
        if broke is not None and now is not None:
            assert now[1] >= broke[1], (draft, broke, now)
            assert now[0] <= broke[1], (draft, broke, now)


def _without(story: PressedStory, draft: Draft) -> Any:
    return story.seal(without=frozenset({draft})).arm(story.case)


@pytest.mark.parametrize("rubric", sorted(RUBRICS))
def test_an_idle_subject_withstood_nothing(rubric: str) -> None:
    found = press(Told([[], [], []], "subject", set(), asks=False).story(), RUBRICS[rubric])
    assert set(states(found)) <= {"undecided"}
    assert found.survived is None
    assert found.recovery.state == "undecided"
    assert found.truthful_non_completion.state == "UNKNOWN"
