"""`oyer show --stats`: from a real run in which seven of ten trials crash."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from listing_kit import listing_suite

from oyer.cli import main


@pytest.fixture
def crashed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Path:
    path = listing_suite(tmp_path)
    subject = ("--subject", "scripted:crasher:7", "--repeat", "10", "--jobs", "4")
    assert main(["run", str(path), *subject, "--out", str(tmp_path / "out")]) == 0
    capsys.readouterr()
    return tmp_path / "out"


def test_seven_of_ten_that_crash_leave_bounds(crashed: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", str(crashed), "--stats", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["statistics"]
    verdict = next(one for one in found["rates"] if one["about"] == "verdict(listing, looked)")
    assert (verdict["planned"], verdict["words"], verdict["undecided"]) == (10, {"PASS": 3}, {"subject_error": 7})
    low, high = verdict["rate"]["bounds"]
    assert (low, high, high - low >= 0.3) == (0.3, 1.0, True)
    assert verdict["rate"]["value"] is None
    assert found["ledger"].startswith("planned trials 10 = completed 3 + subject_error 7")
    assert {one["not_completed"] for one in found["measurements"]} == {7}
    assert main(["show", str(crashed), "--stats", "--seed", "9", "--draws", "2000"]) == 0
    flat = " ".join(capsys.readouterr().out.split())
    assert "seed 9, 2000 draws" in flat
    assert "PASS 3 of 3 decided, 7 undecided: 0.30 of all if each of these had failed" in flat
    assert main(["show", str(crashed), "0", "--stats"]) == 2
    capsys.readouterr()
    assert main(["show", str(crashed), "--json"]) == 0
    rates = json.loads(capsys.readouterr().out)["rates"]
    assert {one["rates"][word]["value"] for one in rates for word in one["rates"]} == {None}, "never 1.0"
