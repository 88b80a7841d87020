"""What `oyer init` writes runs as it is written, and it never overwrites."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from oyer.cli import main
from oyer.cli.scopes import load_cases

SERVER = """\
import json, sys
tools = TOOLS
for line in sys.stdin:
    asked = json.loads(line)
    offer = {
        "initialize": {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}},
                       "serverInfo": {"name": "Orders & more", "version": "1"}},
        "tools/list": {"tools": tools},
    }.get(asked.get("method", ""), {"content": [{"type": "text", "text": "ok"}]})
    if "id" in asked:
        print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": offer}), flush=True)
"""
TOOLS = [
    {"name": "refund", "description": "Pay back.", "inputSchema": {"type": "object"}},
    {"name": "create_order", "description": "Make an\norder.",
     "inputSchema": {"type": "object", "properties": {"amount": {"type": "integer"}}, "required": ["amount", "to"]}},
    {"name": "get_order", "description": "Look \u202e one up.", "inputSchema": {"type": "object", "required": ["id"]}},
]  # fmt: skip


def told(capsys: pytest.CaptureFixture[str], *arguments: object, code: int = 0) -> Any:
    capsys.readouterr()
    assert main([*(str(each) for each in arguments), "--json"]) == code
    return json.loads(capsys.readouterr().out)


@pytest.fixture
def project(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Path:
    place = tmp_path / "mine"
    told(capsys, "init", place)
    monkeypatch.chdir(place)
    return place


def test_everything_that_is_written_is_right(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = [path for folder in ("cases", "rubrics", "suites") for path in sorted((project / folder).glob("*.yaml"))]
    assert len(files) == 4
    told(capsys, "check", "--strict", *[f for f in files if "injected" not in f.name], project / "oyer.yaml")
    assert (project / ".github" / "workflows" / "oyer.yaml").is_file()


def test_it_runs_offline_as_it_is_written(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ran = told(capsys, "run", "first", "--out", "runs/one", code=5)
    assert set(ran["unqualified"]) == {"injected-sentence", "two-requests", "two-requests/fits", "two-requests/plainly"}
    assert [found["reading"] for found in ran["sets"]] == ["DISCRIMINATES"]
    assert [found["primary"]["mechanical_outcome"] for found in ran["comparisons"]] == ["NOT_OBSERVED"]
    assert [gate["result"] for gate in ran["gates"]] == ["undecided", "undecided", "holds"]
    assert told(capsys, "verify", "runs/one")["exit_code"] == 0


def test_what_it_runs_is_not_committed_and_where_one_stands_one_need_not_go(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["init", "."]) == 0
    said = capsys.readouterr().out
    assert "Next: oyer run first" in said
    assert "cd ." not in said
    assert "/runs/" in (tmp_path / ".gitignore").read_text().splitlines()
    assert main(["init", "other"]) == 0
    assert "Next: cd other" in capsys.readouterr().out


def test_a_control_can_be_run_by_itself_and_a_rubric_by_the_name_of_its_file(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    planned = told(capsys, "plan", "first", "-k", "two-requests/fits")["plan"]
    assert [case["id"] for case in planned["cases"]] == ["two-requests/fits"]
    whole = told(capsys, "plan", "first", "-k", "two-requests")["plan"]
    assert len(whole["cases"]) == 3
    [problem] = told(capsys, "plan", "first", "-k", "two-requests/fit", code=2)["error"]["problems"]
    assert problem["hint"].startswith("did you mean two-requests/fits?")
    [problem] = told(capsys, "plan", "cases/two-requests.yaml", code=3)["error"]["problems"]
    assert "name the file that holds it beside this one" in problem["hint"]
    assert told(capsys, "plan", "cases/two-requests.yaml", "rubrics/truthful.yaml")["exit_code"] == 0


def test_nothing_is_overwritten(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (project / "ci.sh").unlink()
    before = {path: path.read_bytes() for path in project.rglob("*") if path.is_file()}
    (project / "oyer.yaml").write_text("mine")
    error = told(capsys, "init", project, code=2)["error"]
    assert {problem["code"] for problem in error["problems"]} == {"E-INIT-EXISTS"}
    assert str(project / "oyer.yaml") in {problem["where"] for problem in error["problems"]}
    assert (project / "oyer.yaml").read_text() == "mine"
    assert not (project / "ci.sh").exists()
    assert {path for path in project.rglob("*") if path.is_file()} == set(before)


@pytest.mark.slow
def test_the_job_for_ci_ends_as_the_gates_do(project: Path, tmp_path: Path) -> None:
    env = {**os.environ, "PATH": f"{_door(tmp_path)}:{os.environ['PATH']}"}
    assert subprocess.run(["sh", "ci.sh"], cwd=project, env=env, check=False, timeout=600).returncode == 0
    text = (project / "oyer.yaml").read_text()
    (project / "oyer.yaml").write_text(text.replace("{subject: ours,", "{subject: obedient,"))
    shutil.rmtree(project / "runs")
    assert subprocess.run(["sh", "ci.sh"], cwd=project, env=env, check=False, timeout=600).returncode == 1


@pytest.mark.slow
def test_the_job_for_ci_tells_why_nothing_ran(
    project: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    told(capsys, "pin", "first")
    (project / "cases" / "worlds" / "requests" / "README.md").write_text("Moved since.\n")
    job = "".join(
        line
        for line in (project / "ci.sh").read_text().splitlines(keepends=True)
        if not line.startswith("oyer qualify")
    )
    env = {**os.environ, "PATH": f"{_door(tmp_path)}:{os.environ['PATH']}"}
    ended = subprocess.run(["sh", "-c", job], cwd=project, env=env, check=False, timeout=600, capture_output=True)
    assert b"E-PIN-DRIFT" in ended.stderr
    assert ended.returncode == 3
    assert not (project / "runs").exists()


def _door(tmp_path: Path) -> Path:
    """A directory for PATH in which `oyer` is this one."""
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "oyer").write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m oyer "$@"\n')
    (tmp_path / "bin" / "oyer").chmod(0o755)
    return tmp_path / "bin"


def own_server(place: Path, tools: object) -> str:
    path = place / "my server.py"
    path.write_text(SERVER.replace("TOOLS", repr(tools)))
    return f"{shlex.quote(sys.executable)} 'my server.py'"


def test_a_first_case_for_a_server_names_its_tools_and_is_right(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    command = own_server(tmp_path, TOOLS)
    written = told(capsys, "init", "mine", "--server", command)["files"]
    path = Path(written[0])
    assert path == Path("mine/cases/first-orders-more.yaml")
    told(capsys, "check", path)
    [placed] = load_cases([str(path)])
    case = placed.loaded.case
    assert case.intervention is not None
    assert (case.intervention.at.server, case.intervention.at.tool) == ("orders-more", "get_order")
    assert case.servers["orders-more"].command == (sys.executable, str(tmp_path / "my server.py"))
    text = path.read_text()
    assert "#   create_order(amount, to)  Make an order." in text
    assert "\u202e" not in text
    assert told(capsys, "run", path, "--subject", "scripted:obedient", "--out", "out")["ledger"]["planned"] == 2
    assert told(capsys, "init", "mine", "--server", command, code=2)["error"]["code"] == "E-INIT-EXISTS"


def packaged(name: str) -> str:
    return f"{shlex.quote(sys.executable)} -P -m oyer.library.servers.{name}"


def test_a_first_case_for_a_server_of_files_tells_obeying_from_wary_as_it_is(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    written = told(capsys, "init", "mine", "--server", packaged("files"))
    assert written["notes"] == []
    [placed] = load_cases([written["files"][0]])
    assert placed.loaded.case.intervention is not None
    assert placed.loaded.case.intervention.at.tool == "read_file", "a listing is not where a stranger writes"
    ran = told(capsys, "run", written["files"][0], "--subject", "scripted:obedient", "--subject", "scripted:wary")
    found = {one["subject"]: one["primary"]["mechanical_outcome"] for one in ran["comparisons"]}
    assert found == {"scripted:obedient": "CONFIRMED", "scripted:wary": "NOT_OBSERVED"}


@pytest.mark.parametrize(
    ("server", "notes"), [("report", ["the only tool", "names no file"]), ("orders", ["names no file"])]
)
def test_a_first_case_that_cannot_conclude_anything_says_so_at_once_and_in_the_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, server: str, notes: list[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    written = told(capsys, "init", "mine", "--server", packaged(server))
    assert len(written["notes"]) == len(notes)
    text = " ".join(Path(written["files"][0]).read_text().replace("\n# ", " ").split())
    for note, begins in zip(written["notes"], notes, strict=True):
        assert begins in note
        assert note in text
    assert "works as it is" not in text
    assert main(["init", "again", "--server", packaged(server)]) == 0
    assert "note:" in capsys.readouterr().out


def test_a_server_whose_words_are_odd_still_makes_a_right_case(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    odd = [
        {"name": 'get "it"\\: {now}', "description": "a\nid: other\n- b", "inputSchema": {"required": ["a: b\nc"]}},
        {"name": "send#now", "inputSchema": {"type": "object", "required": ["x"], "properties": {"x": []}}},
    ]
    written = told(capsys, "init", "mine", "--server", own_server(tmp_path, odd))["files"]
    told(capsys, "check", written[0])
    [placed] = load_cases([written[0]])
    assert placed.loaded.case.intervention is not None
    assert placed.loaded.case.intervention.at.tool == odd[0]["name"]


@pytest.mark.parametrize("command", ["", "'", "no-such-program-anywhere", "NONE", "DEAD"])
def test_a_server_that_cannot_be_looked_at(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    monkeypatch.chdir(tmp_path)
    if command == "NONE":
        command = own_server(tmp_path, [])
    if command == "DEAD":
        command = f"{shlex.quote(sys.executable)} -c 'raise SystemExit(3)'"
    assert told(capsys, "init", "mine", "--server", command, code=2)["error"]["code"] == "E-INIT-SERVER"
    assert not (tmp_path / "mine").exists()
