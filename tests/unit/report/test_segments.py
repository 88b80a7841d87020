"""A sequence for a person: every case in its place, every pair of cases, and nothing measured is never "none"."""

from __future__ import annotations

from pressed_story import ROUNDS
from sequence_story import BREAK, KEEP, READ, SPOIL, SequenceStory, judge, plain_case, sequence_of, tell, trap
from set_kit import outcome_of, plan_of

from oyer.adjudicate import sequences_of_series
from oyer.records import Outcome, SegmentOutcome
from oyer.report import (
    Look,
    Page,
    page_text,
    render_segments,
    render_sequence,
    render_sequences,
    sequence_value,
)

PRESSED = trap(pressure={"rounds": list(ROUNDS)})
SECOND, THIRD = plain_case("second"), plain_case("third")
DAY = sequence_of(PRESSED, SECOND, THIRD)
LOOK = Look(width=120)


def outcome(segments: tuple[SegmentOutcome, ...], repetition: int = 1) -> Outcome:
    return outcome_of("day", repetition).model_copy(update={"segments": segments, "verdicts": (), "performed": None})


def hit() -> tuple[SegmentOutcome, ...]:
    return judge(tell(DAY, [[READ], [BREAK], [], [READ, SPOIL], [KEEP]]), PRESSED, SECOND, THIRD)


def lines(page: Page) -> list[str]:
    return [line.strip() for line in page_text(page).splitlines()]


def test_each_case_stands_in_its_place_with_what_it_did_to_the_later_ones() -> None:
    told = lines(render_sequence([outcome(hit())], 1, ["day"], LOOK, {}))
    assert told[0] == "day by s  unqualified  repetition 1"
    order = [told.index(one) for one in told if one[:3] in ("1. ", "2. ", "3. ")]
    assert [told[at].split("  ")[0] for at in order] == ["1. trap", "2. second", "3. third"]
    first = told[order[0] : order[1]]
    assert any(one.startswith("on second: was hit by a trace of it: spoilt (") for one in first)
    assert any(one.startswith("on third: none of its traces was seen (") for one in first)
    assert "rounds: 0 held 1 broke 2 broke" in first
    assert "on third: not measured: it declares no traces" in told[order[1] : order[2]]


def test_the_whole_of_it_tells_round_by_round() -> None:
    told = lines(render_segments(outcome(hit()), LOOK, {}, whole=True))
    assert "under pressure" in told
    assert any(one.startswith("first break: round 1") for one in told)
    assert lines(render_segments(outcome(hit()), LOOK, {})).count("under pressure") == 0


def test_lines_below_a_case_are_set_below_it_and_nothing_is_told_twice() -> None:
    page = page_text(render_segments(outcome(hit()), LOOK, {}, whole=True)).splitlines()
    heads = [at for at, one in enumerate(page) if one[:4] in ("  1.", "  2.", "  3.")]
    assert all(one.startswith("     ") for at, one in enumerate(page) if at not in heads)
    assert not any(one.strip().startswith("rounds:") for one in page)
    assert sum("spoilt" in one for one in page) == 1
    assert max(map(len, page)) <= LOOK.width


def test_repetitions_are_counted_by_pair_and_shown_once_for_each_way_they_ended() -> None:
    story = SequenceStory(DAY)
    with story.turn(ended_by="crash"):
        story.call(*READ)
    story.status = "subject_error"
    crashed = judge(story, PRESSED, SECOND, THIRD)
    outcomes = [outcome(hit(), 1), outcome(hit(), 2), outcome(crashed, 3)]
    told = lines(render_sequence(outcomes, 4, [], LOOK, {}))
    assert told[0] == "day by s  3 of 4 repetitions ran"
    assert "trap on second: 4 planned = contaminated 2 + undecided 1 + not_run 1" in told
    assert "second on third: 4 planned = not_measured 3 + not_run 1" in told
    assert "2 ended like this (1, 2); shown: repetition 1" in told
    assert "1 ended like this (3); shown: repetition 3" in told
    assert any("undecided: none of its turns was sent" in one for one in told)


def test_a_later_case_has_a_line_with_all_its_repetitions() -> None:
    story = SequenceStory(DAY)
    with story.turn(ended_by="crash"):
        story.call(*READ)
    story.status = "subject_error"
    crashed = judge(story, PRESSED, SECOND, THIRD)
    plan = plan_of(["day"], 4)
    told = {one.trial: one for one in (outcome(hit(), 1), outcome(hit(), 2), outcome(crashed, 3))}
    second, third = sequences_of_series(plan, {"day": DAY}, told)
    assert (second.later, second.planned) == ("second", 4)
    assert second.words == {"contaminated by trap": 2, "not run": 1, "undecided": 1}
    assert third.words == {"none seen": 2, "not run": 1, "undecided": 1}
    assert third.unmeasured == ("second",)
    page = lines(render_sequences((second, third), LOOK))
    assert page[0].startswith("In sequence")
    assert page[1] == "second in day by s: contaminated by trap 2, not run 1, undecided 1"
    assert page[2].endswith("none seen 2, not run 1, undecided 1; second not measured: no traces declared")
    assert sequence_value(third)["words"] == {"none seen": 2, "not run": 1, "undecided": 1}


def test_without_declared_traces_nothing_is_said_to_be_clean() -> None:
    day = sequence_of(SECOND, THIRD)
    story = tell(day, [[READ], [KEEP]])
    done = outcome(judge(story, SECOND, THIRD), 1)
    (read,) = sequences_of_series(plan_of(["day"]), {"day": day}, {done.trial: done})
    assert read.words == {"not measured": 1}


def test_any_other_trial_has_no_segments() -> None:
    assert render_segments(outcome_of("day", 1), LOOK, {}) == ()
