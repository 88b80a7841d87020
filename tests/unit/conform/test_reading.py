"""Vector files: every problem at once, each in its place; likeness; what a vector may not contradict."""

from __future__ import annotations

import pytest

from oyer.conform import Vector, parse_vectors
from oyer.errors import RecordError

WHOLE = """\
- id: one
  given:
    shape: one_hop
    declared: {intervention_on: read_status result, action_tool: apply_change, matching_action: approve_refund}
    arms:
      baseline: {run_id: r-1, events: [{at: 1, session: s1, kind: call, tool: read_status}]}
      treatment:
        run_id: r-2
        events:
        - {at: 11, session: s2, kind: call, tool: read_status}
        - {at: 12, session: s2, kind: result, tool: read_status, delivered: none}
  expect_outcome: INCONCLUSIVE
  expect_reason_kind: intervention_missing
  why: for these tests
"""
LIKE = """\
- id: two
  given:
    like: one
    arms:
      treatment:
        {}
  expect_outcome: INCONCLUSIVE
  expect_reason_kind: intervention_missing
  why: as the first
"""


def read(text: str, name: str = "v.yaml") -> tuple[Vector, ...]:
    return parse_vectors(text.encode(), name=name)


def problems(text: str) -> list[str]:
    with pytest.raises(RecordError) as caught:
        read(text)
    return [str(problem) for problem in caught.value.problems]


def named(text: str, place: str, code: str) -> None:
    found = problems(text)
    assert any(line.startswith(f"v.yaml:{place}: ") and line.endswith(f"[{code}]") for line in found), found


def test_what_is_not_written_is_healthy() -> None:
    given = read(WHOLE)[0].given
    arm = given.arms.treatment
    assert arm is not None
    assert given.comparison == "baseline_vs_treatment"
    assert given.arms.hardened is None
    assert (arm.status, arm.trace, arm.sink.state, arm.artifact.state, arm.model) == (
        ("completed", "complete", "absent", "absent", None)
    )
    assert (arm.sink.probed.opening, arm.sink.probed.closing) == ("ok", "ok")


@pytest.mark.parametrize(
    ("sink", "closing"),
    [
        ("{}", "ok"),
        ("{state: malformed}", "failed"),
        ("{state: malformed, watched: true}", "ok"),
        ("{watched: false}", "failed"),
        ("{watched: false, probes: {opening: failed}}", "ok"),
    ],
)
def test_a_sink_is_watched_unless_it_says_otherwise(sink: str, closing: str) -> None:
    arm = read(WHOLE.replace("run_id: r-2", f"run_id: r-2\n        sink: {sink}"))[0].given.arms.treatment
    assert arm is not None
    assert arm.sink.probed.closing == closing


def test_every_problem_is_told_at_once_and_in_its_place() -> None:
    text = WHOLE.replace("shape: one_hop", "shape: no_hop").replace("kind: result,", "kind: result, modifed: true,")
    found = problems(text.replace("why: for these tests", "wy: for these tests"))
    assert [line.partition(": ")[0] for line in found] == ["v.yaml:1:3", "v.yaml:3:12", "v.yaml:11:47", "v.yaml:14:3"]
    assert "did you mean `modified`?" in found[2]


@pytest.mark.parametrize("text", ["~", "{}", "[]", "one", "a: 1"])
def test_a_file_is_a_list_of_vectors(text: str) -> None:
    assert problems(text)[0].endswith("[E-VECTOR-FILE]")


def test_a_file_is_one_document() -> None:
    named(f"{WHOLE}---\n{WHOLE}", "16:1", "E-VECTOR-FILE")


def test_two_vectors_have_two_names() -> None:
    named(WHOLE + WHOLE, "15:7", "E-VECTOR-TWICE")


def test_json_is_read_too() -> None:
    value = '[{"id":"one","given":{"shape":"one_hop","declared":{"intervention_on":"r","action_tool":"a",'
    value += (
        '"matching_action":"m"},"arms":{}},"expect_outcome":"INCONCLUSIVE","expect_reason_kind":"condition_missing"'
    )
    assert read(value + ',"why":"w"}]', "v.json")[0].id == "one"


class TestLikeness:
    def test_nothing_else_said_is_the_same(self) -> None:
        one, two = read(WHOLE + LIKE)
        assert one.given == two.given

    def test_mappings_are_merged_and_null_removes(self) -> None:
        two = read(WHOLE + LIKE.replace("        {}", "        status: blocked\n      baseline: null"))[1]
        assert two.given.arms.baseline is None
        assert two.given.arms.treatment is not None
        assert two.given.arms.treatment.status == "blocked"
        assert len(two.given.arms.treatment.events) == 2

    def test_a_list_replaces_and_may_hold_null(self) -> None:
        event = "events: [{at: 5, session: s, kind: result, tool: t, delivered: null}]"
        two = read(WHOLE + LIKE.replace("{}", event))[1]
        assert two.given.arms.treatment is not None
        assert [event.at for event in two.given.arms.treatment.events] == [5]

    def test_a_likeness_of_a_likeness(self) -> None:
        second = LIKE.replace("{}", "status: blocked")
        third = LIKE.replace("id: two", "id: three").replace("like: one", "like: two").replace("{}", "run_id: r-9")
        arm = read(WHOLE + second + third)[2].given.arms.treatment
        assert arm is not None
        assert (arm.status, arm.run_id) == ("blocked", "r-9")

    def test_a_problem_stands_where_the_part_was_written(self) -> None:
        named(WHOLE + LIKE.replace("{}", "stat: blocked"), "20:9", "E-RECORD-UNKNOWN-FIELD")
        broken = WHOLE.replace("at: 11,", "at: eleven,")
        assert [line.split(": ")[0] for line in problems(broken + LIKE)] == ["v.yaml:10:16", "v.yaml:10:16"]
        third = LIKE.replace("id: two", "id: three").replace("like: one", "like: two").replace("{}", "run_id: 9")
        found = problems(WHOLE + LIKE.replace("{}", "status: bad") + third)
        assert [line.split(": ")[0] for line in found] == ["v.yaml:20:17", "v.yaml:20:17", "v.yaml:29:17"]

    @pytest.mark.parametrize("name", ["three", "two", "[]", "null"])
    def test_only_an_earlier_vector_can_be_alike(self, name: str) -> None:
        named(WHOLE + LIKE.replace("like: one", f"like: {name}"), "17:11", "E-VECTOR-LIKE")


class TestCoherence:
    @pytest.mark.parametrize(
        ("old", "new", "place", "code"),
        [
            ("intervention_missing", "intervention_mising", "13:23", "E-VECTOR-KIND"),
            ("  why: for", "  expect_attribution: unwatchd\n  why: for", "14:23", "E-VECTOR-CODE"),
            ("  why: for", "  expect_codes: [CUT_SHORT, CUT_SHORTER]\n  why: for", "14:29", "E-VECTOR-CODE"),
            ("shape: one_hop", "shape: two_hop", "4:15", "E-VECTOR-VALUE"),
            ("arms:", "comparison: baseline_vs_hardened\n    arms:", "4:15", "E-VECTOR-VALUE"),
            ("run_id: r-2", "run_id: ''", "8:17", "E-VECTOR-VALUE"),
            ("run_id: r-2", "run_id: r 2", "8:17", "E-VECTOR-VALUE"),
            ("at: 12", "at: -12", "11:16", "E-VECTOR-VALUE"),
            ("at: 12", "at: 10000000000", "11:16", "E-VECTOR-VALUE"),
            ("run_id: r-2", "run_id: r-2\n        sink: {records: [{at: 3}]}", "9:26", "E-VECTOR-VALUE"),
            ("run_id: r-2", "run_id: r-2\n        sink: {records: [{run_id: r}]}", "9:26", "E-VECTOR-VALUE"),
            ("run_id: r-2", "run_id: r-2\n        turns: [{session: s2, at: 9, end_at: 8}]", "9:46", "E-VECTOR-VALUE"),
            ("matching_action: approve_refund", "matching_action: a, exposure_marker: short", "4:15", "E-VECTOR-CASE"),
            ("matching_action: approve_refund", "matching_action: a, change: {shout: {}}", "4:15", "E-VECTOR-CASE"),
        ],
    )
    def test_a_vector_does_not_contradict_itself(self, old: str, new: str, place: str, code: str) -> None:
        assert old in WHOLE
        named(WHOLE.replace(old, new), place, code)

    @pytest.mark.parametrize(
        ("event", "flawed"),
        [
            ("kind: result, tool: apply_change, id: 1, delivered: none", True),
            ("kind: cancel, tool: apply_change, id: 1", True),
            ("kind: result, tool: read_status, id: 1, delivered: none", False),
            ("kind: cancel, tool: read_status, id: 1", False),
            ("kind: result, tool: apply_change, id: 2, delivered: none", False),
            ("kind: result, tool: apply_change, id: 1, connection: other, delivered: none", False),
        ],
    )
    def test_an_id_is_that_of_a_call_of_its_tool(self, event: str, flawed: bool) -> None:
        """On the wire an answer names no tool: one with the id of another tool's call would be that call's."""
        text = WHOLE.replace("{at: 11, session: s2, kind: call, tool: read_status}",
                             "{at: 11, session: s2, kind: call, tool: read_status, id: 1}")  # fmt: skip
        text = text.replace("kind: result, tool: read_status, delivered: none", event)
        if flawed:
            assert "is the id of a call of read_status, not of apply_change" in " ".join(problems(text))
            assert all(line.endswith("[E-VECTOR-VALUE]") for line in problems(text))
        else:
            assert len(read(text)) == 1

    def test_an_expectation_may_be_wrong(self) -> None:
        """What is expected is never compared with what is given: that is agreement's part."""
        assert read(WHOLE.replace("INCONCLUSIVE", "CONFIRMED"))[0].expect_outcome == "CONFIRMED"
