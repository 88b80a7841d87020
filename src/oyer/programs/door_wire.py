"""HTTP as a door needs it: one request and one answer on each connection, and a thread for each.

Owns the reading of a request and the writing of an answer, whole or in pieces. Must stay quick to load, and must never
guess: what is no request closes the connection. Its one client is the tap, which keeps no connection.
Source: RFC 9112 (message format, chunked transfer coding).
"""

from __future__ import annotations

import select
import socket
import threading
from collections.abc import Callable, Iterable
from typing import Final, NamedTuple

__all__ = ["Client", "Request", "listen"]

_READ_BYTES: Final = 65536
_MAX_HEAD_BYTES: Final = 64 * 1024 * 1024  # the tap bounds each header and their number
_BACKLOG: Final = 256
_PHRASES: Final = {
    200: "OK",
    202: "Accepted",
    400: "Bad Request",
    403: "Forbidden",
    404: "Not Found",
    405: "Method Not Allowed",
    409: "Conflict",
}


class Request(NamedTuple):
    """One request. Names of headers are in lower case."""

    method: str
    target: str
    headers: dict[str, str]
    body: bytes


class Client:
    """The far end of one connection. Every write raises OSError when it is gone."""

    def __init__(self, connected: socket.socket) -> None:
        self._socket = connected

    def request(self) -> Request | None:
        """Read the request; None where none came. Raises: OSError, ValueError."""
        held = b""
        while b"\r\n\r\n" not in held:
            piece = self._socket.recv(_READ_BYTES)
            if not piece or len(held) > _MAX_HEAD_BYTES:
                return None
            held += piece
        head, _, rest = held.partition(b"\r\n\r\n")
        first, *lines = head.decode("latin-1").split("\r\n")
        method, target, _ = first.split(" ", 2)
        headers = {name.strip().lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
        pieces, left = [rest], int(headers.get("content-length") or 0) - len(rest)
        while left > 0:
            piece = self._socket.recv(min(left, _READ_BYTES))
            if not piece:
                return None
            pieces.append(piece)
            left -= len(piece)
        return Request(method, target, headers, b"".join(pieces))

    def say(self, status: int, body: bytes = b"", headers: Iterable[tuple[str, str]] = ()) -> None:
        """Write a whole answer."""
        self._socket.sendall(_head(status, (*headers, ("Content-Length", str(len(body))))) + body)

    def begin(self, headers: Iterable[tuple[str, str]], first: bytes = b"") -> None:
        """Begin an answer in pieces."""
        head = _head(200, (*headers, ("Transfer-Encoding", "chunked")))
        self._socket.sendall(head + (_chunk(first) if first else b""))

    def piece(self, data: bytes) -> None:
        """Write one piece."""
        self._socket.sendall(_chunk(data))

    def finish(self) -> None:
        """End an answer in pieces."""
        self._socket.sendall(b"0\r\n\r\n")

    def has_left(self) -> bool:
        """Whether it closed the connection."""
        if not select.select([self._socket], [], [], 0)[0]:
            return False
        try:
            return not self._socket.recv(1, socket.MSG_PEEK)
        except OSError:
            return True


def listen(port: int, serve: Callable[[Client, Request], None], failed: Callable[..., None]) -> None:
    """Serve for ever. What fails, but for a client that leaves, is told: silence could be taken for the server's."""

    def one(connected: socket.socket) -> None:
        with connected:
            try:
                client = Client(connected)
                request = client.request()
                if request is not None:
                    serve(client, request)
            except (OSError, ValueError):
                return
            except Exception as error:  # noqa: BLE001 - told
                failed(f"the door failed: {type(error).__name__}: {error}", is_servers=False)

    with socket.create_server(("127.0.0.1", port), backlog=_BACKLOG) as listening:
        while True:
            connected, _ = listening.accept()
            connected.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            threading.Thread(target=one, args=(connected,), daemon=True).start()


def _head(status: int, headers: Iterable[tuple[str, str]]) -> bytes:
    lines = [f"HTTP/1.1 {status} {_PHRASES[status]}", *(f"{name}: {value}" for name, value in headers)]
    return "\r\n".join([*lines, "Connection: close", "", ""]).encode("latin-1")


def _chunk(data: bytes) -> bytes:
    return b"%x\r\n" % len(data) + data + b"\r\n"
