"""Series that a kill, a crash or an operator cut short: what is intact is not called failed, nor the whole valid."""

from __future__ import annotations

from pathlib import Path

import pytest
from golden_build import GoldenSeries
from golden_tamper import failing, flip, statuses, told, verify

from oyer.store import SeriesStore
from oyer.verify import Verification

TWO = ("baseline", "manipulated")
CUT_OFF_BYTES = 7


def begin(path: Path) -> GoldenSeries:
    return GoldenSeries(path, ("obedient",), TWO)


def notes(found: Verification) -> str:
    return "\n".join(note for check in found.checks for note in check.notes)


def killed_in_a_trial(path: Path) -> tuple[str, Path]:
    """One trial sealed, the next killed in the middle of a write; return that trial and its running directory."""
    golden = begin(path)
    first, second = golden.plan.trials
    golden.run(first)
    script = golden.claim(second)
    script.open()
    script.session_a()
    directory = script.attempt.directory
    tap = directory / "tap.desk.jsonl"
    tap.write_bytes(tap.read_bytes()[:-CUT_OFF_BYTES])
    golden.store.close()
    return second.trial, directory


def test_killed_in_a_trial(tmp_path: Path) -> None:
    trial, _ = killed_in_a_trial(tmp_path / "s")
    found = verify(tmp_path / "s")
    assert (found.exit_code, failing(found)) == (5, set()), told(found)
    assert statuses(found)[4] == statuses(found)[7] == "ok"
    assert f"torn: trial {trial} attempt 1" in notes(found) and "bytes without a newline in tap:desk" in notes(found)
    assert "1 of 2 planned trials have no counted attempt" in told(found)
    assert found.words.startswith("Intact as far as it goes, and not complete")


@pytest.mark.parametrize("name", ["harness.jsonl", "tap.desk.jsonl"])
def test_a_changed_byte_is_no_torn_tail(tmp_path: Path, name: str) -> None:
    trial, directory = killed_in_a_trial(tmp_path / "s")
    flip(directory / name, at=200)
    found = verify(tmp_path / "s")
    assert found.exit_code == 4 and 5 in failing(found)
    assert trial in told(found)


def test_killed_while_the_ledger_was_written(tmp_path: Path) -> None:
    killed_in_a_trial(tmp_path / "s")
    ledger = tmp_path / "s/ledger.jsonl"
    ledger.write_bytes(ledger.read_bytes()[:-CUT_OFF_BYTES])
    found = verify(tmp_path / "s")
    # The line that opened the trial is half there: what the trial left is then of no attempt the ledger opened.
    assert found.exit_code == 5, told(found)
    assert "torn: ledger.jsonl" in notes(found)


def test_a_whole_ledger_line_that_cannot_be_read_was_changed(tmp_path: Path) -> None:
    killed_in_a_trial(tmp_path / "s")
    flip(tmp_path / "s/ledger.jsonl", at=-2, mask=255)
    found = verify(tmp_path / "s")
    assert found.exit_code == 4 and 5 in failing(found)


def test_killed_between_packing_and_the_ledger(tmp_path: Path) -> None:
    golden = begin(tmp_path / "s")
    script = golden.claim(golden.plan.trials[0])
    script.play()
    heads = {w: script.journals[w].seal()._asdict() for w in sorted(script.journals) if w != "harness"}
    script.record("harness", "trial.closed", {"status": "completed", "writers": heads})
    script.journals["harness"].seal()
    script.attempt.pack()
    golden.store.close()
    found = verify(tmp_path / "s")
    assert (found.exit_code, failing(found)) == (5, set()), told(found)


def test_resumed_after_a_kill(tmp_path: Path) -> None:
    """The interrupted attempt is buried as torn and the series closed: intact, complete, the torn trial named."""
    trial, _ = killed_in_a_trial(tmp_path / "s")
    golden = begin(tmp_path / "other")
    with SeriesStore.open(tmp_path / "s", clock=golden.clock) as store:
        for left in store.interrupted():
            store.bury(left.trial, left.attempt)
        golden.store.close()
        golden.store = store
        golden.finish()
    found = verify(tmp_path / "s")
    assert found.exit_code == 0, told(found)
    assert f"torn: trial {trial} attempt 1" in notes(found)
    assert f"unfinished: trial {trial} attempt 1 (harness_error)" in notes(found)


def test_interrupted_by_the_operator(tmp_path: Path) -> None:
    golden = begin(tmp_path / "s")
    golden.run(golden.plan.trials[0])
    golden.finish(interrupted=True)
    found = verify(tmp_path / "s")
    assert (found.exit_code, failing(found)) == (5, set()), told(found)
    assert {n for n, status in statuses(found).items() if status == "not_run"} == {6}
    assert "the operator interrupted the series" in told(found)


def test_a_trial_cut_short_by_the_operator(tmp_path: Path) -> None:
    golden = begin(tmp_path / "s")
    first, second = golden.plan.trials
    golden.run(first)
    script = golden.claim(second)
    script.open()
    script.attempt.seal("harness_error", why="interrupted")
    golden.finish(interrupted=True)
    found = verify(tmp_path / "s")
    assert (found.exit_code, failing(found)) == (5, set()), told(found)
    assert "1 of 2 planned trials were cut short by the operator" in told(found)


def test_interrupted_after_the_last_trial_had_ended(tmp_path: Path) -> None:
    golden = begin(tmp_path / "s")
    for planned in golden.plan.trials:
        golden.run(planned)
    golden.finish(interrupted=True)
    found = verify(tmp_path / "s")
    assert found.exit_code == 0 and "after its last trial had ended" in notes(found)


def test_closed_without_a_trial_and_without_a_reason(tmp_path: Path) -> None:
    golden = begin(tmp_path / "s")
    golden.run(golden.plan.trials[0])
    golden.finish(interrupted=False)
    found = verify(tmp_path / "s")
    assert failing(found) == {6} and golden.plan.trials[1].trial in told(found)


def test_closed_and_never_sealed(tmp_path: Path) -> None:
    golden = begin(tmp_path / "s")
    for planned in golden.plan.trials:
        golden.run(planned)
    golden.store.ledger("closed", body={"interrupted": False})
    golden.store.close()
    found = verify(tmp_path / "s")
    assert (found.exit_code, failing(found)) == (5, set()), told(found)


def test_closed_and_derived_with_the_seals_taken_away(tmp_path: Path) -> None:
    golden = begin(tmp_path / "s")
    for planned in golden.plan.trials:
        golden.run(planned)
    golden.finish()
    for seal in (tmp_path / "s/seals").iterdir():
        seal.unlink()
    found = verify(tmp_path / "s")
    assert found.exit_code == 4 and failing(found) == {2}


@pytest.mark.parametrize("derived", [False, True])
def test_killed_before_the_judgement_was_sealed(tmp_path: Path, derived: bool) -> None:
    golden = begin(tmp_path / "s")
    for planned in golden.plan.trials:
        golden.run(planned)
    golden.finish(derive=derived, judge=False)
    found = verify(tmp_path / "s")
    assert (found.exit_code, failing(found)) == (5, set()), told(found)
    if derived:
        flip(next((tmp_path / "s/outcomes").iterdir()), at=50)
        assert {2, 8} <= failing(verify(tmp_path / "s"))


def test_killed_before_it_was_opened(tmp_path: Path) -> None:
    begin(tmp_path / "s").store.close()
    (tmp_path / "s/ledger.jsonl").unlink()
    found = verify(tmp_path / "s")
    assert (found.exit_code, failing(found)) == (5, set()), told(found)
    (tmp_path / "s/series.json").unlink()
    assert verify(tmp_path / "s").exit_code == 5


def test_opened_and_nothing_ran(tmp_path: Path) -> None:
    begin(tmp_path / "s").store.close()
    found = verify(tmp_path / "s")
    assert (found.exit_code, failing(found)) == (5, set()), told(found)


def test_an_empty_directory_is_never_valid(tmp_path: Path) -> None:
    found = verify(tmp_path)
    assert found.exit_code == 5
    assert "never opened" in told(found)


def test_a_failed_attempt_and_another_one(tmp_path: Path) -> None:
    golden = begin(tmp_path / "s")
    first, second = golden.plan.trials
    golden.run(first, status="harness_error")
    golden.run(first, attempt=2)
    golden.run(second)
    golden.finish()
    found = verify(tmp_path / "s")
    assert found.exit_code == 0, told(found)


def test_an_attempt_that_could_not_be_sealed(tmp_path: Path) -> None:
    """A journal that failed on our side is packed as it is; its trial is a harness error and nothing rests on it."""
    golden = begin(tmp_path / "s")
    first, second = golden.plan.trials
    script = golden.claim(first)
    script.open()
    script.session_a()
    script.attempt.seal("harness_error", why="the disk was full")
    golden.run(second)
    golden.finish()
    found = verify(tmp_path / "s")
    assert found.exit_code == 0, told(found)
    assert "unfinished: " in notes(found) and first.trial in notes(found)
