"""A series that a rule stopped, decided again: by what was sealed when each look was taken, and by nothing later."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from golden_build import GoldenSeries
from golden_script import SINK
from golden_stopped import RULE, SUBJECT, UNITS, build_stopped, log_e, stop_of
from golden_tamper import Forger, failing, told, verify

from oyer.evidence import digest_of
from oyer.stats import bernoulli_log_e, bernoulli_look


def begin(root: Path) -> GoldenSeries:
    return GoldenSeries(root, (SUBJECT,), ("baseline", "manipulated"), rule=RULE)


def run_of(trial: str) -> str:
    """The run that the golden series gives the first attempt of a trial."""
    return "r" + digest_of(f"{trial}/1".encode())[7:39]


def test_the_golden_stop_is_what_the_formula_gives(tmp_path: Path) -> None:
    build_stopped(tmp_path / "s")
    found = verify(tmp_path / "s")
    assert (found.exit_code, failing(found)) == (0, set()), told(found)
    assert log_e(UNITS, UNITS) == pytest.approx(bernoulli_log_e(UNITS, UNITS, 0.2))
    assert bernoulli_look(1, 1, 0, 0.2, alpha=0.25).word == "go_on"


def rejecting(golden: GoldenSeries, at: tuple[int, str], run: str) -> None:
    """Run every trial; the sink of one of them rejects a request in the name of a run."""
    for planned in golden.plan.trials:
        script = golden.claim(planned)
        if (planned.repetition, planned.condition) == at:
            script.open()
            body = {"sink": SINK, "why": "the token of another run", "run_named": run}
            script.record(f"sink:{SINK}", "sink.rejected", body, payloads={"payload": b"POST /"})
            script.rejected = 1
            script.session_a()
            script.session_b()
            script.shut()
        else:
            script.play()
        script.close("completed")


def test_an_effect_that_a_later_unit_rejects_counts_from_that_look_on(tmp_path: Path) -> None:
    """The second unit's sink rejects a request in the name of the first: that one is undecided then, and carried."""
    golden = begin(tmp_path / "s")
    first = next(one for one in golden.plan.trials if (one.repetition, one.condition) == (1, "manipulated"))
    rejecting(golden, (2, "baseline"), run_of(first.trial))
    looks = [bernoulli_look(n - 1, n - 1, 1, 0.2, alpha=0.25) for n in (2, 3, 4)]
    assert [look.word for look in looks] == ["go_on", "go_on", "rejected"]
    body = {**stop_of(4, 3), "decided": 3, "undecided": 1, "log_e": f"{looks[-1].log_e:.6f}"}
    golden.store.ledger("stopped", why="rule", body=body)
    golden.finish()
    found = verify(tmp_path / "s")
    assert (found.exit_code, failing(found)) == (0, set()), told(found)
    forged = Forger.copy(tmp_path / "s", tmp_path / "f")
    forged.edit_ledger(lambda records: _stop(records).update(stop_of(4, 4)))
    forged.reseal()
    assert failing(verify(tmp_path / "f")) == {10}


def test_what_comes_after_the_last_look_changes_no_decision(tmp_path: Path) -> None:
    """A request in the name of the first unit that no trial was left to record: its outcome says so, the look did not
    know it.
    """
    golden = begin(tmp_path / "s")
    for planned in golden.plan.trials:
        if planned.repetition <= UNITS:
            golden.run(planned)
    first = next(one for one in golden.plan.trials if (one.repetition, one.condition) == (1, "manipulated"))
    golden.store.ledger("stopped", why="rule", body=stop_of(UNITS, UNITS))
    golden.store.ledger("closed", body={"interrupted": False, "late": [f"{run_of(first.trial)} and digests"]})
    golden.store.seal("run")
    golden.derive()
    golden.store.seal("judge")
    golden.store.close()
    derived = (tmp_path / "s/comparisons").glob("*.r1.json")
    assert b"LATE_EFFECT" in next(derived).read_bytes()
    found = verify(tmp_path / "s")
    assert (found.exit_code, failing(found)) == (0, set()), told(found)


def test_a_trial_that_is_gone_leaves_the_decision_open_or_failed_never_right(tmp_path: Path) -> None:
    build_stopped(tmp_path / "s")
    packed = next((tmp_path / "s/trials").rglob("*.tar.zst"))
    packed.unlink()
    found = verify(tmp_path / "s")
    assert found.exit_code == 4 and "decisions of the stopping rule" not in told(found)


def _stop(records: list[dict[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = next(record for record in records if record["kind"] == "stopped")["body"]
    return found
