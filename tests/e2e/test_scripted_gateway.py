"""`--base-url scripted:NAME`: a model that plays a double, asked by a real agent, is judged as the double."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from warm_oyer import OYER

CASES = Path(__file__).parents[1] / "cases"
PRESSED = str(CASES / "pressed" / "pressed.yaml")


def oyer(*arguments: str, code: int = 0) -> Any:
    done = subprocess.run([*OYER, *arguments, "--json"], capture_output=True, env=os.environ, timeout=120, check=False)
    assert done.returncode == code, done.stderr.decode() + done.stdout.decode()
    return json.loads(done.stdout)


def facts(said: Any) -> Any:
    """What was found: of each comparison outcome, reasons and every link, of each trial its status."""
    primaries = [one["primary"] for one in said["comparisons"]]
    return [
        (one["mechanical_outcome"], [r["code"] for r in one["reasons"]], [(x["id"], x["state"]) for x in one["links"]])
        for one in primaries
    ], [one["status"] for one in said["trials"]]


def run(case: str, out: Path, double: str, *more: str, model: bool = True) -> Any:
    subject = (
        ["--subject", "model", "--base-url", f"scripted:{double}"] if model else ["--subject", f"scripted:{double}"]
    )
    return oyer("run", case, *subject, *more, "--out", str(out))


Played = Callable[[str, str], Any]


REST = (pytest.mark.slow, pytest.mark.heavy)
"""More of the same kind: asked for with `-m heavy`, and left out of CI."""
TRIED = {("obedient", "responses", True), ("oracle", "messages", False), ("obedient", "gemini", True)}


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Played:
    """What a case shows of a double that asks no model, played once for all that are compared with it."""
    return cache(lambda case, double: run(case, tmp_path_factory.mktemp("double") / "s", double, model=False))


@pytest.mark.parametrize(
    ("double", "outcome", "api", "stream"),
    [
        ("obedient", "CONFIRMED", "chat", False),
        pytest.param("obedient", "CONFIRMED", "chat", True, marks=REST),
        *(
            pytest.param(
                double, outcome, api, stream, marks=pytest.mark.slow if (double, api, stream) in TRIED else REST
            )
            for double, outcome in (("obedient", "CONFIRMED"), ("oracle", "NOT_OBSERVED"))
            for api in ("responses", "messages", "gemini")
            for stream in (False, True)
        ),
    ],
)
def test_a_scripted_model_is_judged_as_its_double(
    double: str, outcome: str, api: str, stream: bool, played: Played, tmp_path: Path
) -> None:
    more = [
        "--api",
        api,
        "--param",
        f"stream={json.dumps(stream)}",
        *(["--max-tokens", "9"] if api == "messages" else []),
    ]
    said = run("cascade-memo", tmp_path / "model", double, *more)
    assert facts(said) == facts(played("cascade-memo", double))
    assert [one["primary"]["mechanical_outcome"] for one in said["comparisons"]] == [outcome]
    oyer("verify", str(tmp_path / "model"))


@pytest.mark.slow
@pytest.mark.parametrize(
    "double",
    [
        "near-miss",
        "replay",
        *(pytest.param(one, marks=pytest.mark.heavy) for one in ("liar", "echo", "idle", "refuser")),
    ],
)
def test_other_doubles_as_models_are_judged_as_themselves(double: str, played: Played, tmp_path: Path) -> None:
    as_model = run("cascade-memo", tmp_path / "model", double)
    assert facts(as_model) == facts(played("cascade-memo", double))


@pytest.mark.slow
@pytest.mark.parametrize("double", ["oracle", "obedient", "yields-at:2"])
def test_a_scripted_model_answers_rounds_of_pressure(double: str, played: Played, tmp_path: Path) -> None:
    as_model = run(PRESSED, tmp_path / "model", double)
    as_double = played(PRESSED, double)
    assert facts(as_model) == facts(as_double)
    told, expected = (
        [one["pressure"] for one in said["trials"] if one.get("pressure")] for said in (as_model, as_double)
    )
    assert len(told) == len(expected)


@pytest.mark.slow
def test_a_scripted_model_plays_a_sequence(tmp_path: Path) -> None:
    sequence = str(CASES / "sequences" / "desk.yaml")
    as_model, as_double = (run(sequence, tmp_path / str(one), "obedient", model=one) for one in (True, False))
    assert facts(as_model) == facts(as_double)


@pytest.mark.parametrize("double", ["crasher", "garbler", "obedent", "variant:none"])
def test_a_double_that_cannot_be_a_model_is_refused_before_anything_runs(double: str, tmp_path: Path) -> None:
    refused = oyer(
        "run",
        "cascade-memo",
        "--subject",
        "model",
        "--base-url",
        f"scripted:{double}",
        "--out",
        str(tmp_path / "x"),
        code=2,
    )
    assert refused["error"]["code"] in ("E-DOUBLE-NOT-APPLICABLE", "E-DOUBLE-UNKNOWN")
    assert not (tmp_path / "x").exists()


def test_the_pinned_endpoint_says_that_it_was_a_script(tmp_path: Path) -> None:
    run("notes-injection", tmp_path / "series", "oracle", "--conditions", "baseline")
    pins = [json.loads(path.read_bytes()) for path in (tmp_path / "series" / "pins").iterdir()]
    (environment,) = [pin for pin in pins if pin["oyer"] == "Environment@1"]
    assert (environment["subject"]["endpoint"], environment["subject"]["model"]) == ("scripted:oracle", "scripted")


def test_a_declared_fault_that_nothing_follows_blocks_and_says_that_it_was_declared(tmp_path: Path) -> None:
    said = run("notes-injection", tmp_path / "series", "oracle", "--model-fault", "429@1", "--conditions", "baseline")
    assert [one["status"] for one in said["trials"]] == ["blocked"]
    assert "a declared fault was acted (429@1), and no whole answer followed" in json.dumps(said["trials"])
    oyer("verify", str(tmp_path / "series"))
    shown = json.dumps(oyer("show", str(tmp_path / "series"), "--evidence"))
    assert "model.fault" in shown
    pins = [json.loads(path.read_bytes()) for path in (tmp_path / "series" / "pins").iterdir()]
    assert [pin["faults"] for pin in pins if pin["oyer"] == "Environment@1"] == [["429@1"]]


@pytest.mark.slow
@pytest.mark.parametrize("fault", [pytest.param("slow:50ms@2", marks=pytest.mark.heavy), "cut@2", "500@1"])
def test_a_series_with_declared_faults_runs_again_from_its_recording(fault: str, tmp_path: Path) -> None:
    more = ["--model-fault", fault, "--param", "stream=true", "--conditions", "baseline,manipulated"]
    first = run("cascade-memo", tmp_path / "old", "obedient", *more)
    again = run("cascade-memo", tmp_path / "new", "obedient", *more, "--replay", str(tmp_path / "old"))
    assert facts(again) == facts(first)
    assert {one["status"] for one in again["trials"]} == {"completed" if fault.startswith("slow") else "blocked"}
    oyer("verify", str(tmp_path / "new"))


def test_what_is_no_fault_is_refused_before_anything_runs(tmp_path: Path) -> None:
    model = ["--subject", "model", "--base-url", "scripted:oracle", "--model-fault", "404@1"]
    refused = oyer("run", "notes-injection", *model, "--out", str(tmp_path / "x"), code=2)
    assert refused["error"]["code"] == "E-SUBJECT-FAULT" and not (tmp_path / "x").exists()
