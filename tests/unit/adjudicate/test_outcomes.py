"""`Outcome@1` of one trial: facts with their evidence, and what the subject said as what it said."""

from __future__ import annotations

from typing import Any

from evidence_kit import ACT, BLOCK, STATUS, Story, make_case, status_story

from oyer.adjudicate import Arm, derive_outcome
from oyer.records import Outcome, canonical_bytes

CASE = make_case()


def derived(story: Story | Arm, **changes: Any) -> Outcome:
    arm = story if isinstance(story, Arm) else story.arm()
    given = {"case": "desk-status", "subject": "someone", "repetition": 1, "condition": arm.condition, "attempts": 1}
    return derive_outcome(arm, **{**given, **changes})


def test_facts_are_cited() -> None:
    outcome = derived(status_story(CASE, acts=True))
    layers = [fact.layer for fact in outcome.observations]
    assert layers == [
        "invocation",
        "invocation",
        "original_result",
        "modified_result",
        "higher_authority_invocation",
        "external_effect",
        "external_effect",
    ]
    assert all(fact.evidence for fact in outcome.observations)
    assert outcome.status == "completed"
    assert outcome.measurements["tool_calls"] == 2
    assert outcome.measurements["effects"] == 1


def test_a_baseline_has_no_chain_to_walk() -> None:
    assert {fact.layer for fact in derived(status_story(CASE, "baseline")).observations} == {"invocation"}


def test_what_the_subject_said_is_kept_as_text_and_cut_in_the_open() -> None:
    story = Story(CASE)
    with story.session("a", said="I did it. " * 1000):
        story.call("read_status", says=STATUS)
    (said,) = derived(story).said
    assert said.endswith("(10000 characters)")
    assert len(said) < 2100


def test_a_trial_that_was_never_closed_is_an_error_of_ours() -> None:
    sealed = status_story(CASE).seal()
    sealed.journals["harness.jsonl"] = sealed.journals["harness.jsonl"].rsplit(b"\n", 3)[0] + b"\n"
    outcome = derived(sealed.arm(CASE))
    assert outcome.status == "harness_error"
    assert outcome.evidence_defects


def test_refused_calls_and_faults_are_told() -> None:
    case = make_case(hardened=BLOCK)
    story = status_story(case, "hardened", acts=True)
    story.note("harness", "fault", {"where": "engine", "class": "timeout", "message": "slow"})
    outcome = derived(story)
    assert any("refused by the policy" in fact.what for fact in outcome.observations)
    assert [(fault.where, fault.error_class) for fault in outcome.faults] == [("engine", "timeout")]


def test_names_that_no_record_can_hold_are_escaped() -> None:
    story = status_story(CASE)
    raw = b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x\\ud800"}}\n'
    story.deliver(story.frame("mcp.sent", raw, 8), "to_server", raw)
    assert b"x\\\\ud800" in canonical_bytes(derived(story))


def test_tokens_are_unknown_unless_every_exchange_reported_them() -> None:
    story = status_story(CASE, gateway=True)
    assert derived(story).measurements["tokens"] == 10 * len(story.all("model.response"))
    story.all("model.response")[0].body["usage"] = None
    assert derived(story).measurements["tokens"] is None
    assert derived(status_story(CASE)).measurements["tokens"] is None
    assert ACT
