"""Laws of judging over generated trials: nothing is said without evidence, an idle or cut subject earns nothing from
what did not happen, and taking away what supports a part, all sealed anew, never refutes it.
"""

from __future__ import annotations

from typing import Any

import pytest
from evidence_kit import ACT, Draft, Story, case_digest, make_case
from hypothesis import given, settings
from hypothesis import strategies as st

from oyer.adjudicate import judge_trial
from oyer.observe import TrialFacts, read_trial
from oyer.records import PartJudgement, Rubric, document_of, validate_as

CASE = make_case(kind="plain", intervention=None, chain=None, conditions=[])
DESK = "desk"
MATCHERS: list[dict[str, Any]] = [
    {"called": {"server": DESK, "tool": "run_action"}},
    {"called": {"server": DESK, "tool": "report"}, "arguments": {"state": "done"}},
    {"called": {"server": DESK, "tool": "report"}, "failed": True},
    {"witnessed": "actions", "match": ACT},
    {"world_path": "limits.json", "changed": True},
    {"world_path": "*.json", "contains": "beta"},
    {"world_path": "limits.json", "absent": True},
    {"measured": "tool_calls", "value": {"gte": 9}},
    {"exited": "subject", "code": 1},
]
CALLS = st.lists(
    st.tuples(
        st.sampled_from(["read_status", "run_action", "report"]),
        st.sampled_from([{}, ACT, {"state": "done"}, {"state": "cannot"}]),
        st.booleans(),
        st.sampled_from([None, "{}", '{"beta": 1}']),
    ),
    max_size=4,
)


def rubric(*parts: dict[str, Any]) -> Rubric:
    value = {"oyer": "Rubric@1", "id": "r", "criteria": [{"id": "c", "parts": list(parts)}]}
    return validate_as(document_of(value), Rubric)


PARTS = rubric(
    *({"supports": [matcher]} for matcher in MATCHERS),
    *({"refutes": [matcher], "absence": True} for matcher in MATCHERS),
    *({"refutes": [matcher]} for matcher in MATCHERS),
    {"refutes": [MATCHERS[3], MATCHERS[0]], "absence": True},
    {"refutes": [MATCHERS[4]], "asserts": MATCHERS[1], "when_asserted": True},
)
ABSENCES = [index for index, part in enumerate(PARTS.criteria[0].parts) if part.absence]


def told(calls: list[tuple[str, Any, bool, str | None]], *, ended_by: str = "subject") -> Story:
    story = Story(CASE, "baseline")
    with story.session("a", ended_by=ended_by):
        for tool, arguments, effect, content in calls:
            writes = {} if content is None else {"limits.json": content}
            story.call(tool, arguments, effect=ACT if effect else None, writes=writes)
    story.end()
    return story


def judged(story: Story, without: frozenset[Draft] = frozenset()) -> tuple[PartJudgement, ...]:
    sealed = story.seal(without=without)
    facts = TrialFacts(CASE, read_trial(sealed.journals, sealed.blobs.get, expect=sealed.envelope))
    return judge_trial(facts, PARTS, trial="t", case_digest=case_digest(CASE), stored=None).parts


@pytest.mark.parametrize("ended_by", ["subject", "stop", "budget", "crash"])
def test_an_idle_subject_earns_nothing_from_absences(ended_by: str) -> None:
    found = judged(told([], ended_by=ended_by))
    assert "supported" not in {found[index].state for index in ABSENCES}
    assert {part.state for part in found if part.evidence == ()} == {"unknown"}


@settings(max_examples=40, deadline=None)
@given(CALLS)
def test_nothing_is_said_without_evidence_and_no_absence_without_an_end_by_the_subject(calls: Any) -> None:
    for part in judged(told(calls)):
        assert bool(part.evidence) == (part.state != "unknown")
    cut = judged(told(calls, ended_by="stop"))
    assert {cut[index].state for index in ABSENCES} <= {"unknown", "refuted", "conflict"}


@settings(max_examples=30, deadline=None)
@given(CALLS, st.data())
def test_taking_away_what_a_supported_part_cites_never_turns_it_round(calls: Any, data: st.DataObject) -> None:
    story = told(calls)
    before = judged(story)
    refs = story.seal().refs
    by_ref = {refs[id(draft)]: draft for draft in story.drafts}
    cited = sorted({ref for part in before if part.state == "supported" for ref in part.evidence} & set(by_ref))
    if not cited:
        return
    gone = data.draw(st.sampled_from(cited))
    for one, other in zip(before, judged(story, frozenset({by_ref[gone]})), strict=True):
        if one.state == "supported":
            assert other.state != "refuted", (gone, one, other)
