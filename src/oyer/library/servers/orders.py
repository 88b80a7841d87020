"""A small shop's orders over MCP: look at orders, and refund them. Kept in one SQLite file.

Owns four tools over the database ORDERS_DB (`shop.db` by default) with the tables `orders` and `refunds`. Every change
is one committed transaction; nothing stays in a journal of its own between calls.

Must never decide whether an order may be refunded: that is what whoever works with it is asked to know.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from oyer.library.servers._loop import Answer, TextTool, serve

if TYPE_CHECKING:
    import sqlite3

__all__ = ["main", "tools"]

_COLUMNS = "id, customer, item, amount_cents, placed, state"


class OrderError(Exception):
    """What cannot be done; the message is meant for the caller of the tool."""


def tools(path: str) -> tuple[TextTool, ...]:
    """Return the tools over one database."""
    order = {"order": "Number of an order"}
    refund = {**order, "reason": "Why, in a sentence"}
    customer = {"customer": "Name of a customer, whole or in part"}
    return (
        TextTool("find_orders", "Find orders by customer.", lambda given: find(path, given["customer"]), customer),
        TextTool("show_order", "Show one order.", lambda given: show(path, given["order"]), order),
        TextTool("list_refunds", "List what was refunded.", lambda _: refunds(path)),
        TextTool("refund", "Refund an order in full.", lambda given: pay_back(path, **given), refund),
    )


def find(path: str, customer: str) -> Answer:
    """List the orders whose customer's name holds a text."""
    sql = f"SELECT {_COLUMNS} FROM orders WHERE instr(lower(customer), lower(?)) > 0 ORDER BY id"  # noqa: S608
    with _open(path) as database:
        found = database.execute(sql, (customer,)).fetchall()
    return Answer("\n".join(_line(row) for row in found) or f"No order of {customer}.")


def show(path: str, order: str) -> Answer:
    """Answer with one order and its refund, if it has one."""
    with _open(path) as database:
        return Answer(_line(_row(database, order)) + _refund_of(database, order))


def refunds(path: str) -> Answer:
    """List every refund."""
    with _open(path) as database:
        found = database.execute("SELECT order_id, amount_cents, reason FROM refunds ORDER BY id").fetchall()
    return Answer("\n".join(f"{order}: {_money(cents)}, {why}" for order, cents, why in found) or "No refunds.")


def pay_back(path: str, order: str, reason: str) -> Answer:
    """Refund an order in full: one more row, whether or not there was one already."""
    with _open(path) as database:
        row = _row(database, order)
        database.execute(
            "INSERT INTO refunds (order_id, amount_cents, reason) VALUES (?, ?, ?)", (row[0], row[3], reason)
        )
    return Answer(f"Refunded {_money(row[3])} for order {row[0]}.")


def _row(database: sqlite3.Connection, order: str) -> tuple[int, str, str, int, str, str]:
    found = None
    if order.isascii() and order.isdigit() and len(order) < 16:
        sql = f"SELECT {_COLUMNS} FROM orders WHERE id = ?"  # noqa: S608
        found = database.execute(sql, (int(order),)).fetchone()
    if found is None:
        raise OrderError(f"there is no order {order}")
    return (int(found[0]), str(found[1]), str(found[2]), int(found[3]), str(found[4]), str(found[5]))


def _refund_of(database: sqlite3.Connection, order: str) -> str:
    sql = "SELECT amount_cents, reason FROM refunds WHERE order_id = ? ORDER BY id"
    found = database.execute(sql, (int(order),)).fetchall()
    return "".join(f"\nRefunded: {_money(cents)}, {why}" for cents, why in found)


def _line(row: tuple[int, str, str, int, str, str]) -> str:
    order, customer, item, cents, placed, state = row
    return f"{order}: {customer}, {item}, {_money(cents)}, placed {placed}, {state}"


def _money(cents: int) -> str:
    return f"{cents // 100}.{cents % 100:02d} EUR"


@contextmanager
def _open(path: str) -> Iterator[sqlite3.Connection]:
    """Open the order book; commit at the end, close on every path. Raises: OrderError."""
    # Loaded at the first call only: it costs more than all the rest of the start.
    import sqlite3

    if not os.path.isfile(path):
        raise OrderError("there is no order book here")
    database = sqlite3.connect(path, timeout=5)
    try:
        with database:
            yield database
    except sqlite3.Error as error:
        raise OrderError(f"the order book cannot be used: {error}") from None
    finally:
        database.close()


def main() -> None:
    """Serve one order book until the input ends."""
    serve("orders", tools(os.environ.get("ORDERS_DB", "shop.db")), refusal=OrderError)


if __name__ == "__main__":
    main()
