"""`--prices FILE` and prices of the project: what a trial cost, and budgets of cost that are held to."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from endpoint_kit import endpoint
from warm_oyer import OYER

import oyer as oyer_package

PEERS = Path(__file__).parents[1] / "peers"
TABLE = """\
oyer: PriceTable@1
prices:
  small: {input_per_mtok_usd: "2.50", output_per_mtok_usd: "10"}
"""
MODEL = ["--subject", "model", "--model", "small"]
NOTES = Path(oyer_package.__file__).parent / "library" / "cases" / "notes-injection"


def oyer(*arguments: str, code: int = 0, cwd: Path | None = None) -> Any:
    done = subprocess.run(
        [*OYER, *arguments, "--json"], capture_output=True, env=os.environ, timeout=120, check=False, cwd=cwd
    )
    assert done.returncode == code, done.stderr.decode() + done.stdout.decode()
    return json.loads(done.stdout)


@pytest.fixture
def prices(tmp_path: Path) -> str:
    table = tmp_path / "prices.yaml"
    table.write_text(TABLE)
    return str(table)


def run(tmp_path: Path, behaviours: Any, *more: str, case: str = "notes-injection") -> Any:
    script = tmp_path / "behaviours.json"
    script.write_text(json.dumps(behaviours))
    with endpoint(script) as base_url:
        out = str(tmp_path / "series")
        said = oyer("run", case, *MODEL, "--base-url", base_url, "--conditions", "baseline", *more, "--out", out)
    oyer("verify", out)
    return said["trials"][0]


def test_a_trial_costs_what_its_answers_report_by_the_pinned_prices(tmp_path: Path, prices: str) -> None:
    trial = run(tmp_path, [{"text": "Hello."}], "--prices", prices)
    assert trial["cost_usd_micros"] == 75  # 10 tokens asked and 5 answered
    pins = [json.loads(path.read_bytes()) for path in (tmp_path / "series" / "pins").iterdir()]
    (environment,) = [pin for pin in pins if pin["oyer"] == "Environment@1"]
    assert environment["prices"]["small"]["input_per_mtok_usd"] == "2.50"
    shown = subprocess.run([*OYER, "show", str(tmp_path / "series"), "0"], capture_output=True, text=True, check=True)
    assert "cost 0.000075 USD" in shown.stdout


@pytest.mark.parametrize("answer", [{"text": "Hi.", "usage": None}, {"text": "Hi.", "model": "another"}])
def test_a_cost_that_is_not_known_is_never_0(answer: Any, tmp_path: Path, prices: str) -> None:
    assert run(tmp_path, [answer], "--prices", prices)["cost_usd_micros"] is None


def test_a_scripted_model_costs_nothing_whatever_is_priced(tmp_path: Path) -> None:
    scripted = ["--subject", "model", "--base-url", "scripted:oracle", "--conditions", "baseline"]
    said = oyer("run", "notes-injection", *scripted, "--out", str(tmp_path / "series"))
    assert [one["cost_usd_micros"] for one in said["trials"]] == [0]


def test_what_is_no_price_table_is_refused(tmp_path: Path) -> None:
    table = tmp_path / "prices.yaml"
    table.write_text(TABLE.replace('"2.50"', '"cheap"'))
    scripted = ["--subject", "model", "--base-url", "scripted:oracle", "--prices", str(table)]
    oyer("run", "notes-injection", *scripted, "--out", str(tmp_path / "series"), code=3)
    assert not (tmp_path / "series").exists()


def bounded(tmp_path: Path, dollars: str) -> str:
    """A case of the library with a budget of cost."""
    shutil.copytree(NOTES, tmp_path / "case")
    (file,) = (tmp_path / "case").glob("*.yaml")
    file.write_text(file.read_text() + f'budget: {{cost_usd: "{dollars}"}}\n')
    return str(file)


@pytest.mark.parametrize(
    ("dollars", "answer", "status", "said"),
    [
        ("0.000075", {"text": "Hello."}, "completed", None),
        ("0.00007", {"text": "Hello."}, "subject_error", "the model cost 0.000075 USD; the budget is 0.00007"),
        ("1", {"text": "Hello.", "usage": None}, "blocked", "the budget cost_usd cannot be held to"),
    ],
)
def test_a_budget_of_cost_is_held_to_where_prices_are_pinned(
    dollars: str, answer: Any, status: str, said: str | None, tmp_path: Path, prices: str
) -> None:
    trial = run(tmp_path, [answer], "--prices", prices, case=bounded(tmp_path, dollars))
    assert trial["status"] == status
    assert said is None or said in json.dumps(trial["faults"])


def test_without_prices_a_budget_of_cost_bounds_nothing_as_it_was(tmp_path: Path) -> None:
    trial = run(tmp_path, [{"text": "Hello."}], case=bounded(tmp_path, "0.00000001"))
    assert (trial["status"], trial["cost_usd_micros"]) == ("completed", None)


@pytest.mark.slow
def test_a_series_stops_at_its_budget_of_cost(tmp_path: Path, prices: str) -> None:
    shutil.copytree(NOTES, tmp_path / "case")
    suite = tmp_path / "case" / "suite.yaml"
    suite.write_text(
        "oyer: TrialSuite@1\nid: costly\ntitle: What it costs\ncases: [notes-injection]\n"
        "repeat: {fixed: 9, budget: {cost_usd: '0.0002'}}\nconditions: [baseline]\n"
    )
    script = tmp_path / "behaviours.json"
    script.write_text(json.dumps([{"text": "Hello."}]))
    with endpoint(script) as base_url:
        out = str(tmp_path / "series")
        said = oyer("run", str(suite), *MODEL, "--base-url", base_url, "--prices", prices, "--out", out)
    ran = [one for one in said["trials"] if one["status"] == "completed"]
    assert len(ran) == 3  # 75 millionths each: the third reaches 200
    oyer("verify", out)
