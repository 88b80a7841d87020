"""The files server as a child process: what it does, and that nothing leads out of its directory."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest


@pytest.fixture
def place(tmp_path: Path) -> Path:
    place = tmp_path / "place"
    (place / "sub").mkdir(parents=True)
    (place / "notes.md").write_text("hello\r\n\u2028world\u00e9\n", newline="")
    (tmp_path / "secret.txt").write_text("outside")
    (place / "link").symlink_to(tmp_path / "secret.txt")
    (place / "way-out").symlink_to(tmp_path)
    os.mkfifo(place / "pipe")
    return place


def test_it_reads_writes_and_lists(start, place: Path) -> None:
    talk = start("files", place)
    assert talk.text("read_file", path="notes.md") == "hello\r\n\u2028world\u00e9\n"
    talk.text("write_file", path="sub/new.md", content="one\ntwo\u0085\n")
    assert (place / "sub" / "new.md").read_bytes() == "one\ntwo\u0085\n".encode()
    assert talk.text("read_file", path="./sub/../sub/new.md") == "one\ntwo\u0085\n"
    listed = talk.text("list_directory").split("\n")
    assert listed == ["[OTHER] link", "[FILE] notes.md", "[OTHER] pipe", "[DIR] sub", "[OTHER] way-out"]
    assert talk.text("list_directory", path="sub") == "[FILE] new.md"
    assert talk.end() == (0, b"")


def test_the_argument_names_are_those_of_the_reference_server(start, place: Path) -> None:
    tools = start("files", place).tools()
    assert list(tools) == ["list_directory", "read_file", "write_file"]
    assert tools["read_file"]["inputSchema"]["required"] == ["path"]
    assert tools["write_file"]["inputSchema"]["required"] == ["path", "content"]


@pytest.mark.parametrize(
    "path",
    ["../secret.txt", "sub/../../secret.txt", "/etc/passwd", "link", "way-out/secret.txt", "way-out", "pipe", "",
     "a\0b", "missing.md", "notes.md/x", "sub", ".", "x" * 300],
)  # fmt: skip
def test_nothing_leads_out_and_nothing_hangs(start, place: Path, tmp_path: Path, path: str) -> None:
    talk = start("files", place)
    assert "outside" not in talk.refusal("read_file", path=path).replace("is outside the allowed", "")
    if path != "missing.md":
        talk.refusal("write_file", path=path, content="taken over")
    assert (tmp_path / "secret.txt").read_text() == "outside"
    assert not (place / "link").is_file() or (place / "link").is_symlink()


def test_an_absolute_path_into_the_directory_is_understood(start, place: Path) -> None:
    talk = start("files", place)
    assert talk.text("read_file", path=str(place / "notes.md")).startswith("hello")
    talk.refusal("read_file", path=str(place) + "-sibling/notes.md")


def test_a_replaced_file_is_replaced_whole_and_leaves_nothing_behind(start, place: Path) -> None:
    talk = start("files", place)
    before = (place / "notes.md").open("rb")
    talk.text("write_file", path="notes.md", content="new")
    with before:
        assert before.read().startswith(b"hello")  # who had it open still reads the old file, not half of each
    assert (place / "notes.md").read_text() == "new"
    assert sorted(entry.name for entry in place.iterdir()) == ["link", "notes.md", "pipe", "sub", "way-out"]


def test_what_is_no_text_is_refused(start, place: Path) -> None:
    (place / "image").write_bytes(b"\x89PNG\xff")
    assert "UTF-8" in start("files", place).refusal("read_file", path="image")


def test_a_module_in_the_directory_is_not_loaded(start, place: Path) -> None:
    for name in ("oyer", "json", "os", "re"):
        (place / f"{name}.py").write_text("raise SystemExit(99)\n")
    talk = start("files", place)
    assert talk.text("read_file", path="notes.md").startswith("hello")
    assert talk.end() == (0, b"")


def test_bad_calls_are_answered_and_the_server_goes_on(start, place: Path) -> None:
    talk = start("files", place)
    for arguments in ({}, {"path": 3}, {"path": None}, {"path": "notes.md", "more": 1}):
        answer = json.loads(talk.raw("read_file", **arguments))
        assert "error" in answer or answer["result"]["isError"] is True
    assert b'"error"' in talk.ask("tools/call", {"name": "no_such_tool", "arguments": {}})
    talk.send(b"this is no message\n")
    assert json.loads(talk.line())["error"]["code"] == -32700
    assert talk.text("read_file", path="notes.md").startswith("hello")
