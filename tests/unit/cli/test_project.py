"""`oyer.yaml` is found upward, names subjects and suites, and gives way to every flag."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from oyer.cli import main
from oyer.cli.project import find_project
from oyer.errors import RecordError, UsageError

THINKS = 'reports: {smol: smol-2026}, reasoning_delimiters: [["<think>", "</think>"]]'
PROJECT = """\
oyer: Project@1
subjects:
  ours: {driver: scripted, double: oracle}
  small: {driver: model, base_url: "http://127.0.0.1:9/v1", model: smol, temperature: 0, seed: 1, key_env: MY_KEY, MORE}
suites: [suites/]
defaults: {subject: ours, out: results, jobs: 2}
""".replace("MORE", THINKS)
SUITE = """\
oyer: Case@1
id: listing
effect_class: local_read
world: world
servers: {fs: oyer:files}
prompt: List the files.
doubles: {proper: [fs.list_directory], tempted: [fs.list_directory]}
---
oyer: TrialSuite@1
id: small-suite
cases: [listing]
"""


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "oyer.yaml").write_text(PROJECT)
    (tmp_path / "suites" / "world").mkdir(parents=True)
    (tmp_path / "suites" / "world" / "notes.md").write_text("one\n")
    (tmp_path / "suites" / "small.yaml").write_text(SUITE)
    (tmp_path / "deep" / "down").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "deep" / "down")
    return tmp_path


def told(capsys: pytest.CaptureFixture[str], *arguments: object, code: int = 0) -> Any:
    capsys.readouterr()
    assert main([*(str(each) for each in arguments), "--json"]) == code
    return json.loads(capsys.readouterr().out)


def test_it_is_found_upward_and_gives_subject_suite_and_place(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ran = told(capsys, "run", "small-suite")
    assert Path(ran["path"]).resolve().parent == place / "results"
    manifest = json.loads((Path(ran["path"]) / "series.json").read_text())
    assert manifest["jobs"] == 2
    plan = json.loads((Path(ran["path"]) / "plan.json").read_text())
    assert plan["subjects"] == ["ours"]
    [environment] = [
        found
        for pin in (Path(ran["path"]) / "pins").iterdir()
        if (found := json.loads(pin.read_text()))["oyer"] == "Environment@1"
    ]
    assert environment["subject"]["name"] == "scripted:oracle"
    assert told(capsys, "verify", ran["path"])["exit_code"] == 0


@pytest.mark.parametrize(
    ("old", "new", "where", "code", "hint"),
    [
        ("double: oracle", "double: oracel", "subjects.ours.double", "E-DOUBLE-UNKNOWN", "scripted:oracle?"),
        ("double: oracle", '"double": "crasher:k"', "subjects.ours.double", "E-DOUBLE-NOT-APPLICABLE", ""),
        ("subject: ours", "subject: scripted:idel", "defaults.subject", "E-DOUBLE-UNKNOWN", "scripted:idle?"),
    ],
)
def test_a_double_that_there_is_not_is_named_where_it_stands(
    place: Path, capsys: pytest.CaptureFixture[str], old: str, new: str, where: str, code: str, hint: str
) -> None:
    (place / "oyer.yaml").write_text(PROJECT.replace(old, new))
    for arguments in (["check", "../../oyer.yaml"], ["plan", "small-suite", "--subject", "scripted:idle"]):
        (problem,) = told(capsys, *arguments, code=3)["error"]["problems"]
        assert (problem["code"], problem["where"].rpartition(" ")[2]) == (code, where)
        assert hint in problem["hint"]
    for fine in ("crasher:7", "variant:mine"):
        (place / "oyer.yaml").write_text(PROJECT.replace("double: oracle", f'double: "{fine}"'))
        assert told(capsys, "check", "../../oyer.yaml")["exit_code"] == 0


def test_flags_win(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ran = told(capsys, "run", "small-suite", "--subject", "scripted:idle", "--jobs", 1, "--out", place / "elsewhere")
    assert Path(ran["path"]) == place / "elsewhere"
    assert json.loads((place / "elsewhere" / "plan.json").read_text())["subjects"] == ["scripted:idle"]
    assert json.loads((place / "elsewhere" / "series.json").read_text())["jobs"] == 1


def test_a_model_of_the_project_is_planned_with_its_parameters(
    place: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    error = told(capsys, "plan", "small-suite", "--subject", "small", code=2)["error"]
    assert error["code"] == "E-SECRET-UNSET", "the key is only named in the file"
    monkeypatch.setenv("MY_KEY", "sk-1234567890abcdef")
    plan = told(capsys, "plan", "small-suite", "--subject", "small", "--subject", "ours")["plan"]
    assert plan["subjects"] == ["small", "ours"]
    wanted = {
        "base_url": "http://127.0.0.1:9/v1",
        "name": "smol",
        "parameters": {"seed": 1, "temperature": 0.0},
        "reasoning_delimiters": [["<think>", "</think>"]],
        "reports": {"smol": "smol-2026"},
        "system": None,
    }
    assert {name: plan["models"]["small"][name] for name in wanted} == wanted
    assert "1234567890" not in json.dumps(plan)


def test_a_name_that_the_project_does_not_have(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    error = told(capsys, "plan", "small-suite", "--subject", "our", code=2)["error"]
    assert (error["code"], error["problems"][0]["hint"]) == ("E-SUBJECT-UNKNOWN", "did you mean ours?")


@pytest.mark.parametrize(
    ("old", "new", "code", "where"),
    [
        ("suites: [suites/]", "suites: [nowhere/]", "E-PROJECT-PATH", ":5:10: suites[0]"),
        ("defaults:", "plugins: [own.py]\ndefaults:", "E-PROJECT-PATH", ":6:11: plugins[0]"),
        ("double: oracle", "dooble: oracle", "E-RECORD-UNKNOWN-FIELD", ":3:28: subjects.ours.dooble"),
        ("subject: ours", "subject: theirs", "E-RECORD-VALUE", ":6:21: defaults.subject"),
        ("  ours:", "  our s:", "E-RECORD-VALUE", None),
        ("temperature: 0", "api_key: sk-1", "E-RECORD-UNKNOWN-FIELD", None),
    ],
)
def test_what_is_wrong_with_it_is_told_at_its_place(
    place: Path, capsys: pytest.CaptureFixture[str], old: str, new: str, code: str, where: str | None
) -> None:
    path = place / "oyer.yaml"
    assert old in PROJECT
    path.write_text(PROJECT.replace(old, new))
    problems = told(capsys, "check", path, code=3)["error"]["problems"]
    assert code in {problem["code"] for problem in problems}
    if where is not None:
        assert f"{path}{where}" in {problem["where"] for problem in problems}
    with pytest.raises(RecordError):
        find_project()


def test_less_isolation_than_the_project_demands_is_refused(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (place / "oyer.yaml").write_text(PROJECT + "environment: {isolation: sandbox}\n")
    error = told(capsys, "run", "small-suite", code=3)["error"]
    assert error["code"] == "E-PROJECT-ISOLATION"
    assert not (place / "results").exists()


def test_what_the_project_does_not_admit_does_not_run(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    admits = "environment: {admits: {effect_classes: [none], by: security}}\n"
    (place / "oyer.yaml").write_text(PROJECT + admits)
    assert told(capsys, "run", "small-suite", code=2)["error"]["code"] == "E-ADMITS-CLASS"
    (place / "oyer.yaml").write_text(PROJECT + admits.replace("none", "local_read"))
    assert told(capsys, "run", "small-suite")["ledger"]["trials"]["completed"] == 1


def test_a_plan_of_a_named_suite_and_subject_is_run_as_it_was_planned(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    planned = place / "plan.json"
    told(capsys, "plan", "small-suite", "-o", planned)
    assert told(capsys, "run", "--plan", planned)["ledger"]["trials"]["completed"] == 1


@pytest.mark.parametrize("command", ["run", "plan", "qualify", "pin"])
def test_a_misspelt_suite_is_told_the_projects_own(
    place: Path, capsys: pytest.CaptureFixture[str], command: str
) -> None:
    [problem] = told(capsys, command, "smal-suite", code=2)["error"]["problems"]
    assert problem["hint"].startswith("did you mean small-suite?")
    [problem] = told(capsys, command, "zzz", code=2)["error"]["problems"]
    assert "small-suite" in problem["hint"]


def test_the_library_lists_the_suites_of_the_project_first(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    [own] = told(capsys, "library")["own"]
    assert (own["name"], Path(own["file"]).resolve()) == ("small-suite", place / "suites" / "small.yaml")
    assert main(["library"]) == 0
    printed = capsys.readouterr().out
    assert printed.index("small-suite") < printed.index("notes-injection")


def test_one_above_is_named(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert find_project() is not None
    assert capsys.readouterr().err == f"note: the project file is {place / 'oyer.yaml'}\n"


def test_one_where_others_may_put_files_is_not_used(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    place.chmod(0o1777)
    assert find_project() is None
    assert "is not used as the project file: others may put files into its directory" in capsys.readouterr().err
    assert find_project(place) is not None, "in the directory itself, and one's own"


def test_one_of_somebody_else_is_refused(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if os.getuid() == 0:
        os.chown(place / "oyer.yaml", 65534, -1)
    else:
        monkeypatch.setattr("os.getuid", lambda: 65534)
    assert find_project() is None
    with pytest.raises(UsageError) as refused:
        find_project(place)
    assert refused.value.code == "E-PROJECT-OWNER"


def test_nothing_above_the_home_directory_is_looked_for(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(place / "deep"))
    assert find_project() is None
    monkeypatch.setenv("HOME", str(place))
    assert find_project() is not None
