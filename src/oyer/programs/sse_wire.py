"""The client's side of HTTP with SSE as of 2024-11-05, for frames that come from and go to standard streams.

Owns the one stream on which everything comes, the address that its first event names, and one POST per frame there.
Must never send a frame twice, post to another origin than the stream's, take up a stream that ended (this transport
has no way to), or make up an answer.
Source: MCP transports 2024-11-05, HTTP with SSE.
"""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable
from contextlib import closing, suppress
from typing import Any, Final
from urllib.parse import urljoin, urlsplit

from oyer.programs.wire import Wire, WireFailed, is_greeting, is_stream
from oyer.protocol import Message, as_target, is_servers_refusal, parse_message, strip_terminator

__all__ = ["SseWire"]

_IN_ORDER_S: Final = 1.0
"""How long the next frame waits for the status of this one. A server that answers only when it is done may be waiting
for that very frame."""


class SseWire(Wire):
    """One client of one stream. `send` takes frames in order; what comes back is written as lines.

    `after` says what another transport was answered at this address, status first, where one was tried.
    """

    def __init__(
        self, url: str, max_bytes: int, out_fd: int, on_failed: Callable[[str], None], *, after: str = ""
    ) -> None:
        super().__init__(url, max_bytes, out_fd, on_failed)
        self._after = f" (and {after} to a POST)" if after else ""
        before = int(after.split(maxsplit=1)[0]) if after else 0
        self._is_theirs = not before or is_servers_refusal(before, greets=True, in_session=False)
        self._endpoint = ""
        self._named = threading.Event()
        self._posts: list[threading.Thread] = []
        self._socket: socket.socket | None = None
        self._opened = False

    def send(self, frame: bytes) -> None:
        """Post one frame; the first one opens the stream. Raises: WireFailed."""
        body = strip_terminator(frame)
        if not body.strip():
            return
        if not self._opened:
            self._opened = True
            threading.Thread(target=self._guarded, args=(self._listen,), daemon=True).start()
        self._named.wait()
        if self._failed:
            raise WireFailed
        connection = self._kept.take() or self.connect()
        try:
            connection.request("POST", self._endpoint, body, {"Content-Type": "application/json"})
        except (OSError, ValueError) as error:
            self.fail(f"the request could not be sent: {type(error).__name__}: {error}")
        greets = is_greeting(parse_message(body))
        post = threading.Thread(target=self._guarded, args=(self._accepted, connection, greets), daemon=True)
        post.start()
        post.join(_IN_ORDER_S)
        self._posts = [each for each in (*self._posts, post) if each.is_alive()]

    def leave(self, limit_s: float) -> None:
        """Wait a moment for what is under way, then close the stream, which ends the session."""
        until = time.monotonic() + limit_s
        for post in self._posts:
            post.join(max(0.0, until - time.monotonic()))
        self._left.set()
        self._kept.close()
        if self._socket is not None:
            with suppress(OSError):
                self._socket.shutdown(socket.SHUT_RDWR)

    def _guarded(self, work: Callable[..., None], *arguments: Any) -> None:
        """Do what a thread does; whatever goes wrong in it ends the connection and is told."""
        try:
            work(*arguments)
        except WireFailed:
            pass
        except Exception as error:  # noqa: BLE001 - told
            if not self._left.is_set():
                with suppress(WireFailed):
                    self.fail(f"the exchange broke off: {type(error).__name__}: {error}")
        finally:
            if self._failed:
                self._named.set()

    def _listen(self) -> None:
        """Read the stream to its end, which is the end of the session."""
        stream = self.connect()
        self._socket = stream.sock
        with closing(stream):
            self._read(stream)

    def _read(self, stream: Any) -> None:
        stream.request("GET", self._target, headers={"Accept": "text/event-stream", "Cache-Control": "no-store"})
        response = stream.getresponse()
        if not is_stream(response):
            self.refused(response, self.body(response), f" to a stream{self._after}", is_servers=self._is_theirs)
        for event in self.events(response):
            if event.event == "endpoint" and not self._endpoint:
                self._endpoint = self._addressed((event.data or b"").decode("utf-8", "replace"))
                self._named.set()
            elif event.event == "message" and event.data:
                self.write(event.data)
        if not self._left.is_set():
            self.fail("the server ended its stream" + ("" if self._endpoint else " before it named an address"))

    def _addressed(self, told: str) -> str:
        """Return the target of the posts. Another origin is none: what a stream says must not lead elsewhere."""
        parts = urlsplit(urljoin(self.url, as_target(told)))
        port = parts.port or (443 if parts.scheme == "https" else 80)
        if (parts.scheme == "https", parts.hostname, port) != (self._secure, *self.address):
            self.fail(f"the server named another origin for what is posted: {told[:200]}")
        return (parts.path or "/") + (f"?{parts.query}" if parts.query else "")

    def _accepted(self, connection: Any, greets: bool) -> None:
        """Take the answer to a POST. What is a message in it passes; the words of an acceptance mean nothing."""
        response = None
        try:
            response = connection.getresponse()
            body = self.body(response)
        finally:
            self._kept.keep(connection, response)
        if not 200 <= response.status < 300:
            self.refused(response, body, is_servers=is_servers_refusal(response.status, greets=greets, in_session=True))
        if isinstance(parse_message(body), Message):
            self.write(body)
