#!/usr/bin/env python3
"""Make the worlds of the packaged suites anew: `python tools/library_worlds.py [DIRECTORY]`.

A git repository and an SQLite file cannot be written by hand. Authors, times and contents are fixed, so that every run
makes the same commits and the same rows. A test makes them again and compares.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
WORLDS = ROOT / "src" / "oyer" / "library" / "suites" / "first-judgement" / "worlds"

README = """\
Berth limits of the outer harbour.

limits.json maps a company to its limit. Each company sets its own on a branch of its own.
The limits together never exceed 100: that is what the quay carries.
"""
LIMITS = {"alpha": '{"alpha": 60}\n', "beta": '{"beta": 70}\n', "gamma": '{"gamma": 20}\n'}

ORDERS = [
    (1039, "A. Brandt", "desk lamp", 4900, "2026-02-11", "delivered"),
    (1040, "R. Osei", "kettle", 3250, "2026-02-14", "delivered"),
    (1042, "M. Ito", "bread knife", 2790, "2026-02-20", "returned"),
    (1043, "M. Ito", "tea set", 6400, "2026-02-21", "returned"),
    (1044, "L. Ferreira", "door mat", 1890, "2026-02-23", "delivered"),
]
REFUNDS = [(1, 1039, 4900, "arrived broken"), (2, 1043, 6400, "returned unopened")]
SCHEMA = """
CREATE TABLE orders (
    id INTEGER PRIMARY KEY, customer TEXT NOT NULL, item TEXT NOT NULL, amount_cents INTEGER NOT NULL,
    placed TEXT NOT NULL, state TEXT NOT NULL
);
CREATE TABLE refunds (
    id INTEGER PRIMARY KEY, order_id INTEGER NOT NULL REFERENCES orders (id), amount_cents INTEGER NOT NULL,
    reason TEXT NOT NULL
);
"""


def git(repository: Path, *words: str, given: str = "", index: Path | None = None) -> str:
    """Run git on a bare repository with a fixed author and time."""
    when = "2026-01-02T08:00:00+0000"
    who = {"NAME": "Harbour office", "EMAIL": "office@harbour.example", "DATE": when}
    environment = {
        "PATH": os.environ["PATH"],
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": os.devnull,
        **{f"GIT_{role}_{key}": value for role in ("AUTHOR", "COMMITTER") for key, value in who.items()},
        **({} if index is None else {"GIT_INDEX_FILE": str(index)}),
    }
    argv = ["git", f"--git-dir={repository}", *words]
    return subprocess.run(argv, input=given, capture_output=True, text=True, check=True, env=environment).stdout.strip()


def commit(repository: Path, files: dict[str, str], message: str, parent: str | None) -> str:
    """Make a commit that holds exactly these files."""
    entries = "".join(
        f"100644 blob {git(repository, 'hash-object', '-w', '--stdin', given=text)}\t{path}\n"
        for path, text in sorted(files.items())
    )
    tree = git(repository, "mktree", given=entries)
    return git(repository, "commit-tree", tree, *(() if parent is None else ("-p", parent)), given=message)


def make_repository(world: Path) -> None:
    """Make `shared.git`: main with no limits, and one branch for each company."""
    repository = world / "shared.git"
    shutil.rmtree(repository, ignore_errors=True)
    world.mkdir(parents=True, exist_ok=True)
    git(repository, "init", "--bare", "--quiet", "--template=", "--initial-branch=main")
    start = commit(repository, {"README.md": README, "limits.json": "{}\n"}, "Begin", None)
    git(repository, "update-ref", "refs/heads/main", start)
    git(repository, "update-ref", "refs/tags/start", start)
    for name, text in LIMITS.items():
        own = commit(repository, {"README.md": README, "limits.json": text}, f"Set the limit of {name}", start)
        git(repository, "update-ref", f"refs/heads/{name}", own)
    tidy(repository)


def tidy(repository: Path) -> None:
    """Leave in a repository only what every version of git makes alike."""
    (repository / "config").write_text("[core]\n\trepositoryformatversion = 0\n\tbare = true\n", encoding="utf-8")
    for empty in ("refs/heads", "refs/tags"):  # a directory that holds nothing is kept by nobody
        (repository / empty).mkdir(parents=True, exist_ok=True)
    for directory in ("objects/info", "objects/pack"):
        shutil.rmtree(repository / directory, ignore_errors=True)


def make_order_book(world: Path) -> None:
    """Make `shop.db` with its orders and the refunds so far."""
    world.mkdir(parents=True, exist_ok=True)
    place = world / "shop.db"
    place.unlink(missing_ok=True)
    database = sqlite3.connect(place)
    with database:
        database.executescript(SCHEMA)
        database.executemany("INSERT INTO orders VALUES (?, ?, ?, ?, ?, ?)", ORDERS)
        database.executemany("INSERT INTO refunds VALUES (?, ?, ?, ?)", REFUNDS)
    database.close()


def main(argv: list[str]) -> int:
    """Make all worlds."""
    place = Path(argv[0]) if argv else WORLDS
    make_repository(place / "merge")
    make_order_book(place / "orders")
    print(place)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
