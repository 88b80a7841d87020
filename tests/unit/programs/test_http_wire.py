"""The client's side of both transports against servers that do what they may, and what they may not."""

from __future__ import annotations

import json
import os
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

import pytest
from waiting import wait_until

from oyer.programs import kept
from oyer.programs.http_wire import HttpWire
from oyer.programs.sse_wire import SseWire
from oyer.programs.wire import Wire, WireFailed

STREAM = (
    b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
)
GREETING = b'{"jsonrpc":"2.0","id":0,"method":"initialize","params":{}}\n'
CALL = b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x"}}\n'
ANSWER = b'{"jsonrpc":"2.0","id":1,"result":{}}'
Talk = Callable[[socket.socket, bytes], object]
"""What a server says to a request; where it returns something true, it keeps the connection."""
KEPT = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s" % (len(ANSWER), ANSWER)


def chunk(data: bytes) -> bytes:
    return b"%x\r\n%s\r\n" % (len(data), data)


def whole(body: bytes) -> bytes:
    head = b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n"
    return head % len(body) + body


class Lines:
    """What a wire writes and why it failed."""

    def __init__(self, fd: int) -> None:
        self._in = os.fdopen(fd, "rb", buffering=0)
        self.got: list[Any] = []
        self.why: list[str] = []
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        with self._in:
            for line in self._in:
                self.got.append(json.loads(line))


@contextmanager
def wired(kind: type[Wire], talk: Talk) -> Iterator[tuple[Any, Lines, list[bytes]]]:
    """A wire of a kind to a server that reads each request and then says what it likes; a thread for each."""
    requests: list[bytes] = []
    listening = socket.create_server(("127.0.0.1", 0))

    def serve(connected: socket.socket) -> None:
        with connected, suppress(OSError):
            while raw := read(connected):
                requests.append(raw)
                if not talk(connected, raw):
                    return

    def read(connected: socket.socket) -> bytes:
        raw = b""
        while b"\r\n\r\n" not in raw:
            if not (piece := connected.recv(65536)):
                return b""
            raw += piece
        head, _, body = raw.partition(b"\r\n\r\n")
        size = next((int(line[15:]) for line in head.lower().split(b"\r\n") if line.startswith(b"content-length")), 0)
        while len(body) < size:
            body += connected.recv(65536)
        return head + b"\r\n\r\n" + body

    def accept() -> None:
        with suppress(OSError):
            while True:
                threading.Thread(target=serve, args=(listening.accept()[0],), daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()
    read_fd, write_fd = os.pipe()
    lines = Lines(read_fd)
    url = f"http://127.0.0.1:{listening.getsockname()[1]}/mcp"
    wire = kind(url, 100_000, write_fd, lines.why.append)
    try:
        yield wire, lines, requests
    finally:
        wire.leave(1.0)
        listening.shutdown(socket.SHUT_RDWR)
        listening.close()
        os.close(write_fd)


def test_a_greeting_is_waited_for_and_not_the_end_of_its_stream() -> None:
    go = threading.Event()

    def talk(connected: socket.socket, raw: bytes) -> None:
        if b'"initialize"' in raw:
            connected.sendall(STREAM + chunk(b'data: {"jsonrpc":"2.0","id":0,"result":{}}\n\n'))
            go.wait(60)  # a server should end its stream after the answer, and need not
            return
        connected.sendall(whole(ANSWER))

    with wired(HttpWire, talk) as (wire, lines, _):
        wire.send(GREETING)
        wire.send(CALL)
        wait_until(lambda: len(lines.got) == 2)
        begun = time.monotonic()
        wire.leave(30.0)
        assert time.monotonic() - begun < 20  # nothing is waited for that was answered
        go.set()
    assert [one["id"] for one in lines.got] == [0, 1] and lines.why == []


@pytest.mark.parametrize("end", [b"0\r\n\r\n", b""], ids=["ended", "cut"])
@pytest.mark.parametrize("mark", ["7", "☃ é", "a\x01b"])
def test_a_stream_is_taken_up_after_its_last_event_whatever_its_id_and_however_it_ended(end: bytes, mark: str) -> None:
    def talk(connected: socket.socket, raw: bytes) -> None:
        if raw.startswith(b"GET"):
            connected.sendall(STREAM + chunk(b"data: " + ANSWER + b"\n\n") + b"0\r\n\r\n")
        elif raw.startswith(b"POST"):
            connected.sendall(STREAM + chunk(b"id: " + mark.encode() + b"\nretry: 1\ndata:\n\n") + end)

    with wired(HttpWire, talk) as (wire, lines, requests):
        wire.send(CALL)
        wait_until(lambda: lines.got)
    assert lines.got == [json.loads(ANSWER)] and lines.why == []
    assert [raw.split(b" ")[0] for raw in requests] == [b"POST", b"GET"]
    assert b"\r\nLast-Event-ID: " + mark.encode() + b"\r\n" in requests[1]


def test_an_id_that_was_taken_back_is_not_asked_for() -> None:
    def talk(connected: socket.socket, raw: bytes) -> None:
        connected.sendall(STREAM + chunk(b"id: 7\nretry: 1\ndata:\n\nid\ndata:\n\n") + b"0\r\n\r\n")

    with wired(HttpWire, talk) as (wire, lines, requests):
        wire.send(CALL)
        wait_until(lambda: lines.why)
    assert "without the message" in lines.why[0] and len(requests) == 1


def test_a_body_shorter_than_announced_is_no_answer() -> None:
    def talk(connected: socket.socket, raw: bytes) -> None:
        connected.sendall(whole(ANSWER + b" " * 50)[:-50])

    with wired(HttpWire, talk) as (wire, lines, _):
        wire.send(CALL)
        wait_until(lambda: lines.why)
    assert "IncompleteRead" in lines.why[0] and lines.got == []


@pytest.mark.parametrize("kind", [HttpWire, SseWire])
def test_a_redirect_is_not_followed_and_is_told_with_where_it_leads(kind: type[Wire]) -> None:
    def talk(connected: socket.socket, raw: bytes) -> None:
        connected.sendall(b"HTTP/1.1 307 Moved\r\nLocation: /mcp/\r\nContent-Length: 0\r\n\r\n")

    with wired(kind, talk) as (wire, lines, requests):
        with suppress(WireFailed):
            wire.send(CALL)
        wait_until(lambda: lines.why)
    assert "307" in lines.why[0] and "leads to /mcp/" in lines.why[0] and len(requests) == 1


def test_an_address_to_post_to_may_hold_what_stands_in_no_request() -> None:
    go = threading.Event()

    def talk(connected: socket.socket, raw: bytes) -> None:
        if raw.startswith(b"GET"):
            connected.sendall(STREAM + chunk("event: endpoint\ndata: /m é?s=a b%2F\n\n".encode()))
            go.wait(60)
            connected.sendall(chunk(b"data: " + ANSWER + b"\n\n"))
            go.clear()
            go.wait(60)
        else:
            connected.sendall(b"HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n")
            go.set()

    with wired(SseWire, talk) as (wire, lines, requests):
        wire.send(CALL)
        wait_until(lambda: lines.got)
        go.set()
    assert requests[1].startswith(b"POST /m%20%C3%A9?s=a%20b%2F HTTP/1.1\r\n") and lines.why == []


def test_many_calls_at_once_break_nothing_of_each_other() -> None:
    def talk(connected: socket.socket, raw: bytes) -> None:
        asked = json.loads(raw.partition(b"\r\n\r\n")[2])
        connected.sendall(whole(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": {}}).encode()))

    failed: list[Any] = []
    before, threading.excepthook = threading.excepthook, failed.append
    try:
        with wired(HttpWire, talk) as (wire, lines, _):
            for number in range(300):
                wire.send(CALL.replace(b'"id":1', b'"id":%d' % number))
            wait_until(lambda: len(lines.got) == 300 or lines.why)
    finally:
        threading.excepthook = before
    assert sorted(one["id"] for one in lines.got) == list(range(300)) and lines.why == [] and failed == []


def call(wire: Any, lines: Lines, count: int) -> None:
    """Call, and wait for the answers so far and for the moment in which a connection proves to be kept."""
    wire.send(CALL)
    wait_until(lambda: len(lines.got) == count or lines.why)
    time.sleep(0.02)


def test_connections_for_calls_are_kept_and_the_end_of_a_session_has_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept, "_KEPT_S", 3600.0)
    places = []

    def talk(connected: socket.socket, raw: bytes) -> bool:
        places.append(connected.getpeername())
        connected.sendall(KEPT.replace(b"\r\n\r\n", b"\r\nMcp-Session-Id: s\r\n\r\n", 1))
        return True

    with wired(HttpWire, talk) as (wire, lines, requests):
        for count in range(1, 6):
            call(wire, lines, count)
    assert lines.why == [] and [raw.split(b" ")[0] for raw in requests] == [b"POST"] * 5 + [b"DELETE"]
    assert len(set(places[:5])) == 1 and places[5] != places[0]


def test_a_server_that_closes_without_saying_so_is_not_asked_on_a_connection_again() -> None:
    closed = threading.Event()

    def talk(connected: socket.socket, raw: bytes) -> None:
        connected.sendall(KEPT)
        connected.close()
        closed.set()

    with wired(HttpWire, talk) as (wire, lines, requests):
        for count in range(1, 6):
            call(wire, lines, count)
            assert closed.wait(60)
            closed.clear()
    assert lines.why == [] and len(lines.got) == len(requests) == 5


def test_a_call_on_a_kept_connection_that_closes_is_not_sent_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept, "_KEPT_S", 3600.0)
    asked: set[Any] = set()

    def talk(connected: socket.socket, raw: bytes) -> bool:
        if connected.getpeername() in asked:
            return False
        asked.add(connected.getpeername())
        connected.sendall(KEPT)
        return True

    with wired(HttpWire, talk) as (wire, lines, requests):
        call(wire, lines, 1)
        call(wire, lines, 2)
    assert "broke off" in lines.why[0] and len(lines.got) == 1 and len(requests) == 2


def test_a_connection_that_nobody_takes_is_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept, "_KEPT_S", 0.05)
    ended = threading.Event()

    def talk(connected: socket.socket, raw: bytes) -> None:
        connected.sendall(KEPT)
        if connected.recv(1) == b"":
            ended.set()

    with wired(HttpWire, talk) as (wire, lines, _):
        wire.send(CALL)
        assert ended.wait(60)
    assert lines.got == [json.loads(ANSWER)] and lines.why == []
