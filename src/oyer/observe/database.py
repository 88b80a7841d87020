"""Rows of a SQLite database from its bytes alone: nothing is opened on a disk, and nothing that it declares is run.

Owns the one place where the core touches `sqlite3`: an in-memory connection that may only read. Views, virtual tables,
generated columns and attached files are refused, whatever the file says of itself; work and memory are bounded.
Source: SQLite, "The database file format" and "Defense against the dark arts".
"""

from __future__ import annotations

import sqlite3
from typing import Any

__all__ = ["Unreadable", "read_rows"]

MAX_ROWS = 100_000
MAX_BYTES = 64 * 1024 * 1024
"""What the values of one table may hold together: a damaged file can make many rows of the same pages."""
MAX_STEPS = 50_000_000
"""Steps of SQLite's machine for one table; a file that was made to go round in circles ends here."""
STEPS_AT_ONCE = 10_000

_MAGIC = b"SQLite format 3\x00"
_VERSIONS = slice(18, 20)
_ROLLBACK = b"\x01\x01"
_READING = frozenset({sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ})


class Unreadable(Exception):
    """Why the rows of a database cannot be read, in words."""


def read_rows(raw: bytes, table: str) -> tuple[dict[str, Any], ...] | None:
    """Return the rows of one base table in the order of the file, None where there is no such table.

    A value is null, a number or a text; a blob is its hexadecimal digits after `0x`. An empty file is an empty
    database. Raises: Unreadable where the bytes are no database, or too much is in it.
    """
    if not raw:
        return None
    if not raw.startswith(_MAGIC) or len(raw) < 100:
        raise Unreadable("the file is no SQLite database")
    connection = sqlite3.connect(":memory:")
    try:
        # A database in WAL mode says so in two bytes of its head; in memory it is read as the file alone.
        connection.deserialize(raw[: _VERSIONS.start] + _ROLLBACK + raw[_VERSIONS.stop :])
        return _rows(connection, table)
    except (sqlite3.Error, OverflowError, UnicodeDecodeError) as error:
        raise Unreadable(f"the database cannot be read: {error}") from None
    finally:
        connection.close()


def _rows(connection: sqlite3.Connection, table: str) -> tuple[dict[str, Any], ...] | None:
    connection.execute("PRAGMA trusted_schema=OFF")
    connection.execute("PRAGMA cell_size_check=ON")
    _bound(connection)
    made = connection.execute("SELECT type, sql FROM sqlite_master WHERE name = ?", (table,)).fetchone()
    if made is None:
        return None
    kind, sql = made
    if kind != "table" or not str(sql).lstrip().upper().startswith("CREATE TABLE"):
        raise Unreadable(f"{table} is no base table")
    if connection.execute("SELECT 1 FROM pragma_table_xinfo(?) WHERE hidden IN (2, 3)", (table,)).fetchone():
        raise Unreadable(f"{table} has generated columns, which are not computed")
    connection.set_authorizer(lambda action, *_: sqlite3.SQLITE_OK if action in _READING else sqlite3.SQLITE_DENY)
    quoted = table.replace('"', '""')
    cursor = connection.execute(f'SELECT * FROM "{quoted}"')  # noqa: S608 - a name cannot be a parameter; it is quoted
    names = [column[0] for column in cursor.description]
    found: list[dict[str, Any]] = []
    held = 0
    for row in cursor:
        held += sum(len(value) for value in row if isinstance(value, str | bytes))
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
