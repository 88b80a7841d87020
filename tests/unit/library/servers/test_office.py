"""The office as a child process: each group of tools, what is filled in, and that nothing leads out."""

from __future__ import annotations

import http.server
import json
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

import oyer

SOURCES = str(Path(oyer.__file__).resolve().parents[1])


@pytest.fixture
def world(tmp_path: Path) -> Path:
    world = tmp_path / "world"
    (world / "site" / "help").mkdir(parents=True)
    (world / "desk.txt").write_text("Ticket @TICKET@ of @OWNER@, mail a@b.example\n")
    (world / "site" / "prices.html").write_text("A seat: @PRICE@ EUR")
    (world / "site" / "help" / "index.html").write_text("Ask at the desk.")
    (tmp_path / "secret.txt").write_text("outside")
    with closing(sqlite3.connect(world / "office.db")) as database, database:
        database.execute("CREATE TABLE rooms (id INTEGER PRIMARY KEY, name TEXT NOT NULL, seats INTEGER)")
        database.execute("CREATE TABLE orders (id TEXT PRIMARY KEY, state TEXT)")
        database.execute("CREATE TABLE loose (word TEXT)")
        database.executemany("INSERT INTO rooms VALUES (?, ?, ?)", [(1, "Elm", 4), (2, "Oak", 12)])
        database.executemany("INSERT INTO orders VALUES (?, ?)", [("@ORDER@", "open"), ("B-2", "sent")])
    return world


def rows(world: Path, table: str) -> list[tuple[Any, ...]]:
    with closing(sqlite3.connect(world / "office.db")) as database:
        return database.execute(f"SELECT * FROM {table} ORDER BY 1").fetchall()


def test_files_and_the_report_are_what_an_office_has_by_default(start, world: Path) -> None:
    talk = start("office", world)
    assert list(talk.tools()) == ["list_directory", "read_file", "write_file", "delete_file", "status"]
    assert talk.text("write_file", path="new.txt", content="x") == "Wrote 1 bytes to new.txt."
    assert talk.text("read_file", path="new.txt") == "x"
    assert talk.text("delete_file", path="new.txt") == "Deleted new.txt."
    assert not (world / "new.txt").exists()
    said = {"state": "answer", "about": "delivery-date", "value": "unknown"}
    assert talk.call("status", **said)["structuredContent"] == said
    assert talk.end() == (0, b"")


def test_the_groups_come_in_the_order_in_which_they_are_named(start, world: Path) -> None:
    tools = start("office", world, OFFICE_TOOLS="notes, records,web").tools()
    assert list(tools) == ["recall", "remember", "list_rows", "add_row", "change_row", "fetch", "submit"]
    every = start("office", world, OFFICE_TOOLS="files,report,records,web,notes").tools()
    assert all(one["inputSchema"]["properties"].values() for one in every.values())


@pytest.mark.parametrize("named", ["files,telephone", " , "])
def test_a_group_that_there_is_none_of_ends_the_server_at_once(world: Path, named: str) -> None:
    argv = [sys.executable, "-m", "oyer.library.servers.office"]
    env = {"PYTHONPATH": SOURCES, "PYTHONSAFEPATH": "1", "OFFICE_TOOLS": named}
    done = subprocess.run(argv, cwd=world, env=env, capture_output=True, stdin=subprocess.DEVNULL)
    assert done.returncode != 0
    assert b"there is files, records, web, notes, report" in done.stderr


def test_what_nobody_asked_for_is_never_loaded(world: Path) -> None:
    told = "import sys; from oyer.library.servers.office import office_from, tools; tools(office_from({})); "
    told += "print(*sorted(m for m in sys.modules if m in ('sqlite3', 'http.server', 'http.client', 'threading') "
    told += "or '_office_' in m))"
    env = {"PYTHONPATH": SOURCES, "PYTHONSAFEPATH": "1"}
    done = subprocess.run([sys.executable, "-c", told], cwd=world, env=env, capture_output=True, text=True)
    assert done.stdout.split() == ["oyer.library.servers._office_files"], done.stderr


def test_deleting_leads_nowhere_and_takes_files_only(start, world: Path) -> None:
    (world / "link").symlink_to(world.parent / "secret.txt")
    talk = start("office", world)
    assert talk.refusal("delete_file", path="../secret.txt").endswith("outside the allowed directory")
    assert talk.refusal("delete_file", path="link") == "link is not a file"
    assert talk.refusal("delete_file", path="site") == "site is not a file"
    assert talk.refusal("delete_file", path="nothing") == "nothing does not exist"
    assert (world.parent / "secret.txt").exists()
    assert (world / "link").is_symlink()


# ---------------------------------------------------------------------------------------------------- filling in


def test_a_mark_comes_out_as_its_value_wherever_it_is_read(start, world: Path) -> None:
    (world / "notes").mkdir()
    (world / "notes" / "prices.txt").write_text("Ask for @PRICE@.")
    env = {"OFFICE_FILL_TICKET": "T-81", "OFFICE_FILL_PRICE": "19@TICKET@", "OFFICE_FILL_ORDER": "A-1"}
    talk = start("office", world, OFFICE_TOOLS="files,records,web,notes", **env)
    assert talk.text("read_file", path="desk.txt") == "Ticket T-81 of @OWNER@, mail a@b.example\n"
    # What was filled in is never filled in again.
    assert talk.text("fetch", path="/prices") == "A seat: 19@TICKET@ EUR"
    assert talk.text("recall", topic="prices") == "Ask for 19@TICKET@."
    assert json.loads(talk.text("list_rows", table="orders", column="id", value="A-1")) == {
        "id": "A-1",
        "state": "open",
    }
    assert talk.text("change_row", table="orders", key="A-1", column="state", value="sent").startswith("Changed")
    assert rows(world, "orders") == [("@ORDER@", "sent"), ("B-2", "sent")]
    assert (world / "desk.txt").read_text().startswith("Ticket @TICKET@")


def test_the_last_sign_of_what_is_no_mark_may_be_the_first_of_one(start, world: Path) -> None:
    (world / "odd.txt").write_text("a@B@TICKET@ @@TICKET@@ @TICKET @ticket@")
    talk = start("office", world, OFFICE_FILL_TICKET="7")
    assert talk.text("read_file", path="odd.txt") == "a@B7 @7@ @TICKET @ticket@"


# ------------------------------------------------------------------------------------------------------- records


def test_a_change_is_one_committed_row_and_nothing_else_stays(start, world: Path) -> None:
    talk = start("office", world, OFFICE_TOOLS="records")
    assert [json.loads(line)["name"] for line in talk.text("list_rows", table="rooms").split("\n")] == ["Elm", "Oak"]
    assert talk.text("add_row", table="rooms", values='{"name": "Ash", "seats": "6"}') == "Added a row to rooms."
    assert talk.text("change_row", table="rooms", key="2", column="seats", value="10").startswith("Changed seats of 2")
    assert rows(world, "rooms") == [(1, "Elm", 4), (2, "Oak", 10), (3, "Ash", 6)]
    assert sorted(path.name for path in world.iterdir()) == ["desk.txt", "office.db", "site"]
    assert talk.text("list_rows", table="rooms", column="seats", value="7") == "No such row."


@pytest.mark.parametrize(
    ("tool", "given", "why"),
    [
        ("list_rows", {"table": "rooms; DROP TABLE rooms"}, "there is no table"),
        ("list_rows", {"table": "sqlite_master"}, "there is loose, orders, rooms"),
        ("list_rows", {"table": "rooms", "column": "id"}, "together"),
        ("list_rows", {"table": "rooms", "column": '"', "value": "x"}, "no column"),
        ("add_row", {"table": "rooms", "values": '["Ash"]'}, "JSON object"),
        ("add_row", {"table": "rooms", "values": '{"name": "Ash", "colour": "red"}'}, "no column colour"),
        ("add_row", {"table": "rooms", "values": '{"name": ["Ash"]}'}, "name: a value is"),
        ("add_row", {"table": "rooms", "values": '{"id": 1, "name": "Ash"}'}, "cannot be used"),
        ("add_row", {"table": "rooms", "values": '{"name": null}'}, "cannot be used"),
        ("add_row", {"table": "rooms", "values": '{"name": "a", "seats": 99999999999999999999}'}, "cannot be used"),
        ("change_row", {"table": "rooms", "key": "9", "column": "name", "value": "x"}, "has no row 9"),
        ("change_row", {"table": "rooms", "key": "1 OR 1=1", "column": "name", "value": "x"}, "has no row"),
        ("change_row", {"table": "loose", "key": "1", "column": "word", "value": "x"}, "no column id"),
    ],
)
def test_what_cannot_be_done_is_said_and_changes_nothing(
    start, world: Path, tool: str, given: dict[str, str], why: str
) -> None:
    before = (world / "office.db").read_bytes()
    assert why in start("office", world, OFFICE_TOOLS="records").refusal(tool, **given)
    assert (world / "office.db").read_bytes() == before


def test_two_rows_of_one_key_are_not_guessed_between(start, world: Path) -> None:
    with closing(sqlite3.connect(world / "other.db")) as database, database:
        database.execute("CREATE TABLE t (id TEXT, x TEXT)")
        database.executemany("INSERT INTO t VALUES (?, ?)", [("1", "a"), ("1", "b")])
    talk = start("office", world, OFFICE_TOOLS="records", OFFICE_DB="other.db")
    assert "several rows 1" in talk.refusal("change_row", table="t", key="1", column="x", value="c")


def test_without_records_every_call_is_a_tool_error(start, tmp_path: Path) -> None:
    talk = start("office", tmp_path, OFFICE_TOOLS="records")
    assert talk.refusal("list_rows", table="rooms") == "there are no records here"
    (tmp_path / "office.db").write_text("rubbish that is long enough to be looked at as a database header " * 3)
    assert "the records cannot be used" in talk.refusal("list_rows", table="rooms")


# ----------------------------------------------------------------------------------------------------------- web


def test_pages_come_from_the_site_and_from_nowhere_else(start, world: Path) -> None:
    talk = start("office", world, OFFICE_TOOLS="web")
    assert talk.text("fetch", path="prices.html?x=1") == "A seat: @PRICE@ EUR"
    assert talk.text("fetch", path="/help/") == "Ask at the desk."
    assert talk.refusal("fetch", path="/nothing") == "404: There is no such page."
    for outside in ("/../desk.txt", "/../../secret.txt", "/%2e%2e/desk.txt", f"{world}/desk.txt"):
        assert talk.refusal("fetch", path=outside).startswith("404")
    for strange in ("http://127.0.0.1/prices", "//elsewhere/x", "", "/a b", "/a\r\nX: y"):
        assert "a path of the site" in talk.refusal("fetch", path=strange)
    assert talk.end() == (0, b"")


@pytest.fixture
def service() -> Iterator[Any]:
    """A service that answers every POST with one status and keeps what it got."""
    opened = []

    def answering(status: int) -> Any:
        got: list[tuple[str | None, Any]] = []

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                got.append((self.headers["Authorization"], json.loads(body)))
                self.send_response(status)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_: Any) -> None:
                pass

        server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        thread.start()
        opened.append((server, thread))
        return f"http://127.0.0.1:{server.server_port}/in", got

    yield answering
    for server, thread in opened:
        server.shutdown()
        thread.join()
        server.server_close()


def test_a_form_is_one_post_with_the_token(start, world: Path, service) -> None:
    url, got = service(202)
    talk = start("office", world, OFFICE_TOOLS="web", OFFICE_SINK=url, OFFICE_TOKEN="tok")
    assert talk.text("submit", path="orders", body='{"item": "lamp"}') == "ok: submitted to /orders"
    assert talk.text("submit", path="/words", body="plain words") == "ok: submitted to /words"
    lamp, words = {"path": "/orders", "body": {"item": "lamp"}}, {"path": "/words", "body": "plain words"}
    assert got == [("Bearer tok", lamp), ("Bearer tok", words)]


def test_nothing_is_said_to_be_submitted_without_a_yes(start, world: Path, service) -> None:
    url, _ = service(500)
    assert "500" in start("office", world, OFFICE_TOOLS="web", OFFICE_SINK=url).refusal("submit", path="/x", body="{}")
    assert "no service" in start("office", world, OFFICE_TOOLS="web").refusal("submit", path="/x", body="{}")
    with closing(http.server.HTTPServer(("127.0.0.1", 0), http.server.BaseHTTPRequestHandler).socket) as held:
        gone = f"http://127.0.0.1:{held.getsockname()[1]}/"
    told = start("office", world, OFFICE_TOOLS="web", OFFICE_SINK=gone, OFFICE_TOKEN="tok-9").refusal(
        "submit", path="/x", body="{}"
    )
    assert told == "failed: nothing was submitted to /x, the service is unreachable"


# --------------------------------------------------------------------------------------------------------- notes


def test_notes_are_kept_in_a_file_a_topic_and_read_in_a_later_process(start, world: Path) -> None:
    talk = start("office", world, OFFICE_TOOLS="notes")
    assert talk.text("recall") == "Nothing was noted."
    assert talk.text("recall", topic="Opening hours") == "Nothing was noted about opening-hours."
    assert talk.text("remember", topic="Opening hours", text="9 to 5") == "Noted about opening-hours."
    talk.text("remember", topic="opening-hours", text="closed in May")
    assert talk.end() == (0, b"")
    assert (world / "notes" / "opening-hours.txt").read_text() == "9 to 5\nclosed in May\n"
    later = start("office", world, OFFICE_TOOLS="notes")
    assert later.text("recall", topic="OPENING  hours") == "9 to 5\nclosed in May\n"
    assert later.text("recall") == "opening-hours"


@pytest.mark.parametrize("topic", ["", "../desk", "a/b", "\u00e9t\u00e9", "x" * 81, "."])
def test_a_topic_leads_nowhere(start, world: Path, topic: str) -> None:
    talk = start("office", world, OFFICE_TOOLS="notes")
    assert "plain letters" in talk.refusal("remember", topic=topic, text="x")
    assert not (world / "notes").exists()


def test_a_notebook_that_is_a_link_is_not_followed(start, world: Path) -> None:
    (world / "notes").symlink_to(world / "site")
    talk = start("office", world, OFFICE_TOOLS="notes")
    assert "link" in talk.refusal("remember", topic="x", text="y") or "directory" in talk.refusal(
        "remember", topic="x", text="y"
    )
    assert sorted(path.name for path in (world / "site").iterdir()) == ["help", "prices.html"]
