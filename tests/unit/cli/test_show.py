"""What `show`, `verify` and the writing commands say about what is not there, is damaged, or is misspelt."""

from __future__ import annotations

import json
import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from golden_build import build_series

from oyer.cli import main
from oyer.cli.retained import Wanted, find_trial
from oyer.errors import UsageError


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


def test_a_trial_goes_by_its_number_or_by_its_case_and_never_by_a_digit_of_its_name(
    series: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    plan = json.loads((series / "plan.json").read_bytes())
    second = plan["trials"][1]["trial"]
    assert second in said(capsys, "show", series, "1")
    # "r1" is in every name here, and 7 trials there are not.
    told = said(capsys, "show", series, "7")
    assert "there is no trial '7'" in told and "by number 0 to 3" in told
    assert json.loads(said(capsys, "show", series, "00", "--json"))["trial"]["trial"] == plan["trials"][0]["trial"]


def test_a_trial_of_a_case_with_a_slash_goes_by_that_case() -> None:
    retained = planned(("two/fits", "s", 1, "plain"), ("two/tight", "s", 1, "plain"))
    assert found(retained, "two/tight") == 1
    with pytest.raises(UsageError, match="2 trials match 'two/'"):
        found(retained, "two/")


def planned(*trials: tuple[str, str, int, str]) -> Any:
    """A series of these trials, as case, subject, repetition and condition, as far as finding one looks at it."""
    made = [
        SimpleNamespace(
            trial=f"t{at:05}.{case.replace('/', '~')}.{subject.replace(':', '-')}.r{repetition}.{condition}",
            case=case, subject=subject, repetition=repetition, condition=condition, position=at,
        )
        for at, (case, subject, repetition, condition) in enumerate(trials)
    ]  # fmt: skip
    return SimpleNamespace(reading=SimpleNamespace(plan=SimpleNamespace(trials=made)))


def found(retained: Any, *words: str, **more: str) -> int:
    return find_trial(retained, Wanted(words, **more)).position


def test_a_trial_goes_by_words_that_all_match() -> None:
    late, bare = "sphinx/false-premise/late-return", "scripted:yields-at:2"
    retained = planned(
        (late, bare, 1, "plain"),
        (late, bare, 1, "neutral"),
        (late, bare, 2, "plain"),
        (f"{late}/was-late", bare, 1, "plain"),
        (late, "scripted:oracle", 1, "plain"),
        (f"{late}/was-late", "scripted:oracle", 1, "plain"),
    )
    assert found(retained, "late-return", "yields-at:2", "r1") == 0
    assert found(retained, "yields-at-2", "r2") == found(retained, bare, "r2") == 2
    assert found(retained, "r1", "late-return", "yields-at:2", "neutral") == 1
    assert found(retained, "late-return", "oracle") == 4  # and not its control
    assert found(retained, "late-return", "was-late", "oracle") == 5
    assert found(retained, "oracle", "4") == 4
    assert found(retained, "r1", case="was-late", subject="yields-at:2") == 3
    assert found(retained, case="late-return", subject="oracle") == 4
    with pytest.raises(UsageError, match="3 trials match 'late-return yields-at:2'"):
        found(retained, "late-return", "yields-at:2")
    with pytest.raises(UsageError, match="no trial 'late-return liar'"):
        found(retained, "late-return", subject="liar")
    with pytest.raises(UsageError, match="no trial 'oracle 1'"):
        found(retained, "oracle", "1")


def test_every_trial_is_printed_with_the_number_that_it_goes_by(
    series: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    told = said(capsys, "show", series)
    for number, trial in enumerate(json.loads((series / "plan.json").read_bytes())["trials"]):
        assert re.search(rf"trials? ([0-9]+, )*{number}\b", told), told
        value = json.loads(said(capsys, "show", series, str(number), "--json"))
        assert value["trial"]["trial"] == trial["trial"]


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
