"""What every address of ours does with a client before it has asked for anything.

Owns the bound on connections held at once, the length of headers, the word to go on that some clients wait for, and
the end of a request that we failed at. Must never let a peer use up the descriptors of the harness, nor print what a
peer sent that is no request, nor answer in anybody's place where something of ours broke.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Callable
from typing import Any, Final

from aiohttp import http_exceptions, web
from aiohttp.web_protocol import RequestPayloadError

__all__ = ["LONGEST_HEADER_BYTES", "MOST_HEADERS", "UNSENT", "BoundedServer", "cut", "go_ahead", "target_of"]

LONGEST_HEADER_BYTES: Final = 256 * 1024
MOST_HEADERS: Final = 1000
UNSENT: Final = (ConnectionError, http_exceptions.HttpProcessingError, RequestPayloadError)
"""How the reading of a request's body ends where its client went away, or sent what is none: it then goes nowhere."""


class BoundedServer(web.Server):
    """A server that holds `most` connections at once; `on_many` hears of each one that it turns away.

    `on_broken` hears of whatever kind of error came out of `handle`, or of sending what it returned: the client then
    sees its connection closed. The library would answer 500 in place of whoever was asked, and say nothing to anybody.
    """

    def __init__(
        self,
        handle: Callable[[web.BaseRequest], Awaitable[web.StreamResponse]],
        most: int,
        on_many: Callable[[], None],
        on_broken: Callable[[Exception], None],
        **options: Any,
    ) -> None:
        super().__init__(
            self._guarded,
            auto_decompress=False,
            access_log=None,
            handler_cancellation=True,
            logger=_LOG,
            max_line_size=LONGEST_HEADER_BYTES,
            max_field_size=LONGEST_HEADER_BYTES,
            max_headers=MOST_HEADERS,
            **options,
        )
        self._handle = handle
        self._most = most
        self._on_many = on_many
        self._on_broken = on_broken

    def __call__(self) -> Any:
        """Return what speaks on the next connection."""
        if len(self.connections) < self._most:
            return super().__call__()
        self._on_many()
        return _TurnedAway()

    async def _guarded(self, request: web.BaseRequest) -> web.StreamResponse:
        try:
            answer = await self._handle(request)
            with contextlib.suppress(ConnectionError):  # the client went away
                await answer.prepare(request)
                await answer.write_eof()
        except Exception as error:  # noqa: BLE001 - whatever it is, it is on record, and nobody is answered for
            answer = cut(request)
            self._on_broken(error)
        return answer


class _TurnedAway(asyncio.Protocol):
    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        transport.close()


def target_of(request: web.BaseRequest, origin: str) -> str:
    """Return path and query as they came, also where the whole address was asked for. Source: RFC 9112, 3.2.2."""
    return request.raw_path.removeprefix(f"http://{origin}")


async def go_ahead(request: web.BaseRequest) -> None:
    """Tell a client that waits before it sends its body to send it. Source: RFC 9110, 10.1.1.

    One that has gone by then sends none, which whoever reads the body finds.
    """
    if request.headers.get("Expect", "").lower() == "100-continue":
        with contextlib.suppress(ConnectionError):
            await request.writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
        request.writer.output_size = 0  # nothing of the answer was written yet


def cut(request: web.BaseRequest, answer: web.StreamResponse | None = None) -> web.StreamResponse:
    """Close the connection of a request without another word; return what the library wants returned."""
    if request.transport is not None:
        with contextlib.suppress(OSError):
            request.transport.close()
    return answer or web.Response(status=500)


def _is_ours(record: logging.LogRecord) -> bool:
    """Leave out what a peer sent that is no request: it was answered 400, and is no traceback of ours."""
    return not (record.exc_info and isinstance(record.exc_info[1], http_exceptions.HttpProcessingError))


_LOG: Final = logging.getLogger("aiohttp.server.oyer")
_LOG.addFilter(_is_ours)
