"""The records of an office: the tables of one SQLite file, row by row.

Owns three tools. Rows are compared as they are read, so that what was read can be asked for. Every change is one
committed transaction; nothing stays in a journal of its own between calls.

Must never decide which row may be changed, or change more than one.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from oyer.library.servers._loop import Answer, TextTool
from oyer.library.servers._place import PlaceError

if TYPE_CHECKING:
    import sqlite3

__all__ = ["record_tools"]

MOST_ROWS = 200
"""More rows than this are never listed."""

KEY = "id"

Shown = Callable[[str], str]


def record_tools(path: str, shown: Shown) -> tuple[TextTool, ...]:
    """Return the tools over one database, whose texts are read as `shown` says."""
    table = {"table": "Name of a table"}
    some = {**table, "column": "Only rows in which this column", "value": "has this value"}
    row = {**table, "values": 'The new row as a JSON object, for instance {"name": "Ito", "seats": 4}'}
    change = {**table, "key": f"The row's {KEY}", "column": "The column to change", "value": "Its new value"}
    listed, added, changed = "List the rows of a table.", "Add a row to a table.", "Change one value of one row."
    return (
        TextTool(
            "list_rows", listed, lambda given: list_rows(path, shown, **given), some, optional=("column", "value")
        ),
        TextTool("add_row", added, lambda given: add_row(path, **given), row),
        TextTool("change_row", changed, lambda given: change_row(path, shown, **given), change),
    )


def list_rows(path: str, shown: Shown, table: str, column: str | None = None, value: str | None = None) -> Answer:
    """List the rows of a table, or those with one value in one column: each a JSON object on a line of its own."""
    if (column is None) != (value is None):
        raise PlaceError("column and value are given together, or neither")
    with _open(path) as database:
        names = _columns(database, table)
        rows = [_row(names, row, shown) for row in database.execute(f"SELECT * FROM {_quoted(table)}")]  # noqa: S608
    if column is not None:
        _require(column in names, f"{table} has no column {column}; it has {', '.join(names)}")
        rows = [row for row in rows if _text(row[column]) == value]
    lines = [json.dumps(row, ensure_ascii=False) for row in rows[:MOST_ROWS]]
    if len(rows) > MOST_ROWS:
        lines.append(f"and {len(rows) - MOST_ROWS} rows more")
    return Answer("\n".join(lines) or "No such row.")


def add_row(path: str, table: str, values: str) -> Answer:
    """Add one row; a column that is not named gets what the table gives it."""
    given = _object(values)
    with _open(path) as database:
        names = _columns(database, table)
        strange = [name for name in given if name not in names]
        _require(not strange, f"{table} has no column {', '.join(strange)}; it has {', '.join(names)}")
        into = f"({', '.join(map(_quoted, given))}) VALUES ({', '.join('?' * len(given))})"
        database.execute(f"INSERT INTO {_quoted(table)} {into}", tuple(given.values()))
    return Answer(f"Added a row to {table}.")


def change_row(path: str, shown: Shown, table: str, key: str, column: str, value: str) -> Answer:
    """Change one value of the row that has this key."""
    with _open(path) as database:
        names = _columns(database, table)
        _require(KEY in names, f"{table} has no column {KEY}, so no row of it can be named")
        _require(column in names, f"{table} has no column {column}; it has {', '.join(names)}")
        sql = f"SELECT rowid, {_quoted(KEY)} FROM {_quoted(table)}"  # noqa: S608
        found = [row[0] for row in database.execute(sql) if _text(_shown(row[1], shown)) == key]
        _require(len(found) > 0, f"{table} has no row {key}")
        _require(len(found) == 1, f"{table} has several rows {key}; nothing was changed")
        sql = f"UPDATE {_quoted(table)} SET {_quoted(column)} = ? WHERE rowid = ?"  # noqa: S608
        database.execute(sql, (value, found[0]))
    return Answer(f"Changed {column} of {key} in {table}.")


def _columns(database: sqlite3.Connection, table: str) -> list[str]:
    sql = "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite~_%' ESCAPE '~' ORDER BY name"
    tables = [str(row[0]) for row in database.execute(sql)]
    _require(table in tables, f"there is no table {table}; there is {', '.join(tables) or 'none'}")
    return [str(row[1]) for row in database.execute(f"PRAGMA table_info({_quoted(table)})")]


def _row(names: list[str], row: tuple[Any, ...], shown: Shown) -> dict[str, Any]:
    return {name: _shown(value, shown) for name, value in zip(names, row, strict=True)}


def _shown(value: Any, shown: Shown) -> Any:
    if isinstance(value, bytes):
        return f"<{len(value)} bytes>"
    return shown(value) if isinstance(value, str) else value


def _text(value: Any) -> str:
    return "" if value is None else str(value)


def _object(values: str) -> dict[str, Any]:
    try:
        given = json.loads(values)
    except (ValueError, RecursionError):
        given = None
    if not isinstance(given, dict) or not given:
        raise PlaceError('values is a JSON object as text, for instance {"name": "Ito"}')
    nested = [name for name, value in given.items() if isinstance(value, list | dict)]
    _require(not nested, f"{', '.join(nested)}: a value is a text, a number, true, false or null")
    return given


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _require(fits: bool, words: str) -> None:
    if not fits:
        raise PlaceError(words)


@contextmanager
def _open(path: str) -> Iterator[sqlite3.Connection]:
    """Open the database; commit at the end, close on every path. Raises: PlaceError."""
    # Loaded at the first call only: it costs more than all the rest of the start.
    import sqlite3

    if not os.path.isfile(path) or os.path.islink(path):
        raise PlaceError("there are no records here")
    try:
        database = sqlite3.connect(path, timeout=5)
    except sqlite3.Error as error:
        raise PlaceError(f"the records cannot be used: {error}") from None
    try:
        with database:
            yield database
    except (sqlite3.Error, OverflowError, UnicodeEncodeError) as error:
        raise PlaceError(f"the records cannot be used: {error}") from None
    finally:
        database.close()
