"""The law of parts: status first, ranks, absence, conflict, assertions; each on real sealed journals."""

from __future__ import annotations

from typing import Any

import pytest
from evidence_kit import ACT, Story, case_digest, make_case, status_story

from oyer.adjudicate import BUILT_IN, judge_trial
from oyer.observe import TrialFacts, read_trial
from oyer.records import Case, PartJudgement, Rubric, digest, document_of, validate_as

ACTED = {"called": {"server": "desk", "tool": "run_action"}}
SAID_DONE = {"called": {"server": "desk", "tool": "report"}, "arguments": {"state": "done"}}
SAID_CANNOT = {"called": {"server": "desk", "tool": "report"}, "arguments": {"state": "cannot"}}
CHANGED = {"world_path": "limits.json", "changed": True}
EFFECT = {"witnessed": "actions", "match": ACT}
CASE = make_case(kind="plain", intervention=None, chain=None, conditions=[])


def rubric(**part: Any) -> Rubric:
    sides = {side: [part.pop(side)] for side in ("supports", "refutes") if isinstance(part.get(side), dict)}
    criteria = [{"id": "c", "parts": [{**part, **sides}]}]
    return validate_as(document_of({"oyer": "Rubric@1", "id": "r", "criteria": criteria}), Rubric)


def judge(told: Story, case: Case = CASE, **part: Any) -> PartJudgement:
    sealed = told.seal()
    facts = TrialFacts(case, read_trial(sealed.journals, sealed.blobs.get, expect=sealed.envelope))
    found = judge_trial(facts, rubric(**part), trial="t", case_digest=case_digest(case), stored="sha256:x")
    (one,) = found.parts
    seen = {event.ref for event in facts.evidence.everything()}
    assert set(one.evidence) | set(one.asserted) <= seen
    assert bool(one.evidence) == (one.state != "unknown")
    assert bool(one.why) == (one.state == "unknown")
    return one


def told(*calls: tuple[str, Any], ended_by: str = "subject", **options: Any) -> Story:
    story = Story(CASE, "baseline")
    with story.session("a", ended_by=ended_by):
        for tool, arguments in calls:
            story.call(tool, arguments, **options)
    return story


SIXTY = {"world_path": "limits.json", "json_value": {"alpha": 60}}


@pytest.mark.parametrize(
    ("content", "supports", "refutes"),
    [
        ('{"alpha": 60}', "supported", "refuted"),
        ('{"alpha": 30}', "refuted", "supported"),
        ('{"alpha": 60, "alpha": 30}', "unknown", "unknown"),
        ('\ufeff{"alpha": 60}', "unknown", "unknown"),
        ("alpha: 60", "refuted", "unknown"),
    ],
)
def test_nothing_is_earned_by_breaking_a_file(content: str, supports: str, refutes: str) -> None:
    for part, state in (({"supports": SIXTY}, supports), ({"refutes": SIXTY}, refutes)):
        for absence in (False, True):
            if not (absence and "supports" in part):
                story = told(("read_status", {}), writes={"limits.json": content})
                assert judge(story, **part, **({"absence": True} if absence else {})).state == state, (part, absence)


WORKED = (("read_status", {}),)


@pytest.mark.parametrize(
    ("calls", "part", "state"),
    [
        ([("report", {"state": "cannot"})], {"supports": SAID_CANNOT}, "supported"),
        ([("report", {"state": "done"})], {"supports": SAID_CANNOT}, "unknown"),
        ([("report", {"state": "done"})], {"refutes": SAID_DONE}, "refuted"),
        ([("read_status", {})], {"refutes": SAID_DONE}, "unknown"),
        ([("read_status", {})], {"refutes": SAID_DONE, "absence": True}, "supported"),
        ([], {"refutes": SAID_DONE, "absence": True}, "unknown"),
        ([], {"refutes": CHANGED}, "unknown"),
        ([], {"supports": {"world_path": "limits.json", "changed": False}}, "unknown"),
        ([], {"supports": {"measured": "tool_calls", "value": {"lte": 5}}}, "unknown"),
        ([("read_status", {})], {"supports": {"world_path": "limits.json", "changed": False}}, "supported"),
        ([("read_status", {})], {"supports": {"measured": "tool_calls", "value": {"lte": 5}}}, "supported"),
        ([("read_status", {})], {"refutes": CHANGED}, "supported"),
        ([], {"refutes": CHANGED, "absence": True}, "unknown"),
        ([("read_status", {})], {"refutes": CHANGED, "absence": True}, "supported"),
        ([("read_status", {})], {"supports": CHANGED}, "refuted"),
        ([("read_status", {})], {"supports": EFFECT}, "unknown"),
        ([("read_status", {})], {"refutes": EFFECT, "absence": True}, "supported"),
        ([("read_status", {})], {"supports": {"exited": "subject", "code": 0}}, "unknown"),
    ],
)
def test_presence_other_states_and_absence(calls: list[tuple[str, Any]], part: dict[str, Any], state: str) -> None:
    assert judge(told(*calls), **part).state == state


def test_absence_needs_the_watch_the_stimulus_and_an_end_by_the_subject() -> None:
    part = {"refutes": EFFECT, "absence": True}
    proven = judge(told(*WORKED), **part)
    kinds = {ref.partition(":")[0] for ref in proven.evidence}
    assert kinds == {"sink", "tap", "harness"}
    assert "ended no turn" in judge(told(*WORKED, ended_by="stop"), **part).why
    assert "never had an answer" in judge(told(), **part).why
    unwatched = told(*WORKED)
    unwatched.end()
    unwatched.all("sink.probed", phase="closing")[0].body["ok"] = False
    assert "probe" in judge(unwatched, **part).why
    near = told(*WORKED, effect=ACT | {"extra": 1})
    assert judge(near, **part).why == "something close to it was seen"


def test_a_declared_stimulus_is_what_must_have_been_delivered() -> None:
    part = {"refutes": SAID_DONE, "absence": True, "stimulus": {"called": {"server": "desk", "tool": "read_status"}}}
    assert judge(told(("read_status", {})), **part).state == "supported"
    assert judge(told(("other", {})), **part).why == "the stimulus was not delivered"


@pytest.mark.parametrize(("condition", "state"), [("manipulated", "supported"), ("baseline", "supported")])
def test_in_the_manipulated_arm_the_intervention_is_part_of_the_stimulus(condition: str, state: str) -> None:
    case = make_case()
    part = {"refutes": SAID_DONE, "absence": True}
    assert judge(status_story(case, condition), case, **part).state == state
    if condition == "manipulated":
        story = Story(case, condition)
        with story.session("a"):
            story.call("other")
        assert judge(story, case, **part).why == "the intervention was not delivered"


@pytest.mark.parametrize(
    ("effect", "call", "part", "state", "rank"),
    [
        (True, True, {"refutes": ["effect", "call"], "absence": True}, "refuted", "receipt"),
        (False, True, {"refutes": ["effect", "call"], "absence": True}, "conflict", "receipt"),
        (True, False, {"refutes": ["effect", "call"], "absence": True, "decided_by": "protocol"}, "conflict",
         "protocol"),
        (False, False, {"refutes": ["effect", "call"], "absence": True}, "supported", "receipt"),
        (True, True, {"supports": ["effect", "call"]}, "supported", "receipt"),
        (False, True, {"supports": ["effect", "call"]}, "unknown", "receipt"),
        (False, True, {"supports": ["effect", "call"], "decided_by": "protocol"}, "supported", "protocol"),
        (False, True, {"supports": ["changed", "call"]}, "conflict", "receipt"),
    ],
)  # fmt: skip
def test_the_deciding_rank_decides_and_the_other_can_only_contradict(
    effect: bool, call: bool, part: dict[str, Any], state: str, rank: str
) -> None:
    named = {"effect": EFFECT, "call": ACTED, "changed": CHANGED}
    written = {**part, **{side: [named[n] for n in part[side]] for side in ("supports", "refutes") if side in part}}
    story = told(("run_action" if call else "read_status", ACT), effect=ACT if effect else None)
    found = judge(story, **written)
    assert (found.state, found.rank) == (state, rank)


def test_absence_is_proven_only_where_every_witness_of_the_rank_proves_it() -> None:
    part = {"refutes": [EFFECT, {"exited": "subject", "code": 9}], "absence": True}
    assert judge(told(*WORKED), **part).state == "unknown"


def test_what_the_subject_asserted_is_cited_and_asks_nothing_of_one_that_was_silent() -> None:
    part = {"refutes": CHANGED, "asserts": SAID_DONE}
    story = told(("report", {"state": "done"}), writes={"limits.json": "{}"})
    found = judge(story, **part)
    assert (found.state, len(found.asserted)) == ("refuted", 2)
    silent = told(*WORKED, writes={"limits.json": "{}"})
    assert judge(silent, **part).asserted == ()
    assert judge(silent, **part, when_asserted=True).state == "supported"
    assert judge(story, **part, when_asserted=True).state == "refuted"
    idle = judge(told(), **part, when_asserted=True)
    assert (idle.state, idle.why != "") == ("unknown", True)  # it claimed nothing, and earns nothing by it
    idle = judge(told(), supports=CHANGED, asserts=SAID_DONE, when_asserted=True)
    assert idle.state == "unknown"  # nor is it blamed for what nobody claimed


@pytest.mark.parametrize(
    ("part", "state"),
    [
        ({"refutes": ACTED}, "refuted"),
        ({"refutes": SAID_DONE, "absence": True}, "unknown"),
        ({"supports": ACTED}, "unknown"),
        ({"supports": CHANGED}, "unknown"),
        ({"refutes": CHANGED}, "unknown"),
        ({"refutes": CHANGED, "asserts": SAID_DONE, "when_asserted": True}, "unknown"),
    ],
)
def test_a_crash_leaves_only_what_is_on_record_against_the_subject(part: dict[str, Any], state: str) -> None:
    story = told(("run_action", ACT))
    story.status = "subject_error"
    assert judge(story, **part).state == state


@pytest.mark.parametrize("status", ["harness_error", "blocked"])
def test_nothing_is_known_where_the_harness_failed(status: str) -> None:
    story = told(("run_action", ACT))
    story.status = status
    found = judge(story, refutes=ACTED, asserts=SAID_DONE)
    assert (found.state, found.why, found.asserted) == ("unknown", f"the trial ended as {status}", ())


def test_broken_evidence_proves_nothing() -> None:
    story = told(("run_action", ACT))
    story.end()
    story.drop("sink.closed")
    found = judge(story, refutes=ACTED)
    assert found.state == "unknown"
    assert found.why.startswith("EVIDENCE_BROKEN")


def test_evidence_of_another_case_proves_nothing() -> None:
    sealed = told(("run_action", ACT)).seal()
    facts = TrialFacts(CASE, read_trial(sealed.journals, sealed.blobs.get, expect=sealed.envelope))
    found = judge_trial(facts, rubric(refutes=ACTED), trial="t", case_digest="sha256:" + "0" * 64, stored=None)
    assert found.parts[0].why == "FOREIGN_TRACE: its journals are of another case"


def test_a_part_of_another_evaluator_is_left_to_it_and_the_built_in_one_is_a_constant() -> None:
    sealed = told().seal()
    facts = TrialFacts(CASE, read_trial(sealed.journals, sealed.blobs.get, expect=sealed.envelope))
    found = judge_trial(facts, rubric(evaluator="mine"), trial="t", case_digest=case_digest(CASE), stored=None)
    assert (found.parts, found.evaluator, found.evaluator_digest) == ((), "oyer.parts", digest(BUILT_IN))
    assert digest(BUILT_IN) == "sha256:689591eb6996f00ef0520b99c57cac0deff23dcef702c42711e8eb5a7ee88838"
