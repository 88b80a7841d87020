"""The client's side of Streamable HTTP, for frames that come from and go to standard streams.

Owns one POST per frame, the streams that answer them, the stream a server opens for itself, the session and the
headers that either era of the protocol asks for. A body is the frame without its line end, and a line is a body or an
event's data with its line ends turned into spaces (JSON has none inside a string), and nothing else is done to either.
Must never send a frame twice, follow a redirect, or make up an answer.
Source: MCP transports, Streamable HTTP, 2025-03-26 to 2026-07-28.
"""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from queue import SimpleQueue
from typing import Any, Final

from oyer.programs.wire import Wire, WireFailed, is_stream, note, requests_in
from oyer.protocol import (
    SESSION_HEADER,
    VERSION_HEADER,
    Message,
    SseEvent,
    id_key,
    is_servers_refusal,
    marked_arguments,
    mirrored_headers,
    modern_version,
    parse_message,
    strip_terminator,
)

__all__ = ["HttpWire", "OlderTransportError"]

_READ_BYTES: Final = 65536
_RETRY_MS: Final = 1000
_LEAST_RETRY_MS: Final = 20
_RESUMED_IN_VAIN: Final = 2
_OLDER: Final = frozenset({400, 404, 405})
_GREETINGS: Final = frozenset({"initialize", "server/discover"})
_READ_FROM: Final = frozenset({"initialize", "tools/list"})


class OlderTransportError(Exception):
    """The greeting was refused as the transport of 2024-11-05 refuses it: ask there. Says what was answered."""


class _Post:
    """One exchange: what was sent, and whether its answer came."""

    def __init__(self, connection: Any, message: Message | None, *, modern: bool) -> None:
        self.connection = connection
        self.response: Any = None
        self._socket = connection.sock
        self.message = message
        self.modern = modern
        self.cancelled = False
        self.waits = {id_key(part.id) for part in requests_in(message)}
        self.asked = frozenset(self.waits)
        self.settled = threading.Event()
        self.refusal: OlderTransportError | None = None

    def cut(self) -> None:
        """Close the stream, which from 2026-07-28 on is how a request is given up."""
        self._socket.shutdown(socket.SHUT_RDWR)


class _Place:
    """Where a stream was: the id of its last event, how many had one, and how long to wait when it ends."""

    def __init__(self) -> None:
        self.last: str | None = None
        self.marks = 0
        self.retry_ms = _RETRY_MS

    def note(self, event: SseEvent) -> None:
        if event.id is not None:
            self.last = event.id or None  # an empty one takes back what was said before
            self.marks += 1
        if event.retry_ms is not None:
            self.retry_ms = event.retry_ms


class HttpWire(Wire):
    """One client of one endpoint. `send` takes frames in order; what comes back is written as lines.

    With `detects` a greeting that is refused as the older transport refuses it raises `OlderTransportError`.
    """

    def __init__(
        self, url: str, max_bytes: int, out_fd: int, on_failed: Callable[[str], None], *, detects: bool = False
    ) -> None:
        super().__init__(url, max_bytes, out_fd, on_failed)
        self._detects = detects
        self._session: str | None = None
        self._version: str | None = None
        self._marked: dict[str, Any] = {}
        self._open: dict[Any, _Post] = {}
        self._posts: dict[_Post, None] = {}
        self._free: list[SimpleQueue[_Post | None]] = []
        self._listens = False

    def send(self, frame: bytes) -> None:
        """Post one frame. Returns when it was sent, or taken where it needs no answer; a greeting is waited for.

        Raises: WireFailed, OlderTransportError.
        """
        body = strip_terminator(frame)
        if not body.strip():
            return
        read = parse_message(frame)
        message = read if isinstance(read, Message) else None
        if message is not None and self._gives_up(message):
            return
        headers = self._headers(message)
        connection = self._kept.take() or self.connect()
        post = _Post(connection, message, modern=message is not None and modern_version(message) is not None)
        try:
            post.connection.request("POST", self._target, body, headers)
        except (OSError, ValueError) as error:
            told = f"the request could not be sent: {type(error).__name__}: {error}"
            self.fail(told, is_servers=not isinstance(error, ValueError))  # a header that says what the message does
        for waiting in post.waits:
            self._open[waiting] = post
        if not post.asked:
            self._answer(post)
        else:
            self._posts[post] = None
            self._wait_apart(post)
        if post.asked and message is not None and message.method in _GREETINGS:
            post.settled.wait()  # for its answer, not for the end of its stream, which a server may leave open
            if post.refusal is not None:
                raise post.refusal
            if self._failed:
                raise WireFailed
        if message is not None and message.method == "notifications/initialized" and not self._listens:
            self._listens = True
            threading.Thread(target=self._listen, daemon=True).start()

    def leave(self, limit_s: float) -> None:
        """Wait a moment for what is under way, then end the session."""
        until = time.monotonic() + limit_s
        for post in list(self._posts):
            if not post.cancelled:
                post.settled.wait(max(0.0, until - time.monotonic()))
        self._left.set()
        self._kept.close()
        while self._free:
            self._free.pop().put(None)
        if self._session is None or self._failed:
            return
        try:
            with closing(self.connect(limit_s)) as connection:
                connection.request("DELETE", self._target, headers=self._headers(None, accept=None))
                connection.getresponse().read(_READ_BYTES)
        except Exception as error:  # noqa: BLE001 - nobody is left to whom it would matter
            note(f"the session was not ended: {type(error).__name__}: {error}")

    # -- one exchange -------------------------------------------------------------------------------------

    def _wait_apart(self, post: _Post) -> None:
        """Have the answer read by a thread that has nothing to do, or else by a new one, which costs more."""
        try:
            inbox = self._free.pop()
        except IndexError:
            inbox = SimpleQueue()
            threading.Thread(target=self._wait_for_answers, args=(inbox,), daemon=True).start()
        inbox.put(post)

    def _wait_for_answers(self, inbox: SimpleQueue[_Post | None]) -> None:
        while (post := inbox.get()) is not None:
            with suppress(WireFailed):  # why was told
                self._answer(post)
            self._posts.pop(post, None)
            if self._left.is_set():
                return
            self._free.append(inbox)

    def _answer(self, post: _Post) -> None:
        try:
            self._read_answer(post)
        except OlderTransportError as refusal:
            post.refusal = refusal
        except WireFailed:
            raise
        except Exception as error:  # noqa: BLE001 - whatever it is, it ends the connection and is told
            if not post.cancelled and not self._left.is_set():
                self.fail(f"the exchange broke off: {type(error).__name__}: {error}")
        finally:
            for waiting in post.asked:
                if self._open.get(waiting) is post:
                    self._open.pop(waiting, None)
            self._kept.keep(post.connection, None if post.cancelled else post.response)
            post.settled.set()

    def _read_answer(self, post: _Post) -> None:
        response = post.response = post.connection.getresponse()
        session = response.getheader(SESSION_HEADER)
        if session and not post.modern:
            self._session = session
        if is_stream(response):
            self._read_stream(response, post)
        else:
            body = self.body(response)
            if not 200 <= response.status < 300:
                self._refused(response, body, post)
            elif body.strip():
                self._pass_on(body, post)
        if post.waits and not post.cancelled:
            self.fail("the server ended its answer without the message that was asked for")

    def _refused(self, response: Any, body: bytes, post: _Post) -> None:
        """An error status: the client can hear of it where the body is its answer, and in no other way."""
        self._take(body, post)
        greets = post.message is not None and post.message.method in _GREETINGS
        if post.waits and greets and self._detects and response.status in _OLDER and self._session is None:
            raise OlderTransportError(f"{response.status} {response.reason}")
        if post.message is None or not requests_in(post.message) or post.waits:
            theirs = is_servers_refusal(response.status, greets=greets, in_session=self._session is not None)
            self.refused(response, body, is_servers=theirs)
        self.write(body)

    def _pass_on(self, data: bytes, post: _Post | None) -> None:
        if post is not None:
            self._take(data, post)
        self.write(data)
        if post is not None and not post.waits:
            post.settled.set()

    def _take(self, data: bytes, post: _Post) -> None:
        """Note what an answer says that later requests depend on, and that it came."""
        try:
            value = json.loads(data)
        except (ValueError, RecursionError):
            return
        for one in value if isinstance(value, list) else [value]:
            if isinstance(one, dict) and "method" not in one and not isinstance(one.get("id"), dict | list | float):
                post.waits.discard(id_key(one.get("id")))
        if post.message is not None and post.message.method in _READ_FROM:
            answer = parse_message(data)
            if isinstance(answer, Message) and answer.kind == "response":
                self._learn(post.message.method or "", answer)

    def _learn(self, method: str, answer: Message) -> None:
        if method == "tools/list":
            self._marked.update(marked_arguments(answer))
        elif isinstance(answer.result, dict) and isinstance(version := answer.result.get("protocolVersion"), str):
            self._version = version

    # -- streams ------------------------------------------------------------------------------------------

    def _read_stream(self, response: Any, post: _Post) -> None:
        """Pass a stream's messages on; one that ends early is taken up again after its last event, if it has ids."""
        place = _Place()
        self._events_until_broken(response, post, place)
        in_vain = 0
        while post.waits and place.last is not None and not post.cancelled and in_vain < _RESUMED_IN_VAIN:
            time.sleep(place.retry_ms / 1000)
            note(f"a stream ended before its answer and is taken up after event {place.last}")
            marks = place.marks
            with self._get(place.last) as again:
                if not is_stream(again):
                    self.fail(f"the server answered {again.status} {again.reason} to a stream taken up again")
                self._events_until_broken(again, post, place)
            in_vain = in_vain + 1 if place.marks == marks else 0

    def _events_until_broken(self, response: Any, post: _Post, place: _Place) -> None:
        """Pass a stream's messages on until it ends; how it ends means nothing where it can be taken up again."""
        from http.client import HTTPException

        try:
            self._events(response, post, place)
        except (OSError, HTTPException) as error:
            if place.last is None or post.cancelled:
                raise
            note(f"a stream broke off: {type(error).__name__}: {error}")

    def _listen(self) -> None:
        """Read the stream on which a server says what nobody asked for, as long as it offers one."""
        place, in_vain = _Place(), 0
        while not self._left.is_set() and in_vain < _RESUMED_IN_VAIN:
            try:
                with self._get(place.last) as response:
                    if not is_stream(response):
                        if response.status != 405:  # which is how a server says that it has none
                            note(f"the server answered {response.status} {response.reason} to a stream of its own")
                        return
                    self._events(response, None, place)
                in_vain = 0
            except Exception as error:  # noqa: BLE001 - told, and counted
                if self._left.is_set():
                    return
                note(f"the server's own stream broke off: {type(error).__name__}: {error}")
                in_vain += 1
            time.sleep(max(place.retry_ms, _LEAST_RETRY_MS) / 1000)

    @contextmanager
    def _get(self, last: str | None) -> Iterator[Any]:
        headers: dict[str, Any] = dict(self._headers(None, accept="text/event-stream"))
        if last is not None:
            headers["Last-Event-ID"] = last.encode()  # as it came: it may be any text
        connection = self.connect()
        with closing(connection):
            connection.request("GET", self._target, headers=headers)
            with connection.getresponse() as response:
                yield response

    def _events(self, response: Any, post: _Post | None, place: _Place) -> None:
        """Pass on every message of one response, and note where it is."""
        for event in self.events(response):
            place.note(event)
            if event.data and event.event == "message":
                self._pass_on(event.data, post)

    # -- odds and ends ------------------------------------------------------------------------------------

    def _gives_up(self, message: Message) -> bool:
        """Take a cancellation; say whether that is all: the era without sessions closes the stream in its place."""
        if message.method != "notifications/cancelled" or not isinstance(message.params, dict):
            return False
        post = self._open.get(id_key(message.params.get("requestId")))
        if post is None:
            return False
        post.cancelled = True  # whether an answer still comes or the stream just ends, nobody waits for it
        if post.modern:
            post.cut()
        return post.modern

    def _headers(
        self, message: Message | None, *, accept: str | None = "application/json, text/event-stream"
    ) -> dict[str, str]:
        mirrored = [] if message is None else mirrored_headers(message, self._marked)
        headers = dict(mirrored)
        if not mirrored and (message is None or message.method != "initialize"):
            if self._session is not None:
                headers[SESSION_HEADER] = self._session
            if self._version is not None:
                headers[VERSION_HEADER] = self._version
        if accept is not None:
            headers["Accept"] = accept
        if accept is not None and accept.startswith("application/json"):
            headers["Content-Type"] = "application/json"
        return headers
