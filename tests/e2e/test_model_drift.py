"""A silent swap of the model that answers is PIN_DRIFT; an alias that always reports one dated name is none."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest
from endpoint_kit import endpoint
from warm_oyer import OYER

PEERS = Path(__file__).parents[1] / "peers"
MODEL = ["--subject", "model", "--model", "small"]
OLD, NEW = "small-2026-01-31", "small-2026-11-30"


def oyer(*arguments: str) -> Any:
    done = subprocess.run([*OYER, *arguments, "--json"], capture_output=True, env=os.environ, timeout=90, check=False)
    assert done.returncode == 0, done.stderr.decode() + done.stdout.decode()
    return json.loads(done.stdout)


def reporting(tmp_path: Path, *, swap: bool) -> Path:
    """The obedient model behind an alias; with `swap` the answers after the first of a conversation are another's."""
    told = json.loads((PEERS / "obedient_model.json").read_text())
    for conversation in told["conversations"]:
        for number, behaviour in enumerate(conversation["behaviours"]):
            behaviour["model"] = NEW if swap and number else OLD
    path = tmp_path / "model.json"
    path.write_text(json.dumps(told))
    return path


def run(behaviours: Path, out: Path, *more: str) -> Any:
    with endpoint(behaviours) as base_url:
        said = oyer("run", "cascade-memo", *MODEL, "--base-url", base_url, *more, "--out", str(out))
    oyer("verify", str(out))
    return said


def primaries(said: Any) -> list[Any]:
    return [comparison["primary"] for comparison in said["comparisons"]]


@pytest.mark.parametrize(
    "more", [(), ("--reports", f"small={OLD}", "--reports", "never-asked=x", "--param", "stream=true")]
)
def test_an_alias_that_always_reports_one_dated_name_is_no_drift(more: tuple[str, ...], tmp_path: Path) -> None:
    (found,) = primaries(run(reporting(tmp_path, swap=False), tmp_path / "series", *more))
    assert (found["mechanical_outcome"], found["reasons"]) == ("CONFIRMED", [])


def test_a_swap_that_every_arm_meets_alike_concludes_nothing(tmp_path: Path) -> None:
    (found,) = primaries(run(reporting(tmp_path, swap=True), tmp_path / "series"))
    assert found["mechanical_outcome"] == "INCONCLUSIVE"
    assert {(one["code"], one["about"]) for one in found["reasons"]} == {("PIN_DRIFT", "models.small")}
    assert all(OLD in text and NEW in text for text in map(json.dumps, found["reasons"]))


def test_a_model_that_reports_another_name_than_the_pinned_one(tmp_path: Path) -> None:
    (found,) = primaries(run(reporting(tmp_path, swap=False), tmp_path / "series", "--reports", f"small={NEW}"))
    assert found["mechanical_outcome"] == "INCONCLUSIVE"
    assert {(one["code"], one["about"]) for one in found["reasons"]} == {("PIN_DRIFT", "models.small")}
    assert "pinned" in json.dumps(found["reasons"])


@pytest.mark.parametrize("reported", [OLD, NEW])
def test_a_swap_between_two_repetitions_concludes_nothing_in_either(reported: str, tmp_path: Path) -> None:
    """Two arms of two sessions each: the first repetition asks four times, and the second one too."""
    answers = [{"text": "Done.", "model": OLD}] * 4 + [{"text": "Done.", "model": reported}]
    behaviours = tmp_path / "model.json"
    behaviours.write_text(json.dumps(answers))
    more = ("--conditions", "baseline,manipulated", "--repeat", "2")
    told = [
        {(one["code"], one["about"]) for one in found["reasons"] if one["code"] == "PIN_DRIFT"}
        for found in primaries(run(behaviours, tmp_path / "series", *more))
    ]
    assert told == ([set()] * 2 if reported == OLD else [{("PIN_DRIFT", "models.small")}] * 2)
