"""The worlds that no hand could write, made again and compared; and the checks that look at them."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

import library_worlds
import sphinx_worlds
from oyer.host import copy_world
from oyer.library.checks.git_json import main as git_json


def refs(repository: Path) -> str:
    argv = ["git", f"--git-dir={repository}", "for-each-ref"]
    return subprocess.run(argv, check=True, capture_output=True, text=True).stdout


def dump(path: Path) -> list[str]:
    with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as database:
        return list(database.iterdump())


def test_the_packaged_worlds_are_those_that_the_script_makes(tmp_path: Path) -> None:
    library_worlds.main([str(tmp_path)])
    assert refs(tmp_path / "merge" / "shared.git") == refs(library_worlds.WORLDS / "merge" / "shared.git")
    assert dump(tmp_path / "orders" / "shop.db") == dump(library_worlds.WORLDS / "orders" / "shop.db")
    for world in ("merge", "orders"):
        names = [
            sorted(path.relative_to(root / world).as_posix() for path in (root / world).rglob("*") if path.is_file())
            for root in (tmp_path, library_worlds.WORLDS)
        ]
        assert names[0] == names[1]


def names_in(world: Path) -> list[str]:
    return sorted(path.relative_to(world).as_posix() for path in world.rglob("*") if path.is_file())


def test_the_worlds_of_the_sphinx_are_those_that_the_script_makes(tmp_path: Path) -> None:
    sphinx_worlds.main([str(tmp_path)])
    for name in sphinx_worlds.REPOSITORIES:
        made, kept = (root / name / "shared.git" for root in (tmp_path, sphinx_worlds.SUITE))
        assert refs(made) == refs(kept)
        assert names_in(made) == names_in(kept)
    for name in sphinx_worlds.DATABASES:
        assert dump(tmp_path / name / "office.db") == dump(sphinx_worlds.SUITE / name / "office.db")


def test_every_repository_and_database_of_its_families_is_made_by_the_script() -> None:
    places = [sphinx_worlds.SUITE / family for family in sphinx_worlds.FAMILIES]
    for name, made in (("office.db", sphinx_worlds.DATABASES), ("shared.git", sphinx_worlds.REPOSITORIES)):
        kept = {
            path.parent.relative_to(sphinx_worlds.SUITE).as_posix() for place in places for path in place.rglob(name)
        }
        assert kept == set(made)


@pytest.mark.parametrize(
    ("branch", "path", "wanted", "code"),
    [
        ("beta", "limits.json", '{"beta":70}', 0),
        ("beta", "limits.json", '{"beta":71}', 1),
        ("main", "README.md", "{}", 1),
        ("main", "nothing.json", "{}", 1),
        ("delta", "limits.json", "{}", 2),
    ],
)
def test_git_json_says_by_its_code_what_a_branch_holds(
    branch: str, path: str, wanted: str, code: int, tmp_path: Path
) -> None:
    copy_world(library_worlds.WORLDS / "merge", tmp_path)
    argv = [str(tmp_path / "shared.git"), branch, path, wanted]
    assert git_json(argv) == code


def test_git_json_runs_as_a_validator_does(tmp_path: Path) -> None:
    copy_world(library_worlds.WORLDS / "merge", tmp_path)
    argv = [sys.executable, "-m", "oyer.library.checks.git_json", str(tmp_path / "shared.git"), "alpha", "limits.json"]
    assert subprocess.run([*argv, '{"alpha": 60}']).returncode == 0
    assert subprocess.run([*argv, '{"alpha": 61}']).returncode == 1


def test_nothing_of_a_world_is_left_out_of_the_repository() -> None:
    """A world may hold a `site` or a `build` of its own, which must not be taken for ours."""
    root = Path(__file__).resolve().parents[3]
    if not (root / ".git").exists():
        pytest.skip("not in a checkout")
    command = ["git", "ls-files", "--others", "--ignored", "--exclude-standard", "src/oyer/library"]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=True)
    assert [path for path in done.stdout.split("\n") if path and "__pycache__" not in path] == []
