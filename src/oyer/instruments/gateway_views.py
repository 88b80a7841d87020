"""What the gateway reads out of the bytes that pass it: names, parameters, usage.

Owns the reading of a copy; the bytes themselves are recorded and handed on elsewhere. Must never fail on what an
agent or an endpoint sends: what cannot be read is None, and None is never 0.
"""

from __future__ import annotations

import zlib
from typing import Final, NamedTuple

import zstandard

from oyer.errors import ProtocolError
from oyer.protocol import Defect, JsonValue, ModelApi, SseReader, api_of, dumps, loads_tolerant, read_answer

__all__ = ["RequestView", "ResponseView", "StreamEnd", "decoded", "view_request", "view_response"]

_MAX_DECODED_BYTES: Final = 64 * 1024 * 1024


class RequestView(NamedTuple):
    """A model request as read: of which API, which model, with which parameters (JSON bytes), streamed or not."""

    api: ModelApi | None
    model: str | None
    parameters: bytes | None
    stream: bool


class ResponseView(NamedTuple):
    """A model response as read: which model says it answered, what it used, why it ended; `defect`: why not."""

    model: str | None
    usage: dict[str, int] | None
    finish: str | None
    defect: Defect | None = None


def view_request(path: str, body: bytes) -> RequestView:
    """Read a request by the API of its path; of a path of none, nothing is read."""
    api = api_of(path)
    if api is None:
        return RequestView(None, None, None, False)
    value = _object(body)
    if value is None:
        return RequestView(api, api.requested(path, {}), None, api.streams(path, {}))
    return RequestView(api, api.requested(path, value), dumps(api.parameters(value)), api.streams(path, value))


def view_response(api: ModelApi | None, body: bytes, encoding: str | None = None) -> ResponseView:
    """Read a response; `encoding` is its Content-Encoding (gzip, deflate and zstd can be read)."""
    plain = decoded(body, encoding)
    if api is None or plain is None:
        return ResponseView(None, None, None)
    answer = read_answer(api, plain, _tolerant)
    if isinstance(answer, Defect):
        return ResponseView(None, None, None, answer)
    return ResponseView(api.reported(answer), api.usage(answer), api.finish(answer))


class StreamEnd:
    """Tells when a stream has come to the end that its API gives it, whatever the connection does after that."""

    def __init__(self, api: ModelApi | None) -> None:
        self._api = api
        self._events = SseReader()
        self.reached = False

    def feed(self, piece: bytes) -> bool:
        """Take a piece; return whether the end is reached."""
        for data in self._events.feed(piece):
            self.reached = self.reached or (self._api is not None and self._api.ends(data))
        return self.reached


def decoded(body: bytes, encoding: str | None) -> bytes | None:
    """Return a body without its coding, None where that cannot be taken off."""
    coding = (encoding or "identity").strip().lower()
    if coding == "identity" or not body:
        return body
    try:
        if coding == "zstd":
            with zstandard.ZstdDecompressor().stream_reader(body, read_across_frames=True) as reader:
                return reader.read(_MAX_DECODED_BYTES)
        return _inflated(body) if coding in ("gzip", "x-gzip", "deflate") else None
    except (zlib.error, zstandard.ZstdError):
        return None


def _inflated(body: bytes) -> bytes:
    """Take off gzip or zlib, whichever header is there; a gzip file may have several members, one after the other."""
    plain = bytearray()
    while body and len(plain) < _MAX_DECODED_BYTES:
        member = zlib.decompressobj(zlib.MAX_WBITS | 32)
        plain += member.decompress(body, _MAX_DECODED_BYTES - len(plain))
        body = member.unused_data if member.eof else b""
    return bytes(plain)


def _tolerant(raw: bytes) -> JsonValue:
    return loads_tolerant(raw)[0]


def _object(body: bytes) -> dict[str, JsonValue] | None:
    try:
        value = _tolerant(body)
    except ProtocolError:
        return None
    return value if isinstance(value, dict) else None
