"""What `show`, `verify` and the writing commands say about what is not there, is damaged, or is misspelt."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from golden_build import build_series

from oyer.cli import main


@pytest.fixture
def series(tmp_path: Path) -> Path:
    path = tmp_path / "series"
    build_series(path, conditions=("baseline", "manipulated"))
    return path


@pytest.fixture
def damaged(series: Path) -> Path:
    """The series with the stored evidence of its second trial cut."""
    packed = next((series / "trials").rglob("*manipulated/*.tar.zst"))
    packed.write_bytes(packed.read_bytes()[:-40])
    return series


def said(capsys: pytest.CaptureFixture[str], *arguments: object) -> str:
    main([str(argument) for argument in arguments])
    found = capsys.readouterr()
    return " ".join((found.out + found.err).split())


def test_a_damaged_trial_is_called_damaged(damaged: Path, capsys: pytest.CaptureFixture[str]) -> None:
    trial = next((damaged / "trials").rglob("*manipulated")).name
    told = said(capsys, "show", damaged, trial)
    assert "is damaged and cannot be read; nothing rests on it" in told
    assert "E-BLOB-FORM" in told and trial in told
    assert "harness's own journal" not in told and "harness_error" not in told
    value = json.loads(said(capsys, "show", damaged, trial, "--json"))
    assert value["trial"]["defects"][0]["code"] == "E-BLOB-FORM"


def test_what_was_not_read_is_said_once_for_each_check(
    series: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bundle = tmp_path / "cut.oyer"
    assert main(["bundle", str(series), "-o", str(bundle)]) == 0
    bundle.write_bytes(bundle.read_bytes()[:3000])
    capsys.readouterr()
    assert said(capsys, "verify", bundle).count("the archive is not safe to read") == 10


@pytest.mark.parametrize(("name", "what"), [("one.oyer", "no such file"), ("one", "no such file or directory")])
def test_what_is_not_there_is_called_by_its_kind(
    name: str, what: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for command in ("show", "verify"):
        assert f"there is {what} [E-PATH]" in said(capsys, command, tmp_path / name)


def test_every_output_makes_the_directories_it_lies_in(
    series: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    place = tmp_path / "not" / "there"
    assert main(["keygen", "-o", str(place / "keys" / "mine")]) == 0
    assert main(["bundle", str(series), "-o", str(place / "bundles" / "one.oyer")]) == 0
    plan = ["plan", "notes-injection", "--subject", "scripted:wary", "-o", str(place / "plans" / "one.json")]
    assert main(plan) == 0
    assert sorted(path.name for path in place.rglob("*.*")) == ["mine.key", "mine.pub", "one.json", "one.oyer"]
    (tmp_path / "file").write_text("")
    told = said(capsys, "bundle", series, "-o", tmp_path / "file" / "one.oyer")
    assert "it is no directory: nothing can be made in it [E-PATH]" in told


@pytest.mark.parametrize(
    ("arguments", "meant"),
    [
        (["rnu"], "did you mean run?"),
        (["verfy", "x"], "did you mean verify?"),
        (["run", "casade-memo", "--subject", "scripted:wary"], "did you mean cascade-memo?"),
        (["run", "cascade-memo", "--subject", "scripted:wery"], "did you mean scripted:wary?"),
        (["run", "cascade-memo", "--subject", "modell"], "did you mean model?"),
    ],
)
def test_a_misspelt_word_is_answered_with_the_nearest(
    arguments: list[str], meant: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments) == 2
    assert meant in " ".join(capsys.readouterr().err.split())


def test_a_word_near_to_nothing_is_answered_with_no_guess(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["zzzz"]) == 2
    assert "did you mean" not in capsys.readouterr().err
