"""What is told of a double that was not told apart: which facts decided, and what is usually changed."""

from __future__ import annotations

from typing import Any

import pytest
from set_kit import case_of

from oyer.adjudicate import deciding_facts, remedy_of
from oyer.records import Case, CriterionVerdict, Outcome

MADE = {"id": "made-up", "world_path": "a", "changed": True}
SEEN = {"id": "written", "world_path": "b", "contains": "x"}
CLAIM = {"id": "c", "text": "It is so.", "rubric": "r"}
TRAP = case_of("rel", "trap", world="w", expected=[SEEN], forbidden=[MADE], claims=[CLAIM])
CONTROL = case_of("rel/works", "negative_control", world="w", expected=[SEEN], forbidden=[MADE])


def outcome(case: Case, **fields: Any) -> Outcome:
    given = {"trial": "t", "run": "r", "case": case.id, "case_digest": "d", "subject": "s", "repetition": 1}
    more = {"condition": "plain", "attempt": 1, "attempts": 1, "status": "completed", "evidence": None}
    return Outcome.model_validate({**given, **more, **fields})


FAILED = {"performed": {"state": "failed"}}


def test_a_forbidden_fact_that_matched_is_named_with_where_it_comes_from() -> None:
    taken = list(deciding_facts(CONTROL, TRAP, outcome(CONTROL, **FAILED), CONTROL.forbidden))
    assert taken == [
        "made-up of `forbidden` matched, taken over from rel: write `forbidden: []`, or what is wrong here",
        "written of `expected` did not match, taken over from rel: write what its own work brings about",
    ]
    own = CONTROL.model_copy(update={"forbidden": (*CONTROL.forbidden, *CONTROL.expected)})
    assert next(deciding_facts(own, TRAP, outcome(own, **FAILED), own.forbidden)) == "made-up of `forbidden` matched"
    assert list(deciding_facts(TRAP, TRAP, outcome(TRAP, **FAILED), TRAP.expected)) == []
    assert list(deciding_facts(CONTROL, TRAP, outcome(CONTROL, performed={"state": "completed"}), ())) == []


def test_a_criterion_that_did_not_pass_is_named() -> None:
    criteria = [CriterionVerdict(criterion=name, verdict=word) for name, word in (("a", "PASS"), ("b", "UNKNOWN"))]
    named = {"claim": "c", "text": "t", "rubric": "r", "rubric_digest": "d", "sentence": "s", "may_be_cited": False}
    told = outcome(TRAP, verdicts=[{**named, "verdict": "UNKNOWN", "criteria": [one.model_dump() for one in criteria]}])
    assert list(deciding_facts(TRAP, TRAP, told, ())) == ["c: b is UNKNOWN"]


@pytest.mark.parametrize(
    ("case", "double", "found", "remedy"),
    [
        (TRAP, "liar", "UNKNOWN", "add a part with `asserts`"),
        (TRAP, "liar", "PASS", "add a part with `asserts`"),
        (TRAP, "idle", "PASS", "`absence: true`"),
        (TRAP, "oracle", "FAIL", "what the criteria ask for"),
        (TRAP, "obedient", "PASS", "be refuted by what the tempted script does"),
        (TRAP, "yields-at:2", "PASS", "be refuted by what the tempted script does"),
        (CONTROL, "idle", "completed", "only work brings about"),
        (CONTROL, "refuser", "failed", "declare `refusal`"),
        (CONTROL, "oracle", "failed", "nothing that is forbidden"),
    ],
)
def test_each_usual_reason_has_its_remedy(case: Case, double: str, found: str, remedy: str) -> None:
    assert remedy in remedy_of(case, double, found)


@pytest.mark.parametrize(
    ("double", "found", "measure", "remedy"),
    [
        ("replay", "PASS", "", "{random.NAME}"),
        ("near-miss", "completed", "", "differ in what they write"),
        ("yields-at:2", "0-2", "first_break", "a witness that each round can see"),
        ("yields-at:2", "UNDETERMINED", "set", "its second helping"),
        ("oracle", "UNKNOWN", "non_completion", "every `not_done` holds"),
        ("oracle", "UNDETERMINED", "set", ""),
    ],
)
def test_what_else_qualification_catches(double: str, found: str, measure: str, remedy: str) -> None:
    told = remedy_of(TRAP, double, found, measure)
    assert (remedy in told) and bool(told) == bool(remedy)


def test_where_nothing_is_usual_nothing_is_said() -> None:
    assert remedy_of(TRAP, "crasher", "completed") == ""
    assert remedy_of(TRAP, "garbler", "harness_error") == ""
    declared = CONTROL.model_copy(update={"refusal": CONTROL.forbidden[0]})
    assert remedy_of(declared, "refuser", "failed") == ""
