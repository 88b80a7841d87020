"""HTTP in its bytes, for tests that compare what two ways carry: a server of raw answers, and a client."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import NamedTuple

Head = list[tuple[bytes, bytes]]
OF_ONE_HOP = {b"host", b"connection", b"keep-alive", b"accept-encoding", b"content-length", b"transfer-encoding"}


class Seen(NamedTuple):
    """One message of HTTP as it came: first line, the headers that are for the far end, body."""

    line: bytes
    head: Head
    body: bytes


def parted(raw: bytes, *, body: bytes | None = None) -> Seen:
    head, _, rest = raw.partition(b"\r\n\r\n")
    line, *lines = head.split(b"\r\n")
    pairs = [(name, value.strip()) for name, _, value in (each.partition(b":") for each in lines)]
    return Seen(line, [pair for pair in pairs if pair[0].lower() not in OF_ONE_HOP], rest if body is None else body)


def unchunked(raw: bytes) -> bytes:
    """Take the chunked coding off a body, where it is on."""
    head, _, rest = raw.partition(b"\r\n\r\n")
    if b"transfer-encoding: chunked" not in head.lower():
        return rest
    body = b""
    while True:
        size, _, rest = rest.partition(b"\r\n")
        if not int(size, 16):
            return body
        body, rest = body + rest[: int(size, 16)], rest[int(size, 16) + 2 :]


Talk = Callable[[asyncio.StreamWriter], Awaitable[None]]


class RawServer:
    """A server of raw bytes."""

    def __init__(self, answer: bytes | Talk) -> None:
        self.came: list[bytes] = []
        self._answer = answer

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(ConnectionError, asyncio.IncompleteReadError):
            head = await reader.readuntil(b"\r\n\r\n")
            length = [int(line.split(b":")[1]) for line in head.lower().split(b"\r\n") if line.startswith(b"content-l")]
            self.came.append(head + await reader.readexactly(sum(length)))
            if isinstance(self._answer, bytes):
                writer.write(self._answer)
            else:
                await self._answer(writer)
            await writer.drain()
        writer.close()


async def asked(url: str, head: bytes, body: bytes) -> bytes:
    """Send a request in its bytes, and return what comes until the far side has said all."""
    host, _, path = url.removeprefix("http://").partition("/")
    name, _, port = host.partition(":")
    reader, writer = await asyncio.open_connection(name, int(port))
    try:
        writer.write(head.replace(b"HERE", b"/" + path.encode()).replace(b"HOST", host.encode()) + body)
        await writer.drain()
        return await asyncio.wait_for(reader.read(), 60)
    finally:
        writer.close()
