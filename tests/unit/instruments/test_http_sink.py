"""The http sinks: a process of their own that records before it answers, and knows whose token is whose."""

from __future__ import annotations

import asyncio
import http.client
import json
import os
import signal
import socket
from hashlib import sha256
from pathlib import Path

import pytest
from waiting import until

from oyer.errors import HarnessError
from oyer.evidence import Envelope, Event, blob_path, check_journal, decode_blob, parse_event, payload_bytes
from oyer.host import boot_id
from oyer.host.process_table import descendants_of, process_info
from oyer.instruments import HttpSink, SinkHost

ENVELOPES = [Envelope("s", f"t{n}", f"r{n:016x}", "baseline", 1, boot_id()) for n in range(3)]


def digest(token: str) -> str:
    return f"sha256:{sha256(token.encode()).hexdigest()}"


class Series:
    """A series directory with one running attempt per envelope."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def journal(self, number: int) -> Path:
        path = self.root / "trials" / "ab" / f"t{number}" / "1" / "sink.actions.jsonl"
        path.parent.mkdir(parents=True, exist_ok=True)
        return path

    def events(self, number: int) -> list[Event]:
        return [parse_event(line) for line in self.journal(number).read_bytes().split(b"\n") if line]

    def content(self, event: Event, key: str = "content") -> bytes:
        def fetch(name: str) -> bytes:
            return decode_blob((self.root / blob_path(name)).read_bytes(), 1 << 24)

        return payload_bytes(event.body[key], fetch)


async def post(sink: HttpSink, body: bytes, *, token: str | None = None, path: str | None = None, **more: str) -> int:
    """Send one request as a server would; return the status."""

    def send() -> int:
        address, _, place = sink.url.removeprefix("http://").partition("/")
        connection = http.client.HTTPConnection(address, timeout=60)
        headers = {"Content-Type": "application/json", **more}
        if token != "":
            headers["AUTHORIZATION"] = f"Bearer {token or sink.token}"
        connection.request("POST", f"/{path if path is not None else place}", body, headers)
        status = connection.getresponse().status
        connection.close()
        return status

    return await asyncio.to_thread(send)


async def test_effects_probes_and_refusals_of_one_attempt(tmp_path: Path) -> None:
    series = Series(tmp_path)
    host = await SinkHost.start(secrets={"key": b"operator-secret-1"})
    sink = await host.open_sink("actions", ENVELOPES[0], series.journal(0))
    assert await sink.probe("opening")
    pay = b'{"amount": 10, "requested_at": 1.50}'
    assert [await post(sink, pay), await post(sink, pay)] == [200, 200]
    assert await post(sink, b"not json \xff") == 200
    assert await post(sink, json.dumps({"long": "x" * 10_000, "k": "operator-secret-1"}).encode()) == 200
    assert await post(sink, pay, token="wrong") == 403
    assert await post(sink, pay, token="") == 403
    assert await post(sink, b"x" * 2_000_000) == 413
    assert await post(sink, pay, path="elsewhere", token="wrong") == 404
    assert await post(sink, b'{"probe": "guessed"}') == 200
    assert await sink.probe("closing")
    assert await post(sink, b'{"after": "probe"}') == 200
    head = await sink.seal()
    assert await host.stop() == ()

    events = series.events(0)
    check = check_journal(series.journal(0).read_bytes(), expect=ENVELOPES[0], writer="sink:actions")
    assert check.sealed
    assert events[-1].seq + 1 == head.length
    assert events[0].body["token_sha256"] == digest(sink.token)
    assert (events[0].kind, series.content(events[0], "state")) == ("sink.opened", b"[]")
    probes = [event for event in events if event.kind == "sink.probed"]
    assert [(event.body["phase"], event.body["ok"]) for event in probes] == [("opening", True), ("closing", True)]
    effects = [event for event in events if event.kind == "sink.effect"]
    assert [series.content(event) for event in effects[:2]] == [pay, pay]
    assert effects[2].body["content"] is None
    assert b"operator-secret-1" not in series.content(effects[3])
    assert effects[3].blobs
    assert series.content(effects[4]) == b'{"probe": "guessed"}'
    assert series.content(effects[5]) == b'{"after": "probe"}'
    assert {(event.body["run_named"], event.body["token"]) for event in effects} == {
        (ENVELOPES[0].run, digest(sink.token))
    }
    raw = series.content(effects[0], "payload")
    assert raw.startswith(b"POST /")
    assert b"\r\nAUTHORIZATION: Bearer " in raw
    assert raw.endswith(b"\r\n\r\n" + pay)
    rejected = [event for event in events if event.kind == "sink.rejected"]
    assert [event.body["why"] for event in rejected] == [
        "a token no run ever had",
        "no token",
        "a body of more than 1048576 bytes",
    ]
    assert (events[-2].kind, events[-2].body["effects"], events[-2].body["rejected"]) == ("sink.closed", 6, 3)


async def test_a_token_counts_against_the_run_it_names(tmp_path: Path) -> None:
    series = Series(tmp_path)
    host = await SinkHost.start()
    first, second = [await host.open_sink("actions", ENVELOPES[n], series.journal(n)) for n in range(2)]
    assert first.url.rpartition("/")[0] == second.url.rpartition("/")[0]
    assert await post(second, b"{}", token=first.token) == 403
    await first.seal()
    assert await post(first, b'{"late": 1}') == 404
    await second.seal()
    assert await post(second, b'{"late": 2}') == 404
    third = await host.open_sink("actions", ENVELOPES[2], series.journal(2))
    await third.seal()
    assert await post(third, b'{"late": 3}') == 404
    late = await host.stop()
    assert [event.body.get("run_named") for event in series.events(1) if event.kind == "sink.rejected"] == [
        ENVELOPES[0].run,
        ENVELOPES[0].run,
    ]
    assert [event.body.get("run_named") for event in series.events(2) if event.kind == "sink.rejected"] == [
        ENVELOPES[1].run
    ]
    assert [(one.run, one.token) for one in late] == [(ENVELOPES[2].run, digest(third.token))]
    assert late[0].begins.startswith("POST /")


async def test_a_request_whose_answer_is_lost_is_on_record_all_the_same(tmp_path: Path) -> None:
    series = Series(tmp_path)
    host = await SinkHost.start()
    sink = await host.open_sink("actions", ENVELOPES[0], series.journal(0))
    address, _, place = sink.url.removeprefix("http://").partition("/")
    name, _, port = address.partition(":")
    body = b'{"amount":10}'
    head = f"POST /{place}?token={sink.token} HTTP/1.1\r\nHost: x\r\nContent-Length: {len(body)}\r\n\r\n"

    def send_and_vanish() -> None:
        with socket.create_connection((name, int(port))) as line:
            line.sendall(head.encode() + body)

    await asyncio.to_thread(send_and_vanish)
    await until(lambda: len(series.events(0)) > 1)
    await sink.seal()
    await host.stop()
    assert [event.kind for event in series.events(0)] == ["sink.opened", "sink.effect", "sink.closed", "sealed"]
    assert series.content(series.events(0)[1]) == body


async def test_a_process_that_dies_is_a_fault_and_never_a_watched_sink(tmp_path: Path) -> None:
    series = Series(tmp_path)
    faults: list[tuple[str, str, str]] = []
    before = {row.pid for row in descendants_of(os.getpid())}
    told: list[tuple[str, str, str]] = []
    host = await SinkHost.start(on_fault=lambda *fault: faults.append(fault))
    sink = await host.open_sink("actions", ENVELOPES[0], series.journal(0), on_fault=lambda *fault: told.append(fault))
    with pytest.raises(HarnessError, match="E-SINK-COMMAND"):
        await host.open_sink("actions", ENVELOPES[0], series.journal(0))
    (pid,) = {row.pid for row in descendants_of(os.getpid())} - before
    os.kill(pid, signal.SIGKILL)
    with pytest.raises(HarnessError, match="E-SINK-HOST"):
        await sink.probe("closing")
    with pytest.raises(HarnessError, match="E-SINK-HOST"):
        await sink.seal()
    await host.stop()
    assert [fault[:2] for fault in faults] == [("sinks", "harness")]
    assert told == faults  # whoever has a sink open hears of it too
    assert not host.alive
    assert process_info(pid) is None


async def test_a_journal_that_cannot_be_written_refuses_the_effect_and_says_so(tmp_path: Path) -> None:
    series = Series(tmp_path)
    faults: list[tuple[str, str, str]] = []
    others: list[tuple[str, str, str]] = []
    host = await SinkHost.start(on_fault=lambda *fault: others.append(fault))
    hear = lambda *fault: faults.append(fault)  # noqa: E731
    sink = await host.open_sink("actions", ENVELOPES[0], series.journal(0), on_fault=hear)
    (tmp_path / "blobs").write_text("in the way of every blob")
    assert await post(sink, json.dumps({"long": "x" * 10_000}).encode()) == 503
    assert await post(sink, b"{}") == 503
    with pytest.raises(HarnessError, match="E-SINK-COMMAND"):
        await sink.seal()
    await host.stop()
    assert {fault[:2] for fault in faults} == {("sink:actions", "harness")}
    assert others == []
    assert [event.kind for event in series.events(0)] == ["sink.opened"]


async def test_the_process_ends_with_whoever_started_it(tmp_path: Path) -> None:
    before = {row.pid for row in descendants_of(os.getpid())}
    host = await SinkHost.start()
    (pid,) = {row.pid for row in descendants_of(os.getpid())} - before
    host._writer.close()  # as when the harness is killed: only the end of its input tells the process
    await until(lambda: (row := process_info(pid)) is None or row.is_zombie)
    await host.stop()
