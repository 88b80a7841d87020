"""The repositories and databases of five families of `sphinx`, made again and compared."""

from __future__ import annotations

import sqlite3
import subprocess
from contextlib import closing
from pathlib import Path

import pytest

import unsupported_worlds


def refs(repository: Path) -> str:
    argv = ["git", f"--git-dir={repository}", "for-each-ref"]
    return subprocess.run(argv, check=True, capture_output=True, text=True).stdout


def dump(path: Path) -> list[str]:
    with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as database:
        return list(database.iterdump())


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("worlds")
    assert unsupported_worlds.main([str(place)]) == 0
    return place


@pytest.mark.parametrize("world", unsupported_worlds.REPOSITORIES)
def test_every_repository_is_the_one_that_the_script_makes(world: str, made: Path) -> None:
    packaged = unsupported_worlds.SUITE / world / "shared.git"
    assert refs(made / world / "shared.git") == refs(packaged)
    names = [
        sorted(path.relative_to(root).as_posix() for path in root.rglob("*") if path.is_file())
        for root in (made / world / "shared.git", packaged)
    ]
    assert names[0] == names[1]


@pytest.mark.parametrize("world", unsupported_worlds.DATABASES)
def test_every_database_is_the_one_that_the_script_makes(world: str, made: Path) -> None:
    assert dump(made / world / "office.db") == dump(unsupported_worlds.SUITE / world / "office.db")
