"""What a matcher on database rows finds in a SQLite file of the world, at the end and, for `changed`, before.

A file with a journal beside it that was not merged into it is unknown: its rows are not those of the database. So is a
table that is not there at the end, and a column that the table does not have or that is declared otherwise than at the
beginning: what was taken away, renamed or retyped is no proof that a row is not there.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from oyer.evidence import digest_of
from oyer.observe.artifacts import Look, WorldView
from oyer.observe.database import Table, Unreadable, folded, read_table
from oyer.observe.matching import match_json
from oyer.observe.worlds import Holds
from oyer.records import OPERATORS, EvidenceMatcher, canonical_bytes

__all__ = ["Rows", "find_rows", "find_table", "table_rows"]

BESIDE = ("-wal", "-journal")
"""Files in which SQLite keeps what is not in the database file itself."""
_EMPTY = digest_of(b"")
_SOME: dict[str, object] = {"gte": 1}


class Rows(NamedTuple):
    """The rows that match, in one look; `refs` show the file. `why` says what kept them from being read.

    `types` are the declared types of the columns that the matcher names, None where there was no table.
    """

    rows: tuple[dict[str, Any], ...] | None
    refs: tuple[str, ...]
    why: str = ""
    types: Mapping[str, str] | None = None


def find_rows(matcher: EvidenceMatcher, world: WorldView) -> Holds:
    """Say whether as many rows as a matcher says are in its table at the end; with `changed`, whether they differ."""
    after = _table(matcher, world, world.closing)
    if after.rows is None:
        return Holds(None, (), after.why)
    if after.types is None:
        return Holds(None, (), f"{after.why} at the end, which shows nothing of its rows")
    before = _table(matcher, world, world.opening)
    retyped = sorted(
        name for name, kind in after.types.items() if before.types and before.types.get(name, kind) != kind
    )
    if retyped:
        return Holds(None, (), f"{matcher.table}.{retyped[0]} is declared otherwise than it was")
    counted = match_json(_SOME if matcher.count is None else matcher.count, len(after.rows))
    told = f"{len(after.rows)} rows match"
    if matcher.changed is None:
        return Holds(counted, after.refs, told)
    if before.rows is None:
        return Holds(None, (), before.why)
    differ = _sorted(before.rows) != _sorted(after.rows)
    holds = differ is matcher.changed and (matcher.count is None or counted)
    return Holds(holds, (*before.refs, *after.refs), f"{told}, {len(before.rows)} did before")


def _sorted(rows: tuple[dict[str, Any], ...]) -> list[bytes]:
    return sorted(canonical_bytes({folded(name): _plain(value) for name, value in row.items()}) for row in rows)


def _plain(value: Any) -> Any:
    """A number that a record cannot hold exactly is compared as it is written."""
    return value if value is None or isinstance(value, str) else repr(value)


def find_table(world: WorldView, path: str, table: str, where: Any = None) -> Rows:
    """Return the rows of a table at the end that match; None, with why, where there is no such table."""
    found = _table(EvidenceMatcher(rows=path, table=table, where=where), world, world.closing)
    return Rows(None, (), found.why) if found.types is None else found


def table_rows(matcher: EvidenceMatcher, world: WorldView) -> tuple[dict[str, Any], ...] | None:
    """Return the rows that a matcher names at the end; None where they cannot be read."""
    return _table(matcher, world, world.closing).rows


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
        table = read_table(kept[1], matcher.table or "")
    except Unreadable as problem:
        return Rows(None, (), f"{path}: {problem}")
    refs = (kept[0], look.ref)
    return Rows((), refs, f"{path} has no table {matcher.table}") if table is None else _matching(matcher, table, refs)


def _matching(matcher: EvidenceMatcher, table: Table, refs: tuple[str, ...]) -> Rows:
    declared = {folded(column.name): column.declared for column in table.columns}
    try:
        where, asked = _where(matcher.where), [folded(name) for name in _named(matcher.where)]
    except ValueError as problem:
        return Rows(None, (), str(problem))
    missing = next((name for name in asked if name not in declared), None)
    if missing is not None:
        return Rows(None, (), f"{matcher.table} has no column {missing}")
    rows = tuple(row for row in table.rows if match_json(where, _folded(row)))
    return Rows(rows, refs, types={name: declared[name] for name in asked})


def _folded(row: Mapping[str, Any]) -> dict[str, Any]:
    return {folded(name): value for name, value in row.items()}


def _operation(where: Any) -> tuple[str, tuple[Any, ...]] | None:
    """Return the operator that a pattern is, and the patterns on a row inside it. Raises: ValueError for any other."""
    if not (isinstance(where, Mapping) and len(where) == 1 and next(iter(where)) in OPERATORS):
        return None
    name, operand = next(iter(where.items()))
    if name not in ("equals", "one_of"):
        raise ValueError(f"{name} says nothing of a row")
    return name, tuple(operand) if isinstance(operand, list | tuple) else (operand,)


def _named(where: Any) -> Iterator[str]:
    """Yield the columns that a pattern on a row names."""
    operation = _operation(where)
    if operation is not None:
        for inner in operation[1]:
            yield from _named(inner)
    elif isinstance(where, Mapping):
        yield from where


def _where(where: Any) -> Any:
    """Return the pattern with its columns under the names that SQLite knows them by. Raises: ValueError."""
    operation = _operation(where)
    if operation is not None:
        inner = [_where(pattern) for pattern in operation[1]]
        return {operation[0]: inner if operation[0] == "one_of" else inner[0]}
    if not isinstance(where, Mapping):
        return where
    found = {folded(name): pattern for name, pattern in where.items()}
    if len(found) != len(where):
        raise ValueError("where names one column twice, in other letters")
    return found
