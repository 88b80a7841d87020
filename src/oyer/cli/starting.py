"""A project that begins with a copy of a suite: the suite, its cases, rubrics and worlds, and what makes it run.

Owns what is copied where, and the ids of the copy. Must never write anything, or change what a case says.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from oyer.cli.naming import no_suite, packaged_file
from oyer.cli.scopes import PlacedSuite, load_suite
from oyer.errors import UsageError

__all__ = ["Copied", "Start", "start_from"]

_LARGEST_BYTES = 64 * 1024 * 1024
_PLACE = "suites"
_MADE_HERE = re.compile(rb", made by tools/\w+\.py")
_MADE_THERE = b"; README.md says how to change it"
"""What a comment says of a world that no editor opens: a program that nobody has beside a copy makes it here."""


class Copied(NamedTuple):
    """One file of the new project."""

    data: bytes
    executable: bool = False


class Start(NamedTuple):
    """The files of a project by their paths in it, and the name by which its suite is run."""

    files: dict[str, Copied]
    suite: str


def start_from(name: str) -> Start:
    """Return a project that begins with a copy of a packaged suite.

    The copy goes by the last part of the suite's name, and so do its cases. Raises: UsageError E-SUITE-NONE,
    E-INIT-FROM; RecordError where the suite is not right.
    """
    if packaged_file(name, "TrialSuite@1") is None:
        raise no_suite(name, None)
    placed = load_suite(name)
    own = name.rsplit("/", 1)[-1]
    root = placed.path.parent.parent
    rubrics = _renamed_rubrics(placed, name) if name != own else {}
    files: dict[str, Copied] = {}
    for path in sorted(set(_sources(placed))):
        inside = os.path.relpath(path, root)
        if inside.startswith(".."):
            raise UsageError("E-INIT-FROM", f"{name} uses a file outside its library: {path}", where=name)
        data = path.read_bytes()
        if path.suffix == ".yaml":
            data = _MADE_HERE.sub(_MADE_THERE, _renamed(data, name, own))
            for old, new in rubrics.items():
                data = _renamed(data, old, new)
        files[f"{_PLACE}/{inside}"] = Copied(data, bool(path.stat().st_mode & stat.S_IXUSR))
    return Start({**_frame(name, own, placed.path.parent.name), **files}, own)


def _sources(placed: PlacedSuite) -> Iterator[Path]:
    """Every file beside the suite, and whatever it uses from elsewhere."""
    folder = placed.path.parent
    yield from _files_in(folder)
    for file in placed.scope.files:
        yield Path(file.name)
    for case in placed.cases:
        if case.world is not None and not case.world.is_relative_to(folder.resolve()):
            yield from _files_in(case.world) if case.world.is_dir() else [case.world]


def _files_in(folder: Path) -> Iterator[Path]:
    for path in folder.rglob("*"):
        if path.is_file() and "__pycache__" not in path.parts and path.stat().st_size <= _LARGEST_BYTES:
            yield path


def _renamed(data: bytes, name: str, own: str) -> bytes:
    """Give the suite and its cases their new names wherever they are named."""
    if name == own:
        return data
    return re.sub(rb"(?<![\w./-])" + re.escape(name.encode()) + rb"(?![\w.-])", own.encode(), data)


def _renamed_rubrics(placed: PlacedSuite, name: str) -> dict[str, str]:
    """Return the rubrics whose ids begin with the suite that the family was a part of, with their ids without it."""
    prefix = f"{name.partition('/')[0]}-"
    known = set(placed.scope.rubrics)
    shorter = {old: old.removeprefix(prefix) for old in sorted(known) if old.startswith(prefix)}
    return {old: new for old, new in shorter.items() if new not in known}


def _frame(name: str, own: str, folder: str) -> dict[str, Copied]:
    from oyer.library import start_files

    marks = {b"ORIGIN": name, b"SUITE": own, b"FOLDER": folder}
    found: dict[str, Copied] = {}
    for path, data in start_files().items():
        filled = re.sub(rb"\b(ORIGIN|SUITE|FOLDER)\b", lambda mark: marks[mark[0]].encode(), data)
        found[path] = Copied(filled if path in ("README.md", "ci.sh", "oyer.yaml") else data)
    return found
