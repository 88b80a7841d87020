"""Sequences: what must agree between cases that share a session or a world, and the one case that they come to."""

from __future__ import annotations

import json

import pytest

from oyer.errors import RecordError
from oyer.records import (
    BLAMED,
    Case,
    Sequence,
    canonical_bytes,
    case_breaches,
    compose,
    digest,
    members_of,
    parse_file,
    segments_of,
    sequence_breaches,
    suite_breaches,
)

FIRST = {
    "oyer": "Case@1",
    "id": "first",
    "effect_class": "local_write",
    "world": "world",
    "servers": {"fs": "oyer:files"},
    "prompt": "Tidy up.",
    "budget": {"wall_s": 10, "tokens": 100, "cost_usd": "0.50"},
    "stop": {"model_calls": 3},
}
SECOND = {
    "oyer": "Case@1",
    "id": "second",
    "effect_class": "local_read",
    "isolation": "none",
    "servers": {"other": "oyer:files"},
    "sessions": [{"id": "work", "turns": ["List the files.", "And now?"]}],
    "pressure": {"rounds": ["Go on.", "Please."], "neutral": ["Hm.", "Hm."], "ask": "Is that right?"},
    "budget": {"wall_s": 20, "answer_s": 90, "tokens": 11, "cost_usd": "0.0000000001"},
    "stop": {"model_calls": 4, "tool_calls": 2},
}
SESSION = Sequence(id="both", cases=("first", "second"))
WORLD = Sequence(id="both", cases=("first", "second"), share="world")


def case(written: dict[str, object], **other: object) -> Case:
    data = json.dumps({key: value for key, value in {**written, **other}.items() if value is not None}).encode()
    return parse_file(data, name="c.json").cases[0].case


def test_a_shared_session_holds_every_turn_in_order_and_says_whose_it_is() -> None:
    first, second = case(FIRST), case(SECOND)
    found = compose(SESSION, [first, second])
    sent = ("Tidy up.", "List the files.", "And now?", "Go on.", "Please.", "Is that right?")
    assert [(one.id, one.turns) for one in found.sessions] == [("main", sent)]
    assert [(one.case, one.session, one.first, one.turns) for one in found.segments] == [
        ("first", "main", 0, 1),
        ("second", "main", 1, 5),
    ]
    assert [one.digest for one in found.segments] == [digest(first), digest(second)]
    assert (found.id, found.kind, found.pressure, found.claims, found.doubles) == ("both", "plain", None, (), None)
    assert not list(case_breaches(found))


def test_members_that_agree_on_a_name_keep_it_for_the_session() -> None:
    one = case(FIRST, prompt=None, sessions=[{"id": "work", "turns": ["Tidy up."]}])
    assert compose(SESSION, [one, case(SECOND)]).sessions[0].id == "work"


def test_in_a_shared_world_each_keeps_its_own_sessions() -> None:
    several = case(SECOND, sessions=[{"id": "a", "turns": ["One."]}, {"id": "b", "turns": ["Two."]}])
    found = compose(WORLD, [case(FIRST), several])
    assert [(one.id, one.turns) for one in found.sessions] == [
        ("m0-main", ("Tidy up.",)),
        ("m1-a", ("One.",)),
        ("m1-b", ("Two.", "Go on.", "Please.", "Is that right?")),
    ]
    assert [(one.session, one.first, one.turns) for one in segments_of(found, "second")] == [
        ("m1-a", 0, 1),
        ("m1-b", 0, 4),
    ]
    assert members_of(found) == ("first", "second")
    assert members_of(several) == ()


def test_bounds_are_added_and_the_strictest_and_highest_hold() -> None:
    found = compose(SESSION, [case(FIRST), case(SECOND)])
    assert (found.budget.wall_s, found.budget.answer_s, found.budget.tokens) == (30, 90, 111)
    assert found.budget.cost_usd == "0.5000000001"
    assert (found.stop.model_calls, found.stop.tool_calls) == (7, None)
    assert (found.effect_class, found.isolation) == ("local_write", "process")
    assert set(found.servers) == {"fs", "other"}
    assert found.world == "world"


def test_composing_is_pure_and_its_order_is_part_of_the_digest() -> None:
    first, second = case(FIRST), case(SECOND)
    turned = Sequence(id="both", cases=("second", "first"))
    again = compose(SESSION, [first, second])
    assert canonical_bytes(again) == canonical_bytes(compose(SESSION, [case(FIRST), case(SECOND)]))
    assert digest(again) != digest(compose(turned, [second, first]))


@pytest.mark.parametrize(
    ("sequence", "other", "code", "told"),
    [
        (SESSION, {"servers": {"fs": {"command": ["true"]}}}, "E-SEQUENCE-FIT", "server 'fs' has another command"),
        (SESSION, {"sinks": {"mail": {"kind": "world", "paths": ["a"]}}, "world": "elsewhere"}, "E-SEQUENCE-FIT",
         "there is only one"),
        (SESSION, {"channel": "other.list_directory"}, "E-SEQUENCE-FIT", "'first' in no channel"),
        (SESSION, {"blame": dict.fromkeys(BLAMED, "blocked")}, "E-SEQUENCE-FIT", "is blocked in 'second'"),
        (SESSION, {"budget": {"wall_s": 86_400}}, "E-SEQUENCE-FIT", "86410 s together"),
        (SESSION, {"sessions": [{"id": "a", "turns": ["One."]}, {"id": "b", "turns": ["Two."]}]},
         "E-SEQUENCE-SESSION", "has 2 sessions"),
        (WORLD, {"sessions": [{"id": "a" * 30, "turns": ["One."]}]}, "E-SEQUENCE-SESSION", "longer than 32"),
        (SESSION, {"sessions": [{"id": "work", "turns": ["Do both now."]}]}, "E-ARM-WORD", "names 'both'"),
    ],
)  # fmt: skip
def test_what_differs_is_refused_and_named(sequence: Sequence, other: dict[str, object], code: str, told: str) -> None:
    members = [case(FIRST), case(SECOND, **other)]
    found = [(one.code, one.message) for one in sequence_breaches(sequence, members)]
    assert [one for one in found if one[0] == code and told in one[1]], found
    with pytest.raises(RecordError) as caught:
        compose(sequence, members)
    assert code in {problem.code for problem in caught.value.problems}


def test_sinks_and_validators_of_one_name_must_be_equal() -> None:
    sink = {"sinks": {"mail": {"kind": "http"}}}
    other = {"sinks": {"mail": {"kind": "http", "reached_by": ["subject"]}}}
    assert not list(sequence_breaches(SESSION, [case(FIRST, **sink), case(SECOND, **sink)]))
    found = list(sequence_breaches(SESSION, [case(FIRST, **sink), case(SECOND, **other)]))
    assert [one.message for one in found] == ["sink 'mail' has another reached_by in 'second' than in 'first'"]


SUITE = """\
oyer: Case@1
id: first
effect_class: none
prompt: Say one.
---
oyer: Case@1
id: second
effect_class: none
prompt: Say two.
---
oyer: Case@1
id: third
effect_class: none
prompt: Say three.
---
oyer: TrialSuite@1
id: small
cases: [first, second]
sequences:
  - {id: in-order, cases: [first, second]}
"""


def breaches(text: str) -> list[tuple[str, tuple[str | int, ...]]]:
    found = parse_file(text.encode(), name="s.yaml")
    known = {one.case.id: one.case for one in found.cases}
    return [(one.code, one.path) for one in suite_breaches(found.suites[0].record, known)]


@pytest.mark.parametrize(
    ("old", "new", "code", "path"),
    [
        ("id: in-order", "id: third", "E-SEQUENCE-ID", ("sequences", 0, "id")),
        ("[first, second]}", "[first, first]}", "E-SEQUENCE-TWICE", ("sequences", 0, "cases", 1)),
        ("[first, second]}", "[first, third]}", "E-SUITE-CASE", ("sequences", 0, "cases", 1)),
        ("[first, second]}", "[first, nobody]}", "E-SUITE-CASE", ("sequences", 0, "cases", 1)),
        (
            "prompt: Say two.",
            "sessions: [{id: a, turns: [Say two.]}, {id: b, turns: [Again.]}]",
            "E-SEQUENCE-SESSION",
            ("sequences", 0, "cases", 1),
        ),
    ],
)
def test_a_suite_is_told_at_the_place_in_its_own_file(
    old: str, new: str, code: str, path: tuple[str | int, ...]
) -> None:
    assert breaches(SUITE) == []
    assert old in SUITE
    assert breaches(SUITE.replace(old, new)) == [(code, path)]


def test_nobody_writes_segments() -> None:
    written = "segments: [{case: x, digest: y, session: main, first: 0, turns: 1}]"
    with pytest.raises(RecordError) as caught:
        parse_file(SUITE.replace("prompt: Say one.", f"prompt: Say one.\n{written}").encode(), name="s.yaml")
    assert [problem.code for problem in caught.value.problems] == ["E-CASE-SEGMENTS"]
    assert caught.value.problems[0].where == "s.yaml:5:11: segments"
