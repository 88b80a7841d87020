"""Looking at a directory without being led out of it.

Owns the walk over a world: relative to open directories, never through a link, bounded in number and size.
Links are listed as links with their target text, other special files by name; neither is opened. The digest
of a snapshot is the records' directory digest over the same entries.
"""

from __future__ import annotations

import hashlib
import os
import stat
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple, NoReturn

from oyer.errors import HarnessError
from oyer.host.beneath import open_directory, open_regular
from oyer.records import Entry, directory_digest

__all__ = ["Snapshot", "SnapshotCache", "WalkBounds", "take_snapshot"]

_CHUNK_BYTES = 1024 * 1024
_RACY_NS = 50_000_000
"""A file changed this shortly before it was hashed may change again within one tick of its clock."""


class WalkBounds(NamedTuple):
    """How much a walk may meet before it gives up."""

    entries: int = 200_000
    depth: int = 200
    total_bytes: int = 4 * 1024**3


class Snapshot(NamedTuple):
    """What a directory held at one moment, sorted by path.

    `digest` is the records' directory digest over `entries` (where there are `special` files, the digest of that
    digest and their paths). `special` lists pipes, sockets and devices; `shared` the files that also have a name
    outside this directory (hard links), whose content is therefore not the world's alone.
    """

    digest: str
    entries: tuple[Entry, ...]
    special: tuple[str, ...] = ()
    shared: tuple[str, ...] = ()

    def by_path(self) -> dict[str, Entry]:
        """Return the entries by their path."""
        return {entry.path: entry for entry in self.entries}


class _Seen(NamedTuple):
    key: tuple[int, int, int, int, int]
    looked_ns: int
    sha256: str


class SnapshotCache:
    """Remembers file digests by inode, size and change time, so that a repeated walk reads only what changed.

    A writer that keeps a file mapped in memory can change it without a new change time: the snapshots that
    decide (opening, between sessions, closing) are taken without a cache.
    """

    __slots__ = ("_seen",)

    def __init__(self) -> None:
        self._seen: dict[str, _Seen] = {}

    def known(self, path: str, found: os.stat_result) -> str | None:
        """Return the digest of an unchanged file."""
        seen = self._seen.get(path)
        if seen is None or seen.key != _key(found) or found.st_ctime_ns > seen.looked_ns - _RACY_NS:
            return None
        return seen.sha256

    def keep(self, path: str, found: os.stat_result, looked_ns: int, sha256: str) -> None:
        """Remember what was read from a file that looked like this."""
        self._seen[path] = _Seen(_key(found), looked_ns, sha256)


def _key(found: os.stat_result) -> tuple[int, int, int, int, int]:
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns


class _Walk:
    """One walk over one directory; what it found is in its attributes."""

    def __init__(self, bounds: WalkBounds, cache: SnapshotCache | None, wanted: Callable[[str], bool] | None) -> None:
        self._bounds = bounds
        self._cache = cache
        self._wanted = wanted
        self._bytes_left = bounds.total_bytes
        self._entries_left = bounds.entries
        self._names: dict[tuple[int, int], tuple[int, list[str]]] = {}
        self.entries: list[Entry] = []
        self.special: list[str] = []

    def shared(self) -> list[str]:
        """List files of which fewer names were met than the file system counts."""
        return [path for links, paths in self._names.values() if links > len(paths) for path in paths]

    def walk(self, directory: int, prefix: str, depth: int) -> None:
        if depth > self._bounds.depth:
            raise HarnessError("E-WORLD-DEPTH", "directories are nested too deeply", where=prefix[:200])
        listed: dict[str, bytes] = {}
        for raw in os.listdir(directory):
            name = os.fsencode(raw)
            # A name that is no UTF-8 is written with escapes, as text must be; two names must not become one.
            text = name.decode("utf-8", "backslashreplace")
            if text in listed:
                raise HarnessError("E-WORLD-NAME", "two names are written alike", where=prefix + text)
            listed[text] = name
        for text, name in listed.items():
            self._entries_left -= 1
            if self._entries_left < 0:
                raise HarnessError("E-WORLD-ENTRIES", f"more than {self._bounds.entries} entries", where=prefix)
            try:
                self._visit(directory, name, prefix + text, depth)
            except (FileNotFoundError, NotADirectoryError):
                continue  # gone or exchanged between the listing and the look: not there

    def _visit(self, directory: int, name: bytes, path: str, depth: int) -> None:
        found = os.stat(name, dir_fd=directory, follow_symlinks=False)
        if stat.S_ISDIR(found.st_mode):
            flags = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
            inner = os.open(name, flags, dir_fd=directory)
            try:
                self.walk(inner, path + "/", depth + 1)
            finally:
                os.close(inner)
            return
        if self._wanted is not None and not self._wanted(path):
            return
        if stat.S_ISREG(found.st_mode):
            self._file(directory, name, path, found)
        elif stat.S_ISLNK(found.st_mode):
            target = os.fsencode(os.readlink(name, dir_fd=directory))
            text = target.decode("utf-8", "backslashreplace")
            self.entries.append(
                Entry(path, False, len(target), hashlib.sha256(target).hexdigest(), kind="symlink", target=text)
            )
        else:
            self.special.append(path)

    def _file(self, directory: int, name: bytes, path: str, found: os.stat_result) -> None:
        known = self._cache.known(path, found) if self._cache is not None else None
        if known is not None:
            self._add(path, found, found.st_size, known)
            return
        descriptor = open_regular(directory, name)
        if descriptor is None:
            self.special.append(path)
            return
        try:
            opened = os.fstat(descriptor)
            if opened.st_size > self._bytes_left:
                self._too_much(path)  # a file may claim to be huge at no cost: it is not read to find out
            looked_ns = time.time_ns()
            size, sha256 = self._read(descriptor, path)
        finally:
            os.close(descriptor)
        if self._cache is not None and size == opened.st_size:
            self._cache.keep(path, opened, looked_ns, sha256)
        self._add(path, opened, size, sha256)

    def _add(self, path: str, found: os.stat_result, size: int, sha256: str) -> None:
        if found.st_nlink > 1:
            self._names.setdefault((found.st_dev, found.st_ino), (found.st_nlink, []))[1].append(path)
        self.entries.append(Entry(path, bool(found.st_mode & stat.S_IXUSR), size, sha256))

    def _read(self, descriptor: int, path: str) -> tuple[int, str]:
        digest = hashlib.sha256()
        size = 0
        while chunk := os.read(descriptor, _CHUNK_BYTES):
            digest.update(chunk)
            size += len(chunk)
            self._bytes_left -= len(chunk)
            if self._bytes_left < 0:
                self._too_much(path)
        return size, digest.hexdigest()

    def _too_much(self, path: str) -> NoReturn:
        raise HarnessError("E-WORLD-SIZE", f"more than {self._bounds.total_bytes} bytes", where=path[:200])


def take_snapshot(
    root: Path,
    *,
    wanted: Callable[[str], bool] | None = None,
    cache: SnapshotCache | None = None,
    bounds: WalkBounds | None = None,
) -> Snapshot:
    """Walk a directory and digest what it holds; with `wanted`, only the paths it accepts.

    Raises: HarnessError beyond a bound or for names that cannot be told apart; OSError when unreadable.
    """
    walk = _Walk(WalkBounds() if bounds is None else bounds, cache, wanted)
    directory = open_directory(root)
    try:
        walk.walk(directory, "", 0)
    finally:
        os.close(directory)
    entries = tuple(sorted(walk.entries, key=lambda entry: entry.path))
    special = tuple(sorted(walk.special))
    return Snapshot(_digest(entries, special), entries, special, tuple(sorted(walk.shared())))


def _digest(entries: tuple[Entry, ...], special: tuple[str, ...]) -> str:
    plain = directory_digest(entries, symlinks_declared=True)
    if not special:
        return plain
    told = "\n".join((plain, *special)).encode("utf-8")
    return f"sha256:{hashlib.sha256(told).hexdigest()}"
