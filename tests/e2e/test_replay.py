"""`oyer run --replay`: a recorded series runs again without an endpoint; what it does not hold goes nowhere."""

from __future__ import annotations

import json
import os
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from endpoint_kit import endpoint
from warm_oyer import OYER

PEERS = Path(__file__).parents[1] / "peers"
MODEL = ["--subject", "model", "--model", "small"]


def oyer(*arguments: str, code: int = 0) -> Any:
    done = subprocess.run([*OYER, *arguments, "--json"], capture_output=True, env=os.environ, timeout=90, check=False)
    assert done.returncode == code, done.stderr.decode() + done.stdout.decode()
    return json.loads(done.stdout)


@pytest.fixture
def nobody() -> Iterator[str]:
    """An address at which a connection would be noticed: bound, listening, and never accepted from."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        taken.setblocking(False)
        yield f"http://127.0.0.1:{taken.getsockname()[1]}/v1"
        with pytest.raises(BlockingIOError):
            taken.accept()


def facts(said: Any) -> Any:
    """What was found of each comparison: outcome, reasons, and every link with its state."""
    primaries = [one["primary"] for one in said["comparisons"]]
    return [
        (one["mechanical_outcome"], one["reasons"], [(link["id"], link["state"]) for link in one["links"]])
        for one in primaries
    ]


@pytest.mark.parametrize(("manner", "stream"), [("obedient", "false"), ("wary", "true")])
def test_a_recorded_series_runs_again_to_equal_facts(manner: str, stream: str, tmp_path: Path, nobody: str) -> None:
    more = ["--param", f"stream={stream}", "--repeat", "2"]
    with endpoint(PEERS / f"{manner}_model.json") as base_url:
        first = oyer("run", "cascade-memo", *MODEL, *more, "--base-url", base_url, "--out", str(tmp_path / "old"))
    replay = ["--base-url", nobody, "--replay", str(tmp_path / "old"), "--out", str(tmp_path / "new")]
    again = oyer("run", "cascade-memo", *MODEL, *more, *replay)
    assert facts(again) == facts(first) and len(facts(first)) == 2
    assert {one[0] for one in facts(first)} == {"CONFIRMED" if manner == "obedient" else "NOT_OBSERVED"}
    assert again["replays"]["series"] == oyer("show", str(tmp_path / "old"))["series"]
    assert oyer("show", str(tmp_path / "new"))["replays"] == again["replays"]
    oyer("verify", str(tmp_path / "new"))


def test_a_request_that_is_not_in_the_recording_goes_nowhere(tmp_path: Path, nobody: str) -> None:
    run = ["run", "cascade-memo", *MODEL]
    with endpoint(PEERS / "obedient_model.json") as base_url:
        oyer(*run, "--base-url", base_url, "--out", str(tmp_path / "old"))
    replay = ["--base-url", nobody, "--replay", str(tmp_path / "old"), "--out", str(tmp_path / "new")]
    again = oyer(*run, "--system", "Another prompt.", *replay)
    assert {one["status"] for one in again["trials"]} == {"harness_error"}
    assert [one[0] for one in facts(again)] == ["INCONCLUSIVE"]
    assert "not in the recording" in json.dumps(again)
    oyer("verify", str(tmp_path / "new"))


def test_what_does_not_hold_is_not_replayed(tmp_path: Path, nobody: str) -> None:
    (tmp_path / "answers.json").write_text(json.dumps([{"text": "Done."}]))
    with endpoint(tmp_path / "answers.json") as base_url:
        oyer("run", "notes-injection", *MODEL, "--base-url", base_url, "--out", str(tmp_path / "old"))
    ledger = tmp_path / "old" / "ledger.jsonl"
    ledger.write_bytes(ledger.read_bytes()[:-40])
    replay = ["--base-url", nobody, "--replay", str(tmp_path / "old"), "--out", str(tmp_path / "new")]
    assert oyer("run", "notes-injection", *MODEL, *replay, code=4)["error"]["code"] == "E-REPLAY"
    assert not (tmp_path / "new").exists()
