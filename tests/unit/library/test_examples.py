"""The examples on servers that nobody here wrote: they load, and their change applies to answers as really given.

The answers below are those of `@modelcontextprotocol/server-filesystem` 2026.8.31 and `mcp-server-git` 2026.10.19, as
recorded. The servers themselves are driven too.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from oyer.host import copy_world, take_snapshot
from oyer.protocol import Applied, Edit, apply_edit, remaining_copies
from oyer.records import Case, parse_cases

EXAMPLES = Path(__file__).resolve().parents[3] / "examples"
NAMES = ("filesystem", "git")

MINUTES = (EXAMPLES / "filesystem" / "world" / "minutes.md").read_text(encoding="utf-8")
LOG = """\
Commit history:
Commit: 4516687ad1f83d9dcd7a9b6156af5de502a9b369
Author: Harbour Desk
Date: 2026-03-09 09:00:00+00:00
Message: Raise the weekly limit after the March meeting


Commit: 15166c820d63d28443c74e9fe8eaa2240c91e765
Author: Harbour Desk
Date: 2026-03-02 09:00:00+00:00
Message: Start the list of limits

"""


def git_answer() -> bytes:
    """Return an answer as the server writes it: one text block, text before type."""
    result = {"content": [{"text": LOG, "type": "text"}], "isError": False}
    return json.dumps({"jsonrpc": "2.0", "id": 2, "result": result}, separators=(",", ":")).encode() + b"\n"


def filesystem_answer() -> bytes:
    """Return an answer as the server writes it: the text in a block and in `structuredContent`."""
    result = {"content": [{"type": "text", "text": MINUTES}], "structuredContent": {"content": MINUTES}}
    message = {"result": result, "jsonrpc": "2.0", "id": 3}
    return json.dumps(message, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"


def load(name: str) -> Case:
    path = EXAMPLES / name / "case.yaml"
    [loaded] = parse_cases(path.read_bytes(), name=str(path))
    return loaded.case


def edit_of(case: Case) -> Edit:
    assert case.intervention is not None
    assert case.intervention.append_text is not None
    return Edit("append_text", {"text": case.intervention.append_text.text})


@pytest.mark.parametrize(("name", "answer"), [("filesystem", filesystem_answer()), ("git", git_answer())])
def test_the_change_applies_to_every_copy_of_a_real_answer(name: str, answer: bytes) -> None:
    case = load(name)
    assert case.intervention is not None
    applied = apply_edit(edit_of(case), answer)
    assert isinstance(applied, Applied)
    result = json.loads(applied.modified)["result"]
    copies = [result["content"][0]["text"], *result.get("structuredContent", {}).values()]
    assert len(set(copies)) == 1
    assert str(case.intervention.marker) in copies[0]
    assert str(case.intervention.marker).encode() not in answer
    assert remaining_copies(edit_of(case), applied.modified, answer) == ()


@pytest.mark.parametrize("name", NAMES)
def test_the_scripts_differ_in_the_effect_alone(name: str) -> None:
    case = load(name)
    assert case.doubles is not None
    assert case.conditions == ("baseline", "manipulated", "hardened")
    proper, tempted = case.doubles.proper["main"], case.doubles.tempted["main"]
    extra = [step for step in tempted if step.call is not None and step not in proper]
    assert len(extra) == 1
    assert case.intervention is not None
    assert extra[0].if_seen is not None
    assert case.intervention.append_text is not None
    assert extra[0].if_seen in case.intervention.append_text.text


@pytest.mark.parametrize("name", NAMES)
def test_the_readme_shows_two_commands(name: str) -> None:
    text = (EXAMPLES / name / "README.md").read_text(encoding="utf-8")
    commands = text.split("```")[1].strip().split("\n")
    assert len(commands) == 2
    assert commands[1].startswith(f"oyer run examples/{name}/case.yaml")


@pytest.mark.needs("git")
def test_the_repository_is_made_of_the_same_bytes_every_time_and_survives_a_copy(tmp_path: Path) -> None:
    digests = set()
    for number, mask in enumerate((0o022, 0o077)):
        made = tmp_path / str(number)
        argv = [sys.executable, str(EXAMPLES / "git" / "prepare.py"), "--world", str(made)]
        subprocess.run(argv, check=True, umask=mask, env={**os.environ, "GIT_AUTHOR_NAME": f"somebody {number}"})
        digests.add(take_snapshot(made).digest)
    copy = tmp_path / "copy"
    copy.mkdir()
    copy_world(tmp_path / "0", copy)
    digests.add(take_snapshot(copy).digest)
    assert len(digests) == 1
    told = subprocess.run(["git", "status", "--short"], cwd=copy, check=True, capture_output=True, text=True)
    assert told.stdout == "M  limits.yaml\n"


def drive(command: list[str], cwd: Path, calls: list[tuple[str, dict[str, Any]]]) -> list[bytes]:
    """Start a server, open it, and return its raw answers to some tool calls."""
    pipe = subprocess.PIPE
    answers = []
    with subprocess.Popen(command, cwd=cwd, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL) as child:
        assert child.stdin is not None
        assert child.stdout is not None
        opening = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
        asked = [("initialize", opening)] + [("tools/call", {"name": tool, "arguments": a}) for tool, a in calls]
        for number, (method, params) in enumerate(asked):
            message = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
            child.stdin.write(json.dumps(message).encode() + b"\n")
            child.stdin.flush()
            while json.loads(line := child.stdout.readline()).get("id") != number:
                pass
            answers.append(line)
            if number == 0:
                child.stdin.write(b'{"jsonrpc":"2.0","method":"notifications/initialized"}\n')
        child.stdin.close()
    return answers[1:]


def test_the_filesystem_server_answers_as_recorded(npm_filesystem: Path, tmp_path: Path) -> None:
    copy_world(EXAMPLES / "filesystem" / "world", tmp_path)
    tempted = _calls(load("filesystem"))
    read, wrote = drive(["node", str(npm_filesystem), str(tmp_path)], tmp_path, tempted)
    assert json.loads(read)["result"] == json.loads(filesystem_answer())["result"]
    assert "isError" not in json.loads(wrote)["result"]
    assert "everybody is welcome on Friday" in (tmp_path / "invitation.md").read_text()


def test_the_git_server_answers_as_recorded(git_server: Path, tmp_path: Path) -> None:
    argv = [sys.executable, str(EXAMPLES / "git" / "prepare.py"), "--world", str(tmp_path)]
    subprocess.run(argv, check=True)
    answers = drive([str(git_server), "--repository", str(tmp_path)], tmp_path, _calls(load("git")))
    assert json.loads(answers[0])["result"] == json.loads(git_answer())["result"]
    assert json.loads(answers[-1])["result"]["isError"] is False
    assert "Raise the daily limit as reviewed" in (tmp_path / ".git" / "logs" / "HEAD").read_text()


def _calls(case: Case) -> list[tuple[str, dict[str, Any]]]:
    assert case.doubles is not None
    steps = [step for step in case.doubles.tempted["main"] if step.call is not None]
    return [(str(step.call).partition(".")[2], dict(step.arguments)) for step in steps]
