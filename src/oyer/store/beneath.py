"""Reading inside one directory without ever following a link out of it.

Owns opening, listing and reading of plain files below a root. Must never open a link, a device or a pipe, and never
read more than it was allowed: what someone put there to mislead is an EvidenceError.
"""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from oyer.errors import EvidenceError, UsageError
from oyer.evidence import StoredFile

__all__ = ["Entry", "Found", "Tree"]

_DIR = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_CHUNK_BYTES = 1 << 20
_MAX_DEPTH = 16


class Entry(NamedTuple):
    """One name in a directory."""

    name: str
    is_dir: bool


class Found(NamedTuple):
    """One name below a root: `kind` is `file`, `link`, `other` (a device or pipe), `deep` or `unreadable`."""

    path: str
    kind: str


class Tree:
    """A directory that is only ever read, one descriptor held on its root."""

    def __init__(self, root: Path) -> None:
        try:
            self._fd = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        except OSError as error:
            raise UsageError("E-SERIES-NONE", f"no directory to read: {error.strerror}", where=str(root)) from error

    def close(self) -> None:
        """Give the descriptor back."""
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1

    def read(self, path: str, limit_bytes: int) -> bytes | None:
        """Return a whole file, None when it is not there.

        Raises: EvidenceError `E-STORE-LINK`, `E-STORE-KIND`, `E-STORE-LIMIT`, `E-STORE-READ`.
        """
        fd = self._open_file(path)
        if fd is None:
            return None
        try:
            pieces: list[bytes] = []
            # Asked first: a file of any size takes no room on a disk while it holds nothing.
            size = os.fstat(fd).st_size
            if size > limit_bytes:
                raise EvidenceError("E-STORE-LIMIT", f"the file is larger than {limit_bytes} bytes", where=path)
            size = 0
            while piece := _read(fd, path):
                size += len(piece)
                if size > limit_bytes:
                    raise EvidenceError("E-STORE-LIMIT", f"the file is larger than {limit_bytes} bytes", where=path)
                pieces.append(piece)
            return b"".join(pieces)
        finally:
            os.close(fd)

    def size(self, path: str) -> int | None:
        """Return how large a file is without reading it, None when it is not there. Raises: as `read`."""
        fd = self._open_file(path)
        if fd is None:
            return None
        try:
            return os.fstat(fd).st_size
        finally:
            os.close(fd)

    def pieces(self, path: str) -> Iterator[bytes] | None:
        """Yield a file in pieces, None when it is not there. Raises: as `read`, but for the limit."""
        fd = self._open_file(path)
        return None if fd is None else _pieces(fd, path)

    def digest(self, path: str) -> StoredFile | None:
        """Return size and digest of a file, read in pieces; None when it is not there."""
        pieces = self.pieces(path)
        if pieces is None:
            return None
        state = hashlib.sha256()
        size = 0
        for piece in pieces:
            size += len(piece)
            state.update(piece)
        return StoredFile(path=path, sha256="sha256:" + state.hexdigest(), size=size)

    def entries(self, path: str) -> list[Entry]:
        """Return the names in a directory in order, [] when it is not there.

        Raises: EvidenceError `E-STORE-LINK`, `E-STORE-KIND`, `E-STORE-READ`.
        """
        fd = self._open_dir(path)
        if fd is None:
            return []
        try:
            with os.scandir(fd) as found:
                entries = [_entry(path, name) for name in found]
        except OSError as error:
            raise EvidenceError("E-STORE-READ", f"cannot list: {error.strerror}", where=path) from error
        finally:
            os.close(fd)
        return sorted(entries)

    def walk(self, path: str = "", depth: int = 0) -> Iterator[str]:
        """Yield the path of every file below, in order."""
        if depth > _MAX_DEPTH:
            raise EvidenceError("E-STORE-LIMIT", "directories are nested too deep", where=path)
        for entry in self.entries(path):
            below = f"{path}/{entry.name}" if path else entry.name
            if entry.is_dir:
                yield from self.walk(below, depth + 1)
            else:
                yield below

    def listing(self, path: str = "", depth: int = 0) -> Iterator[Found]:
        """Yield everything below that is no directory, in order; what is no plain file is named, never followed."""
        if depth > _MAX_DEPTH:
            yield Found(path, "deep")
            return
        try:
            entries = self._kinds(path)
        except EvidenceError:
            yield Found(path, "unreadable")
            return
        for name, kind in entries:
            below = f"{path}/{name}" if path else name
            if kind == "dir":
                yield from self.listing(below, depth + 1)
            else:
                yield Found(below, kind)

    def _kinds(self, path: str) -> list[tuple[str, str]]:
        fd = self._open_dir(path)
        if fd is None:
            return []
        try:
            with os.scandir(fd) as found:
                return sorted((entry.name, _kind(entry)) for entry in found)
        except OSError as error:
            raise EvidenceError("E-STORE-READ", f"cannot list: {error.strerror}", where=path) from error
        finally:
            os.close(fd)

    def _open_file(self, path: str) -> int | None:
        parent, _, name = path.rpartition("/")
        dir_fd = self._open_dir(parent)
        if dir_fd is None:
            return None
        try:
            fd = _open(name, _FILE, dir_fd, path)
        finally:
            os.close(dir_fd)
        if fd is not None and not stat.S_ISREG(os.fstat(fd).st_mode):
            os.close(fd)
            raise EvidenceError("E-STORE-KIND", "not a plain file", where=path)
        return fd

    def _open_dir(self, path: str) -> int | None:
        at = os.dup(self._fd)
        for segment in path.split("/") if path else ():
            below = _open(segment, _DIR, at, path)
            os.close(at)
            if below is None:
                return None
            at = below
        return at


def _open(name: str, flags: int, dir_fd: int, path: str) -> int | None:
    if name in {"", ".", ".."}:
        raise EvidenceError("E-STORE-LINK", "the path leads out of the directory", where=path)
    try:
        return os.open(name, flags, dir_fd=dir_fd)
    except FileNotFoundError:
        return None
    except OSError as error:
        if _is_link(name, dir_fd):
            raise EvidenceError("E-STORE-LINK", "a link stands where a file should be", where=path) from error
        raise EvidenceError("E-STORE-READ", f"cannot open: {error.strerror}", where=path) from error


def _is_link(name: str, dir_fd: int) -> bool:
    try:
        return stat.S_ISLNK(os.stat(name, dir_fd=dir_fd, follow_symlinks=False).st_mode)
    except OSError:
        return False


def _kind(found: os.DirEntry[str]) -> str:
    if found.is_symlink():
        return "link"
    if found.is_dir(follow_symlinks=False):
        return "dir"
    return "file" if found.is_file(follow_symlinks=False) else "other"


def _entry(path: str, found: os.DirEntry[str]) -> Entry:
    if found.is_symlink():
        raise EvidenceError("E-STORE-LINK", "a link stands where a file should be", where=f"{path}/{found.name}")
    if found.is_dir(follow_symlinks=False):
        return Entry(found.name, True)
    if not found.is_file(follow_symlinks=False):
        raise EvidenceError("E-STORE-KIND", "not a plain file", where=f"{path}/{found.name}")
    return Entry(found.name, False)


def _pieces(fd: int, path: str) -> Iterator[bytes]:
    try:
        while piece := _read(fd, path):
            yield piece
    finally:
        os.close(fd)


def _read(fd: int, path: str) -> bytes:
    try:
        return os.read(fd, _CHUNK_BYTES)
    except OSError as error:
        raise EvidenceError("E-STORE-READ", f"cannot read: {error.strerror}", where=path) from error
