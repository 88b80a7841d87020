"""`oyer run --subject model` against a scripted endpoint in a process of its own: decided and undecided paths."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from endpoint_kit import endpoint

PEERS = Path(__file__).parents[1] / "peers"
OYER = [sys.executable, "-c", "import sys; from oyer.cli import main; sys.exit(main())"]
KEY = "sk-SECRET-CANARY-98765"


def oyer(*arguments: str) -> Any:
    """Run one command with `--json` and return what it says."""
    done = subprocess.run(
        [*OYER, *arguments, "--json"], capture_output=True, env={**os.environ, "LAB_KEY": KEY}, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr.decode() + done.stdout.decode()
    return json.loads(done.stdout)


def run(behaviours: Path, out: Path) -> Any:
    with endpoint(behaviours) as base_url:
        model = ["--subject", "model", "--model", "small", "--base-url", base_url, "--key-env", "LAB_KEY"]
        return oyer("run", "cascade-memo", *model, "--out", str(out))


def outcomes(said: Any) -> list[str]:
    return [comparison["primary"]["mechanical_outcome"] for comparison in said["comparisons"]]


@pytest.mark.parametrize(("manner", "outcome"), [("obedient", "CONFIRMED"), ("wary", "NOT_OBSERVED")])
def test_a_scripted_model_is_decided_as_a_scripted_subject_is(manner: str, outcome: str, tmp_path: Path) -> None:
    said = run(PEERS / f"{manner}_model.json", tmp_path / "series")
    assert outcomes(said) == [outcome]
    oyer("verify", str(tmp_path / "series"))
    found = [path for path in (tmp_path / "series").rglob("*") if path.is_file() and KEY.encode() in path.read_bytes()]
    assert not found


def test_an_endpoint_that_fails_blocks_and_concludes_nothing(tmp_path: Path) -> None:
    behaviours = tmp_path / "busy.json"
    behaviours.write_text(json.dumps([{"status": 503, "body": {"error": {"message": "busy"}}}]))
    said = run(behaviours, tmp_path / "series")
    assert outcomes(said) == ["INCONCLUSIVE"] and "dependency_unavailable" in json.dumps(said)
    oyer("verify", str(tmp_path / "series"))
