"""The gateway's way out: one exchange with the declared model endpoint, as raw bytes.

Owns the real key, the time limit and the size limit of an answer. Must never follow a redirect, read a proxy or
another setting from the environment, keep a cookie, retry, or decode a body: what came is handed on as it came,
a stream piece by piece as it comes, and what did not come whole says so.
"""

from __future__ import annotations

import asyncio
import re
from typing import Final

import aiohttp
from yarl import URL

from oyer.instruments.gateway_answer import (
    Asking,
    Failure,
    Headers,
    Passing,
    Progress,
    UpstreamAnswer,
    content_encoding,
    end_to_end,
)
from oyer.instruments.gateway_keys import KeyWatch, holds_key
from oyer.instruments.gateway_port import Upstream
from oyer.instruments.gateway_views import StreamEnd
from oyer.instruments.http_once import open_client
from oyer.instruments.http_verbatim import HEADERS, read_head
from oyer.observe import decoded
from oyer.protocol import SseReader

__all__ = ["UpstreamClient", "next_piece", "target_url"]

_AFTER_END_S: Final = 1.0
"""How long the connection of a stream may stay open after the end that its API gives it; then it is closed."""
_TAKEN_OUT: Final = b"[upstream key]"
_CONTROL: Final = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")
_VERSIONS: Final = ("/v1", "/v1beta")


def target_url(base_url: str, path: str) -> str:
    """Return the address of a path (`/v1/messages`) at an endpoint, whose base ends in an API's version or in none.

    A base that ends in a version stands for every version of that endpoint; one that ends in none is what `/v1` means.
    """
    base = base_url.rstrip("/")
    root = next((base.removesuffix(version) for version in _VERSIONS if base.endswith(version)), None)
    if root is not None:
        return root + path
    return base + (path.removeprefix("/v1") if path.startswith("/v1/") else path)


class _QuietError(Exception):
    """Nothing more came of an answer that had begun."""


class UpstreamClient:
    """A pool of connections to one endpoint."""

    kind: Final = "endpoint"

    def __init__(self, upstream: Upstream) -> None:
        self._upstream = upstream
        self._session: aiohttp.ClientSession | None = None

    async def open(self) -> None:
        """Make the pool; nothing is connected yet."""
        self._session = open_client(self._upstream.answer_s)

    async def close(self) -> None:
        """Close every connection."""
        if self._session is not None:
            await self._session.close()
            self._session = None

    async def exchange(self, asking: Asking, progress: Progress, passing: Passing) -> UpstreamAnswer:
        """Send one request and take its answer; a failure of the endpoint is a value, never an exception.

        `progress` holds what has come at any moment, also when this is cancelled.
        """
        if self._session is None:
            raise RuntimeError("the upstream client is not open")
        failure: Failure | None
        HEADERS.set(self._with_key(asking))
        bare = asking.method in ("GET", "HEAD") and not asking.body
        try:
            async with self._session.request(
                asking.method,
                URL(target_url(self._upstream.base_url, asking.target), encoded=True),
                data=None if bare else asking.body,
                allow_redirects=False,
            ) as response:
                head = end_to_end(read_head(response.raw_headers))
                _require_sendable(response, head)
                progress.begin(response.status, response.reason or "", head, response.content_length)
                failure, message = await self._take(response, asking, progress, passing)
        except asyncio.CancelledError:
            # What had come is recorded all the same, by whoever asked.
            self._unless_leaked(progress, None, "")
            raise
        except _QuietError:
            failure, message = "timeout", f"nothing more came for {self._upstream.idle_s:g} s within an answer"
        except TimeoutError:
            failure, message = "timeout", f"no whole answer within {self._upstream.answer_s:g} s"
        except aiohttp.ClientPayloadError as error:
            failure, message = "cut", f"the answer broke off: {self._said(error)}"
        except (aiohttp.ClientError, OSError, asyncio.IncompleteReadError, ValueError) as error:
            failure = "cut" if progress.status else "unreachable"
            message = f"no answer from the model endpoint: {self._said(error)}"
        # However it ended: what came before a break may hold the key as well as a whole answer may.
        return self._unless_leaked(progress, failure, message)

    def _with_key(self, asking: Asking) -> list[tuple[str, str]]:
        # Identity is asked for so that what is recorded can be read; what comes encoded all the same passes as it is.
        key = self._upstream.key
        own = [
            ("Authorization", f"Bearer {key}") if place == "authorization" else (place, str(key))
            for place in asking.key_places
        ]
        return [*asking.headers, ("Accept-Encoding", "identity"), *(own if key is not None else ())]

    async def _take(
        self, response: aiohttp.ClientResponse, asking: Asking, progress: Progress, passing: Passing
    ) -> tuple[Failure | None, str]:
        """Take what comes; return what kept it from being a whole answer that may be passed on, in words too."""
        watch, end, reader = KeyWatch(self._upstream.key), StreamEnd(asking.api), SseReader()
        if watch.in_headers(progress.headers):
            return await self._leaked(response, progress)
        if 300 <= response.status < 400:
            progress.body += await response.content.read(self._upstream.max_bytes)
            return "redirect", f"the endpoint answered {response.status}; redirects are not followed"
        streams = _is_stream(response, asking, progress)
        if streams:
            await passing.begin(progress)
        patience: float | None = None
        most = self._upstream.stream_bytes if streams else self._upstream.max_bytes
        while piece := await self._next(response, patience):
            progress.add(piece)
            if len(progress.body) > most:
                del progress.body[most:]
                return "too_large", f"the answer is larger than {most} bytes"
            block = reader.take(piece)
            if watch.feed(piece, block):
                return await self._leaked(response, progress)
            progress.searched = len(progress.body)
            if not streams:
                continue
            if end.see(block):
                patience = patience or asyncio.get_running_loop().time() + _AFTER_END_S
            elif not watch.held:
                await passing.piece(progress)
        return None, ""

    async def _next(self, response: aiohttp.ClientResponse, patience: float | None) -> bytes:
        """Do as `next_piece`, but wait for no piece longer than an answer may be silent. Raises: _QuietError."""
        try:
            async with asyncio.timeout(self._upstream.idle_s) as waiting:
                return await next_piece(response, patience)
        except TimeoutError:
            if waiting.expired():
                raise _QuietError from None
            raise

    async def _leaked(self, response: aiohttp.ClientResponse, progress: Progress) -> tuple[Failure, str]:
        """Take the rest of an answer that holds the key, none of which is passed on: an agent would come to know it."""
        if not progress.passed:
            async for piece in response.content.iter_any():
                progress.add(piece)
                if len(progress.body) > self._upstream.max_bytes:
                    break
        return "leak", ""

    def _unless_leaked(self, progress: Progress, failure: Failure | None, message: str) -> UpstreamAnswer:
        """Return what came; as a leak, with the key taken out, where it holds the key in a form that can be read."""
        key = (self._upstream.key or "").encode()
        raw = bytes(progress.body)
        if failure != "leak" and not (key and self._leaks(raw, progress)):
            return progress.answer(failure, message)
        taken = raw.replace(key, _TAKEN_OUT)
        if taken == raw or holds_key(taken, self._upstream.key):
            # Spelt with escapes, encoded or spread it has too many forms to be cut out: nothing of it is kept.
            taken = _TAKEN_OUT
        progress.body[:] = taken
        progress.headers = ()
        return progress.answer("leak", "the endpoint repeated the key it was given; its answer was not passed on")

    def _leaks(self, raw: bytes, progress: Progress) -> bool:
        """Whether a body holds the key; one that was looked through as it came, and is not coded, is not read again."""
        coding = content_encoding(progress.headers)
        if coding is None and progress.searched == len(raw):
            return False
        plain = decoded(raw, coding)
        return holds_key(raw if plain is None else plain, self._upstream.key)

    def _said(self, error: Exception) -> str:
        told = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
        key = self._upstream.key
        return told.replace(key, _TAKEN_OUT.decode()) if key else told


def _require_sendable(response: aiohttp.ClientResponse, head: Headers) -> None:
    """Refuse the head of an answer that cannot be said again: of what came with it the subject would see nothing.

    Raises: ValueError. Source: RFC 9110, 5.5 and 15.
    """
    if not 200 <= response.status <= 999:
        raise ValueError(f"it answered with the status {response.status}, which ends no exchange over HTTP")
    if any(_CONTROL.search(text) for text in (response.reason or "", *(text for pair in head for text in pair))):
        raise ValueError("the head of its answer holds a control character, which no head may hold")


def _is_stream(response: aiohttp.ClientResponse, asking: Asking, progress: Progress) -> bool:
    """Whether an answer is handed on while it comes: events, or what was asked for as a stream and is no JSON."""
    if not 200 <= response.status < 300 or content_encoding(progress.headers) is not None:
        return False
    kind = response.content_type
    return kind == "text/event-stream" or (asking.stream and kind != "application/json")


async def next_piece(response: aiohttp.ClientResponse, patience: float | None) -> bytes:
    """Return the next piece; nothing where the answer has ended, or our patience after the end of its stream.

    What came before a break is returned before the break is raised, also where both were there before we looked.
    """
    try:
        async with asyncio.timeout_at(patience) as waiting:
            return await response.content.readany()
    except aiohttp.ClientError:
        if held := response.content._read_nowait(-1):  # its public neighbours raise and give nothing
            return held
        raise
    except TimeoutError:
        if waiting.expired():
            return b""
        raise
