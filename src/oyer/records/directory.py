"""Directory digests: a directory as a sorted list of what it holds.

Owns the rule for pinning a directory (path, executable bit, size, SHA-256 of each file, in the order of the paths'
UTF-8 bytes) and the comparison of two such lists. Empty directories, owners, times and other mode bits do not count.

Must never look at a disk: entries come from whoever walked it. Symbolic links are refused unless declared.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, Literal, NamedTuple

from oyer.errors import Problem, RecordError
from oyer.records.canonical import digest
from oyer.records.model import Digest

__all__ = ["Change", "Entry", "diff_entries", "directory_digest"]

_SHA256 = re.compile(r"[0-9a-f]{64}\Z")


class Entry(NamedTuple):
    """One file or link. `path` is relative with `/`; `sha256` is hex, of the content (of the target for a link)."""

    path: str
    executable: bool
    size_bytes: int
    sha256: str
    kind: Literal["file", "symlink"] = "file"
    target: str | None = None


class Change(NamedTuple):
    """One difference between two lists of entries; `mode` means that only the executable bit moved."""

    path: str
    kind: Literal["created", "modified", "deleted", "mode"]
    before: Entry | None
    after: Entry | None


def directory_digest(entries: Iterable[Entry], *, symlinks_declared: bool = False) -> Digest:
    """Return the digest of a directory; the order of `entries` does not matter.

    Raises `RecordError` with every entry that is refused: absolute or climbing paths, a path twice or both file and
    directory, paths that are not UTF-8, links that were not declared.
    """
    listed = list(entries)
    problems = [problem for entry in listed for problem in _refused(entry, symlinks_declared)]
    problems.extend(_collisions(listed))
    if problems:
        raise RecordError.of(problems)
    # Code point order is UTF-8 byte order.
    return digest([_pinned(entry) for entry in sorted(listed, key=lambda entry: entry.path)])


def diff_entries(before: Iterable[Entry], after: Iterable[Entry]) -> list[Change]:
    """List what was created, modified, deleted or changed in mode, sorted by path."""
    old = {entry.path: entry for entry in before}
    new = {entry.path: entry for entry in after}
    changes: list[Change] = []
    for path in sorted(old.keys() | new.keys()):
        was, now = old.get(path), new.get(path)
        if was is None:
            changes.append(Change(path, "created", None, now))
        elif now is None:
            changes.append(Change(path, "deleted", was, None))
        elif was != now:
            only_mode = was._replace(executable=now.executable) == now
            changes.append(Change(path, "mode" if only_mode else "modified", was, now))
    return changes


def _pinned(entry: Entry) -> dict[str, Any]:
    if entry.kind == "symlink":
        return {"kind": "symlink", "path": entry.path, "target": entry.target}
    return {
        "executable": entry.executable,
        "kind": "file",
        "path": entry.path,
        "sha256": entry.sha256,
        "size_bytes": entry.size_bytes,
    }


def _refused(entry: Entry, symlinks_declared: bool) -> list[Problem]:
    told: list[tuple[str, str]] = []
    if any(part in ("", ".", "..") for part in entry.path.split("/")) or "\0" in entry.path:
        told.append(("E-DIRECTORY-PATH", "not a plain relative path (no leading or double slash, no `.` or `..`)"))
    if not _is_utf8(entry.path) or not _is_utf8(entry.target or ""):
        told.append(("E-DIRECTORY-PATH", "a name that is not UTF-8 cannot be pinned"))
    if entry.kind == "symlink":
        if not symlinks_declared:
            told.append(("E-DIRECTORY-SYMLINK", "a symbolic link; declare links or replace it by a file"))
        if entry.target is None:
            told.append(("E-DIRECTORY-ENTRY", "a symbolic link without a target"))
    elif not _SHA256.match(entry.sha256) or entry.size_bytes < 0 or entry.target is not None:
        told.append(("E-DIRECTORY-ENTRY", "a file needs a size and a SHA-256 in lower-case hex, and has no target"))
    where = entry.path.encode("utf-8", "backslashreplace").decode("utf-8")
    return [Problem(code, message, where) for code, message in told]


def _collisions(entries: list[Entry]) -> list[Problem]:
    problems: list[Problem] = []
    seen: set[str] = set()
    for entry in entries:
        if entry.path in seen:
            problems.append(Problem("E-DIRECTORY-DUPLICATE", "the path is listed twice", entry.path))
        seen.add(entry.path)
    for path in sorted(seen):
        parts = path.split("/")
        for length in range(1, len(parts)):
            parent = "/".join(parts[:length])
            if parent in seen:
                problems.append(Problem("E-DIRECTORY-CONFLICT", f"`{parent}` is both a file and a directory", path))
    return problems


def _is_utf8(text: str) -> bool:
    return text.isascii() or not any("\ud800" <= letter <= "\udfff" for letter in text)
