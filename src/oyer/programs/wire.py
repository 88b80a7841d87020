"""What every client of an address has in common, for frames that come from and go to standard streams.

Owns the address, the making of connections, the splitting of a stream into events, and the writing of lines:
a line is a body or an event's data with its line ends turned into spaces (JSON has none inside a string).
Must never follow a redirect, send anything twice, or keep time beyond the moment in which a connection is made.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any, Final, NoReturn
from urllib.parse import urlsplit

from oyer.programs.kept import KeptConnections
from oyer.protocol import Message, Noise, SseEvent, SseSplitter, parse_sse

__all__ = ["Wire", "WireFailed", "is_greeting", "is_stream", "note", "requests_in"]

_CHUNK_BYTES: Final = 65536
_CONNECT_S: Final = 10.0
_SHOWN_BYTES: Final = 500
_GREETINGS: Final = frozenset({"initialize", "server/discover"})
_SPACES: Final = bytes.maketrans(b"\r\n", b"  ")


class WireFailed(Exception):
    """The connection is over, and why was told already."""


class Wire:
    """A client of one address.

    `on_failed` is told once why the connection is over, "" where nobody reads any more; it need not return.
    """

    def __init__(self, url: str, max_bytes: int, out_fd: int, on_failed: Callable[[str], None]) -> None:
        parts = urlsplit(url)
        self.url = url
        self._secure = parts.scheme == "https"
        self.address = (parts.hostname or "", parts.port or (443 if self._secure else 80))
        self._target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        self._max_bytes = max_bytes
        self._out = out_fd
        self._on_failed = on_failed
        self._writing = threading.Lock()
        self._ending = threading.Lock()
        self._left = threading.Event()
        self._failed = False
        self._kept = KeptConnections()
        self.is_servers = True

    def fail(self, why: str, *, is_servers: bool = True) -> NoReturn:
        """Say that this connection is over: what its client would need to know cannot be said over standard streams.

        `is_servers` says that it is so whatever its client sent; the first word on that stays here.
        """
        with self._ending:
            first, self._failed = not self._failed, True
            if first:
                self.is_servers = is_servers
        self._left.set()
        if first:
            self._on_failed(why)
        raise WireFailed(why)

    def refused(self, response: Any, body: bytes, to: str = "", *, is_servers: bool = True) -> NoReturn:
        """Fail because of a status. `to` says what was refused where it was not a message."""
        shown, left = body[:_SHOWN_BYTES].decode("utf-8", "replace"), len(body) - _SHOWN_BYTES
        more = f" [... {left} bytes cut ...]" if left > 0 else ""
        place = response.getheader("Location") if 300 <= response.status < 400 else None
        if place is not None:
            to += f", which leads to {place[:200]} and is not followed (declare the address that answers)"
        told = f"the server answered {response.status} {response.reason}{to}: {shown}{more}"
        self.fail(told, is_servers=is_servers)

    def connect(self, limit_s: float = _CONNECT_S) -> Any:
        """Make one connection. Raises: WireFailed."""
        import http.client

        kind: Any = http.client.HTTPSConnection if self._secure else http.client.HTTPConnection
        connection = kind(*self.address, timeout=limit_s)
        try:
            connection.connect()
        except OSError as error:
            self.fail(f"the server could not be reached at {self.address[0]}:{self.address[1]}: {error}")
        connection.sock.settimeout(None)  # how long an answer may take is for whoever started us to say
        return connection

    def body(self, response: Any) -> bytes:
        """Read a body, but no further than one byte beyond the bound: whoever reads our output says that it is.

        Raises: http.client.IncompleteRead where less came than was announced.
        """
        import http.client

        data = bytes(response.read(self._max_bytes + 1))
        if response.length and len(data) <= self._max_bytes:  # read in part, the library says nothing of the rest
            raise http.client.IncompleteRead(data, response.length)
        return data

    def events(self, response: Any) -> Iterator[SseEvent]:
        """Give each event of a stream when it is whole. What is beyond the bound is written as it is, and ends it."""
        splitter = SseSplitter()
        while chunk := response.read1(_CHUNK_BYTES):
            yield from map(parse_sse, splitter.feed(chunk))
            if splitter.pending_bytes > self._max_bytes:
                self.write(splitter.end())  # beyond the bound: whoever reads our output says so
                return

    def write(self, data: bytes) -> None:
        """Write one line. Raises: WireFailed."""
        line = memoryview(data.translate(_SPACES) + b"\n")
        with self._writing:
            try:
                while line:
                    line = line[os.write(self._out, line) :]
            except OSError:
                self.fail("")


def requests_in(message: Message | None) -> list[Message]:
    """List the requests of a message, which may be a batch."""
    if message is None:
        return []
    parts = message.parts if message.kind == "batch" else (message,)
    return [part for part in parts if isinstance(part, Message) and part.kind == "request"]


def is_greeting(read: Message | Noise) -> bool:
    """Say whether a message opens a connection."""
    return isinstance(read, Message) and read.method in _GREETINGS


def is_stream(response: Any) -> bool:
    """Say whether an answer is a stream of events."""
    kind = (response.getheader("Content-Type") or "").partition(";")[0].strip().lower()
    return bool(kind == "text/event-stream" and 200 <= response.status < 300)


def note(text: str) -> None:
    """Write a line to standard error."""
    sys.stderr.write(f"{text}\n")
    sys.stderr.flush()
