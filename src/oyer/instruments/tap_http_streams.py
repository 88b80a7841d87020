"""Where the subject posts to a server over HTTP with SSE, and which stream its answers come on.

Owns the one thing in which this transport must be told otherwise than the server does: the first event of a stream
names the address for what is posted, and that has to lead back here. Path and query are the server's, below the part
of ours that nobody can guess.
Source: MCP transports 2024-11-05, HTTP with SSE.
"""

from __future__ import annotations

from typing import Final
from urllib.parse import SplitResult, unquote, urljoin, urlsplit

from aiohttp import web

from oyer.instruments.tap_http_connection import HttpConnection
from oyer.protocol import as_target

__all__ = ["Endpoints"]

_MOST_NAMED: Final = 16


class Endpoints:
    """The addresses that the streams of one tap have named; `root` is the part of every path that is ours."""

    def __init__(self, root: str) -> None:
        self._root = root
        self._named: dict[str, tuple[HttpConnection, str]] = {}
        self._streams: dict[HttpConnection, web.StreamResponse] = {}

    def open(self, connection: HttpConnection, stream: web.StreamResponse, url: str, told: bytes) -> bytes | None:
        """Take what a stream from `url` names, and return what the subject is told in its place.

        None where it leads to another origin: whoever followed that would be seen no more. So with one that goes on
        naming addresses without end.
        """
        if sum(named[0] is connection for named in self._named.values()) >= _MOST_NAMED:
            return None
        whole = urlsplit(urljoin(url, as_target(told.decode("utf-8", "replace"))))
        here = urlsplit(url)
        if _origin(whole) != _origin(here):
            return None
        place = f"{self._root}{whole.path or '/'}" + (f"?{whole.query}" if whole.query else "")
        connection.is_stream = True
        self._named[place] = connection, whole._replace(fragment="").geturl()
        self._streams[connection] = stream
        return place.encode()

    def find(self, raw_path: str) -> tuple[HttpConnection, str] | None:
        """Return whose address this is, and the server's own in its place."""
        found = self._named.get(raw_path)
        if found is not None:
            return found
        plain = unquote(raw_path)  # clients differ in what they encode
        return next((named for place, named in self._named.items() if unquote(place) == plain), None)

    def stream_of(self, connection: HttpConnection) -> web.StreamResponse | None:
        """Return the stream on which its answers come, None where each request has its own answer."""
        return self._streams.get(connection)

    def forget(self, connection: HttpConnection) -> None:
        """The connection is over."""
        self._streams.pop(connection, None)
        self._named = {place: named for place, named in self._named.items() if named[0] is not connection}


def _origin(parts: SplitResult) -> tuple[str, str | None, int]:
    return parts.scheme, parts.hostname, parts.port or (443 if parts.scheme == "https" else 80)
