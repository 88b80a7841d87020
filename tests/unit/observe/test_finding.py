"""What each form of matcher finds: matched with its events, otherwise with the look, absent with proof of the watch,
unwatched without any.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from typing import Any

import pytest
from evidence_kit import ACT, Story, digest_of, make_case

from oyer.observe import Found, TrialFacts, find_evidence, read_trial
from oyer.records import Case, EvidenceMatcher

CASE = make_case(
    kind="plain",
    intervention=None,
    chain=None,
    conditions=[],
    validators={"tests": {"command": ["true"]}},
)
RUN = {"called": {"server": "desk", "tool": "run_action"}}


def story(case: Case = CASE, **options: Any) -> Story:
    return Story(case, "baseline", **options)


def facts(told: Story) -> TrialFacts:
    sealed = told.seal()
    return TrialFacts(told.case, read_trial(sealed.journals, sealed.blobs.get, expect=sealed.envelope))


def find(told: Story, **matcher: Any) -> Found:
    found = find_evidence(EvidenceMatcher.model_validate(matcher), facts(told))
    assert (found.state == "unwatched") != bool(found.refs), found
    return found


def acted(arguments: Any = ACT, **options: Any) -> Story:
    told = story()
    with told.session("a"):
        told.call("read_status", says="quiet")
        told.call("run_action", arguments, **options)
    return told


# -- what was drawn --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("drawn", "state"),
    [
        ({"what": "rotate_credentials"}, "matched"),
        ({"what": "other"}, "absent"),
        ({"else": "rotate_credentials"}, "unwatched"),
        ({}, "unwatched"),
    ],
)
def test_a_name_stands_for_what_the_trial_recorded_and_for_nothing_else(drawn: dict[str, str], state: str) -> None:
    told = story(drawn=drawn)
    with told.session("a"):
        told.call("run_action", ACT)
    assert find(told, **RUN, arguments={"action": "{random.what}"}).state == state


# -- calls -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("matcher", "state"),
    [
        ({}, "matched"),
        ({"arguments": {"action": "rotate_credentials"}}, "matched"),
        ({"arguments": {"action": "other"}}, "absent"),
        ({"session": "b"}, "absent"),
        ({"failed": False}, "matched"),
        ({"failed": True}, "absent"),
        ({"result": {"done": 1}}, "matched"),
        ({"result": {"done": 2}}, "absent"),
        ({"result": {"contains": "all done"}}, "matched"),
        ({"result": {"n": 7}}, "absent"),
    ],
)
def test_a_call_by_its_arguments_and_its_answer(matcher: dict[str, Any], state: str) -> None:
    told = acted(ACT | {"at": 5}, says="all done", structured={"done": 1, "more": True})
    assert find(told, **RUN, **matcher).state == state


def test_a_call_is_shown_by_its_request_and_its_answer_and_its_absence_by_the_sealed_tap() -> None:
    found = find(acted(), **RUN)
    kinds = {event.ref: event.kind for event in facts(acted()).evidence.events("tap:desk")}
    assert [kinds[ref] for ref in found.refs] == ["mcp.sent", "mcp.received"]
    assert (found.rank, found.t_ns is not None) == ("protocol", True)
    quiet = story()
    with quiet.session("a"):
        quiet.call("read_status")
    (sealed,) = find(quiet, **RUN).refs
    assert facts(quiet).evidence.events("tap:desk")[-1].ref == sealed


def test_json_in_a_text_answer_is_a_structured_answer() -> None:
    assert find(acted(says='{"n": 7, "m": 8}'), **RUN, result={"n": 7}).state == "matched"


def test_a_call_without_an_answer_matches_as_asked_and_proves_no_absence() -> None:
    told = acted(answered=False)
    assert find(told, **RUN).state == "matched"
    assert find(told, **RUN, failed=False).state == "unwatched"
    assert find(told, **RUN, arguments={"action": "x"}).why == "a call to desk was never answered"


@pytest.mark.parametrize(
    ("raw", "side", "state"),
    [
        (b'\xef\xbb\xbf{"jsonrpc":"2.0","id":9,"method":"tools/call"}', "subject", "unwatched"),
        ('{"jsonrpc":"2.0","id":9,"method":"tools/call"}'.encode("utf-16"), "subject", "unwatched"),
        (b" \r\n", "subject", "absent"),
        (b"a log line", "server", "absent"),
    ],
)
def test_what_a_subject_sent_and_nobody_read_may_have_been_any_call(raw: bytes, side: str, state: str) -> None:
    told = story()
    with told.session("a"):
        told.call("read_status")
        body = {"server": "desk", "connection": 0, "side": side}
        told.deliver(told.note("tap:desk", "mcp.noise", body, payload=raw), "to_server", raw)
    assert find(told, **RUN).state == state


def test_a_call_without_an_id_may_have_been_carried_out() -> None:
    told = story()
    with told.session("a"):
        told.call("read_status")
        raw = b'{"jsonrpc":"2.0","method":"tools/call","params":{"name":"run_action","arguments":{}}}\n'
        told.deliver(told.frame("mcp.sent", raw, 0), "to_server", raw)
    assert find(told, **RUN).state == "unwatched"


def test_a_server_without_a_journal_was_not_watched() -> None:
    assert find(story(), called={"server": "ghost", "tool": "t"}).state == "unwatched"


# -- files -----------------------------------------------------------------------------------------------------


def wrote(files: dict[str, str | None], before: dict[str, str] | None = None, **options: Any) -> Story:
    told = story(**options)
    told.files = dict(before or {})
    with told.session("a"):
        told.call("read_status", writes=files)
    return told


@pytest.mark.parametrize(
    ("matcher", "state"),
    [
        ({"world_path": "a/limits.json"}, "matched"),
        ({"world_path": "limits.json"}, "other"),
        ({"world_path": "**/limits.json"}, "matched"),
        ({"world_path": "*/limits.json"}, "matched"),
        ({"world_path": "*.json"}, "other"),
        ({"world_path": "a/limits.json", "changed": True}, "matched"),
        ({"world_path": "a/limits.json", "changed": False}, "other"),
        ({"world_path": "kept.txt", "changed": True}, "other"),
        ({"world_path": "kept.txt", "changed": False}, "matched"),
        ({"world_path": "gone.txt", "changed": True}, "matched"),
        ({"world_path": "gone.txt", "absent": True}, "matched"),
        ({"world_path": "kept.txt", "absent": True}, "other"),
        ({"world_path": "a/limits.json", "contains": '"alpha": 30'}, "matched"),
        ({"world_path": "a/limits.json", "contains": '"alpha": 60'}, "other"),
        ({"world_path": "a/limits.json", "equals": '{"alpha": 30, "beta": 70}'}, "matched"),
        ({"world_path": "a/limits.json", "equals": '{"alpha": 30}'}, "other"),
        ({"world_path": "a/limits.json", "json_value": {"beta": 70}}, "matched"),
        ({"world_path": "a/limits.json", "json_value": {"beta": {"gte": 71}}}, "other"),
        ({"world_path": "**", "changed": True, "contains": "30"}, "matched"),
        ({"world_path": "**", "changed": True, "contains": "as it was"}, "other"),
        ({"world_path": "kept.txt", "contains": "as it was"}, "unwatched"),
        ({"world_path": "nowhere.txt", "contains": "x"}, "other"),
    ],
)
def test_files_at_the_end_and_what_changed(matcher: dict[str, Any], state: str) -> None:
    before = {"a/limits.json": "{}", "kept.txt": "as it was", "gone.txt": "x"}
    told = wrote({"a/limits.json": '{"alpha": 30, "beta": 70}', "gone.txt": None}, before)
    found = find(told, **matcher)
    assert (found.state, found.rank) == (state, "receipt")


def test_a_file_that_is_read_because_it_is_named_is_known_though_nothing_changed_it() -> None:
    told = wrote({}, {"kept.txt": "as it was"})
    told.end()
    body = {"path": "kept.txt", "phase": "closing", "sha256": digest_of(b"as it was"), "size": 9}
    told.note("world", "world.read", body, payload=b"as it was")
    found = find(told, world_path="kept.txt", contains="as it")
    assert found.state == "matched"
    assert [ref for ref in found.refs if facts(told).world.reads[0].ref == ref]


def test_a_world_that_was_not_looked_at_in_the_end_is_unwatched() -> None:
    told = wrote({"a": "x"})
    told.end()
    told.drop("world.snapshot", phase="closing")
    assert find(told, world_path="a").state == "unwatched"
    opened = wrote({"a": "x"})
    opened.drop("world.snapshot", phase="opening")
    assert find(opened, world_path="a", changed=True).state == "unwatched"
    assert find(opened, world_path="a").state == "matched"


# -- effects ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("matcher", "state", "near"),
    [
        ({}, "matched", 0),
        ({"match": ACT}, "absent", 1),
        ({"match": ACT, "allow_extra": ["at"]}, "matched", 0),
        ({"match": {"action": "other"}}, "absent", 0),
    ],
)
def test_an_effect_matches_exactly_and_what_comes_close_is_named(
    matcher: dict[str, Any], state: str, near: int
) -> None:
    found = find(acted(effect=ACT | {"at": 3}), witnessed="actions", **matcher)
    assert (found.state, len(found.near), found.rank) == (state, near, "receipt")


def test_a_sink_that_did_not_watch_or_saw_another_run_proves_no_absence() -> None:
    told = acted()
    told.end()
    told.drop("sink.probed", phase="closing")
    assert "probe" in find(told, witnessed="actions").why
    other = acted(effect=None)
    other.effect(ACT, run_named="r-another")
    assert find(other, witnessed="actions", match=ACT).why == "sink actions: an effect came late, or from elsewhere"


def test_a_sink_on_another_clock_proves_no_absence() -> None:
    told = acted(effect=None)
    told.end()
    assert find(told, witnessed="actions").state == "absent"
    for draft in told.drafts:
        draft.boot = "boot-2" if draft.writer == "sink:actions" else None
    found = find(told, witnessed="actions")
    assert (found.state, "clock" in found.why) == ("unwatched", True)


@pytest.mark.parametrize(
    ("content", "state", "near"),
    [
        ('{"alpha": 30}', "other", False),
        ('{"alpha": 30, "alpha": 60}', "unwatched", False),
        ('\ufeff{"alpha": 60}', "unwatched", False),
        ('{"alpha": NaN}', "unwatched", False),
        ("alpha is 60", "other", True),
        ('{"alpha": 60', "other", True),
        ("[" * 100_000, "unwatched", False),
        ("null", "other", False),
    ],
)
def test_a_value_that_has_no_one_reading_is_unknown(content: str, state: str, near: bool) -> None:
    found = find(wrote({"limits.json": content}), world_path="limits.json", json_value={"alpha": 60})
    assert (found.state, bool(found.near)) == (state, near)


# -- rows ------------------------------------------------------------------------------------------------------


def database(*statements: str) -> str:
    connection = sqlite3.connect(":memory:")
    for statement in statements:
        connection.execute(statement)
    connection.commit()
    raw = connection.serialize()
    connection.close()
    return raw.decode("latin-1")


MADE = "CREATE TABLE refunds (id INTEGER PRIMARY KEY, kind TEXT, amount REAL, note BLOB)"
ONE = "INSERT INTO refunds VALUES (1, 'refund', 12.5, x'00ff')"
TWO = "INSERT INTO refunds VALUES (2, 'fee', 1, NULL)"


class Bytes(str):
    """Text that stands for bytes as they are: each character is one byte."""

    __slots__ = ()

    def encode(self, *_: Any) -> bytes:
        return super().encode("latin-1")


def shop(after: Sequence[str], before: Sequence[str] | None = None, path: str = "shop.db") -> Story:
    return wrote({path: Bytes(database(*after))}, {} if before is None else {path: Bytes(database(*before))})


@pytest.mark.parametrize(
    ("matcher", "state"),
    [
        ({}, "matched"),
        ({"count": 2}, "matched"),
        ({"count": {"lte": 1}}, "other"),
        ({"where": {"kind": "refund"}}, "matched"),
        ({"where": {"kind": "refund"}, "count": 1}, "matched"),
        ({"where": {"amount": {"gte": 12.6}}}, "other"),
        ({"where": {"note": "0x00ff"}, "count": 1}, "matched"),
        ({"where": {"note": None}, "count": 1}, "matched"),
        ({"where": {"kind": "gift"}, "count": 0}, "matched"),
    ],
)
def test_rows_by_their_values_and_their_number(matcher: dict[str, Any], state: str) -> None:
    found = find(shop([MADE, ONE, TWO]), rows="shop.db", table="refunds", **matcher)
    assert (found.state, found.rank) == (state, "receipt")


def test_a_table_that_is_not_there_proves_nothing() -> None:
    for path, table in (("other.db", "refunds"), ("shop.db", "gifts")):
        for count in (None, 0, {"gte": 2}):
            assert find(shop([MADE]), rows=path, table=table, count=count).state == "unwatched", (path, count)


def opened(after: Sequence[str], before: Sequence[str]) -> Story:
    """A shop whose database was kept at the opening too."""
    told = shop(after, before)
    told.end()
    raw = Bytes(database(*before)).encode()
    body = {"path": "shop.db", "phase": "opening", "sha256": digest_of(raw), "size": len(raw)}
    told.note("world", "world.read", body, payload=raw)
    return told


RENAMED = ["ALTER TABLE refunds RENAME TO t", "ALTER TABLE t RENAME TO Refunds"]


@pytest.mark.parametrize(
    ("further", "where", "state"),
    [
        (RENAMED, {"kind": "refund"}, "matched"),
        (["ALTER TABLE refunds RENAME COLUMN kind TO Kind"], {"kind": "refund"}, "matched"),
        ([], {"KIND": "refund"}, "matched"),
        ([], {"one_of": [{"KIND": "refund"}, {"id": 7}]}, "matched"),
        (["ALTER TABLE refunds RENAME COLUMN kind TO kinds"], {"kind": "refund"}, "unwatched"),
        ([], {"one_of": [{"kind": "gift"}, {"kinds": "refund"}]}, "unwatched"),
        ([], {"kinds": {"absent": True}}, "unwatched"),
        ([], {"kind": "refund", "Kind": "gift"}, "unwatched"),
        ([], {"absent": True}, "unwatched"),
        (["DROP TABLE refunds"], {"kind": "refund"}, "unwatched"),
        (["DROP TABLE refunds", "CREATE TABLE refunds (id, kind BLOB)"], {"kind": "refund"}, "unwatched"),
        (["DROP TABLE refunds", "CREATE TABLE refunds (id, kind TEXT)"], {"kind": "refund"}, "other"),
    ],
)
def test_names_are_those_that_sqlite_matches_and_what_was_renamed_or_retyped_is_unknown(
    further: list[str], where: dict[str, Any], state: str
) -> None:
    told = opened([MADE, ONE, *further], [MADE])
    assert find(told, rows="shop.db", table="refunds", where=where).state == state


def test_a_column_renamed_in_its_case_alone_is_no_change() -> None:
    told = opened([MADE, ONE, "ALTER TABLE refunds RENAME COLUMN kind TO Kind"], [MADE, ONE])
    assert find(told, rows="shop.db", table="refunds", changed=True).state == "other"


@pytest.mark.parametrize("length", [5000, 8191, 4096, 12_288])
def test_a_file_that_is_not_as_long_as_its_head_says_is_unknown(length: int) -> None:
    raw = Bytes(database(MADE, ONE)).encode()
    assert len(raw) == 8192
    told = wrote({"shop.db": Bytes(raw.ljust(length, b"\0")[:length].decode("latin-1"))})
    found = find(told, rows="shop.db", table="refunds")
    assert (found.state, "its head says 2 pages" in found.why) == ("unwatched", True)


def test_a_damaged_file_is_unknown() -> None:
    raw = bytearray(Bytes(database(MADE, ONE)).encode())
    raw[4096:] = bytes([13]) + bytes(4095)  # the page of the table, as an empty one with a head that cannot be
    raw[4096 + 5 : 4096 + 7] = b"\x0f\xff"
    raw[4096 + 1 : 4096 + 3] = b"\x0f\xf0"
    found = find(wrote({"shop.db": Bytes(raw.decode("latin-1"))}), rows="shop.db", table="refunds")
    assert found.state == "unwatched" and "damaged" in found.why


def test_generated_columns_are_refused_before_one_is_computed() -> None:
    doubling = ", ".join(f"c{n} TEXT AS (c{n - 1} || c{n - 1})" for n in range(1, 29))
    made = [f"CREATE TABLE refunds (id INTEGER, c0 TEXT, {doubling})", "INSERT INTO refunds VALUES (1, 'x')"]
    # With a check over them, no row could be looked at either.
    checked = [made[0][:-1] + ", CHECK (length(c28) > 0 OR c28 IS NULL))"]
    for statements in (made, checked):
        found = find(shop(statements), rows="shop.db", table="refunds")
        assert (found.state, "generated columns" in found.why) == ("unwatched", True)


def test_what_is_too_much_is_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("oyer.observe.database.MAX_BYTES", 300)
    nulls = "INSERT INTO refunds SELECT NULL, NULL, NULL, NULL FROM (VALUES (1), (2), (3), (4))"
    for statements, state in (([MADE, ONE, TWO], "matched"), ([MADE, nulls], "unwatched")):
        assert find(shop(statements), rows="shop.db", table="refunds").state == state


def test_running_out_of_memory_is_no_crash(monkeypatch: pytest.MonkeyPatch) -> None:
    def exhausted(*_: Any) -> None:
        raise MemoryError

    monkeypatch.setattr("oyer.observe.database._rows", exhausted)
    assert find(shop([MADE, ONE]), rows="shop.db", table="refunds").why.endswith("MemoryError")


@pytest.mark.parametrize(
    ("after", "changed", "state"),
    [
        ([MADE, ONE, TWO], True, "matched"),
        ([MADE, ONE, TWO], False, "other"),
        ([MADE, ONE, "CREATE TABLE gifts (a)"], True, "other"),
        ([MADE, ONE, "CREATE TABLE gifts (a)"], False, "matched"),
    ],
)
def test_rows_that_differ_from_those_before(after: list[str], changed: bool, state: str) -> None:
    assert find(opened(after, [MADE, ONE]), rows="shop.db", table="refunds", changed=changed).state == state


@pytest.mark.parametrize(
    "statements",
    [
        [MADE, "CREATE VIEW v AS SELECT * FROM refunds"],
        [MADE, "CREATE VIRTUAL TABLE v USING fts5(a)"],
    ],
)
def test_only_base_tables_are_read(statements: list[str]) -> None:
    found = find(shop(statements), rows="shop.db", table="v")
    assert (found.state, found.why) == ("unwatched", "shop.db: v is no base table")


@pytest.mark.parametrize("content", ["not a database", "SQLite format 3\x00" + "\x00" * 200])
def test_what_is_no_database_is_unknown(content: str) -> None:
    assert find(wrote({"shop.db": content}), rows="shop.db", table="t").state == "unwatched"


def test_a_log_that_was_not_merged_makes_the_rows_unknown() -> None:
    for beside, state in (("", "matched"), ("pages", "unwatched")):
        told = wrote({"shop.db": Bytes(database(MADE, ONE)), "shop.db-wal": beside})
        assert find(told, rows="shop.db", table="refunds").state == state


def test_a_database_in_wal_mode_is_read_as_the_file_alone() -> None:
    raw = bytearray(Bytes(database(MADE, ONE)).encode())
    raw[18:20] = b"\x02\x02"
    told = wrote({"shop.db": Bytes(raw.decode("latin-1"))})
    assert find(told, rows="shop.db", table="refunds").state == "matched"


# -- exits, measurements, receipts of a provider -----------------------------------------------------------------


def exited(role: str, code: int | None) -> Story:
    told = acted()
    told.end()
    body = {"role": role, "pid": 5, "code": code, "signal": 9 if code is None else None, "survivors": []}
    told.note("harness", "process.exited", body, stderr=b"")
    return told


def test_exit_codes() -> None:
    assert find(exited("validator:tests", 0), exited="tests", code=0).state == "matched"
    assert find(exited("validator:tests", 1), exited="tests", code=0).state == "other"
    assert find(exited("validator:tests", None), exited="tests").state == "other"
    assert find(exited("subject", 0), exited="subject", code=0).state == "matched"
    assert find(exited("subject", 0), exited="tests", code=0).state == "unwatched"


def test_measurements() -> None:
    assert find(acted(), measured="tool_calls", value={"lte": 2}).state == "matched"
    assert find(acted(), measured="tool_calls", value={"lte": 1}).state == "other"
    assert find(acted(effect=ACT), measured="effects", value=1).state == "matched"
    assert find(acted(), measured="cpu_ns", value={"lte": 1}).state == "unwatched"
    assert find(acted(), measured="moons", value={"lte": 1}).state == "unwatched"
    metered = acted()
    metered.end()
    for cpu, rss in ((5, 900), (7, 400)):
        metered.note("meter", "meter.sample", {"wall_ns": 1, "cpu_ns": cpu, "rss_bytes": rss})
    assert find(metered, measured="cpu_ns", value=7).rank == "receipt"
    assert find(metered, measured="rss_bytes", value=900).state == "matched"


def test_what_the_gateway_kept_of_the_model() -> None:
    told = story(gateway=True)
    with told.session("a"):
        told.call("read_status")
    assert find(told, provider={"reported_model": "m-1-2026", "http_status": 200}).state == "matched"
    assert find(told, provider={"reported_model": "m-2"}).state == "absent"
    assert find(acted(), provider={"reported_model": "m-2"}).state == "unwatched"
