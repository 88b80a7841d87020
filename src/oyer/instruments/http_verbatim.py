"""Heads of requests and answers as they came: order, case, repeated names, and nothing that nobody said.

Owns what the HTTP library would change of a head on its way through the tap or the gateway: of names that differ in
case only it keeps one, and to answers it adds a date, a server and a type. Must never see a body.
"""

from __future__ import annotations

from contextvars import ContextVar
from typing import Any, Final

import aiohttp
from aiohttp import web

__all__ = ["HEADERS", "BareAnswer", "BareStream", "Verbatim", "read_head"]

HEADERS: ContextVar[list[tuple[str, str]]] = ContextVar("headers")
"""The headers of the request that the task at hand sends."""
_ADDED: Final = frozenset({"content-type", "date", "server"})


class Verbatim(aiohttp.ClientRequest):
    """A request with the headers of the task at hand: the library's own way keeps one of those that differ in case."""

    def update_headers(self, headers: object) -> None:
        """Take the headers of the task at hand."""
        super().update_headers(HEADERS.get())


class _Bare:
    """An answer without what the library adds of its own: what the server did not say, its client does not hear."""

    async def _prepare_headers(self: Any) -> None:
        said = {name.lower() for name in self.headers}
        await super()._prepare_headers()  # type: ignore[misc]
        for name in _ADDED - said:
            self.headers.popall(name, None)


class BareStream(_Bare, web.StreamResponse):
    """An answer in pieces."""


class BareAnswer(_Bare, web.Response):
    """An answer in one piece."""


def read_head(raw: tuple[tuple[bytes, bytes], ...]) -> list[tuple[str, str]]:
    """Read headers as they came, which are written again as UTF-8."""
    return [(_read(name), _read(value)) for name, value in raw]


def _read(raw: bytes) -> str:
    """Read a name or a value: what is no UTF-8 is read as Latin-1, as it was before."""
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        return raw.decode("latin-1")
