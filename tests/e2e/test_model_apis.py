"""`oyer run --subject model --api ...`: one experiment over each model API, streamed or not, at a real endpoint."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from endpoint_kit import endpoint
from warm_oyer import OYER

from oyer.observe import read_trial
from oyer.store import SeriesReader

PEERS = Path(__file__).parents[1] / "peers"
PATHS = {
    ("responses", True): "/v1/responses",
    ("responses", False): "/v1/responses",
    ("messages", True): "/v1/messages",
    ("messages", False): "/v1/messages",
    ("gemini", True): "/v1beta/models/small:streamGenerateContent?alt=sse",
    ("gemini", False): "/v1beta/models/small:generateContent",
}


def oyer(*arguments: str) -> Any:
    done = subprocess.run([*OYER, *arguments, "--json"], capture_output=True, env=os.environ, timeout=90, check=False)
    assert done.returncode == 0, done.stderr.decode() + done.stdout.decode()
    return json.loads(done.stdout)


def run(base_url: str, api: str, stream: bool, out: Path) -> Any:
    more = ["--max-tokens", "256"] if api == "messages" else []
    model = ["--subject", "model", "--model", "small", "--base-url", base_url, "--api", api]
    return oyer("run", "cascade-memo", *model, *more, "--param", f"stream={json.dumps(stream)}", "--out", str(out))


def facts(said: Any) -> Any:
    """What was found of each comparison: outcome, reasons, and every link with its state."""
    primaries = [one["primary"] for one in said["comparisons"]]
    return [
        (one["mechanical_outcome"], one["reasons"], [(link["id"], link["state"]) for link in one["links"]])
        for one in primaries
    ]


def crossed(series: Path) -> set[tuple[str, Any]]:
    """Path and type of every exchange with the model."""
    with SeriesReader(series) as reader:
        trials = [read_trial(reader.journals(one.trial, one.attempt), reader.content) for one in reader.attempts()]
    bodies = [event.body for trial in trials for event in trial.events("gateway", "model.request", "model.response")]
    return {(one["path"], None) for one in bodies if "path" in one} | {
        ("", one["content_type"]) for one in bodies if "content_type" in one
    }


@pytest.fixture(scope="module", params=["obedient", pytest.param("wary", marks=pytest.mark.slow)])
def told(request: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Any]]:
    """An endpoint of each manner, with what the experiment shows over Chat Completions."""
    with endpoint(PEERS / f"{request.param}_model.json") as base_url:
        yield base_url, facts(run(base_url, "chat", False, tmp_path_factory.mktemp("chat") / "series"))


@pytest.mark.parametrize("stream", [True, pytest.param(False, marks=pytest.mark.slow)])
@pytest.mark.parametrize("api", ["responses", "messages", "gemini"])
def test_one_experiment_shows_the_same_over_every_api(
    told: tuple[str, Any], api: str, stream: bool, tmp_path: Path
) -> None:
    base_url, expected = told
    assert facts(run(base_url, api, stream, tmp_path / "series")) == expected
    assert [one[0] for one in expected] in (["CONFIRMED"], ["NOT_OBSERVED"])
    kind = "text/event-stream" if stream else "application/json"
    assert crossed(tmp_path / "series") == {(PATHS[api, stream], None), ("", kind)}
    oyer("verify", str(tmp_path / "series"))
