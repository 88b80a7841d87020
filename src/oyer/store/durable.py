"""Writing to disk so that it is there afterwards, and saying so when it is not.

Owns the few system calls that create, append, publish and flush files. Must never follow a link, overwrite a file,
or turn a failed or short write into silence: every failure is a HarnessError `E-STORE-WRITE`.

Modes are 0700 and 0600. On Linux `fdatasync` and `fsync` reach the device; on macOS `F_FULLFSYNC` is used.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import secrets
import sys
from collections.abc import Callable
from pathlib import Path
from types import TracebackType

from oyer.errors import HarnessError

__all__ = [
    "FAULT_POINTS",
    "FaultPoint",
    "append_all",
    "create_dir",
    "flush",
    "flush_dir",
    "flush_path",
    "no_fault",
    "open_new",
    "publish",
    "write_errors",
]

FaultPoint = Callable[[str], None]

# Every name this room calls its fault point with, in the order of an attempt's life.
FAULT_POINTS = (
    "store.ledger",
    "store.ledger-fsync",
    "store.blob",
    "store.append",
    "store.fsync",
    "store.pack",
    "store.unpacked",
    "store.sealed",
    "store.seal",
)

_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW
_FULL_FLUSH: int | None = getattr(fcntl, "F_FULLFSYNC", None)


def no_fault(_name: str) -> None:
    """The fault point of every day: nothing happens."""


class _WriteErrors:
    """A plain context manager: one stands around every event written, and a generator would cost three times more."""

    __slots__ = ("_what",)

    def __init__(self, what: str | Path) -> None:
        self._what = what

    def __enter__(self) -> None:
        return

    def __exit__(self, _: type[BaseException] | None, error: BaseException | None, __: TracebackType | None) -> None:
        if isinstance(error, OSError):
            raise HarnessError(
                "E-STORE-WRITE",
                f"cannot write: {error.strerror or error}",
                where=str(self._what),
                hint="look at free space and permissions of the series directory",
            ) from error


def write_errors(what: str | Path) -> _WriteErrors:
    """Turn an OSError of the block into the HarnessError that names what could not be kept."""
    return _WriteErrors(what)


def open_new(path: Path) -> int:
    """Create a file nobody else has and return its descriptor, in append mode."""
    return os.open(path, _NEW, 0o600)


def append_all(fd: int, data: bytes) -> None:
    """Append with one write. Raises: OSError, also when fewer bytes were taken than given."""
    written = os.write(fd, data)
    if written != len(data):
        raise OSError(f"short write: {written} of {len(data)} bytes")


def flush(fd: int) -> None:
    """Wait until the bytes of a file are on the device. Raises: OSError."""
    if _FULL_FLUSH is not None:
        fcntl.fcntl(fd, _FULL_FLUSH)
    elif sys.platform == "linux":
        os.fdatasync(fd)
    else:
        os.fsync(fd)


def flush_path(path: Path) -> None:
    """Wait until a file that was written earlier is on the device. Raises: OSError."""
    fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
    try:
        flush(fd)
    finally:
        os.close(fd)


def flush_dir(path: Path) -> None:
    """Wait until the names in a directory are on the device. Raises: OSError."""
    fd = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


def create_dir(path: Path, root: Path) -> None:
    """Create a directory and those between it and `root`, each entry flushed. Raises: OSError."""
    missing: list[Path] = []
    at = path
    while at != root and not at.is_dir():
        missing.append(at)
        at = at.parent
    for directory in reversed(missing):
        with contextlib.suppress(FileExistsError):
            directory.mkdir(mode=0o700)
        flush_dir(directory.parent)


def publish(
    temp_dir: Path,
    target: Path,
    data: bytes,
    *,
    sync: bool = True,
    before_rename: Callable[[], None] | None = None,
) -> None:
    """Write a whole file under a temporary name, then give it its own in one step; an existing file stays.

    Raises: OSError; FileExistsError when `target` is there.
    """
    temporary = temp_dir / secrets.token_hex(8)
    fd = open_new(temporary)
    try:
        try:
            append_all(fd, data)
            if sync:
                flush(fd)
        finally:
            os.close(fd)
        if before_rename is not None:
            before_rename()
        target.hardlink_to(temporary)  # a link fails where a rename would overwrite
    finally:
        temporary.unlink(missing_ok=True)
    if sync:
        flush_dir(target.parent)
