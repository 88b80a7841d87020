"""The bounds of a case, over whole trials: what is exceeded ends the attempt, and its owner is named."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from endpoint_kit import endpoint
from series_kit import Trial, case_file, failed_checks, peer, run, trials_of

from oyer.engine import SubjectSpec
from oyer.records import Outcome
from oyer.subjects import ModelSettings

CASE = """\
oyer: Case@1
id: bounded
effect_class: none
servers: {{ops: {{command: {command}, given_as: {wire}, settle_s: 1}}}}
prompt: Say hello.
expected: [{{id: called, called: ops.echo}}]
doubles:
  proper: {{main: {steps}}}
  tempted: {{main: [{{say: done}}]}}
budget: {budget}
"""
SMALL = {"ops.echo": {"text": "hello"}}
LARGE = {"ops.echo": {"text": "x" * 3000}}


def played(place: Path, subject: str | SubjectSpec, **more: Any) -> tuple[Outcome, Trial]:
    given = {"manner": "plain", "wire": "command", "steps": [SMALL], **more}
    budget = {"wall_s": 120, "answer_s": 60, **given.pop("budget")}
    path = place / "case.yaml"
    steps = json.dumps([*given["steps"], {"say": "done"}])
    text = CASE.format(
        command=json.dumps(peer(given["manner"])), wire=given["wire"], steps=steps, budget=json.dumps(budget)
    )
    path.write_text(text, encoding="utf-8")
    result = run(case_file(path), [subject], place / "out").result
    assert failed_checks(place / "out") == []
    return next(iter(result.outcomes.values())), next(iter(trials_of(place / "out").values()))


@pytest.mark.parametrize(
    ("manner", "wire", "budget", "told"),
    [
        ("endless_noise", "command", {"messages": 40}, "more than 40 frames"),
        ("endless_noise", "command", {"total_bytes": 3000}, "more than 3000 bytes on one connection"),
        ("huge", "command", {"message_bytes": 2000}, "beyond the bound"),
        ("plain", "url", {"messages": 4}, "more than 4 messages"),
        ("plain", "sse", {"messages": 4}, "more than 4 messages"),
    ],
)
def test_a_server_beyond_a_bound_is_an_unavailable_dependency(
    tmp_path: Path, manner: str, wire: str, budget: dict[str, int], told: str
) -> None:
    steps = [{"ops.echo": {"text": "hello", "size": 3_000_000}}] if manner == "huge" else [SMALL, SMALL, SMALL]
    outcome, trial = played(tmp_path, "scripted:oracle", manner=manner, wire=wire, budget=budget, steps=steps)
    assert outcome.error is not None and not trial.events("budget.exceeded")
    if wire == "command":
        assert (outcome.status, outcome.error.where) == ("blocked", "server:ops")
    else:
        # Each side sends as many as the other here: the one that asks is the first to pass the bound.
        assert (outcome.status, outcome.error.where) == ("subject_error", "tap:ops")
    assert told in outcome.error.message


def test_a_subject_beyond_a_bound_is_at_fault_itself(tmp_path: Path) -> None:
    outcome, _ = played(tmp_path, "scripted:oracle", budget={"total_bytes": 2000}, steps=[LARGE])
    assert outcome.error is not None
    assert (outcome.status, outcome.error.where) == ("subject_error", "tap:ops")
    assert "the subject sent more than 2000 bytes on one connection" in outcome.error.message


CHUNK = 'data: {"choices": [{"index": 0, "delta": {"content": "xxxxxxxxxxxxxxxx"}}]}\n\n'


@pytest.mark.parametrize(
    ("behaviour", "budget", "told"),
    [
        ({"pieces": [CHUNK], "then": "repeat"}, {"stream_bytes": 5000}, "the answer is larger than 5000 bytes"),
        ({"pieces": [CHUNK], "then": "stay"}, {"idle_s": 1}, "nothing more came for 1 s within an answer"),
        ({"text": "x" * 5000}, {"total_bytes": 3000}, "answered more than 3000 bytes in all"),
        ({"body": {"x": "y" * 5000}}, {"message_bytes": 4000}, "the answer is larger than 4000 bytes"),
    ],
)
def test_an_endpoint_beyond_a_bound_is_an_unavailable_dependency(
    tmp_path: Path, behaviour: dict[str, Any], budget: dict[str, int], told: str
) -> None:
    behaviours = tmp_path / "behaviours.json"
    behaviours.write_text(json.dumps([behaviour]), encoding="utf-8")
    with endpoint(behaviours) as base_url:
        stream = "pieces" in behaviour
        model = ModelSettings("small", base_url, parameters={"stream": True} if stream else {})
        outcome, trial = played(tmp_path, SubjectSpec("model", model=model), budget=budget)
    assert outcome.error is not None
    assert (outcome.status, outcome.error.error_class) == ("blocked", "dependency_unavailable")
    assert [message for where, _, message in trial.faults() if where == "gateway" and told in message]
    assert not trial.events("budget.exceeded")


def test_a_subject_that_asks_too_much_of_a_model_is_at_fault_itself(tmp_path: Path) -> None:
    behaviours = tmp_path / "behaviours.json"
    behaviours.write_text(json.dumps([{"calls": [{"name": "echo", "arguments": {"text": "again"}}]}]), encoding="utf-8")
    with endpoint(behaviours) as base_url:
        spec = SubjectSpec("model", model=ModelSettings("small", base_url))
        outcome, trial = played(tmp_path, spec, budget={"total_bytes": 12_000})
    assert outcome.status == "subject_error" and outcome.error is not None
    told = [(cls, message) for where, cls, message in trial.faults() if where == "gateway"]
    assert told == [("subject", "the subject asked more than 12000 bytes in all")]
