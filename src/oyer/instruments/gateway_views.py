"""What the gateway reads out of the bytes that pass it: names, parameters, usage.

Owns the reading of a copy; the bytes themselves are recorded and handed on elsewhere. Must never fail on what an
agent or an endpoint sends: what cannot be read is None, and None is never 0.
"""

from __future__ import annotations

import zlib
from typing import Final, NamedTuple

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
    """Read a response; `encoding` is its Content-Encoding (only gzip and deflate can be read)."""
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
    if coding == "identity":
        return body
    if coding not in ("gzip", "x-gzip", "deflate"):
        return None
    try:
        # 32 added to the window bits: gzip or zlib, whichever header is there.
        return zlib.decompressobj(zlib.MAX_WBITS | 32).decompress(body, _MAX_DECODED_BYTES)
    except zlib.error:
        return None


def _tolerant(raw: bytes) -> JsonValue:
    return loads_tolerant(raw)[0]


def _object(body: bytes) -> dict[str, JsonValue] | None:
    try:
        value = _tolerant(body)
    except ProtocolError:
        return None
    return value if isinstance(value, dict) else None
