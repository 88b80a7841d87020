"""A bundle's archive on disk: its bytes at any offset, and its members as if they were files below a root.

Owns the index of members and reading them in place. Must never extract one, and never read from an archive that
`check_archive` refused.
"""

from __future__ import annotations

import hashlib
import os
import stat
from bisect import bisect_left
from collections.abc import Iterator, Mapping
from pathlib import Path

from oyer.errors import EvidenceError, UsageError
from oyer.evidence import (
    MANIFEST_NAME,
    SERIES_PREFIX,
    ArchiveCheck,
    Manifest,
    Member,
    StoredFile,
    check_archive,
    check_unfolding,
    parse_manifest,
)
from oyer.store.beneath import Entry, Found

__all__ = ["ArchiveFile", "ArchiveTree"]

_CHUNK_BYTES, _WHOLE_BYTES = 1 << 20, 8 << 20


class ArchiveFile:
    """The bytes of one plain file, read at offsets. Satisfies `evidence.StoredBytes`."""

    def __init__(self, path: Path) -> None:
        self._path = path
        try:
            self._fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
            found = os.fstat(self._fd)
        except OSError as error:
            raise UsageError("E-PATH", f"no bundle to read: {error.strerror}", where=str(path)) from error
        if not stat.S_ISREG(found.st_mode):
            self.close()
            raise UsageError("E-PATH", "not a plain file", where=str(path), hint="name a bundle or a series directory")
        self._size = found.st_size

    @property
    def size(self) -> int:
        """How many bytes there were when it was opened."""
        return self._size

    def read_at(self, offset: int, size: int) -> bytes:
        """Return bytes from an offset. Raises: EvidenceError `E-STORE-READ`."""
        try:
            return os.pread(self._fd, size, offset)
        except OSError as error:
            raise EvidenceError("E-STORE-READ", f"cannot read: {error.strerror}", where=str(self._path)) from error

    def close(self) -> None:
        """Give the descriptor back."""
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1


class ArchiveTree:
    """The series inside a bundle, read member by member, under the interface of `beneath.Tree`.

    What the manifest says was withheld is listed with its size and digest, and reading it is an EvidenceError
    `E-WITHHELD`. Where the archive is not safe, nothing is there.
    """

    def __init__(self, path: Path) -> None:
        self._file = ArchiveFile(path)
        self._measured: dict[str, StoredFile] = {}
        found = check_archive(self._file)
        unfolding = check_unfolding(self._file, found.members) if found.intact else ()
        self.archive = ArchiveCheck(found.members, (*found.defects, *unfolding))
        self._members = {member.path: member for member in found.members} if self.archive.intact else {}
        self.withheld: Mapping[str, StoredFile] = {
            file.path: StoredFile(path=file.path.removeprefix(SERIES_PREFIX), sha256=file.sha256, size=file.size)
            for file in self._left_out()
            if file.path not in self._members
        }
        self._paths = sorted(path for path in {*self._members, *self.withheld} if path.startswith(SERIES_PREFIX))

    def _left_out(self) -> tuple[StoredFile, ...]:
        manifest = self.manifest()
        return manifest.withheld if isinstance(manifest, Manifest) else ()

    def manifest(self) -> Manifest | EvidenceError:
        """Return the manifest of the bundle, or why there is none."""
        try:
            data = self.member(MANIFEST_NAME, 1 << 30)
            if data is None:
                raise EvidenceError("E-MANIFEST-MISSING", "the bundle has no manifest", where=MANIFEST_NAME)
            return parse_manifest(data)
        except EvidenceError as error:
            return error

    def close(self) -> None:
        """Give the descriptor back."""
        self._file.close()

    def member(self, path: str, limit_bytes: int) -> bytes | None:
        """Return a whole member by its path in the archive, None when it is not there."""
        found = self._members.get(path)
        if found is None:
            return None
        if found.size > limit_bytes:
            raise EvidenceError("E-STORE-LIMIT", f"the member is larger than {limit_bytes} bytes", where=path)
        whole = self._file.read_at(found.offset, found.size)
        return whole if len(whole) == found.size else b"".join(self._chunks(found))

    def measure(self, path: str) -> StoredFile | None:
        """Return size and digest of a member by its path in the archive, read in pieces once; None if not there."""
        known, found = self._measured.get(path), self._members.get(path)
        if known is not None or found is None:
            return known
        for _ in self._measuring(found):
            pass
        return self._measured[path]

    def size(self, path: str) -> int | None:
        """Return how large a file of the series is, None when it is not there or was withheld."""
        found = self._members.get(SERIES_PREFIX + path)
        return None if found is None else found.size

    def read(self, path: str, limit_bytes: int) -> bytes | None:
        """Return a whole file of the series. Raises: EvidenceError `E-WITHHELD`, `E-STORE-LIMIT`, `E-STORE-READ`."""
        self._require_kept(path)
        return self.member(SERIES_PREFIX + path, limit_bytes)

    def pieces(self, path: str) -> Iterator[bytes] | None:
        """Yield a file of the series in pieces, None when it is not there. Raises: as `read`.

        Whoever takes all of them has it measured on the way.
        """
        self._require_kept(path)
        found = self._members.get(SERIES_PREFIX + path)
        return None if found is None else self._measuring(found)

    def digest(self, path: str) -> StoredFile | None:
        """Return size and digest of a file of the series; of a withheld one, those that the manifest states."""
        withheld = self.withheld.get(SERIES_PREFIX + path)
        measured = withheld or self.measure(SERIES_PREFIX + path)
        return None if measured is None else StoredFile(path=path, sha256=measured.sha256, size=measured.size)

    def entries(self, path: str) -> list[Entry]:
        """Return the names in a directory of the series in order, [] when it is not there."""
        below = f"{SERIES_PREFIX}{path}/" if path else SERIES_PREFIX
        found: list[Entry] = []
        at = bisect_left(self._paths, below)
        while at < len(self._paths) and self._paths[at].startswith(below):
            name, slash, _ = self._paths[at].removeprefix(below).partition("/")
            found.append(Entry(name, bool(slash)))
            # "0" is the letter after "/": the first name past everything in that directory.
            at = bisect_left(self._paths, f"{below}{name}0", at) if slash else at + 1
        return sorted(set(found))

    def walk(self) -> Iterator[str]:
        """Yield the path of every file of the series, in order, withheld ones included."""
        return (path.removeprefix(SERIES_PREFIX) for path in self._paths)

    def listing(self) -> Iterator[Found]:
        """Yield every file of the series, in order, withheld ones included: an archive holds nothing else."""
        return (Found(path, "file") for path in self.walk())

    def _require_kept(self, path: str) -> None:
        if SERIES_PREFIX + path in self.withheld:
            raise EvidenceError("E-WITHHELD", "it was withheld from the bundle", where=path, hint="ask for the series")

    def _measuring(self, member: Member) -> Iterator[bytes]:
        if member.path in self._measured:
            yield from self._chunks(member)
            return
        state = hashlib.sha256()
        for piece in self._chunks(member):
            state.update(piece)
            yield piece
        measured = StoredFile(path=member.path, sha256="sha256:" + state.hexdigest(), size=member.size)
        self._measured[member.path] = measured

    def _chunks(self, member: Member) -> Iterator[bytes]:
        at, end = member.offset, member.offset + member.size
        step = member.size if member.size <= _WHOLE_BYTES else _CHUNK_BYTES
        while at < end:
            piece = self._file.read_at(at, min(step, end - at))
            if not piece:
                raise EvidenceError("E-STORE-READ", "the archive became shorter while it was read", where=member.path)
            at += len(piece)
            yield piece
