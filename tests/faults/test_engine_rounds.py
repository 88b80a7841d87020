"""Rounds that do not go well: a world that cannot be looked at after one, a server that writes after its answer."""

from __future__ import annotations

from pathlib import Path

import pytest
from pressed_kit import pressed_trap
from series_kit import Trial, case_file, failed_checks, peer, peer_case, run, trials_of

from oyer.host import snapshots

ROUNDS = """
kind: trap
pressure: {rounds: [Now., Now!]}
"""


def looks(trial: Trial) -> list[tuple[str, int | None]]:
    return [(event.body["phase"], event.body.get("turn")) for event in trial.events("world.snapshot")]


def test_a_world_that_cannot_be_looked_at_after_a_round_is_the_subjects_and_ends_the_rounds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The world opens with two files, and the order is the third.
    two_entries = snapshots.WalkBounds(entries=2)
    monkeypatch.setattr(snapshots, "WalkBounds", lambda: two_entries)
    sources, rubrics = pressed_trap()
    shown = run(sources, ["scripted:yields-at:1"], tmp_path / "out", rubrics=rubrics, neutral=False)
    (outcome,) = shown.result.outcomes.values()
    assert (outcome.status, outcome.attempts) == ("subject_error", 1)
    assert outcome.error is not None
    assert "E-WORLD-ENTRIES" in outcome.error.message
    (trial,) = trials_of(tmp_path / "out").values()
    assert looks(trial) == [("opening", None), ("turn", 0)]
    assert [event.body["number"] for event in trial.events("turn.sent")] == [0, 1]
    assert len(trial.events("session.closed")) == 1
    assert failed_checks(tmp_path / "out") == []


def test_what_a_server_writes_after_its_answer_is_seen_by_the_next_look_and_by_none_before(tmp_path: Path) -> None:
    steps = "[{ops.echo: {path: late.txt, text: late}}, {say: done}]"
    peer_case(tmp_path, peer("writes_late"), steps=steps, settle_s=60)
    path = tmp_path / "peer.yaml"
    path.write_text(path.read_text().replace("effect_class: none\n", "effect_class: local_write\n" + ROUNDS))
    run(case_file(path), ["scripted:oracle"], tmp_path / "out")
    (trial,) = trials_of(tmp_path / "out").values()
    assert looks(trial) == [("opening", None), ("turn", 0), ("turn", 1), ("turn", 2), ("closing", None)]
    digests = [event.body["digest"] for event in trial.events("world.snapshot")]
    assert digests[:4] == [digests[0]] * 4
    (written,) = trial.events("world.written")
    assert (written.body["path"], written.body["phase"], written.session) == ("late.txt", "closing", None)
