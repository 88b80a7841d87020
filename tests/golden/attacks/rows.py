"""Short ways to write a row of the catalogue, and the changes that rows of several kinds share."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from bundle_kit import Members, odd_header, piece

from attacks.ground import ARM, Ground, MemoryForger
from attacks.kinds import Attack, Expected, Step
from oyer.evidence import ARCHIVE_END, encode_canonical

__all__ = ["DEEP", "archived", "bit", "emptied", "half", "linked", "on", "packed", "record", "row", "twice", "written"]

Change = Callable[[Ground, MemoryForger], object]
Edit = Callable[[dict[str, Any]], object]
DEEP = b"[" * 100_000


def row(
    name: str,
    mechanism: str,
    kind: str,
    unsigned: Expected,
    apply: Callable[..., Any],
    *,
    step: Step = "series",
    signed: Expected | None = None,
    ground: str = "plain",
) -> Attack:
    """Return one row. With the keys check 3 notices too, except where nothing is read: then it is the same check."""
    if signed is None:
        signed = 1 if unsigned == 1 else 3
    return Attack(name, mechanism, kind, step, apply, unsigned, signed, ground)


def on(pattern: str, change: Callable[[bytes], bytes], at: int = 0) -> Change:
    """Change the bytes of one file."""

    def applied(_ground: Ground, forger: MemoryForger) -> None:
        path = forger.find(pattern, at)
        forger.files[path] = change(forger.files[path])

    return applied


def bit(data: bytes, at: int = -2) -> bytes:
    """Change one bit."""
    changed = bytearray(data)
    changed[at] ^= 1
    return bytes(changed)


def half(data: bytes) -> bytes:
    """Cut the second half off."""
    return data[: len(data) // 2]


def emptied(_data: bytes) -> bytes:
    """What every artifact is replaced by when somebody only counts files."""
    return b"{}"


def written(edit: Edit) -> Callable[[bytes], bytes]:
    """Edit a record and keep its canonical form."""

    def changed(data: bytes) -> bytes:
        value = json.loads(data)
        edit(value)
        return encode_canonical(value)

    return changed


def record(edit: Edit, pattern: str, at: int = 0) -> Change:
    """Edit one record of a series."""
    return on(pattern, written(edit), at)


def twice(key: str) -> Callable[[bytes], bytes]:
    """Put a key a second time into a record, with its own value: the same meaning for who takes the last one."""

    def changed(data: bytes) -> bytes:
        value = json.dumps(json.loads(data)[key], separators=(",", ":")).encode()
        return data[:-1] + b',"' + key.encode() + b'":' + value + b"}"

    return changed


def reversed_keys(data: bytes) -> bytes:
    """Write the keys of a record in the other order."""
    return json.dumps(dict(reversed(json.loads(data).items())), separators=(",", ":"), ensure_ascii=False).encode()


def packed(forger: MemoryForger, word: str = ARM) -> str:
    """Return the trial of an arm."""
    return forger.trial(word)


def archived(members: Members, raw: dict[str, bytes] | None = None) -> bytes:
    """Write an archive, some of its members as raw pieces."""
    pieces = {path: piece(path, data) for path, data in members.items()} | (raw or {})
    return b"".join(pieces[path] for path in sorted(pieces)) + ARCHIVE_END


def linked(path: str, target: str = "/etc/hosts") -> Callable[[Ground, Members], bytes]:
    """Put a symbolic link in the place of a member."""

    def applied(_ground: Ground, members: Members) -> bytes:
        found = next(member for member in sorted(members) if path in member)
        return archived(members, {found: odd_header(found, 0, b"2", target)})

    return applied


def member_twice(path: str) -> Callable[[Ground, Members], bytes]:
    """Put a member in twice."""

    def applied(_ground: Ground, members: Members) -> bytes:
        found = next(member for member in sorted(members) if path in member)
        return archived(members, {found: piece(found, members[found]) * 2})

    return applied
