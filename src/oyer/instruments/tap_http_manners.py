"""What of a request over HTTP a server need not bear, whatever stands in the message.

Owns the list of what clients of the protocol send. Must never refuse anything: what is odd passes, and is remembered
for the case that the server fails.
"""

from __future__ import annotations

from typing import Final

from aiohttp import web

from oyer.protocol import Overlong

__all__ = ["odd_in"]

_METHODS: Final = frozenset({"POST", "GET", "DELETE"})
_USUAL: Final = frozenset(
    {"accept", "accept-encoding", "accept-language", "cache-control", "connection", "content-length", "content-type",
     "expect", "host", "keep-alive", "last-event-id", "origin", "pragma", "sec-fetch-mode", "traceparent", "tracestate",
     "transfer-encoding", "user-agent"}
)  # fmt: skip
_OURS: Final = "mcp-"
_LONGEST_BYTES: Final = 8192
"""Servers take at least so much for all headers together."""


def odd_in(request: web.BaseRequest, body: bytes | Overlong, *, may_ask: bool) -> str | None:
    """Say what is odd about a request, None where nothing is.

    `may_ask`: it posts where a stream said to, query and all, and is answered there.
    """
    if request.method not in _METHODS or (request.method == "POST") != bool(body):
        return f"it sent a {request.method} {'with' if body else 'without'} a body"
    if "?" in request.raw_path and not may_ask:
        return "it added a query to the address"
    names = [name.lower().decode("latin-1") for name, _ in request.raw_headers]
    unusual = next((name for name in names if name not in _USUAL and not name.startswith(_OURS)), None)
    if unusual is not None:
        return f"it sent a header that no client needs ({unusual[:100]})"
    repeated = next((name for name in names if names.count(name) > 1), None)
    if repeated is not None:
        return f"it sent a header more than once ({repeated[:100]})"
    if sum(len(name) + len(value) for name, value in request.raw_headers) > _LONGEST_BYTES:
        return "it sent long headers"
    return _odd_value(request, is_answered=not may_ask) if request.method == "POST" else None


def _odd_value(request: web.BaseRequest, *, is_answered: bool) -> str | None:
    kind = request.headers.get("Content-Type", "").partition(";")[0].strip().lower()
    if kind != "application/json":
        return f"it sent a message as {kind[:100] or 'nothing'}"
    accepts = request.headers.get("Accept", "")
    if is_answered and "*/*" not in accepts and not ("application/json" in accepts and "text/event-stream" in accepts):
        return "it does not take the answers that a server may give"
    return None
