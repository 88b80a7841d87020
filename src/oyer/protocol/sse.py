"""Server-sent events: a byte stream into events, each kept in the bytes in which it came.

Owns the cut, the reading of one event, and putting other data into one without touching the rest of it.
Must never change a byte of what it cuts (the pieces joined are the stream), raise on what a peer sends, or depend on
how the stream was chunked: a character may be split anywhere. The one exception to the latter is a lone CR at the end
of a chunk, which ends a line at once; a LF that follows it is then a blank line more, which means nothing.
Source: WHATWG HTML, 9.2.5 and 9.2.6 (event stream interpretation).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

__all__ = ["SseEvent", "SseSplitter", "parse_sse", "sse_block_data", "with_sse_data"]

_EOL = rb"(?:\r\n|\n|\r(?!\n))"
_END = re.compile(_EOL + _EOL)
_LINE = re.compile(rb"([^\r\n]*)(\r\n|\n|\r|\Z)")
_BOM = b"\xef\xbb\xbf"


class SseEvent(NamedTuple):
    """What one piece of the stream says. `data` is None where it dispatches nothing: a comment, an id alone."""

    event: str
    data: bytes | None
    id: str | None
    retry_ms: int | None


class SseSplitter:
    """Cut a stream into the raw bytes of its events, each with the blank line that ends it.

    A byte order mark at the very beginning comes as a piece of its own; anywhere else it is part of a field's name.
    """

    __slots__ = ("_began", "_held", "_looked")

    def __init__(self) -> None:
        self._began = False
        self._held = bytearray()
        self._looked = 0

    @property
    def pending_bytes(self) -> int:
        """How much of an event has come that has not ended."""
        return len(self._held)

    def feed(self, data: bytes) -> list[bytes]:
        """Take the next bytes and return the events that they complete."""
        self._held += data
        events: list[bytes] = []
        if not self._began:
            if len(self._held) < len(_BOM) and _BOM.startswith(self._held):
                return []
            self._began = True
            if self._held.startswith(_BOM):
                events.append(_BOM)
                del self._held[: len(_BOM)]
        start = 0
        place = max(0, self._looked - 3)  # an end of four bytes may have begun in what was looked at
        while (end := _END.search(self._held, place)) is not None:
            events.append(bytes(self._held[start : end.end()]))
            start = place = end.end()
        del self._held[:start]
        self._looked = len(self._held)
        return events

    def take(self, data: bytes) -> bytes:
        """Take the next bytes and return all events that they complete in one block, a byte order mark left out."""
        held = self._held
        held += data
        if not self._began:
            if len(held) < len(_BOM) and _BOM.startswith(held):
                return b""
            self._began = True
            if held.startswith(_BOM):
                del held[: len(_BOM)]
        place, end = max(0, self._looked - 3), 0
        if b"\r" in held:
            for found in _END.finditer(held, place):
                end = found.end()
        else:
            end = held.rfind(b"\n\n", place) + 2
            end = end if end > 1 else 0
        block = bytes(held[:end])
        del held[:end]
        self._looked = len(held)
        return block

    def end(self) -> bytes:
        """Return what is left when the stream ends: an event that never ended, which no reader dispatches."""
        rest = bytes(self._held)
        self._held.clear()
        self._looked = 0
        return rest


def parse_sse(raw: bytes) -> SseEvent:
    """Read one event. A text that is no UTF-8 is read with replacement, as readers do; `data` stays bytes."""
    name, identifier, retry_ms = "message", None, None
    data: list[bytes] = []
    for field, value, _, _ in _fields(raw):
        if field == b"data":
            data.append(value)
        elif field == b"event":
            name = value.decode("utf-8", "replace") or "message"
        elif field == b"id" and b"\x00" not in value:
            identifier = value.decode("utf-8", "replace")
        elif field == b"retry" and value.isdigit() and len(value) < 10:
            retry_ms = int(value)
    return SseEvent(name, b"\n".join(data) if data else None, identifier, retry_ms)


def sse_block_data(block: bytes) -> list[bytes]:
    """Return the data of each event of a block of whole events."""
    if b"\r" in block:
        splitter = SseSplitter()
        splitter.feed(b"\n\n")  # a byte order mark means something at the beginning of a stream only
        said = [parse_sse(raw).data for raw in splitter.feed(block)]
        return [data for data in said if data is not None]
    found: list[bytes] = []
    for raw in block.split(b"\n\n")[:-1]:
        if raw.startswith(b"data: ") and b"\n" not in raw:  # as nearly all are
            found.append(raw[6:])
        elif (data := parse_sse(raw).data) is not None:
            found.append(data)
    return found


def with_sse_data(raw: bytes, data: bytes) -> bytes:
    """Return the event with other data; every byte outside its data lines stays, and so does each line's beginning.

    Data of another number of lines goes into as many lines as it needs, written like the first one.
    """
    places = [(start, end) for field, _, start, end in _fields(raw) if field == b"data"]
    if not places:
        return raw
    lines = data.split(b"\n")
    if len(lines) == len(places):
        for (start, end), line in reversed(list(zip(places, lines, strict=True))):
            raw = raw[:start] + line + raw[end:]
        return raw
    (start, end), last = places[0], places[-1][1]
    begin = max(raw.rfind(b"\n", 0, start), raw.rfind(b"\r", 0, start)) + 1
    head, after = raw[begin:start], _LINE.match(raw, end)
    eol = (after[2] if after is not None else b"") or b"\n"
    return raw[:begin] + eol.join(head + line for line in lines) + raw[last:]


def _fields(raw: bytes) -> list[tuple[bytes, bytes, int, int]]:
    """List the fields of an event: name, value, and where the value stands."""
    found: list[tuple[bytes, bytes, int, int]] = []
    for text, place in _lines(raw, 0):
        name, colon, value = text.partition(b":")
        if name:
            start = place + len(name) + len(colon)
            if value.startswith(b" "):
                value, start = value[1:], start + 1
            found.append((name, value, start, place + len(text)))
    return found


def _lines(raw: bytes, place: int) -> Iterator[tuple[bytes, int]]:
    """Yield each line without its end, and where it begins."""
    if b"\r" not in raw:
        for text in raw[place:].split(b"\n"):
            yield text, place
            place += len(text) + 1
        return
    while place < len(raw):
        line = _LINE.match(raw, place)
        if line is None:
            break
        yield line[1], place
        place = line.end()
