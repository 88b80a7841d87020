"""A run that is stopped, in order or at once, and one whose machine fails: what is left says the truth about itself."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from series_kit import (
    Running,
    children_now,
    failed_checks,
    ledger_of,
    peer,
    peer_case,
    trials_of,
    verified,
)

from oyer.evidence import check_attempt
from oyer.host import become_subreaper, reap_orphans
from oyer.library import find_case
from oyer.store import FAULT_POINTS, SeriesReader

ENGINE_POINTS = ("engine.up", "engine.session", "engine.sessions", "engine.down", "engine.closed")
START = Callable[..., Running]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[START]:
    """Start series in processes of their own; whatever they leave to the system becomes a child of this process."""
    become_subreaper()
    begun: list[Running] = []

    def run(case: Path, out: Path | None = None, **options: object) -> Running:
        place = tmp_path / f"run{len(begun)}"
        place.mkdir()
        begun.append(Running(case, ["scripted:obedient"], out or place / "out", place, **options))
        return begun[-1]

    before = children_now()
    yield run
    for running in begun:
        running.close()
    until = time.monotonic() + 60
    while (left := children_now() - before) and time.monotonic() < until:
        time.sleep(0.05)
    reap_orphans()
    assert not left, "processes outlived the run that started them"


@pytest.fixture
def hanging(tmp_path: Path) -> Path:
    """A case in which the only call is never answered."""
    peer_case(tmp_path, peer("hangs"), name="hanging", wall_s=100, answer_s=100)
    return tmp_path / "hanging.yaml"


def assert_honest(path: Path) -> int:
    """Nothing that is left claims more than it can show; return how many trials count as completed."""
    assert verified(path).exit_code in (0, 5), failed_checks(path)
    if not (path / "ledger.jsonl").exists():
        return 0
    ledger = ledger_of(path)
    assert {defect.code for defect in ledger.defects} <= {"E-LEDGER-TORN", "E-LEDGER-OPENING"}
    completed = 0
    with SeriesReader(path) as reader:
        for trial in ledger.attempts:
            counted = ledger.counted(trial)
            if counted is None or counted.status != "completed":
                continue
            completed += 1
            check = check_attempt(reader.journals(trial, counted.attempt))
            assert check.defects == ()
            assert check.closed is not None and check.closed["status"] == "completed"
    return completed


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_one_signal_seals_what_runs_and_closes_the_series(start: START, number: signal.Signals) -> None:
    running = start(find_case("cascade-memo"), repeat=4, jobs=2)
    running.wait_line("1/12")
    running.signal(number)
    assert running.end() == 130
    assert running.left() == []
    ledger = ledger_of(running.out)
    assert ledger.closed and ledger.closing["interrupted"] is True
    states = [states[-1] for states in ledger.attempts.values()]
    assert 0 < len(states) < 12
    assert {state.state for state in states} == {"sealed"}
    interrupted = [state for state in states if state.why == "interrupted"]
    assert {state.status for state in interrupted} <= {"harness_error"}
    assert interrupted
    assert assert_honest(running.out) == len(states) - len(interrupted)


def test_a_signal_in_the_middle_of_a_call_needs_no_patience(start: START, hanging: Path) -> None:
    running = start(hanging)
    running.wait_line("0/1")
    running.wait_journal("mcp.delivered")
    running.signal(signal.SIGINT)
    assert running.end() == 130
    assert running.left() == []
    (trial,) = trials_of(running.out).values()
    assert trial.check.defects == ()
    assert trial.check.closed is not None
    assert trial.check.closed["error"] == {"where": "engine", "class": "harness", "message": "interrupted"}


def test_two_signals_stop_at_once_and_leave_a_torn_series(start: START, hanging: Path) -> None:
    running = start(hanging)
    running.wait_line("0/1")
    running.wait_journal("mcp.delivered")
    running.signal(signal.SIGINT, signal.SIGTERM)  # the same one twice would be heard once where it is slow to hear
    assert running.end() == 130
    assert running.left() == []
    ledger = ledger_of(running.out)
    assert not ledger.closed
    assert [states[-1].state for states in ledger.attempts.values()] == ["opened"]
    assert assert_honest(running.out) == 0


@pytest.mark.parametrize("loaded", [False, True])
def test_a_signal_before_anybody_listens_ends_it_and_leaves_nothing(start: START, loaded: bool, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "go")
    running = start(find_case("cascade-memo"), after=tmp_path / "go")
    held = os.open(tmp_path / "go", os.O_WRONLY) if loaded else None  # the other end is opened once all is imported
    running.signal(signal.SIGTERM)
    assert running.end() == -signal.SIGTERM
    if held is not None:
        os.close(held)
    assert running.left() == []
    assert not running.out.exists()


def test_a_signal_while_the_series_opens_leaves_nothing(start: START, tmp_path: Path) -> None:
    peer_case(tmp_path, peer("silent"), name="opening", answer_s=100)
    running = start(tmp_path / "opening.yaml")
    running.wait_bearer()
    running.signal(signal.SIGTERM)
    assert running.end() == 130
    assert running.left() == []
    assert not running.out.exists()


def test_a_sink_process_that_dies_faults_the_trial_and_the_next_gets_a_new_one(start: START, tmp_path: Path) -> None:
    sinks = "\nsinks: {actions: {kind: http, reached_by: [ops]}}\n"
    peer_case(tmp_path, peer("hangs"), name="first", wall_s=100, answer_s=100)
    peer_case(tmp_path, peer("plain"), name="second")
    both = tmp_path / "both.yaml"
    both.write_text("---\n".join((tmp_path / f"{name}.yaml").read_text() + sinks for name in ("first", "second")))
    running = start(both)
    running.wait_line("0/2")
    running.wait_journal("mcp.delivered")
    (sink,) = running.children("oyer.programs.http_sink")
    os.kill(sink, signal.SIGKILL)
    assert running.end() == 0
    assert running.left() == []
    first, second = (ledger_of(running.out).attempts[trial][-1] for trial in sorted(trials_of(running.out)))
    assert (first.status, second.status) == ("harness_error", "completed")
    trial = trials_of(running.out)[sorted(trials_of(running.out))[0]]
    assert ("sinks", "harness") in {fault[:2] for fault in trial.faults()}
    assert assert_honest(running.out) == 1


# ------------------------------------------------------------------- the disk


@pytest.mark.parametrize("point", ["store.append", "store.fsync", "store.blob", "store.pack", "store.sealed"])
@pytest.mark.parametrize("action", ["enospc", "eio"])
@pytest.mark.slow
def test_a_disk_that_refuses_is_an_error_with_a_name(start: START, point: str, action: str) -> None:
    for nth in (1, 15) if action == "enospc" else (4,):  # each point early, later and late, with both errors
        running = start(find_case("notes-injection"), env={"OYER_FAULT": f"{point}:{nth}={action}"})
        code = running.end()
        assert code in (0, 70), running.said()
        assert code == 0 or "E-STORE" in running.said()
        assert running.left() == []
        assert_honest(running.out)


def test_a_journal_that_cannot_be_written_ends_its_trial_and_not_the_series(start: START) -> None:
    running = start(find_case("notes-injection"), env={"OYER_FAULT": "store.append:25=enospc"})
    assert running.end() == 0
    assert running.left() == []
    statuses = [states[-1].status for states in ledger_of(running.out).attempts.values()]
    assert statuses == ["harness_error", "completed"]
    assert assert_honest(running.out) == 1


@pytest.mark.parametrize("limit_bytes", [12_000])
def test_a_file_that_may_not_grow_ends_the_run_with_a_name(start: START, limit_bytes: int) -> None:
    running = start(find_case("notes-injection"), limit_bytes=limit_bytes)
    code = running.end()
    assert code in (0, 70)
    assert code == 0 or "E-STORE-WRITE" in running.said()
    assert running.left() == []
    if running.out.exists():
        assert assert_honest(running.out) < 2


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may mount a file system")
def test_a_full_file_system_ends_the_run_with_a_name(start: START, tmp_path: Path) -> None:
    small = tmp_path / "small"
    small.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(small)], capture_output=True)
    if mounted.returncode:
        pytest.skip(f"no file system can be mounted here: {mounted.stderr.decode().strip()}")
    try:
        running = start(find_case("notes-injection"), out=small / "out", repeat=5)
        assert running.end() == 70
        assert "E-STORE-WRITE" in running.said()
        assert running.left() == []
        assert_honest(running.out)
    finally:
        subprocess.run(["umount", str(small)], check=True)


# ------------------------------------------------------------------- killed


def assert_killed(running: Running) -> int:
    assert running.end() == -signal.SIGKILL, running.said()
    # What the kill could not take away: every child sees the end of its input, and goes.
    assert running.processes_after(60) == []
    return assert_honest(running.out) if running.out.exists() else 0


@pytest.mark.parametrize("point", ["store.append:30", "engine.session:3"])
def test_killed_at_a_named_point(start: START, point: str) -> None:
    assert_killed(start(find_case("cascade-memo"), env={"OYER_FAULT": f"{point}=kill"}))


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize("point", [*FAULT_POINTS, *ENGINE_POINTS])
def test_killed_at_every_named_point(start: START, point: str) -> None:
    for nth in (1, 2, 7):
        running = start(find_case("cascade-memo"), env={"OYER_FAULT": f"{point}:{nth}=kill"})
        if running.end() == 0:
            # A whole run does not come there that often.
            assert nth > 1 or point == "store.blob"
            assert assert_honest(running.out) == 3
        else:
            assert_killed(running)


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize("moment", range(12))
def test_killed_at_any_moment(start: START, moment: int) -> None:
    running = start(find_case("cascade-memo"), repeat=3, jobs=2)
    if moment >= 3:
        running.wait_line(f"{moment - 3}/9")
    # Spread over an attempt by a fixed sequence, so that a failure can be run again.
    time.sleep((moment * 37 % 100) / 200)
    running.signal(signal.SIGKILL)
    assert_killed(running)
