"""A small MCP server that costs next to nothing, over standard streams or over Streamable HTTP.

    python server.py                      over standard streams
    python server.py --http               prints its address, then serves until standard input ends

It answers `tools/call` with a short text, or with `arguments.size` letters. It keeps connections open.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from typing import Any

TOOL = {"name": "echo", "description": "Says pong.", "inputSchema": {"type": "object"}}
NO_ANSWER = b""


def answer(raw: bytes) -> bytes:
    """Answer one message; nothing for a notification."""
    message = json.loads(raw)
    if "id" not in message or "method" not in message:
        return NO_ANSWER
    method, params = message["method"], message.get("params") or {}
    result: dict[str, Any] = {}
    if method == "tools/call":
        size = (params.get("arguments") or {}).get("size", 4)
        text = "pong" if size == 4 else "x" * size
        result = {"content": [{"type": "text", "text": text}]}
    elif method == "initialize":
        info = {"name": "echo", "version": "1"}
        version = params.get("protocolVersion", "2025-11-25")
        result = {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": info}
    elif method == "tools/list":
        result = {"tools": [TOOL]}
    said = {"jsonrpc": "2.0", "id": message["id"], "result": result}
    return json.dumps(said, separators=(",", ":")).encode()


def over_streams() -> None:
    """Serve standard input line by line."""
    held = b""
    while chunk := os.read(0, 1 << 20):
        *lines, held = (held + chunk).split(b"\n")
        for line in lines:
            said = answer(line)
            if said:
                view = memoryview(said + b"\n")
                while view:
                    view = view[os.write(1, view) :]


class Served(asyncio.Protocol):
    """One connection over HTTP, kept open as long as the client wants."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Take the connection."""
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self._held = b""

    def data_received(self, data: bytes) -> None:
        """Answer every whole request that has come."""
        self._held += data
        while (end := self._held.find(b"\r\n\r\n")) >= 0:
            head = self._held[:end].lower()
            length = int(head.partition(b"content-length:")[2].partition(b"\r\n")[0] or 0)
            if len(self._held) < end + 4 + length:
                return
            body, self._held = self._held[end + 4 : end + 4 + length], self._held[end + 4 + length :]
            self._respond(head, body)
            if b"connection: close" in head:
                self._transport.close()
                return

    def _respond(self, head: bytes, body: bytes) -> None:
        if head.startswith(b"post"):
            said = answer(body)
            session = b"Mcp-Session-Id: bench-%d\r\n" % id(self) if b'"initialize"' in body else b""
            status = b"200 OK\r\nContent-Type: application/json" if said else b"202 Accepted"
        else:
            said, session = b"", b""
            status = b"200 OK" if head.startswith(b"delete") else b"405 Method Not Allowed\r\nAllow: POST, DELETE"
        self._transport.write(b"HTTP/1.1 %s\r\n%sContent-Length: %d\r\n\r\n%s" % (status, session, len(said), said))


async def over_http() -> None:
    """Serve on a free port until standard input ends."""
    loop = asyncio.get_running_loop()
    server = await loop.create_server(Served, "127.0.0.1", 0)
    os.write(1, b"http://127.0.0.1:%d/mcp\n" % server.sockets[0].getsockname()[1])
    await asyncio.to_thread(sys.stdin.buffer.read)
    server.close()


if __name__ == "__main__":
    if sys.argv[1:] == ["--http"]:
        asyncio.run(over_http())
    else:
        over_streams()
