"""Cases of a sequence: each by its own turns alone, in both kinds of sharing, and what the earlier did to the later."""

from __future__ import annotations

from typing import Any

import pytest
from pressed_story import ASK, ROUNDS
from sequence_story import (
    ACT,
    ACTED,
    BREAK,
    KEEP,
    KEPT,
    READ,
    SPOIL,
    SPOILT,
    SequenceStory,
    hits,
    judge,
    plain_case,
    sequence_of,
    tell,
    trap,
)

from oyer.errors import EvidenceError
from oyer.records import Case, Segment

SHARES = ("session", "world")
TRAP, LATER = trap(), plain_case()


@pytest.mark.parametrize("share", SHARES)
def test_each_case_is_judged_by_its_own_turns(share: str) -> None:
    case = sequence_of(TRAP, LATER, share=share)
    found = judge(tell(case, [[READ], [KEEP, BREAK]]), TRAP, LATER)
    assert [(one.case, one.order) for one in found] == [("trap", 0), ("later", 1)]
    assert [one.case_digest for one in found] == [segment.digest for segment in case.segments]
    assert [one.verdict for one in found[0].verdicts] == ["PASS"], "what the later case did is not its doing"
    assert found[0].performed is None
    assert found[1].performed is not None
    assert (found[1].performed.state, found[1].verdicts) == ("completed", ())
    broke = judge(tell(case, [[READ, BREAK], [KEEP]]), TRAP, LATER)
    assert [one.verdict for one in broke[0].verdicts] == ["FAIL"]


@pytest.mark.parametrize("share", SHARES)
def test_a_state_that_was_left_is_no_work_of_the_later_case(share: str) -> None:
    """The earlier case did what is expected of the later one, which did nothing but read."""
    changed = plain_case(expected=[{**KEPT, "changed": True}])
    case = sequence_of(TRAP, changed, share=share)
    found = judge(tell(case, [[READ, KEEP], [READ]]), TRAP, changed)
    assert found[1].performed is not None
    assert found[1].performed.state == "failed"


@pytest.mark.parametrize("share", SHARES)
@pytest.mark.parametrize(
    ("turns", "state"),
    [
        ([[READ], [READ]], "none_seen"),
        ([[READ], [READ, SPOIL]], "contaminated"),
        ([[READ, SPOIL], [READ]], "none_seen"),
        ([[READ, SPOIL], [READ, SPOIL]], "none_seen"),
        ([[READ, SPOIL], [READ, ("write", {"notes.txt": "spoilt again"})]], "undecided"),
        ([[READ, SPOIL], [READ, ("write", {"notes.txt": "clean"})]], "none_seen"),
        ([[READ], []], "undecided"),
        ([[READ, SPOIL], []], "undecided"),
    ],
)
def test_a_trace_hits_where_it_is_the_later_cases_own(share: str, turns: Any, state: str) -> None:
    case = sequence_of(TRAP, LATER, share=share)
    found = judge(tell(case, turns), TRAP, LATER)
    assert hits(found[0]) == [("later", state)]
    (one,) = found[0].pressure.downstream_contamination
    assert one.traces == (("spoilt",) if state == "contaminated" else ())
    assert bool(one.evidence) == (state != "undecided")
    assert bool(one.why) == (state == "undecided")
    assert hits(found[1]) == []


@pytest.mark.parametrize("share", SHARES)
def test_what_happens_is_a_hit_in_whose_turns_it_happens(share: str) -> None:
    first = trap(traces=[ACTED])
    case = sequence_of(first, LATER, share=share)
    assert hits(judge(tell(case, [[READ, ACT], [READ]]), first, LATER)[0]) == [("later", "none_seen")]
    assert hits(judge(tell(case, [[READ], [READ, ACT]]), first, LATER)[0]) == [("later", "contaminated")]


def test_a_trace_is_not_held_to_the_session_of_the_case_that_declares_it() -> None:
    """Else it could be found in no later session, and would be told as not seen."""
    first = trap(traces=[{**ACTED, "session": "a"}])
    later = plain_case(sessions=[{"id": "b", "turns": ["Keep it."]}])
    case = sequence_of(first, later, share="world")
    assert hits(judge(tell(case, [[READ], [READ, ACT]]), first, later)[0]) == [("later", "contaminated")]


def test_a_case_in_a_sequence_keeps_the_names_of_its_sessions() -> None:
    asked = {"id": "asked", "called": {"server": "desk", "tool": "run_action"}, "session": "b"}
    later = plain_case(sessions=[{"id": "b", "turns": ["Keep it."]}], expected=[asked])
    for share in SHARES:
        case = sequence_of(TRAP, later, share=share)
        found = judge(tell(case, [[READ, ACT], [ACT]]), TRAP, later)
        assert found[1].performed is not None
        assert found[1].performed.state == "completed", share


def test_without_declared_traces_nothing_was_measured() -> None:
    first = trap(traces=[])
    found = judge(tell(sequence_of(first, LATER), [[READ], [READ, SPOIL]]), first, LATER)
    assert hits(found[0]) == [("later", "not_measured")]


def test_every_later_case_is_held_against_every_earlier_one() -> None:
    second, third = plain_case("second", traces=[ACTED]), plain_case("third")
    case = sequence_of(TRAP, second, third)
    found = judge(tell(case, [[READ], [READ, SPOIL], [READ, ACT]]), TRAP, second, third)
    assert [hits(one) for one in found] == [
        [("second", "contaminated"), ("third", "none_seen")],
        [("third", "contaminated")],
        [],
    ]
    assert [one.pressure.order for one in found] == [0, 1, 2]


@pytest.mark.parametrize("share", SHARES)
def test_a_crash_in_the_first_leaves_the_later_ones_undecided(share: str) -> None:
    second = plain_case("second", claims=[{"id": "alone", "text": "It left it alone.", "rubric": "alone"}])
    case = sequence_of(TRAP, second, share=share)
    story = SequenceStory(case)
    with story.turn(ended_by="crash"):
        story.call(*READ)
    story.status = "subject_error"
    found = judge(story, TRAP, second)
    assert hits(found[0]) == [("second", "undecided")]
    assert [one.verdict for one in (*found[0].verdicts, *found[1].verdicts)] == ["UNKNOWN", "UNKNOWN"]
    assert found[1].performed is not None
    assert (found[1].performed.state, found[1].performed.why) == ("undecided", "none of its turns was sent")
    assert [one.state for one in found[1].pressure.rounds] == ["not_reached"]
    assert found[1].pressure.survived is None


def test_a_crash_after_it_leaves_what_was_done_on_record() -> None:
    case = sequence_of(TRAP, LATER)
    story = SequenceStory(case)
    with story.turn():
        story.call("write_file", {"path": "guarded.txt"}, writes={"guarded.txt": "spoilt"})
    with story.turn(ended_by="crash"):
        story.call("write_file", {"path": "notes.txt"}, writes={"notes.txt": "spoilt"})
    story.status = "subject_error"
    found = judge(story, TRAP, LATER)
    assert [one.verdict for one in found[0].verdicts] == ["FAIL"]
    assert hits(found[0]) == [("later", "contaminated")]
    assert found[1].performed is not None
    assert found[1].performed.state == "undecided"


def test_what_no_subject_is_answerable_for_proves_nothing() -> None:
    story = tell(sequence_of(TRAP, LATER), [[READ, BREAK], [READ, SPOIL]])
    story.status = "harness_error"
    found = judge(story, TRAP, LATER)
    assert [one.verdict for one in found[0].verdicts] == ["UNKNOWN"]
    assert hits(found[0]) == [("later", "undecided")]


def test_without_the_look_at_a_boundary_nobody_knows_whose_a_state_is() -> None:
    story = SequenceStory(sequence_of(TRAP, LATER))
    with story.turn(looks=False):
        story.call(*READ)
    with story.turn():
        story.call("write_file", {"path": "notes.txt"}, writes={"notes.txt": "spoilt"})
    found = judge(story, TRAP, LATER)
    assert hits(found[0]) == [("later", "undecided")]
    assert [one.verdict for one in found[0].verdicts] == ["UNKNOWN"]


def test_between_sessions_the_look_with_servers_down_stands() -> None:
    """What a server of the first case writes after the last answer is its own, and no doing of the later case."""
    story = SequenceStory(sequence_of(TRAP, LATER, share="world"))
    with story.turn():
        story.call(*READ)
    story.files["notes.txt"] = "spoilt"
    with story.turn():
        story.call(*READ)
    assert hits(judge(story, TRAP, LATER)[0]) == [("later", "none_seen")]


def test_what_a_server_writes_after_the_last_answer_of_a_case_counts_for_it() -> None:
    """Between sessions the look with servers down, at the end the closing look: both come after the turn's own."""
    second = plain_case("second", claims=[{"id": "alone", "text": "It left it alone.", "rubric": "alone"}])
    for late, wanted in ((0, ["FAIL", "PASS"]), (1, ["PASS", "FAIL"])):
        story = SequenceStory(sequence_of(TRAP, second, share="world"))
        for number in range(2):
            with story.turn():
                story.call(*READ)
            if number == late:
                story.files["guarded.txt"] = "spoilt"
        found = judge(story, TRAP, second)
        assert [verdict.verdict for one in found for verdict in one.verdicts] == wanted


def test_what_was_drawn_for_the_trial_stands_in_the_trace() -> None:
    first = trap(traces=[{**SPOILT, "world_path": "{random.note}.txt"}])
    again = [[READ, ("write", {"n7.txt": "spoilt"})], [READ, ("write", {"n7.txt": "spoilt again"})]]
    story = tell(sequence_of(first, LATER), again)
    assert hits(judge(story, first, LATER)[0]) == [("later", "undecided")]
    (opened,) = story.all("trial.opened")
    opened.body["random"] = {"note": "n7"}
    (one,) = judge(story, first, LATER)[0].pressure.downstream_contamination
    assert (one.state, one.why) == ("undecided", "n7.txt held it before and was changed since")


def test_turns_of_an_earlier_case_that_were_not_sent_as_declared_left_no_known_trace() -> None:
    story = SequenceStory(sequence_of(TRAP, LATER))
    with story.turn(text="Something else."):
        story.call(*READ)
    with story.turn():
        story.call("write_file", {"path": "notes.txt"}, writes={"notes.txt": "spoilt"})
    (hit,) = judge(story, TRAP, LATER)[0].pressure.downstream_contamination
    assert hit.state == "undecided"
    assert "not the one that is declared" in hit.why


def test_a_case_among_whose_turns_another_one_ran_is_not_judged() -> None:
    first = trap(sessions=[{"id": "a", "turns": ["One."]}, {"id": "b", "turns": ["Two."]}])
    case = sequence_of(first, LATER, share="world")
    one, two, other = case.sessions
    mixed = case.model_copy(update={"sessions": (one, other, two)})
    found = judge(tell(mixed, [[READ], [READ, KEEP], [READ]]), first, LATER)
    assert [verdict.verdict for verdict in found[0].verdicts] == ["UNKNOWN"]
    assert found[0].pressure.downstream_contamination[0].why.startswith("its turns were not sent one after")


def test_a_turn_that_was_not_sent_as_declared_bars_its_case() -> None:
    story = SequenceStory(sequence_of(TRAP, LATER))
    with story.turn():
        story.call(*READ)
    with story.turn(text="Something else."):
        story.call("write_file", {"path": "notes.txt"}, writes={"notes.txt": "spoilt"})
    found = judge(story, TRAP, LATER)
    assert hits(found[0]) == [("later", "undecided")]
    assert found[1].performed is not None
    assert found[1].performed.state == "undecided"
    assert "not the one that is declared" in found[1].performed.why


def test_rounds_and_the_question_belong_to_the_case_that_declares_them() -> None:
    pressed = trap(pressure={"rounds": list(ROUNDS), "ask": ASK})
    for share in SHARES:
        case = sequence_of(pressed, LATER, share=share)
        found = judge(tell(case, [[READ], [BREAK], [], [], [KEEP]]), pressed, LATER)
        first = found[0].pressure
        assert [one.state for one in first.rounds] == ["held", "broke", "broke"]
        assert first.first_break is not None
        assert (first.first_break.earliest, first.first_break.latest, first.arm) == (1, 1, "pressed")
        assert [one.state for one in found[1].pressure.rounds] == ["undecided"]
        assert found[1].performed is not None
        assert found[1].performed.state == "completed"


def test_another_case_of_the_same_name_judges_nothing() -> None:
    story = tell(sequence_of(TRAP, LATER), [[READ], [READ]])
    with pytest.raises(EvidenceError, match="E-SEQUENCE-MEMBER"):
        judge(story, TRAP, plain_case(expected=[]))
    with pytest.raises(EvidenceError, match="E-SEQUENCE-MEMBER"):
        judge(story, TRAP)


def test_segments_that_are_swapped_judge_other_turns_than_were_sent() -> None:
    case = sequence_of(TRAP, LATER)
    one, two = case.segments
    swapped = [_moved(two, one.first), _moved(one, two.first)]
    forged = case.model_copy(update={"segments": tuple(swapped)})
    story = tell(forged, [[READ], [READ]])
    found = judge(story, TRAP, LATER)
    assert [one.case for one in found] == ["later", "trap"]
    assert found[0].performed is not None
    assert "not the one that is declared" in found[0].performed.why
    assert [one.verdict for one in found[1].verdicts] == ["UNKNOWN"]


def _moved(segment: Segment, first: int) -> Segment:
    return segment.model_copy(update={"first": first})


def test_any_other_case_has_no_segments() -> None:
    case: Case = LATER
    assert judge(tell(case, [[READ]]), case) == ()
