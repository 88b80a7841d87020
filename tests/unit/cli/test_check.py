"""`oyer check`: everything that is wrong at once, with the right exit code."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from oyer.cli import main

CASE = """\
oyer: Case@1
id: plain
effect_class: none
prompt: Say hello.
"""


@pytest.fixture
def case(tmp_path: Path) -> Path:
    path = tmp_path / "case.yaml"
    path.write_text(CASE)
    return path


def test_nothing_is_wrong(case: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", str(case)]) == 0
    assert "nothing is wrong" in capsys.readouterr().out
    assert main(["check", str(case), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert [found["id"] for found in told["files"][0]["cases"]] == ["plain"]


def test_the_construct_rules_are_about_content(case: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "--strict", str(case)]) == 3
    assert f"{case}:1:1: no doubles" in capsys.readouterr().err


def test_every_file_is_reported_with_its_places(case: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    other = tmp_path / "other.yaml"
    other.write_text(CASE.replace("plain", "BAD ID") + "surprise: 1\n")
    broken = tmp_path / "broken.yaml"
    broken.write_text("oyer: [\n")
    assert main(["check", str(case), str(other), str(broken)]) == 3
    err = capsys.readouterr().err
    assert f"{other}:2:5: id" in err
    assert f"{other}:5:1: surprise" in err
    assert f"{broken}:" in err


def test_the_full_form_is_printed_and_is_a_case(case: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "--expand", str(case)]) == 0
    full = tmp_path / "full.yaml"
    full.write_text(capsys.readouterr().out)
    digests = []
    for path in (case, full):
        assert main(["check", "--expand", "--json", str(path)]) == 0
        told = json.loads(capsys.readouterr().out)["files"][0]["cases"][0]
        digests.append(told["digest"])
        assert told["record"]["oyer"] == "Case@1"
    assert digests[0] == digests[1]


def test_a_text_that_would_act_on_a_terminal_cannot(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bad = tmp_path / "bad.yaml"
    bad.write_text(CASE + '"\\e]0;owned\\a\\u202e": 1\n')
    assert main(["check", str(bad)]) == 3
    err = capsys.readouterr().err
    assert "\x1b" not in err
    assert "\u202e" not in err
