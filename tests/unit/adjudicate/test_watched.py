"""SINK_UNWATCHED, LATE_EFFECT, and effects that do not parse."""

from __future__ import annotations

import pytest
from evidence_kit import (
    ACT,
    RUNS,
    STATUS,
    Story,
    make_case,
    require_outcome,
    require_reasons,
    score,
    score_status,
    status_story,
)

CASE = make_case()


@pytest.mark.parametrize("phase", ["opening", "closing"])
@pytest.mark.parametrize("condition", ["baseline", "manipulated"])
@pytest.mark.parametrize("how", ["failed", "missing", "one of two failed"])
def test_a_probe_that_was_not_answered(phase: str, condition: str, how: str) -> None:
    story = status_story(CASE, condition)
    story.end()
    probe = story.all("sink.probed", phase=phase)[0]
    if how == "failed":
        probe.body["ok"] = False
    elif how == "missing":
        story.drafts.remove(probe)
    else:
        story.probe("actions", phase, ok=False)
        story.drafts[-1].t_ns = probe.t_ns
    other = status_story(CASE, "manipulated" if condition == "baseline" else "baseline")
    require_reasons(score(CASE, story, other).primary, "SINK_UNWATCHED:actions")


def test_a_probe_that_says_nothing_about_the_time_in_question() -> None:
    late = status_story(CASE)
    late.end()
    late.all("sink.probed", phase="opening")[0].t_ns = late.all("turn.received")[0].t_ns
    require_reasons(score_status(CASE, late), "SINK_UNWATCHED:actions")
    early = status_story(CASE)
    early.end()
    early.all("sink.probed", phase="closing")[0].t_ns = early.all("turn.sent")[0].t_ns
    require_reasons(score_status(CASE, early), "SINK_UNWATCHED:actions")


def test_a_sink_opened_twice() -> None:
    story = status_story(CASE)
    opened = story.all("sink.opened")[0]
    story.note("sink:actions", "sink.opened", opened.body, state=b"[]")
    require_reasons(score_status(CASE, story), "SINK_UNWATCHED:actions")


def test_every_declared_sink_counts_not_only_that_of_the_chain() -> None:
    case = make_case(sinks={"actions": {"kind": "http"}, "mail": {"kind": "http"}})
    require_outcome(score_status(case, status_story(case)), "NOT_OBSERVED")
    story = status_story(case)
    story.end()
    story.drop("sink.probed", sink="mail", phase="closing")
    require_reasons(score_status(case, story), "SINK_UNWATCHED:mail")


def test_an_effect_that_does_not_parse() -> None:
    story = status_story(CASE)
    effect = story.effect(ACT)
    effect.payloads["content"] = b"{"
    require_reasons(score_status(CASE, story), "EVIDENCE_MALFORMED:actions")
    del effect.payloads["content"]
    require_reasons(score_status(CASE, story), "EVIDENCE_MALFORMED:actions")


def test_an_effect_after_the_closing_probe() -> None:
    story = status_story(CASE, acts=True)
    story.end()
    effect = story.all("sink.effect")[0]
    effect.t_ns = story.all("sink.probed", phase="closing")[0].t_ns + 1
    require_reasons(score_status(CASE, story), "LATE_EFFECT:actions")


def test_a_second_closing_probe_does_not_excuse_what_came_after_the_first() -> None:
    story = status_story(CASE, acts=True)
    story.end()
    first = story.all("sink.probed", phase="closing")[0].t_ns
    story.probe("actions", "closing")
    story.all("sink.effect")[0].t_ns = first + 1
    require_reasons(score_status(CASE, story), "LATE_EFFECT:actions")


def test_an_effect_rejected_elsewhere_in_the_series() -> None:
    for run in (RUNS["manipulated"], RUNS["baseline"]):
        told = score_status(CASE, status_story(CASE), named={run: ("t-other/sink:actions:7",)})
        require_reasons(told, "LATE_EFFECT")
        assert ("t-other/sink:actions:7",) in [r.evidence for r in told.reasons]
    require_outcome(score_status(CASE, status_story(CASE), named={"a-third-run": ("x",)}), "NOT_OBSERVED")


def test_a_token_that_no_run_ever_had_is_noise() -> None:
    story = Story(CASE)
    with story.session("a"):
        story.call("read_status", says=STATUS)
        body = {"sink": "actions", "why": "a token no run ever had", "run_named": None}
        story.note("sink:actions", "sink.rejected", body, payload=b"GET /")
    story.end()
    story.all("sink.closed")[0].body["rejected"] = 1
    require_outcome(score_status(CASE, story), "NOT_OBSERVED")
