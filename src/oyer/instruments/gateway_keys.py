"""The two keys of a gateway: the run's dummy, which is asked for, and the endpoint's own, which nobody gets.

Owns where a key may stand in a request, and the watch that no answer hands the real one to the subject or to a
record, however the endpoint cuts, escapes or spreads it. Must never keep, print or return the real key.
"""

from __future__ import annotations

import hmac
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from oyer.errors import ProtocolError
from oyer.protocol import JsonValue, SseReader, loads_tolerant

__all__ = ["KEY_HEADERS", "KeyWatch", "key_places", "unescaped", "without_key"]

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


class KeyWatch:
    """Looks at an answer piece by piece for the real key; without a key there is nothing to look for.

    `held` after a piece: the answer so far ends in what may be the beginning of the key, so that nothing of this
    piece may be handed on yet.
    """

    def __init__(self, key: str | None) -> None:
        self._text = key or ""
        self._key = self._text.encode()
        self._tail = b""
        self._events = SseReader()
        self._tails: dict[tuple[object, ...], str] = {}
        self.held = False

    def in_headers(self, headers: Iterable[tuple[str, str]]) -> bool:
        """Whether a header holds the key."""
        return bool(self._text) and any(self._text in value for _, value in headers)

    def feed(self, piece: bytes) -> bool:
        """Take the next piece; return whether the answer holds the key now, as it stands or over several events."""
        if not self._key:
            return False
        window = self._tail + piece
        seen = unescaped(window)
        self._tail = window[-_LONGEST_LETTER * len(self._key) :]
        if self._key in seen or self._key in window:
            return True
        self.held = _BEGUN_ESCAPE.search(window) is not None or any(
            seen.endswith(self._key[:length]) for length in range(1, len(self._key))
        )
        spread = [self._spread(data) for data in self._events.feed(piece)]
        found = any(spread)
        self.held = self.held or any(self._begins(text) for text in self._tails.values())
        return found

    def _begins(self, text: str) -> bool:
        """Whether a text that goes on in later events ends in so much of the key that it may be the key."""
        return any(text.endswith(self._text[:length]) for length in range(_TELLING_LETTERS, len(self._text)))

    def _spread(self, data: bytes) -> bool:
        """Whether the texts that stand in one place of every event make the key when they are put together."""
        try:
            event = loads_tolerant(data)[0]
        except ProtocolError:
            return False
        for place, text in _texts(event):
            joined = self._tails.get(place, "") + text
            if self._text in joined:
                return True
            self._tails[place] = joined[-len(self._text) :]
        return False


def _texts(value: JsonValue) -> Iterator[tuple[tuple[object, ...], str]]:
    """Yield every text of a value with its place; ends of events (`type`, identifiers) are places like any other."""
    stack: list[tuple[tuple[object, ...], JsonValue]] = [((), value)]
    while stack:
        place, item = stack.pop()
        if isinstance(item, str):
            yield place, item
        elif isinstance(item, dict):
            stack.extend(((*place, key), inner) for key, inner in item.items())
        elif isinstance(item, list):
            stack.extend(((*place, index), inner) for index, inner in enumerate(item))
