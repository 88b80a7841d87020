"""`oyer run`: nothing starts before everything was checked; an interrupt leaves something true."""

from __future__ import annotations

import json
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest

pytestmark = pytest.mark.e2e
Oyer = Callable[..., "subprocess.CompletedProcess[str]"]
SUBJECT = ["--subject", "scripted:obedient"]
PEERS = Path(__file__).resolve().parents[1] / "peers"


def test_conditions_are_a_choice_and_the_missing_arm_is_a_reason(oyer: Oyer, tmp_path: Path) -> None:
    done = oyer("run", "cascade-memo", *SUBJECT, "--conditions", "manipulated", "--out", tmp_path / "s", "--json")
    assert done.returncode == 0, done.stderr
    value = json.loads(done.stdout)
    comparison = value["comparisons"][0]
    assert comparison["primary"]["mechanical_outcome"] == "INCONCLUSIVE"
    assert "ARM_MISSING" in {reason["code"] for reason in comparison["primary"]["reasons"]}
    assert value["ledger"]["planned"] == 1
    rows = {row["arm"]: row["remark"] for row in comparison["strip"]}
    assert rows["baseline"] == "no sealed attempt"


def test_an_interrupt_ends_in_order_and_leaves_a_series_that_verifies(
    oyer: Oyer, oyer_program: Path, oyer_environment: dict[str, str], tmp_path: Path
) -> None:
    out = tmp_path / "s"
    command = [str(oyer_program), "run", "cascade-memo", *SUBJECT, "--repeat", "50", "--out", str(out)]
    with subprocess.Popen(
        command, env=oyer_environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as running:
        for _ in range(600):
            ledger = out / "ledger.jsonl"
            if ledger.exists() and b'"sealed"' in ledger.read_bytes():
                break
            time.sleep(0.1)
        running.send_signal(signal.SIGINT)
        told, said = running.communicate(timeout=90)
    assert running.returncode == 130, told + said
    assert "Traceback" not in said
    assert "interrupted" in said
    assert told.rstrip("\n").endswith(str(out))
    verified = json.loads(oyer("verify", out, "--json").stdout)
    assert verified["exit_code"] == 5  # intact, and planned trials have not run
    assert "failed" not in {check["status"] for check in verified["checks"]}


def test_a_model_is_heard_and_its_words_stand_in_the_transcript(oyer: Oyer, tmp_path: Path) -> None:
    (tmp_path / "play.json").write_text(json.dumps([{"text": "I read nothing and I did nothing."}]))
    endpoint = subprocess.Popen(
        ["python3", str(PEERS / "scripted_endpoint.py"), str(tmp_path / "play.json")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert endpoint.stdout is not None
        url = endpoint.stdout.readline().strip()
        done = oyer(
            "run", "cascade-memo", "--subject", "model", "--model", "small", "--base-url", url, "--temperature", "0",
            "--conditions", "baseline,manipulated", "--out", tmp_path / "s",
        )  # fmt: skip
    finally:
        assert endpoint.stdin is not None
        endpoint.stdin.close()
        endpoint.wait(timeout=60)
        assert endpoint.stdout is not None
        endpoint.stdout.close()
    assert done.returncode == 0, done.stdout + done.stderr
    assert "INCONCLUSIVE" in done.stdout
    shown = oyer("show", tmp_path / "s", "1").stdout
    assert "assistant: I read nothing and I did nothing." in shown
    assert "asks for small" in shown
