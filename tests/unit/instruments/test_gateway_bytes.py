"""What reaches the far side through the gateway, byte for byte, beside what reaches it without: heads and bodies."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from http_bytes_kit import Head, RawServer, Seen, asked, parted, unchunked

from instrument_kit import KitJournal
from oyer.instruments.gateway import RecordingGateway
from oyer.instruments.gateway_upstream import Upstream

KEY = b"sk-CANARY-0123456789"
BODY = '{ "model":"m" , "messages":[], "n":1.0,"n":1e3,"t":"\\u00e9é\u2028\\/"}\n'.encode()
REQUEST = (
    b"POST HERE/chat/completions?a=%2F..%2f&b=+&&c HTTP/1.1\r\nhOsT: HOST\r\nx-lower: 1\r\nX-TWICE: a\r\n"
    b"X-Twice: b, c\r\ncontent-TYPE: application/json ; charset=utf-8\r\nAccept: application/json,text/event-stream\r\n"
    b"X-Empty: \r\nx-twice: d\r\nX-Utf8: \xc3\xa9\r\nUser-Agent: odd/1 (x)\r\nauthorization: Bearer KEY\r\n"
    b"Connection: close, X-Hop\r\nX-Hop: mine\r\nContent-Length: LENGTH\r\n\r\n"
).replace(b"LENGTH", str(len(BODY)).encode())
ANSWERS = {
    "json": b"HTTP/1.1 200 Quite Fine\r\ncontent-type: application/json\r\nX-TWICE: a\r\nx-twice: b\r\n"
    b"Set-Cookie: a=1\r\nSet-Cookie: b=2\r\nX-Utf8: \xc3\xa9\r\nX-Twice: c\r\nContent-Length: 2\r\n\r\n{}",
    "of no type": b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}",
    "with its own date": b"HTTP/1.1 200 \r\nDATE: today\r\nserver: odd\r\nContent-Length: 2\r\n\r\n{}",
    "without a body": b"HTTP/1.1 204 No Content\r\nX-A: b\r\n\r\n",
    "unauthorized": b'HTTP/1.1 401 Unauthorized\r\nWWW-Authenticate: Bearer realm="x", error="a"\r\n'
    b"WWW-Authenticate: Basic\r\nContent-Length: 0\r\n\r\n",
    "too many": b"HTTP/1.1 429 Slow Down\r\nRetry-After: 3\r\nContent-Length: 4\r\n\r\nbusy",
    "packed": b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 3\r\n\r\n\x1f\x8b\x00",
    "until it closes": b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n" + BODY,
    "stream": b"HTTP/1.1 200 Here It Comes\r\nContent-Type: TEXT/event-stream; charset=utf-8\r\nX-TWICE: a\r\n"
    b'x-twice: b\r\n\r\n: hi\r\rid: 1\rdata: {}\r\n\r\nevent:  message\ndata:{ "a" : 1 }\ndata: [DONE]\n\n: open',
}
OURS = {b"authorization", b"x-hop"}
"""The key is another on each side, and what is of one hop ends there."""


@asynccontextmanager
async def both(answer: bytes) -> AsyncIterator[tuple[RawServer, str, str, bytes]]:
    """A server, its address, that of a gateway before it, and the key of the gateway."""
    server = RawServer(answer)
    listening = await asyncio.start_server(server.serve, "127.0.0.1", 0)
    base = f"http://127.0.0.1:{listening.sockets[0].getsockname()[1]}/v1"
    gateway = RecordingGateway(KitJournal("gateway"), Upstream(base, KEY.decode()))
    door = await gateway.start()
    try:
        yield server, base, door.base_url, door.key.encode()
    finally:
        await gateway.stop()
        listening.close()


def forward(seen: Seen) -> Head:
    return [pair for pair in seen.head if pair[0].lower() not in OURS]


@pytest.mark.parametrize("name", ANSWERS)
async def test_the_far_sides_see_the_same_bytes_with_a_gateway_and_without(name: str) -> None:
    async with both(ANSWERS[name]) as (server, direct, door, key):
        keyed = ((direct, KEY), (door, key))
        answers = [await asked(url, REQUEST.replace(b"KEY", with_key), BODY) for url, with_key in keyed]
    without, through = (parted(raw) for raw in server.came)
    assert through.line == without.line and through.body == without.body == BODY
    assert forward(through) == forward(without)
    assert [value for each, value in through.head if each.lower() == b"authorization"] == [b"Bearer " + KEY]
    bare, carried = (parted(raw, body=unchunked(raw)) for raw in answers)
    assert carried.line == bare.line and carried.body == bare.body
    assert carried.head == bare.head


@pytest.mark.parametrize("method", [b"GET", b"DELETE", b"PUT"])
async def test_a_body_passes_whatever_the_method(method: bytes) -> None:
    async with both(ANSWERS["json"]) as (server, _, door, key):
        await asked(door, REQUEST.replace(b"POST", method).replace(b"KEY", key), BODY)
    (came,) = server.came
    assert parted(came).line.startswith(method) and parted(came).body == BODY
