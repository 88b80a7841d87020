"""Connections to a server over HTTP are kept for a moment, and no request is ever sent twice for it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress

import pytest

from instrument_kit import KitJournal, request
from oyer.host import become_subreaper, open_run_dir
from oyer.instruments import TappedServer
from oyer.instruments.tap_http import HttpTap

JSON = b"Content-Type: application/json\r\n"


class Keeping:
    """A server that keeps connections; `answers(connection, request)` is what it says, None to close.

    `seen` are the requests it read: connection, method and body.
    """

    def __init__(self, answers: Callable[[int, int], bytes | None]) -> None:
        self.answers = answers
        self.seen: list[tuple[int, bytes, bytes]] = []
        self.connections = 0
        self.last = 100
        self.closed = asyncio.Event()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        number, self.connections = self.connections, self.connections + 1
        with suppress(OSError, asyncio.IncompleteReadError):
            for count in range(self.last):
                head = await reader.readuntil(b"\r\n\r\n")
                lines = head.lower().split(b"\r\n")
                length = next((int(line[15:]) for line in lines if line.startswith(b"content-length:")), 0)
                self.seen.append((number, head.split(b" ")[0], await reader.readexactly(length)))
                answer = self.answers(number, count)
                if answer is None:
                    break
                writer.write(b"HTTP/1.1 200 OK\r\n%sContent-Length: %d\r\n\r\n%s" % (JSON, len(answer), answer))
                await writer.drain()
        writer.close()
        self.closed.set()


@asynccontextmanager
async def between(keeping: Keeping) -> AsyncIterator[tuple[HttpTap, KitJournal, list[tuple[str, str, str]]]]:
    become_subreaper()
    server = await asyncio.start_server(keeping.serve, "127.0.0.1", 0)
    journal, faults = KitJournal("tap:ops"), list[tuple[str, str, str]]()
    with open_run_dir() as run_dir:
        url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/mcp"
        tap = HttpTap(
            TappedServer("ops", (), {}, run_dir.world, None, url),
            journal,
            on_fault=lambda *fault: faults.append(fault),
        )
        tap.session = "a"
        await tap.open()
        try:
            yield tap, journal, faults
        finally:
            await tap.close()
            server.close()


async def ask(tap: HttpTap, body: bytes, method: bytes = b"POST") -> bytes:
    """Send one request on a connection of its own; return everything that came until it was closed."""
    host, _, path = tap.url.removeprefix("http://").partition("/")
    reader, writer = await asyncio.open_connection(*host.split(":"))
    told = "Content-Type: application/json\r\nAccept: */*\r\nConnection: close\r\n"
    head = f"/{path} HTTP/1.1\r\nHost: {host}\r\n{told}Content-Length: {len(body)}\r\n\r\n"
    writer.write(method + b" " + head.encode() + body)
    try:
        return await reader.read()
    finally:
        writer.close()


def call(identifier: int) -> bytes:
    return request(identifier, "tools/call", {"name": "echo", "arguments": {}}).rstrip(b"\n")


def answer(identifier: int) -> bytes:
    return b'{"jsonrpc":"2.0","id":%d,"result":{}}' % identifier


async def test_calls_after_each_other_share_a_connection() -> None:
    keeping = Keeping(lambda _, count: answer(count))
    async with between(keeping) as (tap, _, faults):
        for identifier in range(3):
            assert (await ask(tap, call(identifier))).endswith(answer(identifier))
    assert [(number, body) for number, _, body in keeping.seen] == [(0, call(each)) for each in range(3)]
    assert not faults


async def test_calls_at_once_do_not_wait_for_each_other() -> None:
    keeping = Keeping(lambda number, _: answer(number))
    async with between(keeping) as (tap, _, faults):
        replies = await asyncio.gather(*(ask(tap, call(7)) for _ in range(4)))
    assert all(reply.startswith(b"HTTP/1.1 200") for reply in replies)
    assert len(keeping.seen) == 4 and not faults


async def test_a_connection_that_its_server_closed_is_not_used_again() -> None:
    keeping = Keeping(lambda number, _: answer(number))
    keeping.last = 1
    async with between(keeping) as (tap, _, faults):
        for number in range(2):
            assert (await ask(tap, call(number))).endswith(answer(number))
            await asyncio.wait_for(keeping.closed.wait(), 60)
            await asyncio.sleep(0.05)  # what was closed over there is closed here: only then does the next one begin
    assert [number for number, _, _ in keeping.seen] == [0, 1] and not faults


@pytest.mark.parametrize("method", [b"POST", b"GET", b"DELETE"])
async def test_a_request_that_meets_a_closing_connection_is_sent_once(method: bytes) -> None:
    """The server takes it and closes: whether it was carried out nobody knows, so nobody asks again."""
    keeping = Keeping(lambda _, count: answer(count) if count == 0 else None)
    async with between(keeping) as (tap, journal, faults):
        assert (await ask(tap, call(0))).endswith(answer(0))
        body = call(1) if method == b"POST" else b""
        if method != b"POST":
            keeping.answers = lambda _number, _count: None
        assert await ask(tap, body, method) == b"", "nobody answers for a server"
    assert [(verb, sent) for _, verb, sent in keeping.seen[1:]] == [(method, body)]
    assert [fault[1] for fault in faults] == ["dependency_unavailable"]
    assert journal.of("fault")


async def test_a_kept_connection_ends_with_its_moment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("oyer.instruments.tap_http_wire._KEPT_S", 0.0)
    keeping = Keeping(lambda number, _: answer(number))
    async with between(keeping) as (tap, _, faults):
        for identifier in range(2):
            assert (await ask(tap, call(identifier))).endswith(answer(identifier))
    assert [number for number, _, _ in keeping.seen] == [0, 1] and not faults


async def test_no_connection_outlives_a_session() -> None:
    keeping = Keeping(lambda _, count: answer(count))
    async with between(keeping) as (tap, _, _faults):
        await ask(tap, call(0))
        assert not keeping.closed.is_set()
        await tap.end_connections()
        await asyncio.wait_for(keeping.closed.wait(), 60)
