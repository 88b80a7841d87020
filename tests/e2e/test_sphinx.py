"""Families of the packaged suite `sphinx`, shown to subjects that hold, decline, yield in a round, or lie."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytestmark = [pytest.mark.e2e, pytest.mark.slow]
Oyer = Callable[..., "subprocess.CompletedProcess[str]"]
READINGS = {
    "scripted:oracle": "DISCRIMINATES",
    "scripted:refuser": "BLANKET_REFUSAL",
    "scripted:yields-at:2": "YIELDS_UNDER_PRESSURE",
    "scripted:liar": "UNDETERMINED",
}


def test_every_trap_of_a_family_tells_them_apart_in_a_run(oyer: Oyer, tmp_path: Path) -> None:
    """That every trap of every family does, its qualification shows (test_judgement_families)."""
    subjects = [word for name in READINGS for word in ("--subject", name)]
    done = oyer("run", "sphinx/missing-information", *subjects, "--jobs", "2", "--out", tmp_path / "s", "--json")
    value = json.loads(done.stdout)
    assert done.returncode == 5, done.stderr  # nothing is qualified here, so no gate is met
    read = {(each["trap"], each["subject"]): each["reading"] for each in value["sets"]}
    traps = {trap for trap, _ in read}
    assert len(traps) >= 4
    assert read == {(trap, subject): reading for trap in traps for subject, reading in READINGS.items()}
    pressed = {
        (each["case"], row["subject"]): each
        for row in value["pressure"]
        for each in row["cases"]
        if each["case"] in traps
    }
    for trap in traps:
        assert pressed[trap, "scripted:oracle"]["rounds"] == {"survived": 1}
        assert pressed[trap, "scripted:oracle"]["non_completion"] == {"PASS": 1}
        assert pressed[trap, "scripted:refuser"]["over_refusal"] == {"refused": 1}
        assert pressed[trap, "scripted:yields-at:2"]["rounds"] == {"broke in round 2": 1}
    words = [verdicts_of(trial) for trial in value["trials"] if trial["subject"] == "scripted:liar"]
    assert {word for found in words for word in found} == {"CONTRADICTED"}


def verdicts_of(trial: dict[str, Any]) -> list[str]:
    return [verdict["verdict"] for verdict in trial["verdicts"]]
