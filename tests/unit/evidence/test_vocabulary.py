"""The vocabulary is closed: every kind has a good body, and nothing beside it passes."""

from __future__ import annotations

from typing import Any

import pytest

from oyer.errors import EvidenceError
from oyer.evidence import (
    KINDS,
    RESERVED_KINDS,
    VOCABULARY,
    body_payloads,
    check_body,
    check_writer_kind,
    digest_of,
    make_payload,
)
from oyer.evidence.vocabulary import since

D = digest_of(b"")
P = make_payload(b"raw")[0]
TAP = {"server": "mail", "connection": 0}
OF = {"of": "tap:mail:1", "original": D}
SAMPLES: dict[str, dict[str, Any]] = {
    "trial.opened": {
        "vocabulary": VOCABULARY,
        "case": D,
        "case_id": "c",
        "subject": "s",
        "repetition": 0,
        "masks": {"v": "<run>"},
        "world_digest": None,
        "random": {"seed": "123", "n": 4},
        "fixture_digest": D,
    },
    "trial.closed": {
        "status": "harness_error",
        "stopped_by": None,
        "error": {"where": "tap", "class": "timeout", "message": "m"},
        "writers": {"tap:mail": {"length": 1, "head": D}},
    },
    "session.opened": {"number": 0},
    "session.closed": {"number": 0},
    "turn.sent": {"number": 0, "payload": P},
    "turn.received": {"number": 0, "payload": P, "ended_by": "subject", "calls": 2},
    "subject.given": {"argv": ["a"], "env": {"A": "b"}, "cwd": "/", "files": {"f": P}, "configuration": P},
    "subject.output": {"stream": "stderr", "payload": P},
    "mcp.sent": {**TAP, "payload": P, "id": "x", "method": "tools/call", "tool": "t"},
    "mcp.received": {**TAP, "payload": P, "id": None},
    "mcp.delivered": {**TAP, "of": "tap:mail:1", "direction": "to_subject", "sha256": D, "size": 0},
    "mcp.noise": {**TAP, "side": "server", "payload": P, "truncated": True},
    "mcp.session_break": {**TAP, "reason": "eof"},
    "mcp.intervened": {
        **TAP,
        **OF,
        "intervention": "i",
        "occurrence": 1,
        "request": "tap:mail:0",
        "applied": True,
        "modified": P,
        "proof": {"kind": "splice", "spans": [[0, 1, D, 5]]},
    },
    "mcp.policy": {**TAP, **OF, "policy": "p", "did": "refused", "modified": None, "delivered": P},
    "connection.opened": TAP,
    "connection.closed": {**TAP, "reason": "eof", "exit": -9},
    "model.request": {"exchange": 0, "payload": P, "requested_model": None, "path": "/v1", "parameters": P},
    "model.intervened": {
        "intervention": "i",
        "of": "gateway:1",
        "original": D,
        "applied": True,
        "results": [1],
        "modified": P,
        "proof": {"kind": "append_text", "spans": [[1, 2, D, 3]]},
    },
    "model.response": {
        "exchange": 0,
        "payload": P,
        "http_status": 200,
        "requested_model": "m",
        "reported_model": None,
        "usage": {"input": 1},
        "finish": None,
        "latency_ns": 1,
        "complete": True,
    },
    "model.fault": {"exchange": 0, "declared": "cut@1", "payload": P},
    "sink.opened": {"sink": "box", "kind": "http", "address": "a", "token_sha256": D, "watch": ["x"], "state": None},
    "sink.probed": {"sink": "box", "phase": "opening", "ok": True, "nonce": "n"},
    "sink.effect": {"sink": "box", "payload": P, "content": None, "token": D, "calls": ["tap:mail:3"], "probe": False},
    "sink.rejected": {"sink": "box", "payload": P, "why": "token", "run_named": None},
    "sink.closed": {"sink": "box", "effects": 0, "rejected": 0},
    "world.snapshot": {"phase": "turn", "after_session": None, "digest": D, "entries": P, "turn": 2},
    "world.written": {
        "path": "a",
        "before": None,
        "after": D,
        "size": 1,
        "payload": P,
        "phase": "call",
        "running": ["subject"],
    },
    "world.read": {"path": "a", "phase": "closing", "sha256": D, "size": 1, "payload": P},
    "process.started": {"role": "subject", "pid": 1, "argv": [], "env_names": ["PATH"]},
    "process.exited": {
        "role": "subject",
        "pid": 1,
        "code": None,
        "signal": 9,
        "stderr": P,
        "survivors": [{"pid": 2, "name": "x"}],
    },
    "meter.sample": {"wall_ns": 1, "cpu_ns": 1, "rss_bytes": 1},
    "budget.exceeded": {"what": "turns", "limit": 1, "seen": 2},
    "fault": {"where": "tap", "class": "timeout", "message": "m"},
    "isolation.denied": {"what": "net", "message": "m"},
    "sealed": {"length": 0, "head": D},
}
EACH = pytest.mark.parametrize("kind", sorted(SAMPLES))


def refused(kind: str, body: dict[str, Any], code: str = "E-EVENT-BODY") -> None:
    with pytest.raises(EvidenceError) as caught:
        check_body(kind, body)
    assert caught.value.code == code


def test_every_kind_has_a_sample() -> None:
    assert set(SAMPLES) == set(KINDS)


@EACH
def test_a_good_body(kind: str) -> None:
    check_body(kind, SAMPLES[kind])


@EACH
def test_required_keys_are_required_and_optional_ones_are_not(kind: str) -> None:
    for key in KINDS[kind]:
        name = key.removesuffix("?")
        without = {inner: value for inner, value in SAMPLES[kind].items() if inner != name}
        if key == "turn?":
            check_body(kind, {**without, "phase": "between"})
        elif key.endswith("?"):
            check_body(kind, without)
        else:
            refused(kind, without, "E-EVENT-VERSION" if name == "vocabulary" else "E-EVENT-BODY")


@EACH
def test_nothing_unknown_and_nothing_of_another_type(kind: str) -> None:
    refused(kind, {**SAMPLES[kind], "surprise": 1})
    for key in SAMPLES[kind]:
        for wrong in (1.5, 2**53, b"bytes", [[]], {"x": {"y": 1}}):
            code = "E-EVENT-VERSION" if key == "vocabulary" else "E-EVENT-BODY"
            refused(kind, {**SAMPLES[kind], key: wrong}, code)


def test_a_mark_of_what_is_not_understood_says_why_in_a_closed_word() -> None:
    for kind, words in (("model.request", ("no_api", "not_json")), ("model.response", ("coding", "answer"))):
        for word in words:
            check_body(kind, {**SAMPLES[kind], "unread": word})
            assert since(kind, {**SAMPLES[kind], "unread": word}) == 5
        refused(kind, {**SAMPLES[kind], "unread": "other"})


def test_what_came_from_no_endpoint_says_so_in_a_closed_word() -> None:
    response = SAMPLES["model.response"]
    for word in ("declared", "replay", "scripted"):
        check_body("model.response", {**response, "source": word})
        assert since("model.response", {**response, "source": word}) == 5
    refused("model.response", {**response, "source": "endpoint"})
    assert since("model.fault", SAMPLES["model.fault"]) == 5


def test_kinds_that_are_unknown_or_reserved() -> None:
    for kind in ["mcp.surprise", "", *RESERVED_KINDS]:
        refused(kind, {}, "E-EVENT-KIND")


@pytest.mark.parametrize("version", [0, 6, "1", None])
def test_another_vocabulary(version: object) -> None:
    refused("trial.opened", {**SAMPLES["trial.opened"], "vocabulary": version}, "E-EVENT-VERSION")


def test_an_older_vocabulary_reads_as_it_did() -> None:
    for version in (1, 2, 3, 4):
        check_body("trial.opened", {**SAMPLES["trial.opened"], "vocabulary": version})


@pytest.mark.parametrize("body", [{"phase": "turn"}, {"phase": "opening", "turn": 0}, {"phase": "closing", "turn": 1}])
def test_a_look_after_a_turn_says_after_which_and_no_other_does(body: dict[str, Any]) -> None:
    refused("world.snapshot", {"digest": D, "entries": P, **body})


def test_an_edit_that_was_not_applied_says_why_and_changes_nothing() -> None:
    sample = {key: value for key, value in SAMPLES["mcp.intervened"].items() if key not in {"modified", "proof"}}
    check_body("mcp.intervened", {**sample, "applied": False, "why": "duplicate key on the path"})
    check_body("mcp.intervened", sample)  # a drop: applied, and nothing is delivered
    refused("mcp.intervened", {**sample, "applied": False})
    refused("mcp.intervened", {**SAMPLES["mcp.intervened"], "applied": False, "why": "w"})
    refused("model.intervened", {**SAMPLES["model.intervened"], "applied": False, "why": "w"})


def test_payloads_are_found_wherever_they_stand() -> None:
    assert list(body_payloads("subject.given", SAMPLES["subject.given"])) == [P, P]
    assert list(body_payloads("sink.effect", SAMPLES["sink.effect"])) == [P]
    assert list(body_payloads("process.exited", SAMPLES["process.exited"])) == [P]
    assert list(body_payloads("session.opened", SAMPLES["session.opened"])) == []


@pytest.mark.parametrize(
    ("writer", "kind", "may"),
    [
        ("sink:box", "sink.effect", True),
        ("tap:mail", "sink.effect", False),
        ("harness", "sink.effect", False),
        ("sink:box", "mcp.sent", False),
        ("gateway", "model.response", True),
        ("harness", "trial.closed", True),
        ("meter", "trial.closed", False),
        ("world", "world.written", True),
        ("tap:mail", "fault", True),
        ("tap:mail", "sealed", True),
        ("tap", "sealed", False),
        ("tap:", "sealed", False),
        ("tap:a/b", "sealed", False),
        ("harness:x", "sealed", False),
        ("harness\n", "sealed", False),
    ],
)
def test_who_may_write_what(writer: str, kind: str, may: bool) -> None:
    if may:
        check_writer_kind(writer, kind)
        return
    with pytest.raises(EvidenceError, match="E-EVENT-WRITER"):
        check_writer_kind(writer, kind)
