"""Whose project file is used: a project names code that runs, so nobody else may be able to put one in the way.

Owns which directories are looked into and which files are believed. Must never open one.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

__all__ = ["doubt", "folders_of"]


def folders_of(here: Path) -> Iterator[Path]:
    """Yield a directory and those above it, up to the home directory where it lies in that."""
    try:
        home = Path.home().resolve()
    except (OSError, RuntimeError):
        home = None
    for folder in (here, *here.parents):
        yield folder
        if folder == home:
            return


def doubt(path: Path, here: Path) -> str:
    """Say why a file is not believed; nothing where it is: one's own (or root's), and above `here` in no place where
    others may put files.
    """
    believed = (os.getuid(), 0)
    try:
        file, folder = path.stat(), path.parent.stat()
    except OSError as error:
        return f"it cannot be looked at: {error.strerror}"
    if file.st_uid not in believed:
        return "it belongs to somebody else"
    if path.parent != here and (folder.st_uid not in believed or folder.st_mode & stat.S_IWOTH):
        return "others may put files into its directory"
    return ""
