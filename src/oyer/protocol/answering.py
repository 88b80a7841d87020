"""How a model hears and answers, whatever the API: what a request tells, and an answer written, whole or streamed.

Owns the values that a scripted model reads and says (`Heard`, `Reply`) and the small interface (`Voice`) by which each
API writes them. The other side of the same APIs, an agent that asks, is `asking`. Must never write a thing that differs
between two equal conversations: ids are counted, times are 0, and nothing was used.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from oyer.errors import ProtocolError
from oyer.protocol.jsonvalue import JsonValue, dumps, loads_tolerant
from oyer.protocol.model_api import Json, ModelApi

__all__ = ["REPORTED", "Asked", "Heard", "Item", "Offered", "Reply", "Shown", "Told", "Voice", "event", "texts_of"]

REPORTED = "scripted"
"""What a scripted model reports as its name, whichever it is asked for."""


class Offered(NamedTuple):
    """A tool that a request offers, under the name by which it is to be called; `space` is its namespace, if any."""

    name: str
    space: str | None = None
    properties: frozenset[str] = frozenset()


class Told(NamedTuple):
    """The user spoke."""


class Asked(NamedTuple):
    """The model asked for a call of this name; an answer without calls has the name None."""

    name: str | None


class Shown(NamedTuple):
    """The result of a call: its text, and the names of tools that it refers to."""

    text: str
    names: tuple[str, ...] = ()


Item = Told | Asked | Shown


class Heard(NamedTuple):
    """A request as a model hears it, system prompts apart."""

    offered: tuple[Offered, ...]
    items: tuple[Item, ...]


class Reply(NamedTuple):
    """What a model answers: a text, or a call (its text is then empty). `number` counts the answers before it, `calls`
    the calls.
    """

    text: str
    tool: Offered | None
    arguments: Json
    number: int
    calls: int


class Voice(NamedTuple):
    """How one API hears and answers. `stream(body)` are the events of a stream that stands for a body, in order."""

    api: ModelApi
    hear: Callable[[Json], Heard]
    write: Callable[[Reply], Json]
    stream: Callable[[Json], Sequence[bytes]]


def event(value: JsonValue, *, named: bool = False) -> bytes:
    """Write one event of a stream; `named` adds the line `event:` with the type of the value."""
    line = f"event: {value['type']}\n".encode() if named and isinstance(value, dict) else b""
    return line + b"data: " + dumps(value) + b"\n\n"


def objects(value: JsonValue) -> Iterator[Json]:
    """Yield the objects of a list; of anything else, nothing."""
    for item in value if isinstance(value, list) else ():
        if isinstance(item, dict):
            yield item


def properties_of(schema: JsonValue) -> frozenset[str]:
    """Return the names of the arguments that a schema lists."""
    listed = schema.get("properties") if isinstance(schema, dict) else None
    return frozenset(listed) if isinstance(listed, dict) else frozenset()


def text_of(content: JsonValue) -> str:
    """Return what a content says: text itself, or the texts of its parts joined."""
    if isinstance(content, str):
        return content
    texts = [part.get("text") for part in objects(content)]
    return "".join(text for text in texts if isinstance(text, str))


def texts_of(text: str) -> Iterator[str]:
    """Yield a text, and where it is JSON every text in it: agents show results as either."""
    yield text
    if text[:1] not in ("{", "["):
        return
    try:
        waiting = [loads_tolerant(text.encode("utf-8", "surrogatepass"))[0]]
    except ProtocolError:
        return
    while waiting:
        value = waiting.pop()
        if isinstance(value, str):
            yield value
        elif isinstance(value, dict):
            waiting.extend(value.values())
        elif isinstance(value, list):
            waiting.extend(value)
