"""What a sink rejects in an attempt that does not count, and what comes after the last sink was sealed, by run.

The run derives and the verifier derives again: both must see the same effects, whichever attempt holds them.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from golden_build import GoldenSeries
from golden_script import SINK, TrialScript
from golden_tamper import failing, told, verify

from oyer.evidence import digest_of
from oyer.records import PlannedTrial

COUNTED, FAILED, STRANGER = "counted", "failed", "stranger"


def run_of(planned: PlannedTrial, attempt: int) -> str:
    """The run that the golden series gives an attempt."""
    return "r" + digest_of(f"{planned.trial}/{attempt}".encode())[7:39]


def reject(script: TrialScript, run: str) -> None:
    """The sink of an attempt refuses a request in the name of a run."""
    body = {"sink": SINK, "why": "the token of another run", "run_named": run}
    script.record(f"sink:{SINK}", "sink.rejected", body, payloads={"payload": b"POST /"})


def build(root: Path, names: str, *, late: bool = False) -> tuple[str, ...]:
    """A series whose first trial failed once; the sink of that attempt rejected an effect that names a run."""
    golden = GoldenSeries(root, ("wary",), ("baseline", "manipulated"))
    baseline, manipulated = golden.plan.trials
    assert baseline.condition == "baseline"
    runs = {COUNTED: run_of(manipulated, 1), FAILED: run_of(baseline, 1), STRANGER: "r" + "0" * 32}
    script = golden.claim(baseline)
    script.open()
    reject(script, runs[names])
    script.shut()
    script.close("harness_error")
    golden.run(baseline, attempt=2)
    golden.run(manipulated)
    body: dict[str, Any] = {"interrupted": False}
    if late:
        body["late"] = [f"{runs[names]} and digests"]
    golden.store.ledger("closed", body=body)
    golden.store.seal("run")
    golden.derive()
    golden.store.seal("judge")
    golden.store.close()
    return tuple(found for reason in reasons(root) if reason["code"] == "LATE_EFFECT" for found in reason["evidence"])


def reasons(root: Path) -> list[dict[str, Any]]:
    (comparison,) = (root / "comparisons").iterdir()
    found: list[dict[str, Any]] = json.loads(comparison.read_bytes())["primary"]["reasons"]
    return found


def test_an_effect_that_a_failed_attempt_rejected_counts_against_the_run_it_names(tmp_path: Path) -> None:
    refs = build(tmp_path / "s", COUNTED)
    (ref,) = refs
    assert ref.split("/")[1] == "1" and ref.split("/")[2].startswith(f"sink:{SINK}:")
    found = verify(tmp_path / "s")
    assert found.exit_code == 0, told(found)


@pytest.mark.parametrize("names", [FAILED, STRANGER])
def test_one_that_names_no_counted_run_is_no_reason(tmp_path: Path, names: str) -> None:
    assert build(tmp_path / "s", names) == ()
    found = verify(tmp_path / "s")
    assert found.exit_code == 0, told(found)


def test_those_of_failed_attempts_stand_before_those_that_came_last(tmp_path: Path) -> None:
    first, second = build(tmp_path / "s", COUNTED, late=True)
    assert "/1/sink:" in first and second == "ledger:late/0"
    assert verify(tmp_path / "s").exit_code == 0


def test_a_result_that_leaves_it_out_is_not_what_the_evidence_gives(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As a run would have recorded that asks only the attempts that count: sealed and consistent, and found out."""
    monkeypatch.setattr("oyer.verify.reading.named_uncounted", lambda *_: {})
    assert build(tmp_path / "s", COUNTED) == ()
    monkeypatch.undo()
    found = verify(tmp_path / "s")
    assert failing(found) == {10}, told(found)
