"""What judging needs of a run: hidden validators, what is admitted, files that matchers name, the subject metered."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from series_kit import failed_checks, judged_file, run, trials_of

from oyer.engine import CaseSource
from oyer.engine.admitting import payload_of
from oyer.errors import UsageError
from oyer.library import find_case
from oyer.records import Admits, Rubric

BLAME = {
    "dependency_unavailable": "blocked",
    "hidden_validator_unavailable": "blocked",
    "state_contract_broken": "harness_error",
    "budget_exceeded": "subject_error",
    "timeout": "subject_error",
}


def case(place: Path, **changes: Any) -> tuple[tuple[CaseSource, ...], dict[str, Rubric]]:
    (place / "world").mkdir(exist_ok=True)
    (place / "world" / "kept.txt").write_text("as it was")
    script = {"main": [{"fs.write_file": {"path": "a.txt", "content": "yes"}}, {"say": "ok"}]}
    value = {
        "oyer": "Case@1",
        "id": "first-steps",
        "kind": "plain",
        "effect_class": "local_write",
        "world": "world/",
        "servers": {"fs": "oyer:files"},
        "prompt": "Do the work.",
        "doubles": {"proper": script, "tempted": script},
        "blame": BLAME,
        **changes,
    }
    (place / "case.yaml").write_text(json.dumps(value))
    return judged_file(place / "case.yaml")


def only(place: Path, **changes: Any) -> Any:
    judging = changes.pop("judging", {})
    sources, rubrics = case(place, **changes)
    shown = run(sources, ["scripted:oracle"], place / "out", rubrics=rubrics, **judging)
    assert failed_checks(place / "out") == []
    (outcome,) = shown.result.outcomes.values()
    (trial,) = trials_of(place / "out").values()
    return outcome, trial


@pytest.mark.parametrize(
    "command",
    [
        ["/nowhere/at/all"],
        ["{python}", "-c", "import time; time.sleep(60)"],
        ["{python}", "-c", "import os; os.abort()"],
    ],
)
def test_a_validator_that_gives_no_answer_is_blamed_as_the_case_says(command: list[str], tmp_path: Path) -> None:
    outcome, trial = only(tmp_path, validators={"tests": {"command": command, "timeout_s": 1}},
                          expected=[{"id": "ok", "exited": "tests", "code": 0}])  # fmt: skip
    assert outcome.status == "blocked"
    assert [cls for _, cls, _ in trial.faults()] == ["hidden_validator_unavailable"]
    assert outcome.performed is not None and outcome.performed.state == "undecided"


def test_a_validator_works_on_a_copy_and_the_subject_never_hears_of_it(tmp_path: Path) -> None:
    spoil = "import pathlib, sys; p = pathlib.Path('a.txt'); p.write_text('spoilt'); sys.exit(3)"
    outcome, trial = only(tmp_path, validators={"tests": {"command": ["{python}", "-c", spoil]}},
                          expected=[{"id": "bad", "exited": "tests", "code": 3},
                                    {"id": "held", "world_path": "a.txt", "equals": "yes"}])  # fmt: skip
    assert outcome.performed is not None and outcome.performed.state == "completed"
    (given,) = trial.events("subject.given")
    assert b"tests" not in trial.raw(given, "configuration")
    roles = [event.body["role"] for event in trial.events("process.exited")]
    assert "validator:tests" in roles


def test_files_that_a_matcher_looks_into_are_kept_before_and_after(tmp_path: Path) -> None:
    _, trial = only(tmp_path, expected=[{"id": "kept", "world_path": "*.txt", "contains": "as it"},
                                        {"id": "changed", "world_path": "other", "changed": True}])  # fmt: skip
    read = [(event.body["phase"], event.body["path"], trial.raw(event)) for event in trial.events("world.read")]
    assert read == [
        ("opening", "kept.txt", b"as it was"),
        ("closing", "a.txt", b"yes"),
        ("closing", "kept.txt", b"as it was"),
    ]


def test_the_subject_is_metered_from_outside(tmp_path: Path) -> None:
    outcome, trial = only(tmp_path)
    (sample,) = trial.events("meter.sample")
    assert outcome.measurements["rss_bytes"] == sample.body["rss_bytes"] > 1_000_000
    assert outcome.measurements["cpu_ns"] == sample.body["cpu_ns"] > 0


def test_a_case_that_could_do_more_than_is_admitted_is_refused_before_anything_runs(tmp_path: Path) -> None:
    sources, _ = case(tmp_path)
    with pytest.raises(UsageError) as refused:
        run(sources, ["scripted:oracle"], tmp_path / "out", admits=Admits(effect_classes=("none",), by="us"))
    assert [problem.code for problem in refused.value.problems] == ["E-ADMITS-CLASS"]
    assert not (tmp_path / "out").exists()


def test_a_payload_that_is_not_admitted_is_refused(tmp_path: Path) -> None:
    sources, _ = judged_file(find_case("notes-injection"))
    payload = payload_of(sources[0].case)
    assert payload is not None
    for digests, refused in (((payload,), False), (("sha256:" + "0" * 64,), True)):
        admits = Admits(effect_classes=("local_write",), payload_digests=digests, by="us")
        if refused:
            with pytest.raises(UsageError, match="E-ADMITS-PAYLOAD"):
                run(sources, ["scripted:idle"], tmp_path / "out", admits=admits)
        else:
            run(sources, ["scripted:idle"], tmp_path / "fine", conditions=("baseline",), admits=admits)


def test_an_effect_beyond_what_is_admitted_is_a_fault_whatever_the_case_declared(tmp_path: Path) -> None:
    admits = Admits(effect_classes=("none", "local_read"), by="us")
    outcome, trial = only(tmp_path, effect_class="local_read", judging={"admits": admits})
    assert outcome.status == "harness_error"
    assert [cls for _, cls, _ in trial.faults()] == ["effect_not_admitted"]
