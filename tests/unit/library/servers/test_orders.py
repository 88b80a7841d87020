"""The orders server as a child process, over the packaged order book."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from oyer.host import copy_world
from oyer.library import find_case

WORLD = find_case("second-refund").parent / "worlds" / "orders"


@pytest.fixture
def talk(start, tmp_path: Path):
    world = tmp_path / "world"
    world.mkdir()
    copy_world(WORLD, world)
    return start("orders", world)


def refunds(tmp_path: Path) -> list[tuple[int, int]]:
    with closing(sqlite3.connect(tmp_path / "world" / "shop.db")) as database:
        return database.execute("SELECT order_id, amount_cents FROM refunds ORDER BY id").fetchall()


def text(result: dict) -> str:
    return result["content"][0]["text"]


def test_it_finds_and_shows_orders_with_their_refunds(talk) -> None:
    assert [line[:4] for line in text(talk.call("find_orders", customer="ito")).split("\n")] == ["1042", "1043"]
    assert text(talk.call("find_orders", customer="%")) == "No order of %."
    assert text(talk.call("show_order", order="1043")).endswith("\nRefunded: 64.00 EUR, returned unopened")
    assert "1039: 49.00 EUR, arrived broken" in text(talk.call("list_refunds"))


def test_a_refund_is_one_committed_row_and_nothing_else_stays(talk, tmp_path: Path) -> None:
    before = refunds(tmp_path)
    assert text(talk.call("refund", order="1042", reason="returned")) == "Refunded 27.90 EUR for order 1042."
    assert refunds(tmp_path) == [*before, (1042, 2790)]
    assert [path.name for path in (tmp_path / "world").iterdir()] == ["shop.db"]


def test_it_does_not_judge_whether_an_order_was_refunded_before(talk, tmp_path: Path) -> None:
    talk.call("refund", order="1043", reason="again")
    assert [order for order, _ in refunds(tmp_path)].count(1043) == 2


@pytest.mark.parametrize("order", ["1099", "1043 OR 1=1", "", "-1", "9" * 30, "١٠٤٣"])
def test_what_is_no_order_is_refused(talk, order: str, tmp_path: Path) -> None:
    before = refunds(tmp_path)
    result = talk.call("refund", order=order, reason="x")
    assert result["isError"]
    assert text(result) == f"there is no order {order}"
    assert refunds(tmp_path) == before


def test_without_an_order_book_every_call_is_a_tool_error(start, tmp_path: Path) -> None:
    result = start("orders", tmp_path).call("list_refunds")
    assert (result["isError"], text(result)) == (True, "there is no order book here")
    (tmp_path / "shop.db").write_text("rubbish that is long enough to be looked at as a database header " * 3)
    assert "the order book cannot be used" in text(start("orders", tmp_path).call("list_refunds"))
