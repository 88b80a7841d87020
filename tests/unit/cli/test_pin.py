"""A lock holds what a suite is made of; what moved is named, and nothing of it runs."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from oyer.cli import main

SERVER = """\
import json, sys
for line in sys.stdin:
    asked = json.loads(line)
    method = asked.get("method", "")
    offer = {
        "initialize": {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}, "prompts": {}},
                       "serverInfo": {"name": "own", "version": "1"}},
        "tools/list": {"tools": [{"name": "look", "description": "Look at the notes.",
                                  "inputSchema": {"type": "object"}}]},
        "prompts/list": {"prompts": [{"name": "greet"}]},
        "tools/call": {"content": [{"type": "text", "text": "two"}]},
    }.get(method)
    if "id" in asked:
        print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": offer}), flush=True)
"""
SUITE = """\
oyer: Case@1
id: counting
effect_class: local_read
world: world
servers: {own: {command: [PYTHON, ./server.py]}}
prompt: Count the notes with care, and say how many there are.
doubles: {proper: [own.look], tempted: [own.look]}
---
oyer: TrialSuite@1
id: small
cases: [counting]
"""


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    (tmp_path / "world").mkdir()
    (tmp_path / "world" / "notes.md").write_text("one\ntwo\n")
    (tmp_path / "server.py").write_text(SERVER)
    path = tmp_path / "small.yaml"
    path.write_text(SUITE.replace("PYTHON", sys.executable))
    return path


def told(capsys: pytest.CaptureFixture[str], *arguments: object, code: int = 0) -> Any:
    capsys.readouterr()
    assert main([*(str(each) for each in arguments), "--json"]) == code
    return json.loads(capsys.readouterr().out)


def edit(path: Path, old: str, new: str) -> None:
    assert old in path.read_text()
    path.write_text(path.read_text().replace(old, new))


def test_a_lock_stands_beside_its_suite_and_holds_what_was_looked_at(
    suite: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pinned = told(capsys, "pin", suite)
    lock = suite.with_name("small.lock.json")
    assert pinned["path"] == str(lock)
    case = json.loads(lock.read_text())["cases"]["counting"]
    assert set(case["world_files"]) == {"notes.md"}
    server = case["servers"]["own"]
    assert server["tool_names"] == ["look"]
    for field in ("initialize", "tools", "prompts"):
        assert server[field].startswith("raw:")
    assert server["resources"] is None, "the server does not say that it has any"
    before = lock.read_bytes()
    assert told(capsys, "pin", suite)["differences"] == []
    assert lock.read_bytes() == before
    assert told(capsys, "check", lock)["exit_code"] == 0


@pytest.mark.parametrize(
    ("file", "old", "new", "field", "sentence"),
    [
        ("small.yaml", "with care", "with haste", "cases.counting.record.sessions[0].turns[0]",
         'case counting: its prompt: "care," (word 5) became "haste,"'),
        ("server.py", "Look at the notes.", "Look at all notes.", "cases.counting.servers.own.tool_digests.look",
         'case counting: server own: tool look: its description: "the" (word 3) became "all"'),
        ("server.py", '"name": "own"', '"name": "other"', "cases.counting.servers.own.initialize",
         "case counting: server own: its opening answer is not the same any more"),
        ("server.py", "greet", "leave", "cases.counting.servers.own.prompts",
         "case counting: server own: its prompts are not the same any more"),
        ("world/notes.md", "two", "three", "cases.counting.world_files.notes.md",
         "case counting: file notes.md has other content"),
        ("small.yaml", "id: small\n", "id: small\norder: {kind: shuffled, seed: 3}\n", "suite.order.kind",
         "the suite: order.kind was fixed, is shuffled"),
    ],
)  # fmt: skip
def test_what_moved_is_named_in_words_and_does_not_run(
    suite: Path, capsys: pytest.CaptureFixture[str], file: str, old: str, new: str, field: str, sentence: str
) -> None:
    told(capsys, "pin", suite)
    lock = suite.with_name("small.lock.json")
    kept = lock.rename(suite.with_name("kept.json"))
    edit(suite.parent / file, old, new)
    told(capsys, "pin", suite)
    words = [one["sentence"] for one in told(capsys, "pin", "--diff", kept, lock)["differences"]]
    assert sentence in words
    kept.rename(lock)
    out = suite.parent / "out"
    error = told(capsys, "run", suite, "--subject", "scripted:oracle", "--out", out, code=3)["error"]
    assert {problem["code"] for problem in error["problems"]} == {"E-PIN-DRIFT"}
    fields = [problem["where"].replace('["', ".").replace('"]', "") for problem in error["problems"]]
    assert field in fields
    assert not [one for one in fields if one.endswith((".digest", ".form", "suite_digest"))], "they only follow"
    assert not out.exists()


def test_one_word_of_a_prompt_is_all_that_is_named(suite: Path, capsys: pytest.CaptureFixture[str]) -> None:
    told(capsys, "pin", suite, "-o", suite.with_name("one.json"))
    edit(suite, "Count", "Tell")
    told(capsys, "pin", suite, "-o", suite.with_name("two.json"))
    [one] = told(capsys, "pin", "--diff", suite.with_name("one.json"), suite.with_name("two.json"))["differences"]
    assert one["sentence"] == 'case counting: its prompt: "Count" (word 1) became "Tell"'


def test_a_suite_that_did_not_move_runs_and_one_without_a_lock_says_so(
    suite: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ran = told(capsys, "run", suite, "--subject", "scripted:oracle", "--out", suite.parent / "one")
    assert any("not locked" in note for note in ran["notes"])
    told(capsys, "pin", suite)
    ran = told(capsys, "run", suite, "--subject", "scripted:oracle", "--out", suite.parent / "two")
    assert ran["notes"] == []


def test_what_is_no_file_in_the_place_of_a_lock_is_refused(suite: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lock = suite.with_name("small.lock.json")
    for put in (lock.mkdir, lambda: lock.symlink_to("nowhere.json")):
        put()
        found = told(capsys, "run", suite, "--subject", "scripted:oracle", "--out", suite.parent / "series", code=2)
        assert [problem["code"] for problem in found["error"]["problems"]] == ["E-LOCK-KIND"]
        lock.unlink() if lock.is_symlink() else lock.rmdir()
    assert not (suite.parent / "series").exists()


def test_a_server_that_does_not_answer_is_a_problem_of_the_lock(
    suite: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (suite.parent / "server.py").write_text("raise SystemExit('no key')\n")
    [problem] = told(capsys, "pin", suite)["problems"]
    assert "case counting: server own" in problem


def test_what_is_no_lock(suite: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert told(capsys, "pin", "--diff", suite, suite, code=3)["exit_code"] == 3
    assert told(capsys, "pin", "--diff", suite.with_name("no"), suite, code=2)["error"]["code"] == "E-PATH"
    assert told(capsys, "pin", "gone", code=2)["error"]["code"] == "E-SUITE-NONE"
    assert told(capsys, "pin", code=2)["error"]["code"] == "E-USAGE"


def test_what_the_refusal_says_to_do_can_be_done(suite: Path, capsys: pytest.CaptureFixture[str]) -> None:
    told(capsys, "pin", suite)
    edit(suite, "Count", "Tell")
    edit(suite.parent / "world" / "notes.md", "two", "three")
    assert main(["run", str(suite), "--subject", "scripted:oracle", "--out", str(suite.parent / "out")]) == 3
    said = " ".join(capsys.readouterr().err.split())
    assert said.count("hint:") == 1
    lock = suite.with_name("small.lock.json")
    assert f"oyer pin {suite} -o now.json; oyer pin --diff {lock} now.json" in said.replace("\n", " ")
    now = suite.with_name("now.json")
    told(capsys, "pin", suite, "-o", now)
    assert len(told(capsys, "pin", "--diff", lock, now)["differences"]) == 2


@pytest.mark.parametrize(("text", "named"), [("oyer: Project@1\n", "it holds Project@1"), ("[]", "no lock of a suite")])
def test_what_is_no_lock_is_told_as_that(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str, named: str
) -> None:
    (tmp_path / "no.yaml").write_text(text)
    problem = told(capsys, "pin", "--diff", tmp_path / "no.yaml", tmp_path / "no.yaml", code=3)["error"]["problems"][0]
    assert (problem["code"], problem["where"]) == ("E-RECORD-KIND", str(tmp_path / "no.yaml"))
    assert named in problem["message"]
    assert "oyer pin SUITE" in problem["hint"]
