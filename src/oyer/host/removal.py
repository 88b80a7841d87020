"""Deleting what a hostile process may have built: any depth, no permissions, links to elsewhere.

Owns the removal of run directories. Works with three open directories at most: what lies inside a directory is moved
up until nothing is nested, so that neither a path, a stack nor the table of descriptors can be made too long.
Must never follow a link, nor delete outside the tree.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path

from oyer.host.entropy import neutral_name

__all__ = ["remove_tree"]

_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


def remove_tree(root: Path) -> tuple[str, ...]:
    """Delete a tree without following links, also where a subject took away permissions; return what is left."""
    if not root.is_symlink() and not root.exists():
        return ()
    stuck: set[str] = set()
    try:
        if root.is_symlink() or not root.is_dir():
            root.unlink()
            return ()
        top = _open(None, root)
        try:
            while names := set(_names(top)) - stuck:
                stuck.update(name for name in names if not _remove(top, name))
        finally:
            os.close(top)
        root.rmdir()
    except FileNotFoundError:
        return ()
    except OSError:
        stuck = stuck or {""}
    return tuple(str(root / name) for name in sorted(stuck))


def _remove(top: int, name: str) -> bool:
    """Delete one entry of the top directory, or move what it holds up beside it; False where neither can be done."""
    if _unlinked(top, name):
        return True
    try:
        inner = _open(top, name)
        try:
            for child in _names(inner):
                if not _unlinked(inner, child):
                    _lift(inner, child, top)
        finally:
            os.close(inner)
        os.rmdir(name, dir_fd=top)
    except FileNotFoundError:
        return True
    except OSError:
        return False
    return True


def _names(directory: int) -> list[str]:
    return os.listdir(directory)


def _unlinked(directory: int, name: str) -> bool:
    """Delete what is no directory or an empty one; False for what is more, or resists."""
    for delete in (os.unlink, os.rmdir):
        try:
            delete(name, dir_fd=directory)
        except FileNotFoundError:
            return True
        except OSError:
            continue
        return True
    return False


def _lift(directory: int, name: str, top: int) -> None:
    """Move a directory that holds something to the top, where its turn comes."""
    os.close(_open(directory, name))
    os.rename(name, neutral_name(), src_dir_fd=directory, dst_dir_fd=top)


def _open(directory: int | None, name: str | Path) -> int:
    """Open a directory whatever its permissions, and make it usable."""
    try:
        opened = os.open(name, _DIRECTORY, dir_fd=directory)
    except PermissionError:
        # By name, since what may not be read cannot be opened; that it is no link was just said by the system.
        os.chmod(name, stat.S_IRWXU, dir_fd=directory)
        opened = os.open(name, _DIRECTORY, dir_fd=directory)
    os.fchmod(opened, stat.S_IRWXU)
    return opened
