"""What the suite cannot see: whether the bytes that arrive are those that were sent."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from urllib.parse import urlsplit

__all__ = ["ANSWER", "REQUEST", "byte_server", "bytes_pass"]

REQUEST = (
    b'{ "jsonrpc":"2.0", "id" : 1.0,"method":"tools/call","params":{"name":"\\u0061","arguments":'
    b'{"k":1,"k":2,"n":1e2,"s":"\\/ \xc3\xa9 \\u00e9"}}\t}'
)
ANSWER = b': odd\r\nid: 7\r\ndata: {"jsonrpc":"2.0", "id":1.0,\r\ndata:"result":{"a":1,"a":2.50}}\r\n\r\n'


@asynccontextmanager
async def byte_server(seen: list[bytes]) -> AsyncIterator[str]:
    """Answer every request with the same stream, and keep the bodies."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).lower()
        size = int(head.split(b"content-length:")[1].split(b"\r\n")[0])
        seen.append(await reader.readexactly(size))
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n" + ANSWER)
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/mcp"


async def bytes_pass(url: str, seen: list[bytes]) -> bool:
    """Send one request to where the byte server is behind; return whether request and answer came over as sent."""
    parts = urlsplit(url)
    reader, writer = await asyncio.open_connection(parts.hostname, parts.port)
    head = f"POST {parts.path} HTTP/1.1\r\nHost: {parts.netloc}\r\nContent-Type: application/json\r\n"
    head += (
        f"Accept: application/json, text/event-stream\r\nContent-Length: {len(REQUEST)}\r\nConnection: close\r\n\r\n"
    )
    writer.write(head.encode() + REQUEST)
    raw = await asyncio.wait_for(reader.read(), 30)
    writer.close()
    head_came, _, body = raw.partition(b"\r\n\r\n")
    if b"chunked" in head_came.lower():
        body = _unchunked(body)
    return seen[-1:] == [REQUEST] and body == ANSWER


def _unchunked(raw: bytes) -> bytes:
    pieces = b""
    while raw:
        size, _, raw = raw.partition(b"\r\n")
        pieces, raw = pieces + raw[: int(size, 16)], raw[int(size, 16) + 2 :]
    return pieces
