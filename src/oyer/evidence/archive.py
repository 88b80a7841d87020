"""The archive of a bundle: one file, members in order of their names, each header in one form only.

Owns the form (a POSIX ustar archive without compression: what it holds is compressed already) and every reason not to
read one. Must never extract a member, follow a link, or accept a header that differs from the one it would write: that
one rule refuses owners, times, other modes, directories, and anything hidden in unused fields or in padding.

Source: POSIX.1-1988 ustar; POSIX.1-2001 pax for a path that ustar cannot hold; `docs/spec/bundle.md`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple, NoReturn, Protocol

from oyer.errors import EvidenceError, Problem
from oyer.evidence.blobs import FRAME_HEAD_BYTES, content_size
from oyer.evidence.seals import is_stored_path

__all__ = [
    "ARCHIVE_END",
    "MANIFEST_NAME",
    "MAX_MEMBERS",
    "MAX_MEMBER_BYTES",
    "SERIES_PREFIX",
    "SIGNATURE_NAME",
    "ArchiveCheck",
    "Member",
    "StoredBytes",
    "check_archive",
    "check_unfolding",
    "is_member_path",
    "member_header",
    "member_padding",
    "most_unfolded",
]

MANIFEST_NAME = "manifest.json"
SIGNATURE_NAME = "signature.dsse.json"
SERIES_PREFIX = "series/"
"""Under it stand the files of the series, each under its own path."""

MAX_MEMBER_BYTES = 8**11 - 1
"""What eleven octal digits can state: 8 GiB less one byte."""
MAX_MEMBERS = 2_000_000
MAX_CONTENT_BYTES = 1 << 31
"""What one compressed member may unfold to."""
FREE_CONTENT_BYTES, MAX_RATIO = 1 << 30, 1000
"""All compressed members together: up to the first number always, beyond it at most so many times the archive."""

_BLOCK = 512
ARCHIVE_END = bytes(2 * _BLOCK)
MAX_DEFECTS = 1000

_NAME_BYTES, _PREFIX_BYTES, _PATH_BYTES = 100, 155, 1000
_SIZE = re.compile(rb"^[0-7]{11}\x00\Z")
_PAX = re.compile(rb"^([1-9][0-9]{0,3}) path=([^\n]+)\n\Z")
_DRIVE = re.compile(r"^[A-Za-z]:")
_KINDS = {
    b"1": "a hard link",
    b"2": "a symbolic link",
    b"3": "a device",
    b"4": "a device",
    b"5": "a directory",
    b"6": "a pipe",
}


class StoredBytes(Protocol):
    """The bytes of an archive, wherever they are."""

    @property
    def size(self) -> int:
        """How many bytes there are."""
        ...

    def read_at(self, offset: int, size: int) -> bytes:
        """Return bytes from an offset; fewer than asked only where they end."""
        ...


class Member(NamedTuple):
    """One member: its path in the archive, where its bytes begin, and how many there are."""

    path: str
    offset: int
    size: int


class ArchiveCheck(NamedTuple):
    """The members in order up to the first defect of form, and every reason why the archive is not safe to read."""

    members: tuple[Member, ...]
    defects: tuple[Problem, ...]

    @property
    def intact(self) -> bool:
        """Whether the archive is in its one form and every name is one that a bundle may hold."""
        return not self.defects

    def __bool__(self) -> NoReturn:
        raise TypeError("a check has no truth value; ask for .intact or .defects")


def is_member_path(path: str) -> bool:
    """Whether a path may name a member: the manifest, the signature, or a stored file under `series/`."""
    if path in {MANIFEST_NAME, SIGNATURE_NAME}:
        return True
    below = path.removeprefix(SERIES_PREFIX)
    return below != path and len(path) <= _PATH_BYTES and is_stored_path(below)


def member_padding(size: int) -> bytes:
    """Return the zero bytes between the end of a member's bytes and the next block."""
    return bytes(-size % _BLOCK)


def member_header(path: str, size: int) -> bytes:
    """Return the blocks that stand before a member's bytes: there is one form for each path and size.

    Raises: EvidenceError `E-ARCHIVE-NAME`, `E-ARCHIVE-SIZE`.
    """
    if not is_member_path(path):
        raise EvidenceError("E-ARCHIVE-NAME", f"a bundle holds no {path!r}")
    if not 0 <= size <= MAX_MEMBER_BYTES:
        raise EvidenceError("E-ARCHIVE-SIZE", f"{size} bytes do not fit in one member", where=path)
    split = _split(path)
    if split is not None:
        return _block(*split, size, b"0")
    record = _pax_record(path)
    long_path = _block("pax", "", len(record), b"x") + record + member_padding(len(record))
    return long_path + _block(path[:_NAME_BYTES], "", size, b"0")


def _split(path: str) -> tuple[str, str] | None:
    """Return name and prefix of a path, None where they cannot hold it. The prefix is as short as it can be."""
    if len(path) <= _NAME_BYTES:
        return path, ""
    at = path.find("/", len(path) - _NAME_BYTES - 1)
    if at < 0 or at > _PREFIX_BYTES:
        return None
    return path[at + 1 :], path[:at]


def _pax_record(path: str) -> bytes:
    tail = f" path={path}\n"
    length = len(tail)
    while length != len(tail) + len(str(length)):
        length = len(tail) + len(str(length))
    return f"{length}{tail}".encode("ascii")


def _block(name: str, prefix: str, size: int, kind: bytes) -> bytes:
    zero = b"0000000\x00"
    fields = (
        name.encode("ascii").ljust(_NAME_BYTES, b"\x00"),
        b"0000600\x00" + zero + zero,  # mode, owner, group
        b"%011o\x00" % size,
        b"00000000000\x00",  # time
        b" " * 8,  # the checksum is taken over spaces in its own place
        kind,
        bytes(100),  # link
        b"ustar\x0000",
        bytes(64),  # names of owner and group
        zero + zero,  # device
        prefix.encode("ascii").ljust(_PREFIX_BYTES, b"\x00"),
        bytes(12),
    )
    block = b"".join(fields)
    return block[:148] + b"%06o\x00 " % sum(block) + block[156:]


def check_archive(source: StoredBytes) -> ArchiveCheck:
    """Look at every header of an archive, and at nothing else in it; never raises on bad bytes.

    Codes: `E-ARCHIVE-FORM`, `-KIND` (links, devices, directories), `-SIZE`, `-CUT`, `-TAIL` stop the reading;
    `-NAME`, `-TWICE`, `-CASE`, `-ORDER` do not.
    """
    walk = _Walk(source)
    try:
        members = tuple(walk.members())
    except EvidenceError as error:
        return ArchiveCheck(tuple(walk.good), (*walk.defects, *error.problems))
    return ArchiveCheck(members, tuple(walk.defects))


def most_unfolded(stored_bytes: int) -> int:
    """Return how much all compressed parts together may unfold to, of an archive or of the blobs of a directory."""
    return max(FREE_CONTENT_BYTES, MAX_RATIO * stored_bytes)


def check_unfolding(source: StoredBytes, members: Sequence[Member]) -> tuple[Problem, ...]:
    """Compare what the compressed members say they unfold to with what one archive may. Code `E-ARCHIVE-RATIO`.

    A frame that does not say is refused where it is opened: no more is ever unfolded than was stated.
    """
    defects: list[Problem] = []
    total = 0
    for member in members:
        if not member.path.endswith(".zst"):
            continue
        stated = content_size(source.read_at(member.offset, min(member.size, FRAME_HEAD_BYTES))) or 0
        total += stated
        if stated > MAX_CONTENT_BYTES and len(defects) < MAX_DEFECTS:
            defects.append(Problem("E-ARCHIVE-RATIO", f"it unfolds to {stated} bytes", member.path))
    if total > most_unfolded(source.size):
        defects.append(Problem("E-ARCHIVE-RATIO", f"{source.size} bytes unfold to {total} bytes"))
    return tuple(defects)


class _Walk:
    """One pass over the headers of an archive."""

    def __init__(self, source: StoredBytes) -> None:
        self._source = source
        self._at = 0
        self._paths: set[str] = set()
        self._folded: dict[str, str] = {}
        self.good: list[Member] = []
        self.defects: list[Problem] = []

    def members(self) -> Iterator[Member]:
        while (found := self._next()) is not None:
            self._name(found.path)
            self.good.append(found)
            yield found
            if len(self.good) > MAX_MEMBERS:
                self._stop("SIZE", f"more than {MAX_MEMBERS} members")
            after = found.offset + found.size
            if self._read(after, -found.size % _BLOCK).strip(b"\x00"):
                self._stop("FORM", "bytes are hidden between two members", found.path)
            self._at = after + -found.size % _BLOCK

    def _stop(self, code: str, message: str, path: str = "") -> NoReturn:
        raise EvidenceError(f"E-ARCHIVE-{code}", message, where=path or f"byte {self._at}")

    def _read(self, offset: int, size: int) -> bytes:
        data = self._source.read_at(offset, size) if size else b""
        if len(data) != size:
            self._stop("CUT", "the archive ends before its end")
        return data

    def _next(self) -> Member | None:
        """Read one header in its one form; None at the end of the archive."""
        block = self._read(self._at, _BLOCK)
        if not block.strip(b"\x00"):
            self._end()
            return None
        raw, path = block, _path_of(block)
        self._require_ustar(block)
        if block[156:157] == b"x":
            raw, path = self._long_path(block)
            block = raw[-_BLOCK:]
            self._require_ustar(block)
        kind = block[156:157]
        if kind != b"0":
            self._stop("KIND", f"{_KINDS.get(kind, 'something')} that is no plain file", path)
        found = Member(path, self._at + len(raw), self._size(block))
        # A name that is refused has no form of its own: `_name` says why.
        if is_member_path(path) and raw != member_header(path, found.size):
            self._stop("FORM", "the header is not in the one form that this member has", path)
        if found.offset + found.size > self._source.size - len(ARCHIVE_END):
            self._stop("CUT", "the archive ends before this member does", path)
        return found

    def _long_path(self, block: bytes) -> tuple[bytes, str]:
        """Read the header of a member whose path stands in a block of its own."""
        size = self._size(block)
        if size > 2 * _PATH_BYTES:
            self._stop("FORM", "a header for a long path holds more than a path")
        rest = self._read(self._at + _BLOCK, size + -size % _BLOCK + _BLOCK)
        record = _PAX.match(rest[:size])
        if record is None:
            self._stop("FORM", "a header for a long path holds something else")
        return block + rest, _text(record[2])

    def _require_ustar(self, block: bytes) -> None:
        if block[257:265] != b"ustar\x0000":
            self._stop("FORM", "not the header of a member: this is no bundle, or a damaged one")

    def _size(self, block: bytes) -> int:
        field = block[124:136]
        if _SIZE.match(field) is None:
            self._stop("SIZE", "a size that is no octal number", _path_of(block))
        return int(field[:11], 8)

    def _end(self) -> None:
        tail = self._source.read_at(self._at, len(ARCHIVE_END) + 1)
        if len(tail) < len(ARCHIVE_END):
            self._stop("CUT", "the archive ends before its end")
        if tail != ARCHIVE_END:
            self._stop("TAIL", "bytes stand after the end of the archive")

    def _name(self, path: str) -> None:
        last = self.good[-1].path if self.good else ""
        if path in self._paths:
            self._refuse("TWICE", "the name stands twice", path)
        elif path < last:
            self._refuse("ORDER", "the names are not in order", path)
        if not is_member_path(path):
            self._refuse("NAME", _why_refused(path), path)
        twin = self._folded.setdefault(path.casefold(), path)
        if twin != path:
            self._refuse("CASE", f"it differs only in case from {twin}", path)
        if any(parent in self._paths for parent in _parents(path)):
            self._refuse("NAME", "a file stands where its directory should be", path)
        self._paths.add(path)

    def _refuse(self, code: str, message: str, path: str) -> None:
        if len(self.defects) < MAX_DEFECTS:
            self.defects.append(Problem(f"E-ARCHIVE-{code}", message, path))


def _parents(path: str) -> Iterator[str]:
    at = path.find("/")
    while at >= 0:
        yield path[:at]
        at = path.find("/", at + 1)


def _path_of(block: bytes) -> str:
    name, prefix = block[:_NAME_BYTES].partition(b"\x00")[0], block[345:500].partition(b"\x00")[0]
    return _text(prefix + b"/" + name if prefix else name)


def _text(raw: bytes) -> str:
    """Return a path as text that can be written anywhere."""
    return "".join(chr(byte) if 0x20 <= byte < 0x7F else f"\\x{byte:02x}" for byte in raw)


def _why_refused(path: str) -> str:
    if path.startswith("/"):
        return "an absolute path"
    if "\\" in path or _DRIVE.match(path):
        return "a path with a backslash or a drive"
    if ".." in path.split("/"):
        return "a path that leads out of the archive"
    return "no part of a bundle has this name"
