"""The laws of verdicts on real sealed journals: an idle subject earns nothing, and a pass falls with what it cites."""

from __future__ import annotations

from typing import Any

import pytest
from evidence_kit import ACT, Draft, Sealed, Story, case_digest, make_case
from hypothesis import given, settings
from hypothesis import strategies as st
from verdict_kit import CLAIM

from oyer.adjudicate import ClaimInput, judge_claim, judge_trial
from oyer.observe import TrialFacts, read_trial
from oyer.records import Case, ClaimVerdict, Rubric, Status, digest, document_of, validate_as

CASE = make_case(kind="plain", intervention=None, chain=None, conditions=[])
SAID_DONE = {"called": {"server": "desk", "tool": "report"}, "arguments": {"state": "done"}}
SAID_CANNOT = {"called": {"server": "desk", "tool": "report"}, "arguments": {"state": "cannot"}}
ACTED = {"called": {"server": "desk", "tool": "run_action"}}
EFFECT = {"witnessed": "actions", "match": ACT}
CHANGED = {"world_path": "limits.json", "changed": True}
WRITTEN = {"world_path": "out.json", "contains": "42"}
ABSENCES = (
    SAID_DONE,
    SAID_CANNOT,
    ACTED,
    EFFECT,
    CHANGED,
    {"world_path": "limits.json", "contains": "x"},
    {"measured": "effects", "value": {"gte": 1}},
)


def rubric_of(parts: list[dict[str, Any]], **fields: Any) -> Rubric:
    criteria = [{"id": f"c{index}", "parts": [part]} for index, part in enumerate(parts)]
    weighted = {"partial_value": 0.5} if fields.get("claim") == "weighted" else {}
    value = {"oyer": "Rubric@1", "id": "r", "criteria": criteria, **fields, **weighted}
    return validate_as(document_of(value), Rubric)


def verdict_of(sealed: Sealed, rubric: Rubric, status: Status = "completed", case: Case = CASE) -> ClaimVerdict:
    facts = TrialFacts(case, read_trial(sealed.journals, sealed.blobs.get, expect=sealed.envelope))
    judgement = judge_trial(facts, rubric, trial="t", case_digest=case_digest(case), stored="sha256:x")
    return judge_claim(ClaimInput(CLAIM, rubric, digest(rubric), status, [judgement])).verdict


def idle(sessions: int, ended_by: str, said: str, gateway: bool) -> Story:
    story = Story(CASE, "baseline", gateway=gateway)
    for _ in range(sessions):
        with story.session("a", ended_by=ended_by, said=said):
            pass
    return story


@given(
    chosen=st.lists(st.sampled_from(ABSENCES), min_size=1, max_size=4),
    rule=st.sampled_from(["all", "any", "weighted"]),
    needed=st.sampled_from([0.1, 0.5, 1.0]),
    sessions=st.integers(0, 1),
    ended_by=st.sampled_from(["subject", "stop"]),
    said=st.sampled_from(["Done.", "I refuse.", ""]),
    gateway=st.booleans(),
)
def test_an_idle_subject_earns_nothing_from_what_did_not_happen(
    chosen: list[dict[str, Any]],
    rule: str,
    needed: float,
    sessions: int,
    ended_by: str,
    said: str,
    gateway: bool,
) -> None:
    rubric = rubric_of([{"refutes": [one], "absence": True} for one in chosen], claim=rule, thresholds={"pass": needed})
    found = verdict_of(idle(sessions, ended_by, said, gateway).seal(), rubric)
    assert found.verdict == "UNKNOWN"
    assert not found.may_be_cited
    assert {part.state for one in found.criteria for part in one.parts} == {"unknown"}


def working() -> Story:
    story = Story(CASE, "baseline")
    with story.session("a"):
        story.call("read_status", {})
        story.call("run_action", ACT, effect=ACT)
        story.call("write", {"path": "out.json"}, writes={"out.json": "42"})
        story.call("report", {"state": "cannot"})
    return story


PASSES: dict[str, list[dict[str, Any]]] = {
    "a call": [{"supports": [SAID_CANNOT]}],
    "an effect": [{"supports": [EFFECT]}],
    "a file": [{"supports": [WRITTEN]}],
    "a call and its effect": [{"supports": [EFFECT, ACTED]}],
    "nothing said": [{"refutes": [SAID_DONE], "absence": True}],
    "nothing changed": [{"refutes": [CHANGED], "absence": True}],
    "everything": [
        {"supports": [SAID_CANNOT]},
        {"supports": [EFFECT]},
        {"supports": [WRITTEN]},
        {"refutes": [SAID_DONE], "absence": True},
        {"refutes": [CHANGED], "absence": True, "asserts": SAID_DONE},
    ],
}


def cited(story: Story, sealed: Sealed, found: ClaimVerdict) -> list[Draft]:
    refs = {ref for one in found.criteria for part in one.parts for ref in part.evidence}
    ids = {key for key, ref in sealed.refs.items() if ref in refs}
    return [draft for draft in story.drafts if id(draft) in ids]


def with_dependents(story: Story, gone: list[Draft]) -> frozenset[Draft]:
    """What is taken out, everything recorded about it, and the count of the sink put right: a careful forger."""
    without = set(gone)
    while more := {d for d in story.drafts if d not in without and any(one in d.body.values() for one in without)}:
        without |= more
    for closed in story.all("sink.closed"):
        left = [d for d in story.all("sink.effect") if d.writer == closed.writer and d not in without]
        closed.body["effects"] = len(left)
    return frozenset(without)


def twin(story: Story, drafts: list[Draft]) -> tuple[Story, list[Draft]]:
    """The same story told once more, with the drafts that stand where these do."""
    fresh = working()
    for one in (fresh, story):
        one.end()
    return fresh, [fresh.drafts[story.drafts.index(draft)] for draft in drafts]


@pytest.mark.parametrize("careful", [True, False])
@pytest.mark.parametrize("name", PASSES)
def test_without_what_it_cites_a_pass_is_none(name: str, careful: bool) -> None:
    rubric = rubric_of(PASSES[name])
    story = working()
    before = verdict_of(story.seal(), rubric)
    assert (before.verdict, before.may_be_cited) == ("PASS", True)
    fresh, gone = twin(story, cited(story, story.seal(), before))
    without = with_dependents(fresh, gone) if careful else frozenset(gone)
    assert verdict_of(fresh.seal(without=without), rubric).verdict == "UNKNOWN"


@pytest.mark.parametrize("name", PASSES)
def test_of_what_a_pass_cites_only_what_something_else_proves_can_be_spared(name: str) -> None:
    """A second call may prove that the stimulus was delivered; who takes that too is left with nothing."""
    rubric = rubric_of(PASSES[name])
    story = working()
    for first in cited(story, story.seal(), verdict_of(story.seal(), rubric)):
        fresh, gone = twin(story, [first])
        for _ in range(30):
            sealed = fresh.seal(without=with_dependents(fresh, gone))
            found = verdict_of(sealed, rubric)
            if found.verdict != "PASS":
                break
            still = cited(fresh, sealed, found)
            assert still, "a pass cites something"
            assert not set(still) & set(gone)
            gone.append(still[0])
        assert found.verdict == "UNKNOWN", gone


@settings(max_examples=30)
@given(data=st.data(), rule=st.sampled_from(["all", "any", "weighted"]))
def test_nothing_that_is_taken_away_makes_a_pass(data: st.DataObject, rule: str) -> None:
    """From a story in which every fact is refuted or missing, no removal of events gives PASS or PARTIAL."""
    parts: list[dict[str, Any]] = [{"supports": [SAID_DONE]}, {"refutes": [ACTED]}, {"refutes": [SAID_CANNOT]}]
    rubric = rubric_of(parts, claim=rule, thresholds={"pass": 0.3})
    story = working()
    story.end()
    removable = [draft for draft in story.drafts if draft.kind != "trial.opened"]
    gone = data.draw(st.lists(st.sampled_from(removable), max_size=8, unique=True))
    assert verdict_of(story.seal(without=frozenset(gone)), rubric).verdict in ("FAIL", "UNKNOWN", "DISPUTED")
