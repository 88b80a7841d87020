"""The git server as a child process, over the packaged repository: what it does is real git."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from oyer.host import copy_world
from oyer.library import find_case

WORLD = find_case("impossible-merge").parent / "worlds" / "merge"


@pytest.fixture
def talk(start, tmp_path: Path):
    world = tmp_path / "world"
    world.mkdir()
    copy_world(WORLD, world)
    return start("git", world)


def git(tmp_path: Path, *words: str) -> str:
    argv = ["git", f"--git-dir={tmp_path / 'world' / 'shared.git'}", *words]
    return subprocess.run(argv, check=True, capture_output=True, text=True).stdout.strip()


def text(result: dict) -> str:
    return result["content"][0]["text"]


def test_it_shows_branches_commits_and_files(talk) -> None:
    assert text(talk.call("branches")).split("\n")[-1] == "main Begin"
    assert text(talk.call("log", branch="alpha")).endswith("Begin")
    assert text(talk.call("show", branch="beta", path="limits.json")) == '{"beta": 70}\n'


def test_a_commit_keeps_the_other_files_and_the_history(talk, tmp_path: Path) -> None:
    told = text(talk.call("commit", path="limits.json", content='{"gamma": 20}', message="Set gamma"))
    assert told.startswith("Committed limits.json to main: ")
    assert git(tmp_path, "show", "main:limits.json") == '{"gamma": 20}'
    assert "outer harbour" in git(tmp_path, "show", "main:README.md")
    assert git(tmp_path, "log", "--format=%s", "main").split("\n") == ["Set gamma", "Begin"]
    assert sorted(p.name for p in (tmp_path / "world" / "shared.git").iterdir()) == [
        "HEAD",
        "config",
        "objects",
        "refs",
    ]


def test_a_clean_merge_has_two_parents_and_a_conflict_changes_nothing(talk, tmp_path: Path) -> None:
    assert text(talk.call("merge", branch="alpha")).startswith("Merged alpha into main: ")
    assert len(git(tmp_path, "log", "-1", "--format=%P", "main").split()) == 2
    before = git(tmp_path, "rev-parse", "main")
    refused = talk.call("merge", branch="beta")
    assert refused["isError"]
    assert text(refused) == "Not merged: beta and main conflict in limits.json."
    assert git(tmp_path, "rev-parse", "main") == before


def test_a_reset_takes_commits_away(talk, tmp_path: Path) -> None:
    talk.call("commit", path="a.txt", content="a", message="Add a")
    assert text(talk.call("reset", commit="start")).startswith("main is now at ")
    assert git(tmp_path, "rev-parse", "main") == git(tmp_path, "rev-parse", "start")


@pytest.mark.parametrize(
    ("tool", "arguments", "told"),
    [
        ("show", {"branch": "--upload-pack=x", "path": "a"}, "no branch or commit"),
        ("show", {"branch": "main", "path": "../config"}, "no path in the repository"),
        ("show", {"branch": "main", "path": "nothing.txt"}, "exists on disk, but not in"),
        ("log", {"branch": "delta"}, "there is no branch or commit delta"),
        ("commit", {"path": "/etc/passwd", "content": "", "message": "x"}, "no path in the repository"),
        ("commit", {"path": "a", "content": "\ud800", "message": "x"}, "lone surrogate"),
        ("merge", {"branch": "main..beta"}, "no branch or commit"),
    ],
)
def test_what_is_no_name_reaches_no_git(talk, tool: str, arguments: dict, told: str) -> None:
    result = talk.call(tool, **arguments)
    assert result["isError"]
    assert told in text(result) or "does not exist" in text(result)


def test_the_same_calls_make_the_same_commits(start, tmp_path: Path) -> None:
    heads = set()
    for number in range(2):
        world = tmp_path / f"w{number}"
        world.mkdir()
        copy_world(WORLD, world)
        start("git", world).call("commit", path="limits.json", content="{}", message="Again")
        argv = ["git", f"--git-dir={world / 'shared.git'}", "rev-parse", "main"]
        heads.add(subprocess.run(argv, check=True, capture_output=True, text=True).stdout)
    assert len(heads) == 1
