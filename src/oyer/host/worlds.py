"""Making a world: a fresh copy of a pinned directory or archive, for one trial and one arm.

Owns the copying: whole files only, no hard links, no links unless declared, modes reduced to the executable
bit, one fixed modification time, so that the copies of all arms look alike. A file system that can share
blocks (reflink) is asked to; a plain copy is the same to everyone who looks.
"""

from __future__ import annotations

import errno
import fcntl
import os
import shutil
import stat
import sys
import tarfile
from collections.abc import Collection
from pathlib import Path, PurePosixPath
from typing import IO

from oyer.errors import RecordError
from oyer.host.snapshots import WalkBounds

__all__ = ["WORLD_MTIME_S", "copy_world"]

WORLD_MTIME_S = 946_684_800
"""The modification time of everything in a fresh world: 2000-01-01T00:00:00Z."""

_FICLONE = 0x40049409
_CANNOT_CLONE = {errno.EOPNOTSUPP, errno.EXDEV, errno.EINVAL, errno.ENOTTY, errno.EPERM, errno.ENOSYS, errno.ETXTBSY}


def copy_world(
    source: Path, destination: Path, *, links: Collection[str] = (), bounds: WalkBounds | None = None
) -> None:
    """Fill an empty directory with a copy of `source`: a directory or an uncompressed tar archive.

    `links` are the paths at which a symbolic link is declared. Raises: RecordError (`E-WORLD-...`) for what a world
    may not hold; OSError.
    """
    limit = WalkBounds() if bounds is None else bounds
    copier = _Copier(destination, frozenset(links), limit)
    if source.is_dir():
        copier.copy_directory(source, "")
    else:
        copier.unpack(source)
    copier.set_times()


class _Copier:
    """One copy under way: counts what it makes and remembers the directories."""

    def __init__(self, destination: Path, links: frozenset[str], bounds: WalkBounds) -> None:
        self._root = destination
        self._links = links
        self._entries_left = bounds.entries
        self._bytes_left = bounds.total_bytes
        self._made: set[str] = set()
        self._directories: list[Path] = [destination]
        self._clones = sys.platform == "linux"

    def copy_directory(self, source: Path, prefix: str) -> None:
        for entry in sorted(os.scandir(source), key=lambda entry: entry.name):
            path = prefix + entry.name
            found = entry.stat(follow_symlinks=False)
            if stat.S_ISDIR(found.st_mode):
                self._directory(path)
                self.copy_directory(Path(entry.path), path + "/")
            elif stat.S_ISREG(found.st_mode):
                with Path(entry.path).open("rb") as content:
                    self._file(path, content, found.st_size, executable=bool(found.st_mode & stat.S_IXUSR))
            elif stat.S_ISLNK(found.st_mode):
                self._link(path, str(Path(entry.path).readlink()))
            else:
                raise RecordError("E-WORLD-SPECIAL", "neither a file, a directory nor a link", where=path)

    def unpack(self, archive: Path) -> None:
        try:
            with tarfile.open(archive, mode="r:") as tar:
                for member in tar:
                    self._member(tar, member)
        except tarfile.TarError as error:
            raise RecordError("E-WORLD-ARCHIVE", f"not a readable tar archive: {error}", where=str(archive)) from error

    def set_times(self) -> None:
        """Give directories the fixed time, the innermost first."""
        for directory in reversed(self._directories):
            os.utime(directory, (WORLD_MTIME_S, WORLD_MTIME_S))

    def _member(self, tar: tarfile.TarFile, member: tarfile.TarInfo) -> None:
        path = member.name.removeprefix("./").rstrip("/")
        if path in ("", "."):
            return
        if any(part in ("", ".", "..") for part in path.split("/")):
            raise RecordError("E-WORLD-PATH", "an absolute or climbing path", where=member.name)
        if path in self._made and not (member.isdir() and self._root.joinpath(path).is_dir()):
            raise RecordError("E-WORLD-PATH", "a path that is listed twice", where=member.name)
        for parent in reversed(PurePosixPath(path).parents[:-1] if "/" in path else ()):
            if str(parent) not in self._made:
                self._directory(str(parent))
        if member.isdir():
            self._directory(path)
        elif member.isreg() and not member.issparse():
            content = tar.extractfile(member)
            if content is None:
                raise RecordError("E-WORLD-ARCHIVE", "a file without content", where=path)
            self._file(path, content, member.size, executable=bool(member.mode & stat.S_IXUSR))
        elif member.issym():
            self._link(path, member.linkname)
        else:
            raise RecordError("E-WORLD-SPECIAL", "neither a file, a directory nor a symbolic link", where=path)

    def _new(self, path: str) -> Path:
        self._entries_left -= 1
        if self._entries_left < 0:
            raise RecordError("E-WORLD-ENTRIES", "the world holds too many entries", where=path)
        for parent in PurePosixPath(path).parents[:-1] if "/" in path else ():
            if self._root.joinpath(parent).is_symlink():
                raise RecordError("E-WORLD-PATH", "a path that leads through a link", where=path)
        self._made.add(path)
        return self._root / path

    def _directory(self, path: str) -> None:
        if path in self._made:
            return
        place = self._new(path)
        place.mkdir(mode=0o755)
        self._directories.append(place)

    def _file(self, path: str, content: IO[bytes], size: int, *, executable: bool) -> None:
        self._bytes_left -= size
        if self._bytes_left < 0:
            raise RecordError("E-WORLD-SIZE", "the world is too large", where=path)
        place = self._new(path)
        with place.open("xb") as file:
            if not self._clone(content, file):
                shutil.copyfileobj(content, file, 1024 * 1024)
        place.chmod(0o755 if executable else 0o644)
        os.utime(place, (WORLD_MTIME_S, WORLD_MTIME_S))

    def _link(self, path: str, target: str) -> None:
        if path not in self._links:
            raise RecordError("E-WORLD-LINK", "a symbolic link that is not declared", where=path)
        self._new(path).symlink_to(target)

    def _clone(self, content: IO[bytes], file: IO[bytes]) -> bool:
        """Ask the file system to share the blocks; once it cannot, it is not asked again in this copy."""
        if not self._clones or isinstance(content, tarfile.ExFileObject):
            return False
        try:
            fcntl.ioctl(file.fileno(), _FICLONE, content.fileno())
        except OSError as error:
            if error.errno not in _CANNOT_CLONE:
                raise
            self._clones = False
            return False
        return True
