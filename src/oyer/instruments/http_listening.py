"""What every address of ours does with a client before it has asked for anything.

Owns the bound on connections held at once, the length of headers, and the word to go on that some clients wait for.
Must never let a peer use up the descriptors of the harness, nor print what a peer sent that is no request.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import Any, Final

from aiohttp import http_exceptions, web

__all__ = ["LONGEST_HEADER_BYTES", "MOST_HEADERS", "BoundedServer", "go_ahead", "target_of"]

LONGEST_HEADER_BYTES: Final = 256 * 1024
MOST_HEADERS: Final = 1000


class BoundedServer(web.Server):
    """A server that holds `most` connections at once; `on_many` hears of each one that it turns away."""

    def __init__(
        self,
        handle: Callable[[web.BaseRequest], Awaitable[web.StreamResponse]],
        most: int,
        on_many: Callable[[], None],
        **options: Any,
    ) -> None:
        super().__init__(
            handle,
            auto_decompress=False,
            access_log=None,
            handler_cancellation=True,
            logger=_LOG,
            max_line_size=LONGEST_HEADER_BYTES,
            max_field_size=LONGEST_HEADER_BYTES,
            max_headers=MOST_HEADERS,
            **options,
        )
        self._most = most
        self._on_many = on_many

    def __call__(self) -> Any:
        """Return what speaks on the next connection."""
        if len(self.connections) < self._most:
            return super().__call__()
        self._on_many()
        return _TurnedAway()


class _TurnedAway(asyncio.Protocol):
    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        transport.close()


def target_of(request: web.BaseRequest, origin: str) -> str:
    """Return path and query as they came, also where the whole address was asked for. Source: RFC 9112, 3.2.2."""
    return request.raw_path.removeprefix(f"http://{origin}")


async def go_ahead(request: web.BaseRequest) -> None:
    """Tell a client that waits before it sends its body to send it. Source: RFC 9110, 10.1.1."""
    if request.headers.get("Expect", "").lower() == "100-continue":
        await request.writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
        request.writer.output_size = 0  # nothing of the answer was written yet


def _is_ours(record: logging.LogRecord) -> bool:
    """Leave out what a peer sent that is no request: it was answered 400, and is no traceback of ours."""
    return not (record.exc_info and isinstance(record.exc_info[1], http_exceptions.HttpProcessingError))


_LOG: Final = logging.getLogger("aiohttp.server.oyer")
_LOG.addFilter(_is_ours)
