"""What the gateway reads out of the bytes that pass it: names, parameters, usage.

Owns the reading of a copy; the bytes themselves are recorded and handed on elsewhere. Must never fail on what an
agent or an endpoint sends: what cannot be read is None, and None is never 0.
"""

from __future__ import annotations

import zlib
from typing import Final, NamedTuple

from oyer.errors import ProtocolError
from oyer.protocol import JsonValue, dumps, loads_tolerant

__all__ = ["RequestView", "ResponseView", "view_request", "view_response"]

_MAX_DECODED_BYTES: Final = 64 * 1024 * 1024
_MAX_COUNT: Final = 2**53 - 1
_NO_PARAMETERS: Final = frozenset({"messages", "tools"})
_USAGE: Final = (("input", "prompt_tokens"), ("output", "completion_tokens"), ("total", "total_tokens"))


class RequestView(NamedTuple):
    """A model request as read: which model, with which parameters (JSON bytes), streamed or not."""

    model: str | None
    parameters: bytes | None
    stream: bool


class ResponseView(NamedTuple):
    """A model response as read: which model says it answered, what it used, why it ended."""

    model: str | None
    usage: dict[str, int] | None
    finish: str | None


def view_request(body: bytes) -> RequestView:
    """Read a Chat Completions request. Parameters are the body without messages and tools."""
    value = _object(body)
    if value is None:
        return RequestView(None, None, False)
    rest = {key: item for key, item in value.items() if key not in _NO_PARAMETERS}
    return RequestView(_text(value.get("model")), dumps(rest), value.get("stream") not in (None, False))


def view_response(body: bytes, encoding: str | None = None) -> ResponseView:
    """Read a Chat Completions response; `encoding` is its Content-Encoding (only gzip and deflate can be read)."""
    decoded = _decoded(body, encoding)
    value = None if decoded is None else _object(decoded)
    if value is None:
        return ResponseView(None, None, None)
    choices = value.get("choices")
    first = choices[0] if isinstance(choices, list) and choices else None
    finish = _text(first.get("finish_reason")) if isinstance(first, dict) else None
    return ResponseView(_text(value.get("model")), _usage(value.get("usage")), finish)


def _object(body: bytes) -> dict[str, JsonValue] | None:
    try:
        value, _ = loads_tolerant(body)
    except ProtocolError:
        return None
    return value if isinstance(value, dict) else None


def _text(value: JsonValue) -> str | None:
    return value if isinstance(value, str) else None


def _usage(value: JsonValue) -> dict[str, int] | None:
    if not isinstance(value, dict):
        return None
    read: dict[str, int] = {}
    for name, field in _USAGE:
        count = value.get(field)
        if isinstance(count, int) and not isinstance(count, bool) and 0 <= count <= _MAX_COUNT:
            read[name] = count
    return read or None


def _decoded(body: bytes, encoding: str | None) -> bytes | None:
    coding = (encoding or "identity").strip().lower()
    if coding == "identity":
        return body
    if coding not in ("gzip", "x-gzip", "deflate"):
        return None
    try:
        # 32 added to the window bits: gzip or zlib, whichever header is there.
        return zlib.decompressobj(zlib.MAX_WBITS | 32).decompress(body, _MAX_DECODED_BYTES)
    except zlib.error:
        return None
