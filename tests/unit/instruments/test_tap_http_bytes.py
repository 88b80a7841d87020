"""What reaches the far side through the tap, byte for byte, beside what reaches it without: heads, bodies, arrival."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from http_bytes_kit import RawServer, Talk, asked, parted, unchunked

from instrument_kit import QUICK, KitJournal
from oyer.host import open_run_dir
from oyer.instruments import TapLimits, TappedServer
from oyer.instruments.tap_http import HttpTap


@asynccontextmanager
async def both(answer: bytes | Talk) -> AsyncIterator[tuple[RawServer, str, str, list[tuple[str, str, str]]]]:
    """A server, its address, that of a tap before it, and the faults of the tap."""
    server, faults = RawServer(answer), list[tuple[str, str, str]]()
    listening = await asyncio.start_server(server.serve, "127.0.0.1", 0)
    origin = f"http://127.0.0.1:{listening.sockets[0].getsockname()[1]}"
    with open_run_dir() as run_dir:
        behind = TappedServer("ops", (), {}, run_dir.world, url=f"{origin}/mcp")
        limits = TapLimits(patience=QUICK)
        tap = HttpTap(behind, KitJournal("tap:ops"), limits=limits, on_fault=lambda *fault: faults.append(fault))
        await tap.open()
        try:
            yield server, f"{origin}/mcp", tap.url, faults
        finally:
            await tap.close()
            listening.close()


BODY = '{ "id" : 1,\r\n "method":"x", "params":{"n":1.0,"n":1e3,"t":"\\u00e9é\u2028\\/"} ,"jsonrpc":"2.0"}\n'.encode()
REQUEST = (
    b"POST HERE?a=%2F..%2f&b=+&&c HTTP/1.1\r\nhOsT: HOST\r\nx-lower: 1\r\nX-TWICE: a\r\nX-Twice: b, c\r\n"
    b"content-TYPE: application/json ; charset=utf-8\r\nAccept: application/json,text/event-stream\r\nX-Empty: \r\n"
    b"mcp-session-id: S-1\r\nMCP-Protocol-Version: 2099-01-01\r\nX-Utf8: \xc3\xa9\r\nUser-Agent: odd/1 (x)\r\n"
    b"Authorization: Bearer abc\r\nCookie: a=1; b=2\r\nLast-Event-ID: 7\r\nConnection: close, X-Hop\r\nX-Hop: mine\r\n"
    b"Content-Length: LENGTH\r\n\r\n".replace(b"LENGTH", str(len(BODY)).encode())
)
ANSWERS = {
    "json": b"HTTP/1.1 200 Quite Fine\r\ncontent-type: application/json\r\nX-TWICE: a\r\nx-twice: b\r\n"
    b"Set-Cookie: a=1\r\nSet-Cookie: b=2\r\nMcp-Session-Id: S-2\r\nX-Utf8: \xc3\xa9\r\n"
    b"Content-Length: %d\r\n\r\n%s" % (len(BODY), BODY),
    "taken": b"HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n",
    "without a body": b"HTTP/1.1 204 No Content\r\nX-A: b\r\n\r\n",
    "not allowed": b"HTTP/1.1 405 Method Not Allowed\r\nALLOW: POST, DELETE\r\nContent-Length: 2\r\n\r\nno",
    "unauthorized": b'HTTP/1.1 401 Unauthorized\r\nWWW-Authenticate: Bearer realm="x", error="a"\r\n'
    b"WWW-Authenticate: Basic\r\nContent-Length: 0\r\n\r\n",
    "moved, nobody says where": b"HTTP/1.1 308 Permanent Redirect\r\nX-A: b\r\nContent-Length: 0\r\n\r\n",
    "too many": b"HTTP/1.1 429 Slow Down\r\nRetry-After: 3\r\nContent-Length: 4\r\n\r\nbusy",
    "unknown status": b"HTTP/1.1 599 Whatever It Is\r\nContent-Length: 1\r\n\r\n!",
    "packed": b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 3\r\n\r\n\x1f\x8b\x00",
    "until it closes": b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n" + BODY,
    "stream": b"HTTP/1.1 200 OK\r\nContent-Type: TEXT/event-stream; charset=utf-8\r\nCache-Control: no-store\r\n\r\n"
    b': hi\r\rid: 1\rdata: {}\r\n\r\nevent:  message\ndata:{ "a" : 1 }\nretry: 5\nodd\n\n\n\ndata: x\n\n: open',
}


@pytest.mark.parametrize("name", ANSWERS)
async def test_the_far_sides_see_the_same_bytes_with_a_tap_and_without(name: str) -> None:
    async with both(ANSWERS[name]) as (server, direct, tapped, faults):
        answers = [await asked(url, REQUEST, BODY) for url in (direct, tapped)]
    without, through = (parted(raw) for raw in server.came)
    hop = (b"X-Hop", b"mine")
    assert through.line == without.line and through.body == without.body == BODY
    assert through.head == [pair for pair in without.head if pair != hop]
    bare, carried = (parted(raw, body=unchunked(raw)) for raw in answers)
    assert carried.line == bare.line and carried.body == bare.body
    assert carried.head == bare.head
    assert faults == []


async def test_an_answer_that_would_lead_past_the_tap_does_not_pass_and_names_the_server() -> None:
    moved = b"HTTP/1.1 308 Permanent Redirect\r\nLocation: /else%2Fwhere?x\r\nContent-Length: 0\r\n\r\n"
    async with both(moved) as (server, direct, tapped, faults):
        assert await asked(direct, REQUEST, BODY) == moved
        assert await asked(tapped, REQUEST, BODY) == b""
    ((where, cls, message),) = faults
    # A request as odd as this one may have brought it about.
    assert (where, cls) == ("server:ops", "subject_not_excluded") and "/else%2Fwhere?x" in message
    assert len(server.came) == 2


async def test_a_header_that_is_no_utf8_ends_nothing() -> None:
    answer = b"HTTP/1.1 200 OK\r\nX-Odd: \xe9\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}"
    request = b"POST HERE HTTP/1.1\r\nHost: HOST\r\nX-Odd: \xe9\r\nConnection: close\r\nContent-Length: 2\r\n\r\n"
    async with both(answer) as (server, _, tapped, faults):
        raw = await asked(tapped, request, b"{}")
    assert raw.startswith(b"HTTP/1.1 200 OK") and raw.endswith(b"{}") and faults == []
    assert b"X-Odd: \xc3\xa9" in server.came[0] and b"X-Odd: \xc3\xa9" in raw  # read as Latin-1, written as UTF-8


async def test_each_event_arrives_before_the_next_one_is_sent() -> None:
    arrived, events = asyncio.Event(), [b"data: %d\n\n" % number for number in range(5)]

    async def talk(writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n")
        for event in events:
            writer.write(event)
            await writer.drain()
            await asyncio.wait_for(arrived.wait(), 60)
            arrived.clear()

    async with both(talk) as (_, _, tapped, faults):
        host, _, path = tapped.removeprefix("http://").partition("/")
        reader, writer = await asyncio.open_connection(*host.split(":"))
        writer.write(f"GET /{path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n".encode())
        for event in events:
            assert (await asyncio.wait_for(reader.readuntil(event), 60)).endswith(event)
            arrived.set()
        assert (await asyncio.wait_for(reader.read(), 60)).endswith(b"0\r\n\r\n") and faults == []
        writer.close()
