"""The gateway's way out: one exchange with the declared model endpoint, as raw bytes.

Owns the real key, the time limit and the size limit of an answer. Must never follow a redirect, read a proxy or
another setting from the environment, keep a cookie, retry, or decode a body: what came is handed on as it came,
and what did not come whole says so.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, Literal

import aiohttp

from oyer.instruments.gateway_port import Upstream

__all__ = ["Headers", "UpstreamAnswer", "UpstreamClient", "end_to_end"]

Headers = tuple[tuple[str, str], ...]
Failure = Literal["timeout", "unreachable", "cut", "redirect", "too_large", "leak"]

# RFC 9110, 7.6.1: what belongs to one hop only. Content-Length is set anew by each hop from the same bytes.
_HOP_BY_HOP: Final = frozenset(
    {
        "connection",
        "content-length",
        "keep-alive",
        "proxy-authenticate",
        "proxy-authorization",
        "proxy-connection",
        "te",
        "trailer",
        "transfer-encoding",
        "upgrade",
    }
)
_CONNECT_S: Final = 10.0
_TAKEN_OUT: Final = b"[upstream key]"
_ESCAPE: Final = re.compile(rb'\\(?:u00([0-9a-fA-F]{2})|(["/\\]))')
"""RFC 8259, 7: the ways to write an ASCII letter that a key may hold."""


@dataclass(frozen=True, slots=True)
class UpstreamAnswer:
    """What came back. `status` 0: no answer at all. `declared` is the length that the endpoint announced."""

    status: int
    reason: str
    headers: Headers
    body: bytes
    declared: int | None
    failure: Failure | None = None
    message: str = ""


def end_to_end(headers: Iterable[tuple[str, str]], *, without: frozenset[str] = frozenset()) -> Headers:
    """Keep what is meant for the other end, in its order; drop hop-by-hop fields and those named, in lower case."""
    pairs = tuple(headers)
    dropped = set(_HOP_BY_HOP | without)
    for name, value in pairs:
        if name.lower() == "connection":
            dropped.update(token.strip().lower() for token in value.split(","))
    return tuple((name, value) for name, value in pairs if name.lower() not in dropped)


class UpstreamClient:
    """A pool of connections to one endpoint."""

    def __init__(self, upstream: Upstream) -> None:
        self._upstream = upstream
        self._session: aiohttp.ClientSession | None = None

    async def open(self) -> None:
        """Make the pool; nothing is connected yet."""
        self._session = aiohttp.ClientSession(
            cookie_jar=aiohttp.DummyCookieJar(),
            trust_env=False,
            auto_decompress=False,
            skip_auto_headers=("User-Agent", "Accept", "Accept-Encoding", "Content-Type"),
            timeout=aiohttp.ClientTimeout(total=self._upstream.answer_s, sock_connect=_CONNECT_S),
        )

    async def close(self) -> None:
        """Close every connection."""
        if self._session is not None:
            await self._session.close()
            self._session = None

    async def exchange(self, method: str, tail: str, headers: Headers, body: bytes) -> UpstreamAnswer:
        """Send one request and take its answer; a failure of the endpoint is a value, never an exception."""
        if self._session is None:
            raise RuntimeError("the upstream client is not open")
        progress = _Progress()
        try:
            async with self._session.request(
                method,
                self._upstream.base_url.rstrip("/") + tail,
                headers=self._with_key(headers),
                data=body if method == "POST" else None,
                allow_redirects=False,
            ) as response:
                progress.begin(response)
                return await self._take(response, progress)
        except TimeoutError:
            return progress.broken("timeout", f"no whole answer within {self._upstream.answer_s:g} s")
        except aiohttp.ClientPayloadError as error:
            return progress.broken("cut", f"the answer broke off: {_said(error)}")
        except (aiohttp.ClientError, OSError, asyncio.IncompleteReadError, ValueError) as error:
            kind: Failure = "cut" if progress.status else "unreachable"
            return progress.broken(kind, f"no answer from the model endpoint: {_said(error)}")

    def _with_key(self, headers: Headers) -> list[tuple[str, str]]:
        # Identity is asked for so that what is recorded can be read; what comes encoded all the same passes as it is.
        sent = [*headers, ("Accept-Encoding", "identity")]
        if self._upstream.key is not None:
            sent.append(("Authorization", f"Bearer {self._upstream.key}"))
        return sent

    async def _take(self, response: aiohttp.ClientResponse, progress: _Progress) -> UpstreamAnswer:
        async for chunk in response.content.iter_any():
            progress.body += chunk
            if len(progress.body) > self._upstream.max_bytes:
                del progress.body[self._upstream.max_bytes :]
                return progress.broken("too_large", f"the answer is larger than {self._upstream.max_bytes} bytes")
        if 300 <= response.status < 400:
            return progress.broken("redirect", f"the endpoint answered {response.status}; redirects are not followed")
        if self._repeats_key(progress):
            return progress.broken("leak", "the endpoint repeated the key it was given; its answer was not passed on")
        return progress.answer()

    def _repeats_key(self, progress: _Progress) -> bool:
        """Take the key out of an answer that holds it: an agent under test would otherwise come to know it."""
        key = self._upstream.key
        if not key:
            return False
        plain = key.encode() in progress.body
        escaped = key.encode() in _unescaped(progress.body)
        if not plain and not escaped and not any(key in value for _, value in progress.headers):
            return False
        progress.body = progress.body.replace(key.encode(), _TAKEN_OUT)
        if escaped and key.encode() in _unescaped(progress.body):
            # Spelt with escapes it has too many forms to be cut out: nothing of such an answer is kept.
            progress.body = bytearray(_TAKEN_OUT)
        progress.headers = ()
        return True


class _Progress:
    """What has come of one answer so far."""

    def __init__(self) -> None:
        self.status = 0
        self.reason = ""
        self.headers: Headers = ()
        self.declared: int | None = None
        self.body = bytearray()

    def begin(self, response: aiohttp.ClientResponse) -> None:
        self.status = response.status
        self.reason = response.reason or ""
        pairs = [(name.decode("latin-1"), value.decode("latin-1")) for name, value in response.raw_headers]
        self.headers = end_to_end(pairs)
        self.declared = response.content_length

    def answer(self, failure: Failure | None = None, message: str = "") -> UpstreamAnswer:
        return UpstreamAnswer(self.status, self.reason, self.headers, bytes(self.body), self.declared, failure, message)

    def broken(self, failure: Failure, message: str) -> UpstreamAnswer:
        return self.answer(failure, message)


def _unescaped(body: bytearray) -> bytes:
    """Return a body as a reader of its JSON strings sees it, as far as ASCII goes."""
    if b"\\" not in body:
        return bytes(body)
    return _ESCAPE.sub(lambda match: bytes.fromhex(match[1].decode()) if match[1] else match[2], bytes(body))


def _said(error: Exception) -> str:
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
