"""What a matcher on database rows finds in a SQLite file of the world, at the end and, for `changed`, before.

A file with a journal beside it that was not merged into it is unknown: its rows are not those of the database.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from oyer.evidence import digest_of
from oyer.observe.artifacts import Look, WorldView
from oyer.observe.database import Unreadable, read_rows
from oyer.observe.matching import match_json
from oyer.observe.worlds import Holds
from oyer.records import EvidenceMatcher, canonical_bytes

__all__ = ["Rows", "find_rows", "find_table"]

BESIDE = ("-wal", "-journal")
"""Files in which SQLite keeps what is not in the database file itself."""
_EMPTY = digest_of(b"")
_SOME: dict[str, object] = {"gte": 1}


class Rows(NamedTuple):
    """The rows that match, in one look; `refs` show the file. `why` says what kept them from being read."""

    rows: tuple[dict[str, Any], ...] | None
    refs: tuple[str, ...]
    why: str = ""


def find_rows(matcher: EvidenceMatcher, world: WorldView) -> Holds:
    """Say whether as many rows as a matcher says are in its table at the end; with `changed`, whether they differ."""
    after = _table(matcher, world, world.closing)
    if after.rows is None:
        return Holds(None, (), after.why)
    counted = match_json(_SOME if matcher.count is None else matcher.count, len(after.rows))
    told = f"{len(after.rows)} rows match"
    if matcher.changed is None:
        return Holds(counted, after.refs, told)
    before = _table(matcher, world, world.opening)
    if before.rows is None:
        return Holds(None, (), before.why)
    differ = _sorted(before.rows) != _sorted(after.rows)
    holds = differ is matcher.changed and (matcher.count is None or counted)
    return Holds(holds, (*before.refs, *after.refs), f"{told}, {len(before.rows)} did before")


def _sorted(rows: tuple[dict[str, Any], ...]) -> list[bytes]:
    return sorted(canonical_bytes({name: _plain(value) for name, value in row.items()}) for row in rows)


def _plain(value: Any) -> Any:
    """A number that a record cannot hold exactly is compared as it is written."""
    return value if value is None or isinstance(value, str) else repr(value)


def find_table(world: WorldView, path: str, table: str, where: Any = None) -> Rows:
    """Return the rows of a table at the end that match."""
    return _table(EvidenceMatcher(rows=path, table=table, where=where), world, world.closing)


def _table(matcher: EvidenceMatcher, world: WorldView, look: Look | None) -> Rows:
    path = matcher.rows or ""
    if look is None or look.files is None:
        return Rows(None, (), "the world was not looked at")
    digest = look.files.get(path)
    if digest is None:
        return Rows((), (look.ref,), f"there is no {path}")
    for beside in BESIDE:
        if look.files.get(path + beside, _EMPTY) != _EMPTY:
            return Rows(None, (), f"{path}{beside} holds what was not merged into the database")
    kept = world.held(digest)
    if kept is None:
        return Rows(None, (), f"the content of {path} was not kept")
    try:
        rows = read_rows(kept[1], matcher.table or "")
    except Unreadable as problem:
        return Rows(None, (), f"{path}: {problem}")
    matching = tuple(row for row in rows or () if match_json(matcher.where, row))
    return Rows(matching, (kept[0], look.ref))
