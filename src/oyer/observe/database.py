"""Rows of a SQLite database from its bytes alone: nothing is opened on a disk, and nothing that it declares is run.

Owns the one place where the core touches `sqlite3`: an in-memory connection that may only read. Views, virtual tables,
generated columns and attached files are refused, whatever the file says of itself; work and memory are bounded. A file
that is not whole is refused too: what is missing of it must never look like rows that are not there.
Source: SQLite, "The database file format" and "Defense against the dark arts".
"""

from __future__ import annotations

import sqlite3
from typing import Any, NamedTuple

__all__ = ["Column", "Table", "Unreadable", "folded", "read_table"]

MAX_ROWS = 100_000
MAX_BYTES = 64 * 1024 * 1024
"""What the values of one table may hold together: a damaged file can make many rows of the same pages."""
VALUE_BYTES = 32
"""What a value costs whatever it is, so that a table of nothing but nulls has a bound too."""
MAX_STEPS = 50_000_000
"""Steps of SQLite's machine for one table; a file that was made to go round in circles ends here."""
STEPS_AT_ONCE = 10_000
LIMITS = {
    sqlite3.SQLITE_LIMIT_LENGTH: 32 * 1024 * 1024,
    sqlite3.SQLITE_LIMIT_SQL_LENGTH: 1024 * 1024,
    sqlite3.SQLITE_LIMIT_COLUMN: 2000,
    sqlite3.SQLITE_LIMIT_EXPR_DEPTH: 100,
    sqlite3.SQLITE_LIMIT_COMPOUND_SELECT: 20,
    sqlite3.SQLITE_LIMIT_VDBE_OP: 100_000,
    sqlite3.SQLITE_LIMIT_FUNCTION_ARG: 8,
    sqlite3.SQLITE_LIMIT_ATTACHED: 0,
    sqlite3.SQLITE_LIMIT_TRIGGER_DEPTH: 1,
    sqlite3.SQLITE_LIMIT_WORKER_THREADS: 0,
}
"""What SQLite itself refuses to go beyond. No value of a file that is kept can be longer than the first."""

_MAGIC = b"SQLite format 3\x00"
_HEAD_BYTES = 100
_PAGE_SIZE = slice(16, 18)
_VERSIONS = slice(18, 20)
_ROLLBACK = b"\x01\x01"
_PAGES = slice(28, 32)
_READING = frozenset({sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ})


class Unreadable(Exception):
    """Why the rows of a database cannot be read, in words."""


class Column(NamedTuple):
    """A column of a table: its name and its type, both as they are declared."""

    name: str
    declared: str


class Table(NamedTuple):
    """A base table: its columns, and its rows in the order of the file, by the names of the columns as declared."""

    columns: tuple[Column, ...]
    rows: tuple[dict[str, Any], ...]


def folded(name: str) -> str:
    """Return the name under which SQLite knows a table or a column: the case of ASCII letters does not count."""
    return "".join(letter.lower() if letter.isascii() else letter for letter in name)


def read_table(raw: bytes, table: str) -> Table | None:
    """Return one base table, None where there is no such table. Names are matched as SQLite matches them.

    A value is null, a number or a text; a blob is its hexadecimal digits after `0x`. An empty file is an empty
    database. Raises: Unreadable where the bytes are no whole database, or too much is in it.
    """
    if not raw:
        return None
    _require_whole(raw)
    connection = sqlite3.connect(":memory:")
    try:
        for limit, value in LIMITS.items():
            connection.setlimit(limit, value)
        # A database in WAL mode says so in two bytes of its head; in memory it is read as the file alone.
        connection.deserialize(raw[: _VERSIONS.start] + _ROLLBACK + raw[_VERSIONS.stop :])
        return _read(connection, table)
    except (sqlite3.Error, OverflowError, UnicodeDecodeError, MemoryError) as error:
        raise Unreadable(f"the database cannot be read: {str(error) or type(error).__name__}") from None
    finally:
        connection.close()


def _require_whole(raw: bytes) -> None:
    """Hold the size of the file against what its head says: SQLite reads a page that was cut off as zeros."""
    if not raw.startswith(_MAGIC) or len(raw) < _HEAD_BYTES:
        raise Unreadable("the file is no SQLite database")
    stated = int.from_bytes(raw[_PAGE_SIZE], "big")
    page = 65_536 if stated == 1 else stated
    pages = int.from_bytes(raw[_PAGES], "big")
    if page * pages != len(raw):
        raise Unreadable(f"the file has {len(raw)} bytes, and its head says {pages} pages of {page}")


def _read(connection: sqlite3.Connection, table: str) -> Table | None:
    connection.execute("PRAGMA trusted_schema=OFF")
    connection.execute("PRAGMA cell_size_check=ON")
    connection.execute("PRAGMA ignore_check_constraints=ON")  # a check is an expression of the file's own
    _bound(connection)
    if folded(table).startswith("sqlite_"):
        return None
    made = connection.execute(
        "SELECT type, sql FROM sqlite_master WHERE name = ? COLLATE NOCASE AND type IN ('table', 'view')", (table,)
    ).fetchall()
    if not made:
        return None
    if len(made) > 1 or made[0][0] != "table" or not str(made[0][1]).lstrip().upper().startswith("CREATE TABLE"):
        raise Unreadable(f"{table} is no base table")
    columns = _columns(connection, table)
    # Sound means sound as a whole: rows that a damaged page lost would otherwise be rows that were never there.
    wrong = connection.execute("PRAGMA quick_check(1)").fetchone()
    if wrong != ("ok",):
        raise Unreadable(f"the database is damaged: {str(wrong[0] if wrong else None)[:200]}")
    return Table(columns, _rows(connection, table, columns))


def _columns(connection: sqlite3.Connection, table: str) -> tuple[Column, ...]:
    found = connection.execute("SELECT name, type, hidden FROM pragma_table_xinfo(?)", (table,)).fetchall()
    if any(hidden for _, _, hidden in found):
        raise Unreadable(f"{table} has generated columns, which are not computed")
    return tuple(Column(name, declared) for name, declared, _ in found)


def _rows(connection: sqlite3.Connection, table: str, columns: tuple[Column, ...]) -> tuple[dict[str, Any], ...]:
    connection.set_authorizer(lambda action, *_: sqlite3.SQLITE_OK if action in _READING else sqlite3.SQLITE_DENY)
    quoted = table.replace('"', '""')
    # An index holds copies of values, and need not hold the same ones: the table itself is read.
    cursor = connection.execute(f'SELECT * FROM "{quoted}" NOT INDEXED')  # noqa: S608 - a name is no parameter; quoted
    names = [column.name for column in columns]
    found: list[dict[str, Any]] = []
    held = 0
    for row in cursor:
        held += sum(VALUE_BYTES + (len(value) if isinstance(value, str | bytes) else 0) for value in row)
        if len(found) == MAX_ROWS or held > MAX_BYTES:
            raise Unreadable(f"{table} holds more than {MAX_ROWS} rows or {MAX_BYTES} bytes")
        found.append({name: _value(value) for name, value in zip(names, row, strict=True)})
    return tuple(found)


def _bound(connection: sqlite3.Connection) -> None:
    left = MAX_STEPS // STEPS_AT_ONCE

    def tick() -> int:
        nonlocal left
        left -= 1
        return int(left < 0)

    connection.set_progress_handler(tick, STEPS_AT_ONCE)


def _value(value: Any) -> Any:
    return f"0x{value.hex()}" if isinstance(value, bytes) else value
