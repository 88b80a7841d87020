"""Killed, or refused by the disk, at every named fault point: what is left is intact or says that it is not.

Nothing acknowledged is lost, nothing counts twice, and the series can be continued to a whole one.
"""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

from oyer.errors import UsageError
from oyer.evidence import check_attempt, check_ledger, check_seals, payload_bytes
from oyer.store import FAULT_POINTS, SeriesReader, SeriesStore, packed_path

SCRIPT = Path(__file__).with_name("store_scenario.py")
# How often each point is reached in a whole run of the scenario.
POINTS = {
    "store.blob": 3,
    "store.append": 18,
    "store.fsync": 12,
    "store.pack": 3,
    "store.unpacked": 3,
    "store.sealed": 3,
    "store.ledger": 11,
    "store.ledger-fsync": 11,
    "store.seal": 1,
}
CASES = [(point, nth) for point, times in POINTS.items() for nth in sorted({1, (times + 1) // 2, times})]


def _scenario() -> ModuleType:
    spec = importlib.util.spec_from_file_location("store_scenario", SCRIPT)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


SCENARIO = _scenario()


@pytest.fixture(scope="module")
def forks() -> Iterator[subprocess.Popen[str]]:
    """The scenario program, which forks a process per run."""
    with subprocess.Popen(
        [sys.executable, str(SCRIPT)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as it:
        yield it


class Runs:
    def __init__(self, program: subprocess.Popen[str]) -> None:
        self.program = program

    def __call__(self, path: Path, fault: str, limit_bytes: int = 0) -> tuple[int, list[str]]:
        assert self.program.stdin is not None and self.program.stdout is not None
        self.program.stdin.write(f"{path}\t{fault}\t{limit_bytes}\n")
        self.program.stdin.flush()
        code = int(self.program.stdout.readline())
        return code, Path(f"{path}.out").read_text().splitlines()


@pytest.fixture
def run(forks: subprocess.Popen[str]) -> Runs:
    return Runs(forks)


def assert_no_lie(path: Path, acknowledged: list[str]) -> None:
    """Every claim of the ledger holds, and everything acknowledged is there."""
    with SeriesReader(path) as reader:
        ledger = check_ledger(reader.ledger_bytes(), planned=set(SCENARIO.TRIALS))
        assert {defect.code for defect in ledger.defects} <= {"E-LEDGER-TORN", "E-LEDGER-OPENING"}
        for trial, states in ledger.attempts.items():
            for state in states:
                if state.state == "sealed":
                    packed = reader.file(packed_path(trial, state.attempt))
                    assert packed is not None and packed.sha256 == state.digest
                    check = check_attempt(reader.journals(trial, state.attempt))
                    assert check.defects == ()
                    payload = check.journals["tap:mail"].events[0].body["payload"]
                    assert payload_bytes(payload, reader.content) == trial.encode() * 3000
        for line in acknowledged:
            assert_kept(reader, line, ledger.closed)
        seals = reader.seals()
        if seals:
            assert check_seals(seals, {file.path: file for file in reader.files()}) == ()


def assert_kept(reader: SeriesReader, line: str, closed: bool) -> None:
    what, *rest = line.split()
    if what == "event":
        trial, ref = rest
        check = check_attempt(reader.journals(trial, 1))
        assert ref in {event.ref for event in check.journals["tap:mail"].events}
    elif what == "completed":
        ledger = check_ledger(reader.ledger_bytes())
        counted = ledger.counted(rest[0])
        assert counted is not None and counted.status == "completed"
    elif what == "closed":
        assert closed
    elif what == "sealed":
        assert len(reader.seals()) == 1


def finish(path: Path) -> None:
    """Continue a series as a new process would, and leave it whole."""
    with SeriesStore.open(path, clock=SCENARIO.clock) as store:
        for torn in store.interrupted():
            store.bury(torn.trial, torn.attempt)
        if not store.closed:
            states = {trial: store.attempts.get(trial, ()) for trial in SCENARIO.TRIALS}
            left = {
                trial: len(found) + 1 for trial, found in states.items() if not found or found[-1].status != "completed"
            }
            SCENARIO.run(store, left)
        else:
            with SeriesReader(path) as reader:
                if reader.file("outcomes/all.json") is None:
                    store.add("outcomes/all.json", b"{}")
                if not reader.seals():
                    store.seal("run")
    with SeriesReader(path) as reader:
        ledger = check_ledger(reader.ledger_bytes(), planned=set(SCENARIO.TRIALS))
        assert ledger.defects == () and ledger.closed
        for trial in SCENARIO.TRIALS:
            assert [state.status for state in ledger.attempts[trial]].count("completed") == 1
            counted = ledger.counted(trial)
            assert counted is not None and counted.status == "completed"
        assert check_seals(reader.seals(), {file.path: file for file in reader.files()}) == ()
        assert all(attempt.packed for attempt in reader.attempts())


@pytest.fixture(autouse=True)
def quiet(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(SCENARIO, "acknowledge", lambda _what: None)


def test_the_whole_scenario_reaches_each_point_as_often_as_stated(run: Runs, tmp_path: Path) -> None:
    code, acknowledged = run(tmp_path / "s", "")
    assert (code, acknowledged[-1]) == (0, "sealed")
    assert_no_lie(tmp_path / "s", acknowledged)
    assert set(POINTS) == set(FAULT_POINTS)
    for point, times in POINTS.items():
        code, _ = run(tmp_path / f"{point}-last", f"{point}:{times}=kill")
        assert code == -9, point
        code, _ = run(tmp_path / f"{point}-never", f"{point}:{times + 1}=kill")
        assert code == 0, point


@pytest.mark.parametrize(("point", "nth"), CASES)
@pytest.mark.parametrize("action", ["kill", "enospc"])
def test_at_every_point(run: Runs, tmp_path: Path, point: str, nth: int, action: str) -> None:
    path = tmp_path / "s"
    code, acknowledged = run(path, f"{point}:{nth}={action}")
    assert code == (-9 if action == "kill" else 70)
    if "created" not in acknowledged and (path / "ledger.jsonl").stat().st_size == 0:
        with pytest.raises(UsageError, match="E-SERIES-NONE"):
            SeriesStore.open(path, clock=SCENARIO.clock)
        return
    assert_no_lie(path, acknowledged)
    finish(path)


@pytest.mark.parametrize("limit_bytes", [300, 700, 1100, 1900, 2800])
def test_a_disk_that_takes_only_part_of_a_write(run: Runs, tmp_path: Path, limit_bytes: int) -> None:
    path = tmp_path / "s"
    code, acknowledged = run(path, "", limit_bytes)
    assert code == 70
    assert "sealed" not in acknowledged
    if "created" not in acknowledged:
        return
    assert_no_lie(path, acknowledged)
    finish(path)


@pytest.mark.parametrize("cut", [1, 7, 300])
def test_a_torn_ledger_tail_after_a_kill(run: Runs, tmp_path: Path, cut: int) -> None:
    path = tmp_path / "s"
    _, acknowledged = run(path, "store.pack:2=kill")
    assert acknowledged
    ledger = path / "ledger.jsonl"
    before = ledger.read_bytes()[:-cut]
    ledger.write_bytes(before)
    with SeriesStore.open(path, clock=SCENARIO.clock) as store:
        assert ledger.read_bytes().startswith(before + b"\n")
        states = store.attempts.get("t2", ())
    check = check_ledger(ledger.read_bytes())
    assert check.defects == ()
    assert [finding.code for finding in check.findings] == ["E-LEDGER-TORN"]
    assert check.attempts.get("t2", ()) == states
