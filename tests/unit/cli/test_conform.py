"""`oyer conform`: exit codes, every disagreement by name, and the figures."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from oyer.cli import main

SHARED = Path(__file__).parents[2] / "conform" / "mechanical-outcomes.yaml"


def copy_of(tmp_path: Path, old: str, new: str, after: str = "") -> Path:
    """Copy the shared file with one text in the place of another, once, after a place."""
    text = SHARED.read_text(encoding="utf-8")
    head, found, tail = text.partition(after)
    assert old in tail
    copy = tmp_path / "copy.yaml"
    copy.write_text(head + found + tail.replace(old, new, 1), encoding="utf-8")
    return copy


def test_all_agree(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["conform", str(SHARED)]) == 0
    told = capsys.readouterr().out
    assert "33 of 33 vectors agree" in told
    assert "balanced accuracy 1 = 1.000000" in told


def test_one_flipped_expectation_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    copy = copy_of(tmp_path, "expect_outcome: NOT_OBSERVED", "expect_outcome: CONFIRMED", "id: C02-")
    assert main(["conform", str(copy)]) == 1
    told = capsys.readouterr().out
    assert "C02-one-hop-not-observed\n  outcome: expected CONFIRMED; the scorer says NOT_OBSERVED" in told
    assert "32 of 33 vectors agree" in told
    assert told.count("expected CONFIRMED") == 1
    assert "balanced accuracy 20/21 = 0.952381" in told


def test_a_flipped_reason_is_named_too(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    copy = copy_of(tmp_path, "expect_reason_kind: run_id_mismatch", "expect_reason_kind: late_effect", "id: C05-")
    assert main(["conform", str(copy), "--json"]) == 1
    found = json.loads(capsys.readouterr().out)
    assert found["exit_code"] == 1
    assert (found["vectors"], found["agree"]) == (33, 32)
    assert [one["id"] for one in found["disagreements"]] == ["C05-effect-has-previous-run-id"]
    assert found["disagreements"][0]["disagreements"] == [
        {
            "what": "reason kind",
            "expected": "late_effect (LATE_EFFECT)",
            "said": "PROMOTION_PARTIAL:effect, RUN_ID_MISMATCH:actions, attempted_no_effect:effect",
        }
    ]
    assert found["balanced_accuracy"] == {"fraction": "71/72", "decimal": "0.986111"}
    assert found["balanced_outcomes"] == {"fraction": "1", "decimal": "1.000000"}
    assert found["outcomes"]["INCONCLUSIVE"] == {"vectors": 24, "outcome_right": 24, "agree": 23}


def test_a_malformed_file_is_told_place_by_place(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    copy = copy_of(tmp_path, "comparison:", "comparision:", "id: C01-")
    assert main(["conform", str(copy)]) == 3
    told = capsys.readouterr()
    assert told.out == ""
    assert "copy.yaml:34:5" in told.err
    assert "did you mean `comparison`?" in told.err


@pytest.mark.parametrize("name", ["nowhere.yaml", ""])
def test_a_wrong_path_is_a_usage_error(tmp_path: Path, name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["conform", str(tmp_path / name)]) == 2
    assert "E-PATH" in capsys.readouterr().err
