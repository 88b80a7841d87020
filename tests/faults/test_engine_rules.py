"""What a whole run must do beside going well: keep late effects, refuse changed fixtures, stop at declared bounds."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest
from series_kit import (
    PEERS,
    case_file,
    failed_checks,
    ledger_of,
    packaged,
    peer,
    peer_case,
    run,
    trials_of,
    verified,
)

from oyer.engine import Progress, SubjectSpec
from oyer.library import find_case
from oyer.subjects import ModelSettings


def test_an_effect_after_the_last_sink_was_sealed_is_kept_and_counts(tmp_path: Path) -> None:
    out = tmp_path / "out"
    runs: list[str] = []

    def post_late(progress: Progress) -> None:
        if progress.done < progress.total or runs:
            return
        trial = trials_of(out)[next(name for name in trials_of(out) if name.endswith(".manipulated"))]
        (opened,) = trial.events("trial.opened")
        tokens = {name: token for token, name in opened.body["masks"].items()}
        runs.append(tokens["{run}"])
        request = urllib.request.Request(tokens["{sink.actions.url}"], data=b'{"action": "rotate_credentials"}')
        request.add_header("Authorization", f"Bearer {tokens['{sink.actions.token}']}")
        with pytest.raises(urllib.error.HTTPError):
            urllib.request.urlopen(request, timeout=60)

    outcome = run([packaged("cascade-memo")], ["scripted:wary"], out, on_progress=post_late)
    (kept,) = ledger_of(out).closing["late"]
    assert kept.startswith(f"{runs[0]} sha256:")
    assert "POST /" in kept
    (comparison,) = outcome.result.comparisons
    assert [reason.name for reason in comparison.primary.reasons] == ["LATE_EFFECT"]
    assert comparison.primary.reasons[0].evidence == ("ledger:late/0",)
    assert comparison.hardened is not None
    assert comparison.hardened.mechanical_outcome == "NOT_OBSERVED"
    assert outcome.notes == ("1 requests named a run after its sink was sealed",)
    assert failed_checks(out) == []
    assert verified(out).exit_code == 0


def test_a_fixture_that_changes_while_the_series_runs_breaks_the_contract_of_state(tmp_path: Path) -> None:
    place = tmp_path / "case"
    shutil.copytree(find_case("notes-injection").parent, place)
    source = case_file(place / "notes-injection.yaml")[0]
    assert source.world is not None
    changed = next(source.world.rglob("*.md"))

    def change(progress: Progress) -> None:
        if progress.done == 1:
            changed.write_text("something else")

    outcome = run([source], ["scripted:wary"], tmp_path / "out", on_progress=change)
    first, second = outcome.result.outcomes.values()
    assert (first.status, first.error) == ("completed", None)
    assert second.error is not None
    assert (second.status, second.error.error_class) == ("harness_error", "state_contract_broken")
    assert second.evidence_defects == ()
    # Nothing was started on a world that is not the pinned one.
    assert trials_of(tmp_path / "out")[second.trial].events("process.started") == []


def test_a_demand_for_a_sandbox_is_never_met_with_less(tmp_path: Path) -> None:
    witness = tmp_path / "started"
    source = peer_case(tmp_path, ["sh", "-c", f"touch {witness}; cat"])
    path = tmp_path / "peer.yaml"
    path.write_text(path.read_text() + "\nisolation: sandbox\n")
    source = case_file(path)[0]
    (outcome,) = run([source], ["scripted:obedient"], tmp_path / "out").result.outcomes.values()
    assert outcome.error is not None
    assert outcome.status == "blocked"
    assert "sandbox" in outcome.error.message
    assert not witness.exists()
    assert outcome.evidence_defects == ()


def test_a_declared_stop_ends_the_trial_as_completed(tmp_path: Path) -> None:
    steps = "[{ops.echo: {text: one}}, {ops.echo: {text: two}}, {ops.echo: {text: three}}, {say: done}]"
    peer_case(tmp_path, peer("plain"), steps=steps)
    path = tmp_path / "peer.yaml"
    path.write_text(path.read_text() + "\nstop: {tool_calls: 2}\n")
    (outcome,) = run([case_file(path)[0]], ["scripted:obedient"], tmp_path / "out").result.outcomes.values()
    assert (outcome.status, outcome.stopped_by, outcome.measurements["tool_calls"]) == ("completed", "tool_calls", 2)


@pytest.fixture
def endpoint(tmp_path: Path) -> Iterator[str]:
    """A model that calls the tool for ever and reports fifteen tokens each time."""
    behaviours = tmp_path / "behaviours.json"
    behaviours.write_text(json.dumps([{"calls": [{"name": "echo", "arguments": {"text": "x"}}]}]))
    argv = [sys.executable, str(PEERS / "scripted_endpoint.py"), str(behaviours)]
    with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        yield process.stdout.readline().strip()
        process.communicate()


def test_a_model_that_uses_more_tokens_than_its_budget_is_ended(tmp_path: Path, endpoint: str) -> None:
    peer_case(tmp_path, peer("plain"))
    path = tmp_path / "peer.yaml"
    path.write_text(path.read_text().replace("budget: {", "budget: {tokens: 40, "))
    subject = SubjectSpec("model", model=ModelSettings("scripted", endpoint))
    (outcome,) = run([case_file(path)[0]], [subject], tmp_path / "out").result.outcomes.values()
    assert outcome.error is not None
    assert (outcome.status, outcome.error.error_class) == ("subject_error", "budget_exceeded")
    (exceeded,) = trials_of(tmp_path / "out")[outcome.trial].events("budget.exceeded")
    assert (exceeded.body, exceeded.session) == ({"what": "tokens", "limit": 40, "seen": 45}, "main")
    assert outcome.evidence_defects == ()


def test_time_zones_leave_no_trace_in_evidence(tmp_path: Path) -> None:
    from series_kit import Running

    running = Running(
        find_case("notes-injection"), ["scripted:wary"], tmp_path / "out", tmp_path, env={"TZ": "Asia/Kolkata"}
    )
    try:
        assert running.end() == 0
        for trial in trials_of(tmp_path / "out").values():
            for check in trial.check.journals.values():
                assert check.defects == ()
                stamps = [event.t_mono_ns for event in check.events]
                assert stamps == sorted(stamps)
                assert all(event.t_wall.endswith("Z") for event in check.events)
        assert all(o >= 0 for o in durations(tmp_path / "out"))
    finally:
        running.close()


def durations(path: Path) -> list[int]:
    found = [json.loads(file.read_bytes())["latency_ns"] for file in (path / "outcomes").iterdir()]
    assert found
    return found
