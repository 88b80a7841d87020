"""What a sink's journal shows, and whether it was watching."""

from __future__ import annotations

from evidence_kit import ACT, RUNS, Story, make_case, status_story

from oyer.evidence import digest_of
from oyer.observe import Watch, read_names, read_watches

CASE = make_case()


def watch(story: Story) -> Watch:
    return read_watches(story.arm().evidence)["actions"]


def test_a_sink_that_watched() -> None:
    seen = watch(status_story(CASE, acts=True))
    assert seen.watched
    assert (seen.kind, seen.held, seen.stated, len(seen.probes)) == ("http", False, (1, 0), 2)
    (effect,) = seen.effects
    assert (effect.content, effect.readable, effect.token_fits) == (ACT, True, True)
    assert effect.run_named == RUNS["manipulated"]


def test_a_probe_effect_is_no_effect() -> None:
    story = status_story(CASE)
    story.effect({"probe": "x"}, probe=True)
    assert watch(story).effects == ()


def test_watching_needs_both_probes_and_one_opening() -> None:
    for phase in ("opening", "closing"):
        story = status_story(CASE)
        story.end()
        story.drop("sink.probed", phase=phase)
        assert not watch(story).watched
    story = status_story(CASE)
    story.drop("sink.opened")
    assert not watch(story).watched


def test_runs_that_are_named_whether_rejected_or_not() -> None:
    story = status_story(CASE)
    story.effect(ACT, run_named="other-run")
    body = {"sink": "actions", "why": "the token of another run", "run_named": "third-run"}
    story.note("sink:actions", "sink.rejected", body, payload=b"x")
    story.note("sink:actions", "sink.rejected", {**body, "run_named": None}, payload=b"x")
    assert [run for run, _ in read_names(story.arm().evidence)] == ["third-run", "other-run"]


def test_a_token_is_compared_only_where_both_are_on_record() -> None:
    for token, fits in ((digest_of(b"x"), False), (None, None)):
        story = status_story(CASE)
        story.effect(ACT, token=token)
        assert watch(story).effects[0].token_fits is fits
    story = status_story(CASE)
    story.effect(ACT)
    del story.all("sink.opened")[0].body["token_sha256"]
    assert watch(story).effects[0].token_fits is None


def test_the_sink_is_the_writers_own() -> None:
    story = status_story(CASE)
    effect = story.effect(ACT)
    effect.body["sink"] = "elsewhere"
    seen = watch(story)
    assert seen.effects[0].sink == "actions"
    assert len(seen.misnamed) == 1


def test_what_does_not_parse_is_an_effect_all_the_same() -> None:
    story = status_story(CASE)
    story.effect(ACT).payloads["content"] = b'{"a":1,"a":2}'
    (effect,) = watch(story).effects
    assert not effect.readable


def test_a_world_sink_opens_on_what_is_there() -> None:
    case = make_case(sinks={"actions": {"kind": "world", "paths": ["a"]}})
    story = Story(case)
    story.open()
    story.all("sink.opened")[0].payloads["state"] = b'[["a",false,1,"sha256:x","file"]]'
    assert not watch(story).held
