"""Any bytes as a database: rows, no table, or a reason in words; never anything else, and nothing of it is run."""

from __future__ import annotations

import sqlite3
from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oyer.observe.database import Unreadable, read_table


@cache
def good() -> bytes:
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE TABLE t (a INTEGER PRIMARY KEY, b TEXT, c BLOB)")
    connection.executemany("INSERT INTO t VALUES (?, ?, ?)", [(n, "x" * n, bytes(n)) for n in range(1, 60)])
    connection.execute("CREATE TABLE made (a, b AS (upper(a)))")
    connection.execute("INSERT INTO made VALUES (1)")
    connection.execute("CREATE TRIGGER g AFTER INSERT ON t BEGIN DELETE FROM t; END")
    connection.commit()
    raw = connection.serialize()
    connection.close()
    return bytes(raw)


@settings(max_examples=150, deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 16_383), st.integers(0, 255)), max_size=12),
    st.just(20_000) | st.integers(0, 20_000),
)
def test_a_damaged_database_gives_rows_or_a_reason(changes: list[tuple[int, int]], length: int) -> None:
    raw = bytearray(good())
    for place, value in changes:
        raw[place % len(raw)] = value
    try:
        found = read_table(bytes(raw[:length]), "t")
    except Unreadable as reason:
        assert str(reason)
    else:
        assert found is None or all(set(row) for row in found.rows)


def test_what_a_table_declares_is_not_run() -> None:
    assert read_table(good(), "t") is not None
    with pytest.raises(Unreadable):
        read_table(good(), "made")


@pytest.mark.parametrize("name", ["t; DROP TABLE t", 't"', "sqlite_master", ""])
def test_a_name_is_only_a_name(name: str) -> None:
    assert read_table(good(), name) is None
