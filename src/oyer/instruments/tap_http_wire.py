"""Carrying one exchange over HTTP from the subject to the server and back, in the bytes in which it came.

Owns the request upstream, its headers and its answer. Request bodies, bodies of answers and events pass as they came
unless the declared change was about exactly that message, and then only its own span differs. Must never follow a
redirect, retry, keep a cookie, decode a body, or hold an event until the next one.
Source: RFC 9110, 7.6 (what belongs to one hop); MCP transports, Streamable HTTP.
"""

from __future__ import annotations

import asyncio
import functools
from collections.abc import AsyncIterator
from typing import Final
from urllib.parse import urlsplit

import aiohttp
from aiohttp import web
from aiohttp.abc import AbstractStreamWriter
from multidict import CIMultiDict
from yarl import URL

from oyer.instruments.gateway_answer import end_to_end
from oyer.instruments.http_once import open_client
from oyer.instruments.http_verbatim import HEADERS, BareAnswer, BareStream, read_head
from oyer.instruments.tap_deadlines import STANDING_METHODS
from oyer.instruments.tap_http_connection import Handed, HttpConnection
from oyer.instruments.tap_http_streams import Endpoints
from oyer.instruments.tap_settings import TapLimits
from oyer.protocol import (
    SESSION_HEADER,
    Message,
    Overlong,
    SseEvent,
    SseSplitter,
    parse_message,
    parse_sse,
    strip_terminator,
    with_sse_data,
)

__all__ = ["CutError", "HttpCarrier", "SubjectGoneError", "read_body"]

_KEPT_S: Final = 1.0
"""How long a connection waits for the next request. Servers wait longer: one that is closing would take a request and
not answer, and a request must not be sent twice."""
_NOT_FORWARDED: Final = frozenset({"accept-encoding", "expect", "host", "origin"})
_LOST: Final = 404
_ELSEWHERE: Final = frozenset({300, 301, 302, 303, 307, 308})
_UNSEEN: Final = "whoever followed that would be seen no more; declare the address that answers as the server's url"


class CutError(Exception):
    """Nothing may be answered any more: the subject sees its connection closed."""


class SubjectGoneError(Exception):
    """The subject closed its connection: nobody is there to be answered."""


class HttpCarrier:
    """A client of one endpoint, and the writer of its answers."""

    def __init__(self, limits: TapLimits, endpoints: Endpoints) -> None:
        self._limits = limits
        self._max_bytes = limits.max_frame_bytes
        self._endpoints = endpoints
        self._clients: dict[bool, aiohttp.ClientSession] = {}

    async def close(self) -> None:
        """Close every connection; another request opens new ones."""
        clients, self._clients = list(self._clients.values()), {}
        for client in clients:
            await client.close()

    async def carry(
        self, request: web.BaseRequest, url: str, body: Handed | None, connection: HttpConnection
    ) -> web.StreamResponse:
        """Send one request on and its answer back. Raises: CutError, aiohttp.ClientError, OSError."""
        told = read_head(request.raw_headers)
        headers = [*end_to_end(told, without=_NOT_FORWARDED), ("Accept-Encoding", "identity")]
        if "Origin" in request.headers:
            parts = urlsplit(url)
            headers.append(("Origin", f"{parts.scheme}://{parts.netloc}"))
        if body is not None:
            headers.append(("Content-Length", str(len(body.data))))
        HEADERS.set(headers)
        async with self._client(request.method).request(
            request.method,
            _url(url),
            data=None if body is None else _Sent(body, connection),
            allow_redirects=False,
        ) as came:
            session = came.headers.get(SESSION_HEADER)
            if session and connection.session is None and came.status < 300:
                connection.session = session
            if came.status == _LOST and request.headers.get(SESSION_HEADER):
                connection.session_lost(came.status)
            if came.status in _ELSEWHERE and "Location" in came.headers:
                place = came.headers["Location"]
                connection.blame_server(
                    f"answered {came.status} and sent its client elsewhere ({place[:200]}): {_UNSEEN}"
                )
                connection.end("server_closed")
                raise CutError
            pairs = read_head(came.raw_headers)
            answer: web.StreamResponse = BareStream(
                status=came.status, reason=came.reason, headers=CIMultiDict(end_to_end(pairs))
            )
            if came.content_type == "text/event-stream" and "Content-Encoding" not in came.headers:
                await self._stream(request, came, answer, connection, url, stands=_stands(body))
                connection.answering(body)
            else:
                connection.answering(body)
                answer = await self._whole(request, came, answer, connection)
        await _end(answer)
        return answer

    async def say(self, request: web.BaseRequest, refusal: Handed, connection: HttpConnection) -> web.StreamResponse:
        """Answer with a declared refusal, where answers to this request go."""
        stream = self._endpoints.stream_of(connection)
        if stream is not None:
            await _write(stream, b"event: message\ndata: " + strip_terminator(refusal.data) + b"\n\n", connection)
            connection.delivered(refusal)
            return web.Response(status=202, text="Accepted")
        answer = web.StreamResponse(headers={"Content-Type": "application/json"})
        answer.content_length = len(refusal.data)
        await _begin(answer, request)
        await _write(answer, refusal.data, connection)
        connection.delivered(refusal)
        await _end(answer)
        return answer

    def _client(self, method: str) -> aiohttp.ClientSession:
        """Return the client for a method: only calls come one after the other, and have a connection that is kept."""
        keeps = method == "POST"
        if keeps not in self._clients:
            kept = {"keepalive_timeout": _KEPT_S} if keeps else {"force_close": True}
            # Answers may take as long as the Case says, which others keep.
            self._clients[keeps] = open_client(None, limit=0, **kept)
        return self._clients[keeps]

    async def _stream(
        self,
        request: web.BaseRequest,
        came: aiohttp.ClientResponse,
        answer: web.StreamResponse,
        connection: HttpConnection,
        url: str,
        *,
        stands: bool,
    ) -> None:
        await _begin(answer, request)  # a stream may stay silent for long, and its client waits for the headers
        splitter = SseSplitter()
        answers, size = request.method == "POST" and not stands, 0
        async for chunk in pieces_of(came.content, self._limits.idle_s if answers else None):
            size += len(chunk)
            if answers and size > self._limits.max_stream_bytes:
                connection.flooded_stream(self._limits.max_stream_bytes)
                raise CutError
            for raw in splitter.feed(chunk):
                event = parse_sse(raw)
                if event.event == "endpoint" and event.data and request.method == "GET" and connection.session is None:
                    told = self._endpoints.open(connection, answer, url, event.data)
                    if told is None:
                        connection.blame_server(
                            "named another origin for what is posted, or one address after the other"
                            f" ({event.data[:200].decode('utf-8', 'replace')}; its own is {url})"
                        )
                        connection.end("server_closed")
                        raise CutError
                    await _write(answer, with_sse_data(raw, told), connection)
                else:
                    await self._event(raw, event, answer, connection)
            if splitter.pending_bytes > self._max_bytes:
                size = splitter.pending_bytes
                await connection.from_server(Overlong(splitter.end()[: self._max_bytes], size))
                raise CutError
        rest = splitter.end()
        if rest:
            for handed in await connection.from_server(rest, is_whole=False):
                await _write(answer, handed.data, connection)
                connection.delivered(handed)

    async def _event(self, raw: bytes, event: SseEvent, answer: web.StreamResponse, connection: HttpConnection) -> None:
        if not event.data:
            await _write(answer, raw, connection)
            return
        is_message = event.event == "message"  # clients heed no other; what it holds is kept all the same
        decided = await connection.from_server(event.data if is_message else raw, is_whole=is_message)
        if not decided:
            raise CutError
        for handed in decided:
            await _write(answer, with_sse_data(raw, handed.data) if handed.changed else raw, connection)
            connection.delivered(handed)

    async def _whole(
        self,
        request: web.BaseRequest,
        came: aiohttp.ClientResponse,
        answer: web.StreamResponse,
        connection: HttpConnection,
    ) -> web.StreamResponse:
        body = await read_body(came.content, self._max_bytes, self._limits.idle_s)
        if not body:
            if request.method != "HEAD":
                answer.content_length = 0
            elif came.content_length:
                answer.content_length = came.content_length
            await _begin(answer, request)
            return answer
        decided = await connection.from_server(body)
        if not decided:
            raise CutError
        handed = decided[0]
        # Head and body leave in one piece.
        whole = BareAnswer(status=answer.status, reason=answer.reason, headers=answer.headers, body=handed.data)
        await _begin(whole, request)
        await _end(whole)
        connection.delivered(handed)
        return whole


@functools.lru_cache(maxsize=256)
def _url(url: str) -> URL:
    return URL(url, encoded=True)


async def pieces_of(content: aiohttp.StreamReader, idle_s: float | None) -> AsyncIterator[bytes]:
    """Yield what comes, as it comes. Raises: TimeoutError where nothing comes for as long as `idle_s`."""
    while True:
        try:
            async with asyncio.timeout(idle_s):
                chunk = await content.readany()
        except TimeoutError as error:
            raise TimeoutError(f"nothing more came for {idle_s} s") from error
        if not chunk:
            return
        yield chunk


async def read_body(content: aiohttp.StreamReader, limit: int, idle_s: float | None = None) -> bytes | Overlong:
    """Take a body as it came; one beyond the limit as what is kept of it, the rest unread. Raises: TimeoutError."""
    if content.is_eof() and content.total_bytes <= limit:
        return content.read_nowait()
    pieces, size = [], 0
    async for chunk in pieces_of(content, idle_s):
        pieces.append(chunk)
        size += len(chunk)
        if size > limit:
            return Overlong(b"".join(pieces)[:limit], size)
    return b"".join(pieces)


async def _begin(answer: web.StreamResponse, request: web.BaseRequest) -> None:
    try:
        await answer.prepare(request)
    except ConnectionResetError as error:
        raise SubjectGoneError from error


async def _write(answer: web.StreamResponse, data: bytes, connection: HttpConnection) -> None:
    try:
        with connection.writing():
            await answer.write(data)
    except ConnectionResetError as error:
        raise SubjectGoneError from error


async def _end(answer: web.StreamResponse) -> None:
    try:
        await answer.write_eof()
    except ConnectionResetError as error:
        raise SubjectGoneError from error


class _Sent(aiohttp.Payload):
    """A request's body: head and body leave in one piece, and then it was delivered."""

    def __init__(self, body: Handed, connection: HttpConnection) -> None:
        super().__init__(body.data)
        self._size = len(body.data)
        self._handed = body
        self._connection = connection

    def decode(self, encoding: str = "utf-8", errors: str = "strict") -> str:
        """Return the body as text, which nobody here asks for."""
        return self._handed.data.decode(encoding, errors)

    async def write(self, writer: AbstractStreamWriter) -> None:
        """Write it."""
        await writer.write(self._handed.data)
        self._connection.delivered(self._handed)


def _stands(body: Handed | None) -> bool:
    """Whether a request stays open for what may come: its stream is no answer that has begun."""
    if body is None or b"subscriptions/" not in body.data:
        return False
    read = parse_message(body.data)
    return isinstance(read, Message) and read.method in STANDING_METHODS
