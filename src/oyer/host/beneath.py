"""Reaching files below a directory without ever leaving it.

Owns path resolution component by component, relative to open directories, following no link: what a subject
made of its world (a link to elsewhere, a directory exchanged meanwhile) can only make a path unreachable.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from collections.abc import Iterator
from pathlib import Path

from oyer.errors import HarnessError

__all__ = [
    "create_beneath",
    "make_parents_beneath",
    "open_directory",
    "open_regular",
    "read_beneath",
    "remove_beneath",
    "remove_directory_beneath",
    "rename_beneath",
]

_CHUNK_BYTES = 1024 * 1024
_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


def open_directory(path: Path) -> int:
    """Open the root of a walk. Raises: HarnessError when it is no directory."""
    try:
        return os.open(path, _DIRECTORY)
    except OSError as error:
        raise HarnessError("E-WORLD-ROOT", f"cannot open the directory: {error.strerror}", where=str(path)) from error


def open_regular(directory: int, name: str | bytes) -> int | None:
    """Open a regular file for reading; None when it is anything else. Raises: FileNotFoundError."""
    try:
        descriptor = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=directory)
    except FileNotFoundError:
        raise
    except OSError:
        return None
    if stat.S_ISREG(os.fstat(descriptor).st_mode):
        return descriptor
    os.close(descriptor)
    return None


def read_beneath(root: Path, path: str, *, max_bytes: int) -> bytes | None:
    """Return a file's content; None when it is missing, not regular, reached through a link, or longer."""
    try:
        with _parent_of(root, path) as (directory, name):
            descriptor = open_regular(directory, name)
            if descriptor is None:
                return None
            try:
                return _read_at_most(descriptor, max_bytes)
            finally:
                os.close(descriptor)
    except FileNotFoundError:
        return None
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.ENOTDIR):
            return None
        raise


def create_beneath(root: Path, path: str, content: bytes, *, mode: int = 0o600) -> None:
    """Write a new file whose parent exists. Raises: FileExistsError, OSError."""
    with _parent_of(root, path) as (directory, name):
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        descriptor = os.open(name, flags, mode, dir_fd=directory)
        try:
            os.fchmod(descriptor, mode)
            view = memoryview(content)
            while view:
                view = view[os.write(descriptor, view) :]
        finally:
            os.close(descriptor)


def rename_beneath(root: Path, path: str, new_name: str) -> None:
    """Give a name another last part, in its own directory. Raises: OSError."""
    with _parent_of(root, path) as (directory, name):
        os.rename(name, new_name, src_dir_fd=directory, dst_dir_fd=directory)


def make_parents_beneath(root: Path, path: str) -> tuple[str, ...]:
    """Make the directories that a path lacks, and return them, the outermost first. Raises: OSError."""
    made: list[str] = []
    parts = path.split("/")
    for depth in range(1, len(parts)):
        parent = "/".join(parts[:depth])
        with _parent_of(root, parent) as (directory, name):
            try:
                os.mkdir(name, 0o755, dir_fd=directory)
            except FileExistsError:
                continue
        made.append(parent)
    return tuple(made)


def remove_directory_beneath(root: Path, path: str) -> None:
    """Remove one empty directory. Raises: OSError."""
    with _parent_of(root, path) as (directory, name):
        os.rmdir(name, dir_fd=directory)


def remove_beneath(root: Path, path: str) -> None:
    """Remove one name that is no directory. Raises: OSError."""
    with _parent_of(root, path) as (directory, name):
        os.unlink(name, dir_fd=directory)


@contextlib.contextmanager
def _parent_of(root: Path, path: str) -> Iterator[tuple[int, str]]:
    """Open the directory that holds the last part of a path."""
    parts = path.split("/")
    if any(part in ("", ".", "..") for part in parts):
        raise HarnessError("E-WORLD-PATH", "not a plain relative path", where=path)
    directory = open_directory(root)
    try:
        for part in parts[:-1]:
            inner = os.open(part, _DIRECTORY, dir_fd=directory)
            os.close(directory)
            directory = inner
        yield directory, parts[-1]
    finally:
        os.close(directory)


def _read_at_most(descriptor: int, max_bytes: int) -> bytes | None:
    chunks: list[bytes] = []
    left = max_bytes + 1
    while left > 0 and (chunk := os.read(descriptor, min(left, _CHUNK_BYTES))):
        chunks.append(chunk)
        left -= len(chunk)
    return b"".join(chunks) if left > 0 else None
