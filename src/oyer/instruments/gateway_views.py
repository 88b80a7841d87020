"""What the gateway reads out of the bytes that pass it: names, parameters, usage.

Owns the reading of a copy; the bytes themselves are recorded and handed on elsewhere. Must never fail on what an
agent or an endpoint sends: what cannot be read is None, and None is never 0.
"""

from __future__ import annotations

import contextlib
from typing import Final, NamedTuple

import msgspec

from oyer.errors import ProtocolError
from oyer.observe import decoded, printable
from oyer.protocol import Defect, JsonValue, ModelApi, api_of, dumps, loads_tolerant, read_answer, sse_block_data

__all__ = ["RequestView", "ResponseView", "StreamEnd", "view_request", "view_response"]

_SHALLOW: Final = 64
"""With fewer brackets than this nothing is nested deeper than any reader here allows."""


class RequestView(NamedTuple):
    """A model request as read: of which API, which model, with which parameters (JSON bytes), streamed or not.

    `unread` says why nothing of what it shows can be read: its path is of no API (`no_api`), or its body no JSON object
    (`not_json`).
    """

    api: ModelApi | None
    model: str | None
    parameters: bytes | None
    stream: bool
    unread: str | None = None


class ResponseView(NamedTuple):
    """A model response as read: which model says it answered, what it used, why it ended; `defect`: why not.

    `unread`: in a coding that is not read (`coding`), or not what its API answers (`answer`).
    """

    model: str | None
    usage: dict[str, int] | None
    finish: str | None
    defect: Defect | None = None
    unread: str | None = None


def view_request(path: str, body: bytes) -> RequestView:
    """Read a request by the API of its path; of a path of none, nothing is read."""
    api = api_of(path)
    if api is None:
        return RequestView(None, None, None, False, "no_api")
    value = _object(body)
    if value is None:
        return RequestView(api, _said(api.requested(path, {})), None, api.streams(path, {}), "not_json")
    model, parameters = _said(api.requested(path, value)), dumps(api.parameters(value))
    return RequestView(api, model, parameters, api.streams(path, value))


def view_response(api: ModelApi | None, body: bytes, encoding: str | None = None) -> ResponseView:
    """Read a response; `encoding` is its Content-Encoding (gzip, deflate and zstd can be read)."""
    if api is None:
        return ResponseView(None, None, None)
    plain = decoded(body, encoding)
    if plain is None:
        return ResponseView(None, None, None, unread="coding")
    answer = read_answer(api, plain, _read_event)
    if isinstance(answer, Defect):
        return ResponseView(None, None, None, answer, "answer")
    return ResponseView(_said(api.reported(answer)), api.usage(answer), _said(api.finish(answer)))


class StreamEnd:
    """Tells when a stream has come to the end that its API gives it, whatever the connection does after that."""

    def __init__(self, api: ModelApi | None) -> None:
        self._api = api
        self.reached = False

    def see(self, block: bytes) -> bool:
        """Take the next events; return whether the end is reached. They are read where one of them may be it."""
        api = self._api
        if api is not None and not self.reached and any(mark in block for mark in api.last):
            self.reached = any(map(api.ends, sse_block_data(block)))
        return self.reached


def _said(name: str | None) -> str | None:
    """Return a name as a record can hold it: half a surrogate pair is no text."""
    return None if name is None else printable(name)


def _tolerant(raw: bytes) -> JsonValue:
    return loads_tolerant(raw)[0]


def _read_event(raw: bytes) -> JsonValue:
    """Read quickly, and as everywhere else where a text is odd: what is read here are names and counts.

    Raises: ProtocolError.
    """
    if raw.count(b"{") + raw.count(b"[") <= _SHALLOW:
        with contextlib.suppress(msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            value: JsonValue = msgspec.json.decode(raw)
            return value
    return _tolerant(raw)


def _object(body: bytes) -> dict[str, JsonValue] | None:
    try:
        value = _tolerant(body)
    except ProtocolError:
        return None
    return value if isinstance(value, dict) else None
