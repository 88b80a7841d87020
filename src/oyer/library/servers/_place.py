"""One directory that a server may touch, and nothing outside it.

Owns confined reading, listing, deleting and atomic writing of small text files. Every path is walked name by name from
an open directory with O_NOFOLLOW: neither `..`, an absolute path, a symbolic link nor a race with one leads out.
Must never follow a link, open what is no regular file, or leave half a file behind.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["MAX_TEXT_BYTES", "Place", "PlaceError"]

MAX_TEXT_BYTES = 4 * 1024 * 1024
"""The largest text that is read or written."""

_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
# Without O_NONBLOCK a named pipe in the directory would hang the server before its type can be checked.
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


class PlaceError(Exception):
    """A path that cannot be used; the message is meant for the caller of the tool."""


class Place:
    """A directory held open. Paths are relative to it; an absolute path into it is understood too."""

    __slots__ = ("_fd", "_root")

    def __init__(self, root: str = ".") -> None:
        self._root = os.path.realpath(root)
        self._fd = os.open(self._root, _DIRECTORY)

    def read_text(self, path: str) -> str:
        """Return a file as text. Raises: PlaceError when it is missing, too large, no file or not UTF-8."""
        parents, name = self._split(path)
        with self._directory(parents, path) as directory:
            try:
                handle = os.open(name, _READ, dir_fd=directory)
            except OSError as error:
                raise _refusal(path, error) from None
        try:
            if not stat.S_ISREG(os.fstat(handle).st_mode):
                raise PlaceError(f"{path} is not a file")
            with os.fdopen(handle, "rb", closefd=False) as file:
                data = file.read(MAX_TEXT_BYTES + 1)
        finally:
            os.close(handle)
        if len(data) > MAX_TEXT_BYTES:
            raise PlaceError(f"{path} is larger than {MAX_TEXT_BYTES} bytes")
        try:
            return data.decode()
        except UnicodeDecodeError:
            raise PlaceError(f"{path} is not UTF-8 text") from None

    def write_text(self, path: str, text: str) -> int:
        """Create or replace a file in one step and return its size in bytes. Raises: PlaceError."""
        parents, name = self._split(path)
        try:
            data = text.encode()
        except UnicodeEncodeError:
            raise PlaceError("the text holds a lone surrogate, which no file can") from None
        if len(data) > MAX_TEXT_BYTES:
            raise PlaceError(f"the text is larger than {MAX_TEXT_BYTES} bytes")
        with self._directory(parents, path) as directory:
            try:
                _refuse_other_kinds(path, name, directory)
                _replace(name, data, directory)
            except OSError as error:
                raise _refusal(path, error) from None
        return len(data)

    def delete(self, path: str) -> None:
        """Delete a file. Raises: PlaceError when it is missing or no file."""
        parents, name = self._split(path)
        with self._directory(parents, path) as directory:
            try:
                os.stat(name, dir_fd=directory, follow_symlinks=False)
                _refuse_other_kinds(path, name, directory)
                os.unlink(name, dir_fd=directory)
            except OSError as error:
                raise _refusal(path, error) from None

    def make_directory(self, path: str) -> None:
        """Make a directory where there is none yet; those above it must be there. Raises: PlaceError."""
        parents, name = self._split(path)
        with self._directory(parents, path) as directory:
            try:
                os.mkdir(name, 0o755, dir_fd=directory)
            except FileExistsError:
                return
            except OSError as error:
                raise _refusal(path, error) from None

    def listing(self, path: str = ".") -> list[tuple[str, str]]:
        """List a directory as sorted (kind, name); the kind is `file`, `directory` or `other`."""
        names = self._names(path)
        with self._directory(names, path) as directory:
            entries = [(_kind(entry), entry.name) for entry in os.scandir(directory)]
        return sorted(entries, key=lambda entry: entry[1])

    def _split(self, path: str) -> tuple[list[str], str]:
        names = self._names(path)
        if not names:
            raise PlaceError(f"{path} is a directory")
        return names[:-1], names[-1]

    def _names(self, path: str) -> list[str]:
        if not path or "\0" in path:
            raise PlaceError("a path is needed")
        if any("\ud800" <= letter <= "\udfff" for letter in path):
            raise PlaceError("the path holds a lone surrogate, which no name can")
        inside = path
        if path.startswith("/"):
            if path != self._root and not path.startswith(self._root.rstrip("/") + "/"):
                raise PlaceError(f"{path} is outside the allowed directory")
            inside = path[len(self._root) :]
        names: list[str] = []
        for name in inside.split("/"):
            if name in ("", "."):
                continue
            if name == "..":
                if not names:
                    raise PlaceError(f"{path} is outside the allowed directory")
                names.pop()
            else:
                names.append(name)
        return names

    @contextmanager
    def _directory(self, names: list[str], path: str) -> Iterator[int]:
        held = os.dup(self._fd)
        try:
            for name in names:
                try:
                    deeper = os.open(name, _DIRECTORY, dir_fd=held)
                except OSError as error:
                    raise _refusal(path, error) from None
                os.close(held)
                held = deeper
            yield held
        finally:
            os.close(held)


def _refuse_other_kinds(path: str, name: str, directory: int) -> None:
    """Refuse to put a file in the place of a link, a directory or a device."""
    try:
        mode = os.stat(name, dir_fd=directory, follow_symlinks=False).st_mode
    except FileNotFoundError:
        return
    if not stat.S_ISREG(mode):
        raise PlaceError(f"{path} is not a file")


def _replace(name: str, data: bytes, directory: int) -> None:
    # A name of fixed length, so that the longest allowed file name still has room for it.
    temporary = f".{os.getpid():x}-{os.urandom(6).hex()}~"
    handle = os.open(temporary, _CREATE, 0o644, dir_fd=directory)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(handle)
        os.replace(temporary, name, src_dir_fd=directory, dst_dir_fd=directory)
    except BaseException:
        os.unlink(temporary, dir_fd=directory)
        raise


def _kind(entry: os.DirEntry[str]) -> str:
    if entry.is_symlink():
        return "other"
    return "file" if entry.is_file() else "directory" if entry.is_dir() else "other"


def _refusal(path: str, error: OSError) -> PlaceError:
    import errno

    words = {
        errno.ENOENT: "does not exist",
        errno.ENOTDIR: "is not in a directory",
        errno.ELOOP: "is a link, which is not followed",
        errno.EISDIR: "is a directory",
        errno.EACCES: "may not be accessed",
        errno.ENAMETOOLONG: "is too long a name",
    }
    return PlaceError(f"{path} {words.get(error.errno or 0, 'cannot be used: ' + (error.strerror or 'error'))}")
