"""What the model APIs have in common: one small interface, and what is read through it.

Owns the form in which an API says what in its messages is what, and the reading of an answer, streamed or not, into
the one body that it stands for. Must never take a stream without its end marker for an answer, nor raise on what an
endpoint sends: it is a `Defect` then.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from oyer.errors import ProtocolError
from oyer.protocol.jsonvalue import JsonValue, loads, loads_tolerant
from oyer.protocol.sse import SseSplitter, sse_block_data

__all__ = [
    "NO_PARAMETERS",
    "AskedCall",
    "Defect",
    "Json",
    "ModelApi",
    "Reasoning",
    "SseReader",
    "UsageField",
    "api_error",
    "is_event_of",
    "model_of_body",
    "models_told",
    "read_answer",
    "sse_data",
    "stream_of_body",
    "text_or_none",
]

Json = dict[str, JsonValue]

NO_PARAMETERS: Final = frozenset(
    {"client_metadata", "metadata", "previous_response_id", "prompt_cache_key", "safety_identifier", "tools", "user"}
)
"""Members of a request that no API means as a parameter: what is offered, and what only says who asks."""

_MAX_COUNT: Final = 2**53 - 1
_DONE: Final = b"[DONE]"
_FIELD: Final = re.compile(rb"(?:\A|\n|\r)(?:data|event|id|retry)?:")
"""How a line of a stream of events begins, comments included."""


class Defect(NamedTuple):
    """Why a response cannot be used. `code`: `not_json`, `api_error`, `no_choice`, `cut_stream`, `bad_shape`."""

    code: str
    why: str


class AskedCall(NamedTuple):
    """A tool call that an answer asks for; `arguments` as the API has them: text that should be JSON, or a value."""

    name: str
    arguments: JsonValue


class Reasoning(NamedTuple):
    """The closed list of what an API's messages hold of hidden or summarised reasoning.

    `names`: members, and objects whose `type` is one; `marks`: objects in which this member is true.
    """

    names: frozenset[str]
    marks: frozenset[str] = frozenset()


class UsageField(NamedTuple):
    """A count as Oyer names it, and the member of the API's usage object that reports it."""

    name: str
    member: str


def text_or_none(value: JsonValue) -> str | None:
    """Return a value that is text, None for any other."""
    return value if isinstance(value, str) else None


def models_told(names: Iterable[JsonValue]) -> Json:
    """Return `{"model": NAME}` of what the events of one stream report, each that differs: none is passed over.

    Several names stand beside each other, which is the name of no model. An empty one reports none.
    """
    told = list(dict.fromkeys(name for name in names if isinstance(name, str) and name))
    return {"model": " + ".join(told)} if told else {}


def model_of_body(_path: str, request: Json) -> str | None:
    """Return which model is asked for, where the request itself names it."""
    return text_or_none(request.get("model"))


def stream_of_body(_path: str, request: Json) -> bool:
    """Whether a stream is asked for, where the request itself says so."""
    return request.get("stream") not in (None, False)


def is_event_of(data: bytes, mark: bytes, kinds: Collection[str]) -> bool:
    """Whether the data of an event is of one of these types; `mark` stands in all of them but `error`."""
    if mark not in data and b"error" not in data:
        return False
    try:
        event = loads_tolerant(data)[0]
    except ProtocolError:
        return False
    return isinstance(event, dict) and event.get("type") in kinds


class ModelApi(NamedTuple):
    """One model API. `request` and `answer` below are JSON objects; nothing raises on any of them.

    `requested(path, request)` and `streams(path, request)`: which model is asked for, and whether for a stream;
    `shown`: the members of a request that are read by the model as the conversation; `own`: those that are no
    parameters (with `NO_PARAMETERS`). `ends(data)`: whether this event's data is the last of a stream; every such event
    holds one of `last`;
    `assemble(events, done)`: the body that the events of a stream stand for, `done` if `[DONE]` ended them.
    """

    name: str
    reasoning: Reasoning
    shown: tuple[str, ...]
    own: frozenset[str]
    requested: Callable[[str, Json], str | None]
    streams: Callable[[str, Json], bool]
    ends: Callable[[bytes], bool]
    last: tuple[bytes, ...]
    assemble: Callable[[Sequence[Json], bool], Json | Defect]
    calls: Callable[[Json], Iterator[AskedCall]]
    reported: Callable[[Json], str | None]
    finish: Callable[[Json], str | None]
    usage_of: str
    usage_fields: tuple[UsageField, ...]

    def parameters(self, request: Json) -> Json:
        """Return what of a request is a parameter."""
        return {key: item for key, item in request.items() if key not in self.own and key not in NO_PARAMETERS}

    def usage(self, answer: Json) -> dict[str, int] | None:
        """Return the counts that an answer reports; what it does not report is absent, never 0."""
        value = answer.get(self.usage_of)
        if not isinstance(value, dict):
            return None
        read: dict[str, int] = {}
        for name, member in self.usage_fields:
            count = value.get(member)
            if isinstance(count, int) and not isinstance(count, bool) and 0 <= count <= _MAX_COUNT:
                read[name] = count
        return read or None


def read_answer(api: ModelApi, raw: bytes, read: Callable[[bytes], JsonValue] = loads) -> Json | Defect:
    """Read a response body, streamed or not, as the one object that it is or stands for.

    An unstreamed body is returned as it is, an error of the API too; `read` is the reader of JSON that is trusted.
    """
    first = raw.removeprefix(b"\xef\xbb\xbf").lstrip(b" \t\r\n")[:1]
    try:
        if first == b"{":
            value = read(raw)
            return value if isinstance(value, dict) else Defect("bad_shape", "the response is no object")
        if first == b"[":
            value = read(raw)
            return _assembled(api, value if isinstance(value, list) else [], False)
        return _streamed(api, raw, read)
    except ProtocolError as error:
        return Defect("not_json", str(error))


def _streamed(api: ModelApi, raw: bytes, read: Callable[[bytes], JsonValue]) -> Json | Defect:
    events: list[JsonValue] = []
    for data in sse_data(raw):
        if data.strip() == _DONE:
            return _assembled(api, events, True)
        events.append(read(data))
    if not events and raw.strip() and _FIELD.search(raw) is None:
        return Defect("not_json", "neither an object nor a stream of events")
    return _assembled(api, events, False)


def _assembled(api: ModelApi, events: Iterable[JsonValue], done: bool) -> Json | Defect:
    objects: list[Json] = []
    for event in events:
        if not isinstance(event, dict):
            return Defect("bad_shape", "a chunk is no object")
        if event.get("error") is not None and event.get("type") in (None, "error"):
            return api_error(event["error"])
        objects.append(event)
    return api.assemble(objects, done)


class SseReader:
    """Takes a stream in pieces, wherever it was cut, and gives the data of every event that has become whole."""

    def __init__(self) -> None:
        self._splitter = SseSplitter()

    def feed(self, piece: bytes) -> list[bytes]:
        """Add a piece; return the data of the events that it completed."""
        return sse_block_data(self._splitter.take(piece))

    def take(self, piece: bytes) -> bytes:
        """Add a piece; return the events that it completed, uncut: `sse_block_data` reads them."""
        return self._splitter.take(piece)


def sse_data(raw: bytes) -> list[bytes]:
    """Return the data of each complete event; an event without its blank line does not count."""
    return SseReader().feed(raw)


def api_error(error: JsonValue) -> Defect:
    """Return the defect that an API's own error object means."""
    text = error.get("message") if isinstance(error, Mapping) else error
    return Defect("api_error", text if isinstance(text, str) else "the endpoint reported an error")
