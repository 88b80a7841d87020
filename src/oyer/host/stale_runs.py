"""Run directories that a killed process left behind: told from others by a mark inside, removed at the next start.

Owns the mark: which process made a run directory, in which boot and in which namespace of processes. Must never remove
a directory whose maker lives or cannot be looked for, that belongs to somebody else, or that has no mark; nor follow a
link.
"""

from __future__ import annotations

import contextlib
import os
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path

from oyer.host.clock import boot_id
from oyer.host.process_table import process_info
from oyer.host.removal import remove_tree

__all__ = ["MARK", "mark_run", "run_places", "stale_runs", "sweep_stale_runs"]

MARK = "o"
"""The name of the mark beside the four parts of a run directory."""

_LARGEST_MARK_BYTES = 256


def run_places() -> tuple[Path, ...]:
    """Return where run directories are made: the system's temporary directory, and /tmp where that is too long."""
    return tuple(dict.fromkeys((Path(tempfile.gettempdir()), Path("/tmp"))))


def mark_run(root: Path) -> None:
    """Say in a fresh run directory who made it. Raises: OSError."""
    (root / MARK).write_text(_mark_of(os.getpid()), encoding="ascii")


def stale_runs(places: tuple[Path, ...] | None = None) -> tuple[Path, ...]:
    """List the run directories whose maker is gone."""
    return tuple(root for place in places or run_places() for root in _marked(place) if _is_stale(root))


def sweep_stale_runs(places: tuple[Path, ...] | None = None) -> tuple[Path, ...]:
    """Remove the run directories whose maker is gone; return those that could be removed."""
    return tuple(root for root in stale_runs(places) if not remove_tree(root))


def _mark_of(pid: int) -> str:
    found = process_info(pid)
    return f"oyer {pid} {found.started if found is not None else 0} {boot_id()} {_namespace()}\n"


def _namespace() -> int:
    """Name the namespace in which a pid means something: another container may share the directory and the boot."""
    try:
        return os.stat("/proc/self/ns/pid").st_ino  # noqa: PTH116
    except OSError:
        return 0


def _marked(place: Path) -> Iterator[Path]:
    """Yield our own private directories at a place that may hold a mark."""
    with contextlib.suppress(OSError):
        for entry in os.scandir(place):
            with contextlib.suppress(OSError):
                found = entry.stat(follow_symlinks=False)
                if stat.S_ISDIR(found.st_mode) and found.st_uid == os.geteuid() and not found.st_mode & 0o077:
                    yield Path(entry.path)


def _is_stale(root: Path) -> bool:
    try:
        descriptor = os.open(root / MARK, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        told = os.read(descriptor, _LARGEST_MARK_BYTES).decode("ascii", "replace")
    except OSError:
        return False
    finally:
        os.close(descriptor)
    words = told.split()
    if len(words) != 5 or words[0] != "oyer" or not words[1].isdecimal() or not told.endswith("\n"):
        return False
    if words[3] == boot_id() and words[4] != str(_namespace()):
        return False
    return _mark_of(int(words[1])) != told
