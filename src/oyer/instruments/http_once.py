"""A request over HTTP is sent once: what was perhaps carried out is not asked for again behind anybody's back.

The library repeats requests whose method is called idempotent when their connection closes without an answer, also on
a connection that was new. A server of our trials may do anything at each of them, and would be seen to do it once.
Source: RFC 9110, 9.2.2, which allows the repetition; aiohttp, client middlewares.
"""

from __future__ import annotations

from typing import Any, Final

import aiohttp
from aiohttp.connector import Connection
from aiohttp.tracing import Trace

from oyer.instruments.http_listening import LONGEST_HEADER_BYTES, MOST_HEADERS
from oyer.instruments.http_verbatim import Verbatim

__all__ = ["NoAnswerError", "OwnConnector", "open_client", "send_once"]

_CONNECT_S: Final = 10.0


class NoAnswerError(aiohttp.ClientError):
    """The connection failed, or closed before any answer. Not of the kinds after which the library tries again."""


class OwnConnector(aiohttp.TCPConnector):
    """Uses no connection again on which something came that nobody had asked for.

    The library would take that for the answer to the next request, whoever it is of: a server that closes an idle
    connection may say 408 first, and one that lies may say anything.
    """

    async def connect(
        self, req: aiohttp.ClientRequest, traces: list[Trace], timeout: aiohttp.ClientTimeout
    ) -> Connection:
        """Return a connection, new or clean."""
        while True:
            connection = await super().connect(req, traces, timeout)
            if connection.protocol is None or not connection.protocol.should_close:
                return connection
            connection.close()


async def send_once(request: aiohttp.ClientRequest, handler: aiohttp.ClientHandlerType) -> aiohttp.ClientResponse:
    """Send a request; a client middleware. Raises: NoAnswerError."""
    try:
        return await handler(request)
    except (aiohttp.ClientOSError, aiohttp.ServerDisconnectedError) as error:
        raise NoAnswerError(str(error) or type(error).__name__) from error


def open_client(total_s: float | None, **connecting: Any) -> aiohttp.ClientSession:
    """Return a client that adds nothing, decodes nothing and keeps no cookie.

    `total_s` bounds an exchange, None where others bound it; `connecting` are options of its connections.
    """
    return aiohttp.ClientSession(
        cookie_jar=aiohttp.DummyCookieJar(),
        trust_env=False,
        auto_decompress=False,
        skip_auto_headers=("User-Agent", "Accept", "Accept-Encoding", "Content-Type"),
        max_line_size=LONGEST_HEADER_BYTES,
        max_field_size=LONGEST_HEADER_BYTES,
        max_headers=MOST_HEADERS,
        timeout=aiohttp.ClientTimeout(total=total_s, sock_connect=_CONNECT_S),
        connector=OwnConnector(**connecting),
        middlewares=(send_once,),
        request_class=Verbatim,
    )
