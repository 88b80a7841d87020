"""One stream of a door: what is said on it, in order, and who listens.

Owns the order of lines and the ids of events. Must never lose a line: what was not written to a listener waits for the
next one, and with ids what was written may be asked for again.
"""

from __future__ import annotations

import queue
import threading

from oyer.protocol import IdKey, JsonValue, Message, id_key

__all__ = ["Channel", "Reader", "key_in_meta", "key_of"]


class Channel:
    """What is said on one stream, in order. With `number` each event has an id, and may be asked for again."""

    def __init__(self, requests: list[Message], number: int | None = None) -> None:
        self.waits = {request.id_key for request in requests}
        self.tokens = {token for request in requests if (token := _token(request)) is not None}
        self.is_listened = bool(requests)
        self.is_given_up = False
        self.size_bytes = 0
        self.number = number
        self._lines: list[bytes | None] = []
        self._grown = threading.Condition()

    def put(self, line: bytes | None) -> None:
        """Add a line, or the end."""
        with self._grown:
            self._lines.append(line)
            self.size_bytes += len(line or b"")
            self._grown.notify_all()

    def at(self, place: int, limit_s: float) -> bytes | None:
        """Return the line at a place, None at the end. Raises: queue.Empty when none comes in time."""
        with self._grown:
            if place >= len(self._lines):
                self._grown.wait(limit_s)
            if place >= len(self._lines):
                raise queue.Empty
            return self._lines[place]

    def take(self) -> list[bytes | None]:
        """Take all that waits."""
        with self._grown:
            waiting, self._lines, self.size_bytes = self._lines, [], 0
        return waiting

    def drop_first(self) -> None:
        """Let go of the first line, which was said."""
        with self._grown:
            self.size_bytes -= len(self._lines.pop(0) or b"")


class Reader:
    """Somebody who listens to a channel, from a place on. A later one does not disturb an earlier one that is lost."""

    def __init__(self, channel: Channel, place: int = 0) -> None:
        self.channel = channel
        self._place = place

    def next(self, limit_s: float) -> bytes | None:
        """Return the next line, None at the end; the same again until it is `sent`. Raises: as `Channel.at`."""
        return self.channel.at(self._place, limit_s)

    def event(self, line: bytes) -> bytes:
        """Return the next line as an event."""
        number = self.channel.number
        identifier = b"" if number is None else b"id: %d-%d\n" % (number, self._place + 1)
        return b"event: message\n" + identifier + b"data: " + line + b"\n\n"

    def sent(self) -> None:
        """The next line was written to whoever listens."""
        if self.channel.number is None:
            self.channel.drop_first()
        else:
            self._place += 1


def _token(request: Message) -> IdKey | None:
    return key_in_meta(request.params, "progressToken") if isinstance(request.params, dict) else None


def key_in_meta(params: dict[str, JsonValue], name: str) -> IdKey | None:
    """Return what the parameters' `_meta` says under a name, as ids are compared."""
    meta = params.get("_meta")
    return key_of(meta.get(name)) if isinstance(meta, dict) else None


def key_of(value: JsonValue) -> IdKey | None:
    """Return a token or an id as ids are compared, None for what can be neither."""
    return id_key(value) if isinstance(value, str | int) else None
