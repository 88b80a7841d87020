"""No subject can bring it about that a failure is put down to its server alone: each way that it might try."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from http.client import HTTPException
from pathlib import Path
from typing import Any

import http_tap_kit
import pytest
from waiting import leap, until

from instrument_kit import QUICK, KitJournal, Rig, request
from oyer.host import Exit, become_subreaper, open_run_dir
from oyer.host.process_table import descendants_of
from oyer.instruments import TapLimits, TappedServer
from oyer.instruments.tap_blame import ended_by_somebody
from oyer.instruments.tap_http import HttpTap
from oyer.instruments.tap_http_serving import Served

RigMaker = Callable[[str], Rig]
OPENING = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "a", "version": "1"}}
SOURCES = str(Path(__file__).parents[3] / "src")
PATIENT = TapLimits(answer_timeout_s=600, patience=QUICK)

STATUS_SERVER = """
import json, os, sys
from http.server import BaseHTTPRequestHandler, HTTPServer

class Handler(BaseHTTPRequestHandler):
    def log_message(self, *_): pass
    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        try:
            message = json.loads(body)
        except ValueError:
            return self.close_now() if STATUS == 0 else self.say(STATUS, b"")
        if message["method"] == "initialize" and STATUS > 0:
            result = {"protocolVersion": "2025-11-25", "capabilities": {}, "serverInfo": {"name": "s", "version": "1"}}
            return self.say(200, json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}).encode())
        self.say(202 if "id" not in message else abs(STATUS), b"")
    def do_GET(self):
        self.say(405, b"")
    def do_DELETE(self):
        self.say(200, b"")
    def close_now(self):
        self.connection.close()
    def say(self, status, body):
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

STATUS = int(sys.argv[2])
HTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
"""


class Bridged(Rig):
    """A tap in front of the bridge, or of a door before it, and a server that answers calls with one status."""

    def __init__(self, run_dir: Any, status: int) -> None:
        script = run_dir.temp / "status_server.py"
        script.write_text(STATUS_SERVER)
        ours = [sys.executable, "-P", "-m", "oyer.programs.http_bridge", str(1 << 20), "auto"]
        served = [sys.executable, str(script), "{port}", str(status)]
        super().__init__(run_dir, [*ours, "http://127.0.0.1:{port}/mcp", *served])
        self.env = {**self.env, "PYTHONPATH": SOURCES}
        self.is_bridged = True


async def fault_of(status: int, frame: bytes, *, greet: bool = True) -> tuple[str, str, str]:
    become_subreaper()
    with open_run_dir() as run_dir:
        rig = Bridged(run_dir, status)
        try:
            await rig.open(limits=PATIENT)
            client = await rig.client()
            if greet:
                await client.ask(0, "initialize", OPENING)
            await client.send(frame)
            await client.rest()
            await until(lambda: rig.faults)
        finally:
            await rig.close()
        (fault,) = rig.faults
        assert [event.body["class"] for event in rig.journal.of("fault")] == [fault[1]]
        return fault


CALL = request(1, "tools/call", {"name": "x", "arguments": {}})


@pytest.mark.parametrize("status", [400, 404, 405, 406, 413, 415, 422, 429])
async def test_a_status_that_answers_what_was_sent_is_not_put_down_to_the_server(status: int) -> None:
    where, cls, message = await fault_of(status, CALL)
    assert (where, cls) == ("server:ops", "subject_not_excluded") and f"answered {status}" in message


@pytest.mark.parametrize("status", [401, 500, 503])
async def test_a_status_that_no_client_brings_about_is_the_servers(status: int) -> None:
    _, cls, message = await fault_of(status, CALL)
    assert cls == "dependency_unavailable" and f"answered {status}" in message


@pytest.mark.parametrize("status", [500, 400, 0])
@pytest.mark.parametrize(
    "frame", [b"no message\n", b'{"method":"tools/call","id":7}\n', b"[" + CALL.rstrip(b"\n") + b"]\n", b"\xff{}\n"]
)
async def test_a_server_that_fails_over_what_is_no_proper_message_did_not_fail_by_itself(
    status: int, frame: bytes
) -> None:
    _, cls, message = await fault_of(status, frame, greet=status != 0)
    assert cls == "subject_not_excluded" and "may have brought this about" in message


async def test_a_greeting_that_is_refused_for_what_it_says_is_not_put_down_to_the_server() -> None:
    _, cls, message = await fault_of(-400, request(0, "initialize", {"protocolVersion": "x"}), greet=False)
    assert cls == "subject_not_excluded" and "and 400 Bad Request to a POST" in message


async def test_an_address_that_answers_no_greeting_is_the_servers() -> None:
    _, cls, _ = await fault_of(-404, request(0, "initialize", OPENING), greet=False)
    assert cls == "dependency_unavailable"


# -- signals ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("end", "is_bridged", "suspected"),
    [
        (Exit(1, None), True, False),
        (Exit(0, None), True, False),
        (Exit(77, None), False, False),  # the code of a server of the case means nothing to us
        (Exit(77, None), True, True),
        (Exit(None, signal.SIGKILL), False, True),
        (Exit(None, signal.SIGSEGV), False, True),
        (Exit(128 + signal.SIGTERM, None), False, True),  # a shell says so
        (Exit(255, None), False, False),
        (None, False, False),
    ],
)
def test_an_end_by_a_signal_may_be_anybodys_doing(end: Exit | None, is_bridged: bool, suspected: bool) -> None:
    assert (ended_by_somebody(end, is_bridged=is_bridged) is not None) is suspected


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
async def test_a_server_that_is_killed_is_not_put_down_to_the_server(rig: RigMaker, number: signal.Signals) -> None:
    bench = rig("plain")
    await bench.open(limits=PATIENT)
    client = await bench.client()
    assert (await client.call(1))["id"] == 1
    (started,) = bench.journal.of("process.started")
    os.kill(started.body["pid"], number)
    await client.rest()
    await until(lambda: bench.faults)
    await bench.close()
    ((where, cls, message),) = bench.faults
    assert (where, cls) == ("server:ops", "subject_not_excluded")
    assert f"signal {number.name}" in message and "anybody" in message


@pytest.mark.parametrize("below", [False, True])
async def test_so_it_is_behind_a_bridge(below: bool) -> None:
    """The bridge itself, or the server that it started."""
    become_subreaper()
    with open_run_dir() as run_dir:
        rig = Bridged(run_dir, 500)
        try:
            await rig.open(limits=PATIENT)
            client = await rig.client()
            await client.ask(0, "initialize", OPENING)
            (started,) = rig.journal.of("process.started")
            pid = started.body["pid"]
            os.kill(next(row.pid for row in descendants_of(pid) if row.pid != pid) if below else pid, signal.SIGKILL)
            await client.rest()
            await until(lambda: rig.faults)
        finally:
            await rig.close()
        ((_, cls, _),) = rig.faults
        assert cls == "subject_not_excluded"


async def test_so_it_is_over_http() -> None:
    async with http_tap_kit.tapped("json") as bench:
        await bench.greet()
        (started,) = bench.journal.of("process.started")
        os.kill(started.body["pid"], signal.SIGKILL)
        await until(lambda: bench.faults)
    ((where, cls, _),) = bench.faults
    assert (where, cls) == ("server:ops", "subject_not_excluded")


# -- what is not read, and what is too much -----------------------------------------------------------------


TALKER = """
import json, sys
for line in sys.stdin:
    asked = json.loads(line)
    said = {"jsonrpc": "2.0", "id": asked["id"], "result": {"content": "x" * 1_000_000}}
    print(json.dumps(said), flush=True)
"""


async def test_an_answer_that_the_subject_does_not_read_is_not_late_by_the_server() -> None:
    become_subreaper()
    with open_run_dir() as run_dir:
        bench = Rig(run_dir, [sys.executable, "-I", "-S", "-c", TALKER])
        try:
            await bench.open(limits=PATIENT)
            client = await bench.client()
            for number in range(4):
                await client.send(request(number, "tools/list"))
            tap = bench.tap
            assert tap is not None
            await until(tap._is_unread)
            leap(700)
            await until(lambda: bench.faults)
        finally:
            await bench.close()
    assert {cls for _, cls, _ in bench.faults} == {"subject_not_excluded"}
    assert "did not read what it was sent" in bench.faults[0][2]


async def test_so_it_is_over_http_too() -> None:
    async def talk(_: bytes, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n")
        while True:
            writer.write(b"data: {}\n\n" + b": " + b"x" * 65536 + b"\n\n")
            await writer.drain()

    limits = http_tap_kit.QUICKLY._replace(answer_timeout_s=600, max_stream_bytes=1 << 40, max_frames=1 << 40)
    async with http_tap_kit.upstream(talk) as (url, _), http_tap_kit.tapped(url=url, limits=limits) as bench:
        host, _, path = bench.tap.url.removeprefix("http://").partition("/")
        _, writer = await asyncio.open_connection(*host.split(":"), limit=1)
        body = CALL.rstrip(b"\n")
        head = f"POST /{path} HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\nAccept: */*\r\n"
        writer.write(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body)
        await until(lambda: bench.tap._is_unread() and bench.journal.of("mcp.sent"))
        leap(700)
        await until(lambda: bench.faults)
        writer.close()
    assert bench.faults[0][1] == "subject_not_excluded" and "did not read" in bench.faults[0][2]


async def test_a_server_that_is_asked_too_much_at_once_may_be_late(rig: RigMaker) -> None:
    bench = rig("hangs")
    await bench.open(limits=PATIENT)
    client = await bench.client()
    for number in range(1, 65):
        await client.send(request(number, "tools/call", {"name": "echo", "arguments": {}}))
    await until(lambda: len(bench.journal.of("mcp.sent")) == 64)
    leap(700)
    await until(lambda: bench.faults)
    await bench.close()
    assert bench.faults[0][1] == "subject_not_excluded" and "requests under way" in bench.faults[0][2]


async def test_a_thousand_connections_are_the_subjects() -> None:
    async with http_tap_kit.tapped("json") as bench:
        host, port = bench.tap.url.split("/")[2].split(":")
        held = [await asyncio.open_connection(host, int(port)) for _ in range(1000)]
        await until(lambda: bench.faults)
        for _, writer in held:
            writer.close()
    assert {cls for _, cls, _ in bench.faults} == {"subject"}


# -- manners over HTTP --------------------------------------------------------------------------------------


PROPER = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}


@pytest.mark.parametrize(
    ("method", "headers", "tail", "suspected"),
    [
        ("POST", PROPER, "", False),
        ("POST", {**PROPER, "Content-Type": "text/plain"}, "", True),
        ("POST", {**PROPER, "Accept": "image/png"}, "", True),
        ("POST", {**PROPER, "Content-Encoding": "gzip"}, "", True),
        ("POST", {**PROPER, "Mcp-Session-Id": "x" * 9000}, "", True),
        ("POST", PROPER, "?a=b", True),
        ("PUT", PROPER, "", True),
    ],
)
async def test_a_server_that_breaks_off_over_an_odd_request_did_not_fail_by_itself(
    method: str, headers: Mapping[str, str], tail: str, suspected: bool
) -> None:
    async def talk(_: bytes, writer: asyncio.StreamWriter) -> None:
        writer.close()

    async with http_tap_kit.upstream(talk) as (url, _), http_tap_kit.tapped(url=url) as bench:
        with suppress(OSError, Exception):
            await bench.ask(CALL.rstrip(b"\n"), method=method, headers=headers, tail=tail)
        await until(lambda: bench.faults)
    ((_, cls, message),) = bench.faults
    assert cls == ("subject_not_excluded" if suspected else "dependency_unavailable"), message


LAST_WORDS = """
import os, socket, sys
listening = socket.create_server(("127.0.0.1", int(sys.argv[1])))
held = listening.accept()[0]
while True:
    held = listening.accept()[0]
    held.recv(65536)
    os.write(2, b"x" * 60_000 + b"the licence has run out\\n")
    os._exit(3)
"""


async def test_the_last_words_of_a_server_over_http_are_heard() -> None:
    become_subreaper()
    with open_run_dir() as run_dir:
        command = (sys.executable, "-I", "-S", "-c", LAST_WORDS, "{port}")
        env = {"PATH": os.environ["PATH"], "TMPDIR": str(run_dir.temp)}
        server = TappedServer("ops", command, env, run_dir.world, str(run_dir.temp), "http://127.0.0.1:{port}/mcp")
        faults: list[tuple[str, str, str]] = []
        tap = HttpTap(
            server,
            KitJournal("tap:ops"),
            limits=http_tap_kit.QUICKLY,
            on_fault=lambda *fault: faults.append(fault),
        )
        await tap.open()
        try:
            with suppress(OSError, HTTPException):
                await asyncio.to_thread(http_tap_kit.fetch, tap.url, "POST", PROPER, CALL.rstrip(b"\n"))
            await until(lambda: faults)
        finally:
            await tap.close()
    assert faults[0][1] == "dependency_unavailable" and "the licence has run out" in faults[0][2]


async def test_they_are_heard_also_where_the_end_is_noticed_before_the_words() -> None:
    become_subreaper()
    with open_run_dir() as run_dir:
        command = (sys.executable, "-I", "-S", "-c", "import os; os.write(1, b'out '); os.write(2, b'why')")
        server = TappedServer("ops", command, {}, run_dir.world, None, "http://127.0.0.1:{port}/mcp")
        heard: list[bytes] = []
        served = Served(server, lambda: heard.append(served.child.stderr.value()))
        os.waitid(os.P_PID, served.child.pid, os.WEXITED | os.WNOWAIT)  # nothing is read meanwhile
        served._exited()
        await served.end(QUICK)
    assert heard[0] == b"out why"
