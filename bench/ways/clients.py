"""Clients that measure: they write bytes, wait for the bytes of the answer, and understand as little as they can.

Each makes calls of one tool one after the other (`call`), or many at once (`many`). Over HTTP a connection is kept as
long as the other side keeps it.
"""

from __future__ import annotations

import json
import os
import select
import selectors
import socket
import subprocess
from typing import Any, Protocol
from urllib.parse import urlsplit

GREETING = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}}


class Client(Protocol):
    """What a measurement needs of a client."""

    def call(self, arguments: dict[str, Any]) -> None:
        """Make one call and wait for its answer."""
        ...

    def many(self, count: int, at_once: int) -> None:
        """Make `count` calls, `at_once` under way at any time."""
        ...

    def close(self) -> None:
        """End as a polite client does."""
        ...


def message(method: str, identifier: int | None, params: dict[str, Any]) -> bytes:
    """Write one message, compact."""
    said: dict[str, Any] = {"jsonrpc": "2.0", "method": method, "params": params}
    if identifier is not None:
        said["id"] = identifier
    return json.dumps(said, separators=(",", ":")).encode()


def call(identifier: int, arguments: dict[str, Any]) -> bytes:
    """Write one call of the tool."""
    return message("tools/call", identifier, {"name": "echo", "arguments": arguments})


class StreamClient:
    """A client of a child process whose standard streams lead to a server."""

    def __init__(self, argv: list[str], env: dict[str, str] | None = None) -> None:
        self._child = subprocess.Popen(
            argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=env
        )
        assert self._child.stdin is not None and self._child.stdout is not None
        self._in, self._out = self._child.stdin.fileno(), self._child.stdout.fileno()
        self._held = b""
        self._number = 0
        self._say(message("initialize", 0, GREETING))
        self._lines(1)
        self._say(message("notifications/initialized", None, {}))

    def call(self, arguments: dict[str, Any]) -> None:
        self._number += 1
        self._say(call(self._number, arguments))
        self._lines(1)

    def many(self, count: int, at_once: int) -> None:
        sent = done = 0
        while done < count:
            while sent < count and sent - done < at_once:
                sent += 1
                self._number += 1
                self._say(call(self._number, {}))
            done += self._lines(1)

    def close(self) -> None:
        try:
            self._child.communicate(timeout=10)
        except subprocess.TimeoutExpired:
            self._child.kill()
            self._child.communicate()

    def _say(self, raw: bytes) -> None:
        view = memoryview(raw + b"\n")
        while view:
            view = view[os.write(self._in, view) :]

    def _lines(self, least: int) -> int:
        """Wait for at least so many answers; return how many there were. What is no answer does not count."""
        seen = 0
        while seen < least:
            chunk = os.read(self._out, 1 << 20)
            if not chunk:
                raise SystemExit(f"{self._child.args!r} ended")
            *lines, self._held = (self._held + chunk).split(b"\n")
            seen += sum(b'"id"' in line and b'"method"' not in line for line in lines)
        return seen


class _Connection:
    """One connection over HTTP with at most one request under way."""

    def __init__(self, client: HttpClient) -> None:
        self._client = client
        self._held = b""
        self.socket: socket.socket | None = None

    def ask(self, body: bytes) -> None:
        """Send one request, on a new connection where the old one was closed in between."""
        if self.socket is not None and select.select([self.socket], [], [], 0)[0]:
            self.socket.close()
            self.socket = None
        if self.socket is None:
            self.socket = socket.create_connection(self._client.address)
            self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self._held = b""
        head = self._client.head + b"Content-Length: %d\r\n\r\n" % len(body)
        self.socket.sendall(head + body)

    def read(self) -> bytes | None:
        """Take what has come; return the whole answer once it is there."""
        assert self.socket is not None
        chunk = self.socket.recv(1 << 20)
        self._held += chunk
        head, end, body = self._held.partition(b"\r\n\r\n")
        lower = head.lower()
        if not end:
            if not chunk:
                raise SystemExit(f"{self._client.url} closed the connection without an answer")
            return None
        if b"transfer-encoding: chunked" in lower:
            whole = body.endswith(b"0\r\n\r\n")
        else:
            whole = len(body) >= int(lower.partition(b"content-length:")[2].partition(b"\r\n")[0] or 0)
        if not whole and chunk:
            return None
        if not chunk or b"connection: close" in lower:
            self.socket.close()
            self.socket = None
        answer, self._held = self._held, b""
        if not answer.startswith((b"HTTP/1.1 200", b"HTTP/1.1 202")):
            raise SystemExit(f"{self._client.url} answered {answer[:300]!r}")
        return answer


class HttpClient:
    """A client of an address, in a session if the server gives one."""

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        self.url = url
        self.address = (parts.hostname or "", parts.port or 80)
        self.head = (
            f"POST {parts.path} HTTP/1.1\r\nHost: {parts.netloc}\r\nContent-Type: application/json\r\n"
            "Accept: application/json, text/event-stream\r\n"
        ).encode()
        self._connections = [_Connection(self)]
        self._number = 0
        answer = self._wait(self._connections[0], message("initialize", 0, GREETING))
        head = answer.partition(b"\r\n\r\n")[0]
        for line in head.split(b"\r\n"):
            if line.lower().startswith(b"mcp-session-id:"):
                self.head += line + b"\r\n"
        self.head += b"Mcp-Protocol-Version: 2025-11-25\r\n"
        self._wait(self._connections[0], message("notifications/initialized", None, {}))

    def call(self, arguments: dict[str, Any]) -> None:
        self._number += 1
        self._wait(self._connections[0], call(self._number, arguments))

    def many(self, count: int, at_once: int) -> None:
        while len(self._connections) < at_once:
            self._connections.append(_Connection(self))
        with selectors.DefaultSelector() as selector:
            sent = 0
            for connection in self._connections[: min(at_once, count)]:
                sent += 1
                self._next(connection, selector)
            done = 0
            while done < count:
                for key, _ in selector.select():
                    if key.data.read() is None:
                        continue
                    done += 1
                    selector.unregister(key.fileobj)
                    if sent < count:
                        sent += 1
                        self._next(key.data, selector)

    def close(self) -> None:
        for connection in self._connections:
            if connection.socket is not None:
                connection.socket.close()

    def _next(self, connection: _Connection, selector: selectors.BaseSelector) -> None:
        self._number += 1
        connection.ask(call(self._number, {}))
        assert connection.socket is not None
        selector.register(connection.socket, selectors.EVENT_READ, connection)

    def _wait(self, connection: _Connection, body: bytes) -> bytes:
        connection.ask(body)
        while (answer := connection.read()) is None:
            pass
        return answer
