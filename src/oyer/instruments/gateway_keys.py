"""The two keys of a gateway: the run's dummy, which is asked for, and the endpoint's own, which nobody gets.

Owns where a key may stand in a request, and the watch that no answer hands the real one to the subject or to a
record, however the endpoint cuts, escapes or spreads it. Must never keep, print or return the real key.
"""

from __future__ import annotations

import hmac
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import AnyStr, Final

import msgspec

from oyer.errors import ProtocolError
from oyer.protocol import JsonValue, SseReader, loads_tolerant, sse_block_data

__all__ = ["KEY_HEADERS", "KeyWatch", "holds_key", "key_places", "unescaped", "without_key"]

KEY_HEADERS: Final = ("authorization", "x-api-key", "x-goog-api-key", "api-key")
"""Where the model APIs put a key, in lower case; in `authorization` the word Bearer stands before it."""

_QUERY_KEY: Final = "key"
_BEARER: Final = "bearer "
_ESCAPE: Final = re.compile(rb'\\(?:u00([0-9a-fA-F]{2})|(["/\\]))')
"""RFC 8259, 7: the ways to write an ASCII letter that a key may hold."""
_BEGUN_ESCAPE: Final = re.compile(rb"\\(?:u[0-9a-fA-F]{0,3})?\Z")
_LONGEST_LETTER: Final = 6


def key_places(headers: Mapping[str, str], query: str, key: str) -> tuple[str, ...]:
    """Return the headers in which an endpoint wants its key: those in which the request shows the run's own.

    Empty where it shows it nowhere. In the query (`?key=`, of Gemini) it means the header of that API.
    """
    found = []
    for name in KEY_HEADERS:
        shown = headers.get(name, "")
        if name == "authorization":
            shown = shown[len(_BEARER) :] if shown.lower().startswith(_BEARER) else ""
        if _same(shown, key):
            found.append(name)
    if not found and any(_same(item.partition("=")[2], key) for item in _named(query)):
        found.append("x-goog-api-key")
    return tuple(found)


def without_key(query: str) -> str:
    """Return a query without any key in it, everything else as it was."""
    return "&".join(item for item in query.split("&") if item not in set(_named(query)))


def _named(query: str) -> list[str]:
    return [item for item in query.split("&") if item.partition("=")[0].lower() == _QUERY_KEY]


def _same(shown: str, key: str) -> bool:
    return hmac.compare_digest(shown.encode("utf-8", "surrogateescape"), key.encode())


def unescaped(body: bytes) -> bytes:
    """Return a body as a reader of its JSON strings sees it, as far as ASCII goes."""
    if b"\\" not in body:
        return body
    return _ESCAPE.sub(lambda match: bytes.fromhex(match[1].decode()) if match[1] else match[2], body)


_TELLING_LETTERS = 3
"""With fewer letters of the key at its end a text is handed on: most words end in one that some key begins with."""


_SOUGHT_LETTERS: Final = 16


class KeyWatch:
    """Looks at an answer piece by piece for the real key; without a key there is nothing to look for.

    `held` after a piece: the answer so far ends in what may be the beginning of the key, so that nothing of this
    piece may be handed on yet.
    """

    def __init__(self, key: str | None) -> None:
        self._text = key or ""
        self._key = self._text.encode()
        self._tail = b""
        self._begun: dict[object, str] = {}
        self._may_begin = _beginnings(self._key)
        self.held = False

    def in_headers(self, headers: Iterable[tuple[str, str]]) -> bool:
        """Whether a header holds the key."""
        return bool(self._text) and any(self._text in value for _, value in headers)

    def feed(self, piece: bytes, block: bytes) -> bool:
        """Take the next piece, and the events that it completed.

        Return whether the answer holds the key now, as it stands or over several events.
        """
        if not self._key:
            return False
        window = self._tail + piece
        seen = unescaped(window)
        self._tail = window[-_LONGEST_LETTER * len(self._key) :]
        if self._key in seen or self._key in window:
            return True
        self.held = _BEGUN_ESCAPE.search(window) is not None or _beginning(seen, self._key) != b""
        found = False
        if self._begun or self._may_begin(block):
            for data in sse_block_data(block):
                # An event is read where a text of it may end in a beginning of the key, or go on with one.
                if self._begun or self._may_begin(data):
                    found = self._spread(data) or found
        self.held = self.held or any(len(text) >= _TELLING_LETTERS for text in self._begun.values())
        return found

    def _spread(self, data: bytes) -> bool:
        """Whether the texts that stand in one place of every event make the key when they are put together.

        Of what stood in a place only the longest end is kept that the key may begin with: no other end can become it.
        """
        try:
            event = _read(data)
        except ProtocolError:
            return False
        for place, text in _texts(event, None):
            joined = self._begun.pop(place, "") + text
            if self._text in joined:
                return True
            if begun := _beginning(joined, self._text):
                self._begun[place] = begun
        return False


def holds_key(body: bytes, key: str | None) -> bool:
    """Whether a whole answer holds the key."""
    return KeyWatch(key).feed(body, SseReader().take(body) if key else b"")


def _beginnings(key: bytes) -> Callable[[bytes], object]:
    """Return a search for what every event has whose texts may end in a beginning of the key; others may have it too.

    Such a text ends at a quotation mark that does not end a member's name, or is written with an escape. A longer
    beginning is found by its first letters alone.
    """
    begun = b"|".join(re.escape(key[:length]) for length in range(min(len(key), _SOUGHT_LETTERS), 0, -1))
    longer = b"|" + re.escape(key[:_SOUGHT_LETTERS]) if len(key) > _SOUGHT_LETTERS else b""
    return re.compile(rb'(?:%s)"(?![ \t]*:)%s|\\' % (begun, longer), re.DOTALL).search


def _beginning(text: AnyStr, key: AnyStr) -> AnyStr:
    """Return the longest end of a text, shorter than the key, that the key begins with; nothing where none is."""
    first = key[:1]
    place = text.find(first, max(0, len(text) - len(key) + 1))
    while place >= 0:
        if key.startswith(text[place:]):
            return text[place:]
        place = text.find(first, place + 1)
    return text[:0]


def _read(data: bytes) -> JsonValue:
    """Read an event: quickly, and where it is odd, as everywhere else. Raises: ProtocolError."""
    try:
        value: JsonValue = msgspec.json.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return loads_tolerant(data)[0]
    return value


def _texts(value: JsonValue, place: object) -> Iterator[tuple[object, str]]:
    """Yield every text of a value with its place; ends of events (`type`, identifiers) are places like any other."""
    stack: list[tuple[object, JsonValue]] = [(place, value)]
    while stack:
        place, item = stack.pop()
        if isinstance(item, str):
            yield place, item
        elif isinstance(item, dict):
            stack.extend([((place, key), inner) for key, inner in item.items() if inner])
        elif isinstance(item, list):
            stack.extend([((place, index), inner) for index, inner in enumerate(item) if inner])
