"""`oyer library` lists and explains, and a copy of a packaged suite works at once."""

from __future__ import annotations

import contextlib
import json
import re
import sqlite3
import subprocess
from pathlib import Path
from typing import Any

import pytest

from oyer.cli import main
from oyer.cli.starting import _renamed, start_from
from oyer.errors import UsageError
from oyer.library import packaged_suites

SUITES = tuple(suite.name for suite in packaged_suites())


def told(capsys: pytest.CaptureFixture[str], *arguments: object, code: int = 0) -> Any:
    capsys.readouterr()
    assert main([*(str(each) for each in arguments), "--json"]) == code
    return json.loads(capsys.readouterr().out)


def text(capsys: pytest.CaptureFixture[str], *arguments: object) -> str:
    capsys.readouterr()
    assert main([str(each) for each in arguments]) == 0
    return re.sub(r"\s+", " ", capsys.readouterr().out)


def test_suites_are_listed_with_how_many_traps_they_have(capsys: pytest.CaptureFixture[str]) -> None:
    (suite,) = (one for one in told(capsys, "library")["suites"] if one["name"] == "first-judgement")
    assert (suite["traps"], suite["cases"]) == (3, 9)
    said = text(capsys, "library")
    assert "first-judgement 3 traps in 9 cases Does it say that it cannot be done" in said
    assert "impossible-merge/solvable" in said


def test_the_cases_of_a_family_are_told_with_it_alone(capsys: pytest.CaptureFixture[str]) -> None:
    families = [name for name in SUITES if "/" in name]
    said = text(capsys, "library")
    assert not [name for name in families if f"{name}/" in said]
    assert all(f"{name} " in said for name in families)


@pytest.mark.parametrize("name", SUITES)
def test_each_trap_is_explained_with_its_controls_and_what_witnesses_it(
    capsys: pytest.CaptureFixture[str], name: str
) -> None:
    suite = told(capsys, "library", name)["suite"]
    traps = [case for case in suite["cases"] if case["kind"] == "trap"]
    assert traps
    for trap in traps:
        assert trap["title"]
        assert trap["about"], "what stands above it in its file"
        assert trap["claims"]
        assert {control["side"] for control in trap["controls"]} == {"negative", "positive"}
        assert all(control["title"] for control in trap["controls"])
        assert trap["witnesses"]


def test_a_trap_is_told_in_words(capsys: pytest.CaptureFixture[str]) -> None:
    said = text(capsys, "library", "first-judgement")
    for words in (
        "first-judgement 3 traps, 6 controls",
        "What a subject asserts is read from one tool",
        "second-refund trap A refund is asked for",
        "A customer says that an order was never refunded.",
        "negative control: second-refund/still-owed: The same request for an order",
        "witnessed by receipts: the table refunds of shop.db",
        "witnessed by protocol: calls of report.status",
        "oyer init DIR --from first-judgement",
    ):
        assert words in said
    case = text(capsys, "library", "second-refund/still-owed")
    assert case.startswith("second-refund/still-owed negative control")


def test_an_unknown_name_is_told_what_it_may_have_meant(capsys: pytest.CaptureFixture[str]) -> None:
    [problem] = told(capsys, "library", "first-judgment", code=2)["error"]["problems"]
    assert problem["code"] == "E-CASE-UNKNOWN"
    assert problem["hint"].startswith("did you mean first-judgement?")


# ------------------------------------------------------------------------------------------------- a copy of a suite


@pytest.mark.parametrize("name", SUITES)
def test_a_copy_is_right_as_it_is_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    made = told(capsys, "init", tmp_path / "mine", "--from", name)
    assert made["exit_code"] == 0
    monkeypatch.chdir(tmp_path / "mine")
    own = name.rsplit("/", 1)[-1]
    files = sorted((Path("suites") / own).glob("*.yaml"))
    assert told(capsys, "check", *files, "oyer.yaml")["exit_code"] == 0
    listed = told(capsys, "library")["own"]
    assert own in [one["name"] for one in listed]
    ids = [case["name"] for case in told(capsys, "library", own)["suite"]["cases"]]
    assert name == own or not [one for one in ids if one.startswith(f"{name}/")]
    texts = [path.read_text() for path in files]
    assert not any("made by tools/" in text for text in texts)
    assert name == own or not any(re.search(r"^id: sphinx", text, re.MULTILINE) for text in texts)
    marks = re.compile(r"\b(ORIGIN|SUITE|FOLDER)\b")
    assert not [path for path in ("README.md", "ci.sh", "oyer.yaml") if marks.search(Path(path).read_text())]


def test_a_copy_runs_and_its_own_suite_is_meant(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    told(capsys, "init", tmp_path / "mine", "--from", "first-judgement")
    monkeypatch.chdir(tmp_path / "mine")
    path = Path("suites/first-judgement/first-judgement.yaml")
    path.write_text(path.read_text().replace("[impossible-merge, agreeing-totals, second-refund]", "[second-refund]"))
    path.write_text("\n".join(line for line in path.read_text().split("\n") if "set(" not in line or "refund" in line))
    ran = told(capsys, "run", "first-judgement", code=5)
    assert [(found["trap"], found["reading"]) for found in ran["sets"]] == [("second-refund", "DISCRIMINATES")]
    assert list(Path("runs").iterdir())


def test_nothing_is_overwritten_and_only_one_beginning_is_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "oyer.yaml").write_text("mine")
    [problem] = told(capsys, "init", tmp_path, "--from", "first-judgement", code=2)["error"]["problems"]
    assert (problem["code"], problem["where"]) == ("E-INIT-EXISTS", str(tmp_path / "oyer.yaml"))
    assert [path.name for path in tmp_path.iterdir()] == ["oyer.yaml"]
    told(capsys, "init", tmp_path / "x", "--from", "first-judgement", "--server", "true", code=2)


def test_what_is_no_packaged_suite_is_no_beginning() -> None:
    with pytest.raises(UsageError, match="there is no suite impossible-merge"):
        start_from("impossible-merge")


def test_the_copy_of_a_family_goes_by_its_last_name_everywhere() -> None:
    written = b"id: sphinx/nudge\ncases: [sphinx/nudge/a, other/sphinx/nudge/a, sphinx/nudges, sphinx/nudge-b]\n"
    renamed = b"id: nudge\ncases: [nudge/a, other/sphinx/nudge/a, sphinx/nudges, sphinx/nudge-b]\n"
    assert _renamed(written, "sphinx/nudge", "nudge") == renamed
    assert _renamed(written, "nudge", "nudge") == written


def test_the_readme_of_a_copy_says_how_to_change_a_database(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    told(capsys, "init", tmp_path / "mine", "--from", "sphinx/false-premise")
    readme = (tmp_path / "mine" / "README.md").read_text()
    block = readme[readme.index("python3 - ") :].partition("\nPY\n")
    changed = (block[0] + block[1]).replace("WORLD", "late-return").replace("some_table", "loans")
    changed = changed.replace("some_column", "reader").replace("id = 1", "id = 207")
    done = subprocess.run(["sh", "-c", changed], cwd=tmp_path / "mine", capture_output=True, timeout=60, check=True)
    assert b"CREATE TABLE loans" in done.stdout
    place = tmp_path / "mine" / "suites" / "false-premise" / "worlds" / "late-return"
    with contextlib.closing(sqlite3.connect(place / "office.db")) as database:
        assert database.execute("SELECT reader FROM loans WHERE id = 207").fetchone() == ("other",)
    assert sorted(path.name for path in place.iterdir()) == ["README.md", "office.db", "slips.txt"]
