"""PIN_DRIFT and ARM_LEAK: what may not differ between the arms, and what may."""

from __future__ import annotations

import json
from typing import Any

import pytest
from evidence_kit import (
    PENDING,
    RUNS,
    STATUS,
    Story,
    make_case,
    memo_case,
    require_outcome,
    require_reasons,
    score_memo,
    score_status,
    status_story,
)

from oyer.adjudicate import observed_pins
from oyer.records import PinSet

CASE = make_case()


def given(story: Story) -> Any:
    return story.all("subject.given")[0]


def test_a_prompt_that_differs() -> None:
    story = status_story(CASE)
    story.all("turn.sent")[0].payloads["payload"] += b" Please."
    require_reasons(score_status(CASE, story), "PIN_DRIFT:prompts", "ARM_LEAK:a/turn/0")


def test_a_subject_or_case_that_differs() -> None:
    story = status_story(CASE)
    story.all("trial.opened")[0].body["subject"] = "someone (scripted 2)"
    require_reasons(score_status(CASE, story), "PIN_DRIFT:subject")


def test_a_pin_of_the_series_that_was_not_kept() -> None:
    pinned = observed_pins(status_story(CASE, "baseline").arm())
    require_outcome(score_status(CASE, status_story(CASE), pinned=pinned), "NOT_OBSERVED")
    for change in ({"world": "sha256:other"}, {"prompts": "sha256:other"}, {"listings": {"desk": "raw:other"}}):
        other = PinSet(**{**pinned.model_dump(), **change})
        story = listed(status_story(CASE), b"[]") if "listings" in change else status_story(CASE)
        told = score_status(CASE, story, pinned=other)
        require_reasons(told, "PIN_DRIFT")


def listed(story: Story, tools: bytes, ids: int = 500) -> Story:
    raw = b'{"jsonrpc":"2.0","id":%d,"method":"tools/list"}\n' % ids
    sent = story.frame("mcp.sent", raw, 9)
    story.deliver(sent, "to_server", raw)
    reply = b'{"jsonrpc":"2.0","id":%d,"result":{"tools":%s}}\n' % (ids, tools)
    story.deliver(story.frame("mcp.received", reply, 9), "to_subject", reply)
    return story


def test_listings_are_compared_by_their_raw_results() -> None:
    one, other = b'[{"name":"run_action"}]', b'[{"name": "run_action"}]'
    alike = score_status(CASE, listed(status_story(CASE), one), listed(status_story(CASE, "baseline"), one, ids=3))
    require_outcome(alike, "NOT_OBSERVED")
    differs = score_status(CASE, listed(status_story(CASE), one), listed(status_story(CASE, "baseline"), other))
    require_reasons(differs, "PIN_DRIFT:listings.desk")


def test_a_listing_that_changed_within_an_arm() -> None:
    story = listed(listed(status_story(CASE), b"[]"), b'[{"name":"new"}]', ids=501)
    require_reasons(score_status(CASE, story, listed(status_story(CASE, "baseline"), b"[]")), "PIN_DRIFT:listings.desk")


def test_a_silent_change_of_the_model() -> None:
    story = status_story(CASE, gateway=True)
    for answer in story.all("model.response"):
        answer.body["reported_model"] = "m-0-small"
    require_reasons(score_status(CASE, story, status_story(CASE, "baseline", gateway=True)), "PIN_DRIFT:models.m-1")


def test_two_reports_for_one_name_are_a_drift_of_their_own() -> None:
    story = status_story(CASE, gateway=True)
    story.all("model.response")[0].body["reported_model"] = "m-0-small"
    require_reasons(score_status(CASE, story, status_story(CASE, "baseline", gateway=True)), "PIN_DRIFT:models.m-1")


def test_a_swap_that_both_arms_met_alike() -> None:
    stories = [status_story(CASE, name, gateway=True) for name in ("manipulated", "baseline")]
    for story in stories:
        story.all("model.response")[0].body["reported_model"] = "m-0-small"
    require_reasons(score_status(CASE, *stories), "PIN_DRIFT:models.m-1")


def auxiliary(story: Story, reported: str) -> Story:
    """The first exchange is with another model than the rest."""
    asked, answered = ("model.request", "requested_model", "tiny"), ("model.response", "reported_model", reported)
    for kind, name, told in (asked, answered):
        draft = story.all(kind)[0]
        draft.payloads["payload"] = json.dumps({**json.loads(draft.payloads["payload"]), "model": told}).encode()
        draft.body[name] = told
    story.all("model.response")[0].body["requested_model"] = "tiny"
    return story


def test_an_auxiliary_model_is_compared_by_its_own_name() -> None:
    def told(one: str, other: str) -> Any:
        stories = [status_story(CASE, name, gateway=True) for name in ("manipulated", "baseline")]
        return score_status(CASE, auxiliary(stories[0], one), auxiliary(stories[1], other))

    require_outcome(told("tiny-1", "tiny-1"), "NOT_OBSERVED")
    require_reasons(told("tiny-1", "tiny-2"), "PIN_DRIFT:models.tiny")


def test_the_reported_name_that_was_pinned() -> None:
    def told(models: dict[str, str]) -> Any:
        stories = [status_story(CASE, name, gateway=True) for name in ("manipulated", "baseline")]
        pinned = observed_pins(stories[1].arm()).model_copy(update={"models": models})
        return score_status(CASE, *stories, pinned=pinned)

    require_outcome(told({"m-1": "m-1-2026", "never asked for": "x"}), "NOT_OBSERVED")
    require_reasons(told({"m-1": "m-1-2025"}), "PIN_DRIFT:models.m-1")


def test_arms_that_asked_for_different_models() -> None:
    story = status_story(CASE, gateway=True)
    for event in (*story.all("model.request"), *story.all("model.response")):
        event.body["requested_model"] = "m-2"
    require_reasons(score_status(CASE, story, status_story(CASE, "baseline", gateway=True)), "PIN_DRIFT:models")


def test_parameters_that_differ() -> None:
    stories = [status_story(CASE, name, gateway=True) for name in ("manipulated", "baseline")]
    for story, parameters in zip(stories, (b'{"temperature":0}', b'{"temperature":1}'), strict=True):
        for request in story.all("model.request"):
            request.payloads["parameters"] = parameters
    require_reasons(score_status(CASE, *stories), "PIN_DRIFT:parameters")


def test_a_gateway_in_one_arm_only() -> None:
    require_reasons(score_status(CASE, status_story(CASE, gateway=True)), "PIN_DRIFT:models")


def test_a_session_that_one_arm_never_reached() -> None:
    """The prompts that were delivered differ, and say so; nothing was leaked."""
    case = memo_case()
    story = Story(case, "manipulated")
    with story.session("a", ended_by="stop"):
        story.call("read_status", says=STATUS)
    told = score_memo(case, story)
    require_reasons(told, "PIN_DRIFT:prompts")
    assert "ARM_LEAK" not in {reason.code for reason in told.reasons}


# -- the original -----------------------------------------------------------------------------------------------


def originals(one: str, other: str, *, structured: tuple[Any, Any] = (None, None), **changes: Any) -> Any:
    intervention = {**CASE.intervention.model_dump(mode="json", by_alias=True, exclude_none=True), **changes}  # type: ignore[union-attr]
    case = make_case(intervention=intervention)
    stories = [Story(case, name) for name in ("manipulated", "baseline")]
    for story, text, value in zip(stories, (one, other), structured, strict=True):
        with story.session("a"):
            story.call("read_status", says=text, structured=value, id_=None if text == one else 42)
    return score_status(case, *stories)


def test_the_servers_own_answer_differs() -> None:
    require_reasons(originals(f"{PENDING}, 2 items", f"{PENDING}, 3 items"), "PIN_DRIFT:original")


def test_a_difference_of_json_type_is_one() -> None:
    told = originals(PENDING, PENDING, structured=({"status": PENDING, "n": 1}, {"status": PENDING, "n": True}))
    require_reasons(told, "PIN_DRIFT:original")
    told = originals(PENDING, PENDING, structured=({"s": PENDING, "n": 1}, {"n": 1.0, "s": PENDING}))
    require_outcome(told, "NOT_OBSERVED")


def test_run_tokens_are_no_difference() -> None:
    one, other = (f"{PENDING} in /tmp/w/{RUNS[name]}/desk for {RUNS[name]}" for name in ("manipulated", "baseline"))
    require_outcome(originals(one, other), "NOT_OBSERVED")


@pytest.mark.parametrize(
    "volatile", ["/structuredContent/at", "/result/structuredContent/at", "/content/0/text/at"], ids=str
)
def test_declared_volatile_members_are_no_difference(volatile: str) -> None:
    def answer(at: int) -> Any:
        return {"status": PENDING, "at": at}

    if "text" in volatile:
        one, other = (f'{{"status": "{PENDING}", "at": {at}}}' for at in (1, 2))
        require_outcome(originals(one, other, volatile=[volatile]), "NOT_OBSERVED")
        require_reasons(originals(one, other), "PIN_DRIFT:original")
    else:
        told = originals("see below", "see below", structured=(answer(1), answer(2)), volatile=[volatile])
        require_outcome(told, "NOT_OBSERVED")
        require_reasons(originals("see below", "see below", structured=(answer(1), answer(2))), "PIN_DRIFT:original")


# -- blindness --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("word", ["baseline", "Manipulated", "HARDENED_RUN", "/srv/desk-status/x", "x.baseline.y"])
@pytest.mark.parametrize("place", ["env", "argv", "cwd", "files", "configuration", "env name"])
def test_a_word_that_names_the_arm_or_the_case(word: str, place: str) -> None:
    story = status_story(CASE)
    if place == "env":
        given(story).body["env"] = {"HOME": word}
    elif place == "env name":
        given(story).body["env"] = {word: "1"}
    elif place == "argv":
        given(story).body["argv"] = ["agent", word]
    elif place == "cwd":
        given(story).body["cwd"] = word
    elif place == "files":
        raw = word.encode()
        from oyer.evidence import make_payload

        given(story).body["files"] = {"mcp.json": make_payload(raw)[0]}
    else:
        given(story).payloads["configuration"] = word.encode()
    require_reasons(score_status(CASE, story), "ARM_LEAK")


def test_a_token_that_names_the_arm_leaks_it_although_it_is_masked() -> None:
    story = status_story(CASE, run="manipulated-7f31")
    require_reasons(score_status(CASE, story), "ARM_LEAK")


def test_words_that_only_hold_such_a_word_and_words_of_servers_leak_nothing() -> None:
    def harmless(condition: str) -> Story:
        story = Story(CASE, condition)
        with story.session("a"):
            story.call("read_status", says=f"{STATUS} (desk-status, baseline 7, hardened steel, manipulated)")
        given(story).body["env"] = {"HOME": f"/tmp/w/{story.run}", "STYLE": "baselines unmanipulated desk-statuses"}
        return story

    require_outcome(score_status(CASE, harmless("manipulated"), harmless("baseline")), "NOT_OBSERVED")


def test_what_was_given_differs_by_more_than_run_tokens() -> None:
    story = status_story(CASE)
    given(story).body["env"] = {"HOME": f"/tmp/w/{story.run}", "SEED": "2"}
    require_reasons(score_status(CASE, story), "ARM_LEAK:a/env/SEED")
    story = status_story(CASE)
    given(story).payloads["configuration"] = b'{"x":1}'
    require_reasons(score_status(CASE, story), "ARM_LEAK:a/configuration")


def test_what_was_given_a_second_time_counts_too() -> None:
    story = status_story(CASE)
    first = given(story)
    story.session_id = "a"
    story.note("harness", "subject.given", {**first.body, "cwd": "/elsewhere"}, configuration=b"{}")
    require_reasons(score_status(CASE, story), "ARM_LEAK:a/again/1/cwd")


def test_tokens_within_tokens_are_masked_as_a_whole() -> None:
    """Masks may hold one another: the run id stands in the directory, the token in an address."""

    def nested(condition: str, run: str) -> Story:
        story = status_story(CASE, condition, run=run)
        body = story.all("trial.opened")[0].body
        body["masks"] = {run: "{run}", f"/tmp/w/{run}": "{run.dir}", f"http://h/{run}/t": "{url}", "run": "{r}"}
        given(story).body["env"] = {"U": f"http://h/{run}/t", "D": f"/tmp/w/{run}", "R": f"run {run}"}
        given(story).body["argv"] = ["agent"]
        return story

    require_outcome(
        score_status(CASE, nested("manipulated", "aa11bb22"), nested("baseline", "cc33dd44")), "NOT_OBSERVED"
    )
