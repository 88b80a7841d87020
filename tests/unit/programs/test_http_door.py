"""A door gives a server over standard streams an address: nothing is lost, doubled, or answered in its place."""

from __future__ import annotations

import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from waiting import wait_until

PEERS = Path(__file__).parents[2] / "peers"
SOURCES = str(Path(__file__).parents[3] / "src")
META = {"io.modelcontextprotocol/protocolVersion": "2026-07-28"}
OPENING = {"protocolVersion": "2025-03-26", "capabilities": {}, "clientInfo": {"name": "a", "version": "1"}}
Headers = dict[str, str]


class Door:
    """A door in a process of its own, and a plain client of it."""

    def __init__(self, process: subprocess.Popen[bytes], port: int, log: Path) -> None:
        self.process, self.port, self.log = process, port, log

    def open(self, method: str, path: str, body: bytes | None = None, **headers: str) -> Answer:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        connection.request(method, path, body, {name.replace("_", "-"): value for name, value in headers.items()})
        return Answer(connection)

    def post(self, body: bytes, **headers: str) -> Answer:
        return self.open("POST", "/mcp", body, **headers)

    def greet(self) -> Headers:
        opened = self.post(request(0, "initialize", OPENING))
        assert opened.events()[0]["id"] == 0
        return {"Mcp_Session_Id": opened.response.getheader("Mcp-Session-Id") or ""}

    def reached(self, what: str) -> list[str]:
        """Return what reached the server, when this did."""
        for _ in range(500):
            lines = self.log.read_text().splitlines() if self.log.exists() else []
            if any(what in line for line in lines):
                return lines
            time.sleep(0.02)
        raise AssertionError(f"{what} did not reach the server")

    def end(self) -> tuple[int, str]:
        """End standard input; return the exit code and what was written to standard error."""
        _, stderr = self.process.communicate(timeout=60)
        return self.process.returncode, stderr.decode()


class Answer:
    """One answer, whole or read event by event."""

    def __init__(self, connection: http.client.HTTPConnection) -> None:
        self._connection = connection
        self.response = connection.getresponse()
        self.status = self.response.status

    def event(self) -> tuple[str, Any]:
        """Return the id and the message of the next event."""
        fields: dict[bytes, bytes] = {}
        while line := self.response.readline().rstrip(b"\n"):
            name, _, value = line.partition(b": ")
            fields[name] = value
        return fields.get(b"id", b"").decode(), json.loads(fields[b"data"]) if fields[b"data"][:1] == b"{" else fields

    def events(self) -> list[Any]:
        """Return every message until the stream ends."""
        raw = self.body().split(b"\n\n")
        return [json.loads(event.rpartition(b"data: ")[2]) for event in raw if event]

    def body(self) -> bytes:
        try:
            return self.response.read()
        finally:
            self._connection.close()

    def leave(self) -> None:
        self.response.close()
        self._connection.close()


@contextmanager
def door(tmp_path: Path, *command: str, max_bytes: int = 100_000) -> Iterator[Door]:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    log = tmp_path / "reached"
    words = command or (sys.executable, str(PEERS / "talkative_server.py"), str(log))
    argv = [sys.executable, "-P", "-m", "oyer.programs.http_door", str(max_bytes), str(port), *words]
    env = {**os.environ, "PYTHONPATH": SOURCES}
    with subprocess.Popen(
        argv, stdin=subprocess.PIPE, stderr=subprocess.PIPE, env=env, start_new_session=True
    ) as process:
        try:
            while process.poll() is None:
                try:
                    socket.create_connection(("127.0.0.1", port)).close()
                    break
                except OSError:
                    time.sleep(0.02)
            yield Door(process, port, log)
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)


def request(identifier: int, method: str, params: Any = None) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "id": identifier, "method": method, "params": params or {}}).encode()


def call(identifier: int, tool: str, **meta: Any) -> bytes:
    return request(identifier, "tools/call", {"name": tool, "arguments": {}, **({"_meta": meta} if meta else {})})


def test_a_stream_that_was_lost_is_taken_up_where_it_was(tmp_path: Path) -> None:
    with door(tmp_path) as at:
        session = at.greet()
        stream = at.post(call(1, "progress", progressToken="p"), **session)
        first, told = stream.event()
        assert told["params"]["progress"] == 0
        stream.leave()
        again = at.open("GET", "/mcp", Last_Event_ID=first, **session).events()
        assert [each.get("params", {}).get("progress", each.get("id")) for each in again] == [1, 2, 1]
        assert len([line for line in at.reached("progress") if "tools/call" in line]) == 1  # it was asked once


def test_each_session_has_a_process_of_its_own(tmp_path: Path) -> None:
    with door(tmp_path, sys.executable, str(PEERS / "notes_server.py")) as at:
        one, other = at.greet(), at.greet()
        at.post(request(1, "tools/call", {"name": "write", "arguments": {"text": "mine"}}), **one).body()
        assert at.post(call(2, "read"), **one).events()[0]["result"]["content"][0]["text"] == "mine"
        assert at.post(call(1, "read"), **other).events()[0]["result"]["content"][0]["text"] == "status: pending"
        assert at.open("DELETE", "/mcp", **one).status == 200
        assert [at.post(call(3, "read"), **one).status, at.open("DELETE", "/mcp", **one).status] == [404, 404]
        assert at.end() == (0, "")


def test_a_client_that_takes_no_stream_gets_a_body(tmp_path: Path) -> None:
    with door(tmp_path) as at:
        assert at.post(request(1, "ping"), Accept="application/json").status == 400  # this era has sessions
        whole = at.post(request(1, "ping"), Accept="application/json", **at.greet())
        assert whole.response.getheader("Content-Type") == "application/json"
        assert json.loads(whole.body()) == {"jsonrpc": "2.0", "id": 1, "result": {}}


def test_without_sessions_equal_ids_at_once_never_meet(tmp_path: Path) -> None:
    with door(tmp_path) as at:
        waits = at.post(call(1, "wait", **META))
        at.reached('"wait"')
        assert at.post(call(1, "x", **META)).events()[0]["result"]["content"][0]["text"] == "x"
        waits.leave()  # which is how this era gives a request up
        told = json.loads(next(line for line in at.reached("notifications/cancelled") if "cancelled" in line))
        assert told["params"]["requestId"] == 1
        assert at.post(call(1, "y", **META)).events()[0]["id"] == 1


def test_a_stream_that_is_closed_gives_nothing_up_in_the_era_of_sessions(tmp_path: Path) -> None:
    with door(tmp_path) as at:
        session = at.greet()
        waits = at.post(call(1, "wait"), **session)
        at.reached('"wait"')
        waits.leave()
        cancel = b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}'
        assert at.post(cancel, **session).status == 202
        lines = at.reached("notifications/cancelled")
        assert len([line for line in lines if "cancelled" in line]) == 1
        # What is said now belongs to nothing that is waited for: it comes where nobody asked.
        identifier, told = at.open("GET", "/mcp", **session).event()
        assert (identifier, told["params"]["data"]) == ("", "cancelled 1")


def test_what_nobody_asked_for_waits_until_somebody_listens(tmp_path: Path) -> None:
    with door(tmp_path) as at:
        session = at.greet()
        listening = at.open("GET", "/mcp", **session)
        assert at.open("GET", "/mcp", **session).status == 409
        assert at.open("GET", "/mcp").status == 405
        assert at.open("GET", "/mcp", Mcp_Session_Id="unknown").status == 404
        assert at.open("DELETE", "/mcp", **session).status == 200
        assert listening.events() == []  # it ends as the session does, and was not cut


def test_the_older_transport_names_an_address_for_each_stream(tmp_path: Path) -> None:
    with door(tmp_path) as at:
        stream = at.open("GET", "/sse")
        named = stream.event()[1][b"data"].decode()
        assert at.open("POST", named, request(1, "ping")).status == 202
        assert stream.event() == ("", {"jsonrpc": "2.0", "id": 1, "result": {}})
        assert at.open("POST", "/messages?other", request(2, "ping")).status == 404
        wrong = [at.open("POST", "/sse", b"{}"), at.open("PUT", "/mcp", b"{}"), at.open("GET", "/else")]
        assert [each.status for each in wrong] == [405, 405, 404] and wrong[0].response.getheader("Allow") == "GET"
        stream.leave()
        wait_until(lambda: at.open("POST", named, request(3, "ping")).status == 404)


def test_a_page_or_another_host_is_turned_away(tmp_path: Path) -> None:
    with door(tmp_path) as at:
        for headers in ({"Origin": "http://evil.example"}, {"Host": "evil.example"}):
            assert at.post(request(0, "initialize", OPENING), **headers).status == 403
        assert at.post(request(0, "initialize", OPENING), Origin=f"http://127.0.0.1:{at.port}").status == 200


def test_sixty_four_at_once_each_hear_their_own(tmp_path: Path) -> None:
    with door(tmp_path) as at:
        session, heard = at.greet(), dict[int, Any]()

        def one(number: int) -> None:
            heard[number] = at.post(call(number, f"t{number}"), **session).events()

        threads = [threading.Thread(target=one, args=(number,)) for number in range(1, 65)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(20)
        assert {number: told[0]["result"]["content"][0]["text"] for number, told in heard.items()} == {
            number: f"t{number}" for number in range(1, 65)
        }


ENDS = {
    "the server ended with code 3 while it was in use": (sys.executable, "-c", "input(); raise SystemExit(3)"),
    "the server could not be started: ": ("no-such-program",),
    "the server sent a line of ": (sys.executable, "-c", "input(); print('x' * 200_000); input()"),
}


@pytest.mark.parametrize("told", ENDS)
def test_what_http_cannot_say_ends_the_door_with_the_reason(tmp_path: Path, told: str) -> None:
    with door(tmp_path, *ENDS[told]) as at:
        with pytest.raises((http.client.HTTPException, OSError)):
            at.post(request(0, "initialize", OPENING)).body()
        _, stderr = at.process.communicate(timeout=60)
        assert at.process.returncode == 1 and told in stderr.decode()


def test_a_line_that_is_no_message_is_told_and_the_end_of_input_is_the_servers_too(tmp_path: Path) -> None:
    program = (
        "import sys; print('hello', flush=True); [print(l.replace('ping', ''), end='') for l in sys.stdin]; sys.exit(5)"
    )
    with door(tmp_path, sys.executable, "-u", "-c", program) as at:
        waits = at.post(request(1, "ping"), MCP_Protocol_Version="2026-07-28")
        code, stderr = at.end()
        assert (code, "a line of the server is no message: b'hello'" in stderr) == (5, True)
        waits.leave()


ODD_FIRST = r"""
import json, sys
era = None
for line in sys.stdin:
    asked = json.loads(line)
    meta = (asked.get("params") or {}).get("_meta") or {}
    era = era or ("modern" if "io.modelcontextprotocol/protocolVersion" in meta else "older")
    if "id" in asked:
        print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": {"era": era}}), flush=True)
"""
MODERN = {"MCP_Protocol_Version": "2026-07-28"}


def test_an_odd_first_request_decides_the_era_for_nobody_else(tmp_path: Path) -> None:
    with door(tmp_path, sys.executable, "-c", ODD_FIRST) as at:
        assert at.post(request(1, "tools/list"), **MODERN).events()[0]["result"] == {"era": "older"}
        assert at.post(call(1, "x", **META), **MODERN).events()[0]["result"] == {"era": "modern"}
        assert at.post(request(2, "tools/list"), **MODERN).events()[0]["result"] == {"era": "older"}
        assert at.end() == (0, "")


def test_a_cancellation_reaches_the_process_that_was_asked(tmp_path: Path) -> None:
    with door(tmp_path) as at:
        waits = [at.post(call(1, "wait", **META), **MODERN)]
        at.reached('"wait"')
        waits.append(at.post(call(2, "wait", **META), **MODERN))
        other = at.post(call(1, "x", **META), **MODERN)  # in another process, since the id is under way
        assert other.events()[0]["id"] == 1
        cancel = b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2,"_meta":%s}}'
        assert at.post(cancel % json.dumps(META).encode(), **MODERN).status == 202
        lines = [json.loads(line) for line in at.reached("notifications/cancelled")]
        assert [line["params"]["requestId"] for line in lines if "cancelled" in line["method"]] == [2]


@pytest.mark.parametrize("named", [[1], {"a": 1}, None, 1.5, True, "\ud800"])
def test_what_is_given_up_may_be_called_anything(tmp_path: Path, named: Any) -> None:
    with door(tmp_path) as at:
        session = at.greet()
        told = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": named}}
        assert at.post(json.dumps(told).encode(), **session).status == 202
        odd = {"jsonrpc": "2.0", "id": named, "method": "ping"}
        at.post(json.dumps(odd).encode(), **session).leave()
        assert at.post(request(7, "ping"), **session).events()[-1]["id"] == 7
