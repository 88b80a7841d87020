"""One server process behind a door, and which of what it says goes where.

Owns the process, the requests under way and the channel of each, and the session's own channel for what nobody asked
for. What answers a request goes to whoever asked. Progress goes by its token, and a subscription's news by its id;
anything else of the server goes to the latest request under way, which it most likely belongs to, else to the own
channel, and waits there until somebody listens. Must never change a line, drop one, or answer for the server.
"""

from __future__ import annotations

import os
import subprocess
import threading
from typing import Final, Protocol
from uuid import uuid4

from oyer.programs.door_channel import Channel, Reader, key_in_meta, key_of
from oyer.programs.wire import note
from oyer.protocol import (
    SUBSCRIPTION_ID,
    UNDECIDED_EXIT,
    IdKey,
    JsonValue,
    LineSplitter,
    Message,
    Overlong,
    id_key,
    parse_message,
)

__all__ = ["DoorSession", "OnFailed", "Sessions"]

_READ_BYTES: Final = 65536
_SPACES: Final = bytes.maketrans(b"\r\n", b"  ")
_SHOWN_BYTES: Final = 500
_KEPT_STREAMS: Final = 64
_LAST_WORDS_S: Final = 1.0
_BRIDGE: Final = "oyer.programs.http_bridge"
_OF_SIGNALS: Final = 128


class OnFailed(Protocol):
    """Hears why no session can go on, and whether that is the server's doing whatever its client sent."""

    def __call__(self, why: str, *, is_servers: bool = True) -> None:
        """It is over."""
        ...


class DoorSession:
    """One process and everybody who asks it."""

    def __init__(self, command: list[str], max_bytes: int, on_failed: OnFailed) -> None:
        self._max_bytes = max_bytes
        self._on_failed = on_failed
        self._is_bridge = _BRIDGE in command
        self._ending = False
        self._writing = threading.Lock()
        self._lock = threading.Lock()
        self._asked: dict[IdKey, Channel] = {}
        self._channels: dict[int, Channel] = {}
        self._opened = 0
        self.own = Channel([])
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def write(self, body: bytes) -> None:
        """Write one line to the server."""
        stdin = self._process.stdin
        if stdin is None:
            return
        line = memoryview(body.translate(_SPACES) + b"\n")
        with self._writing:
            try:
                while line:
                    line = line[os.write(stdin.fileno(), line) :]
            except (OSError, ValueError):
                return  # it ended, which its reader sees and says

    def is_asked(self, requests: list[Message]) -> bool:
        """Whether an id of these is under way."""
        return any(request.id_key in self._asked for request in requests)

    def has(self, request: JsonValue) -> bool:
        """Whether the request with this id is under way."""
        return id_key(request) in self._asked

    def ask(self, requests: list[Message]) -> Channel:
        """Open the channel of some requests, before they are written."""
        with self._lock:
            self._opened += 1
            channel = self._channels[self._opened] = Channel(requests, self._opened)
            self._asked.update(dict.fromkeys(channel.waits, channel))
            if not self.own.is_listened:
                for line in self.own.take():
                    channel.put(line)
            return channel

    def give_up(self, request: JsonValue) -> None:
        """The client waits for an answer no more. Should one come, its stream is still where it belongs."""
        with self._lock:
            channel = self._asked.get(id_key(request))
            if channel is not None:
                channel.is_given_up = True

    def resume(self, last: str | None) -> Reader | None:
        """Return the stream that somebody wants to listen to: one taken up, or the own one; None if that has one."""
        stream, _, place = (last or "").partition("-")
        with self._lock:
            known = self._channels.get(int(stream)) if stream.isdigit() and place.isdigit() else None
            if known is not None:
                return Reader(known, int(place))
            if self.own.is_listened:
                return None
            self.own.is_listened = True
            return Reader(self.own)

    def end(self) -> None:
        """Close its input, which asks it to end."""
        self._ending = True
        self.own.put(None)
        with self._writing:
            if self._process.stdin is not None:
                self._process.stdin.close()

    def wait(self) -> int:
        """Wait until it has ended and its last words were read; return its exit code."""
        code = self._process.wait()
        self._reader.join(_LAST_WORDS_S)  # something that it started may hold its output open for ever
        return code

    def _read(self) -> None:
        out = self._process.stdout
        if out is None:
            return
        splitter = LineSplitter(self._max_bytes)
        while chunk := os.read(out.fileno(), _READ_BYTES):
            for line in splitter.feed(chunk):
                if isinstance(line, Overlong):
                    self._on_failed(f"the server sent a line of {line.size_bytes} bytes, which is beyond the bound")
                    return
                self._said(line.rstrip(b"\r\n"))
        code = self._process.wait()
        if not self._ending:  # before any stream could end in order, as if all had been said
            how = f"with code {code}" if code >= 0 else f"by signal {-code}"
            theirs = 0 <= code < _OF_SIGNALS and not (code == UNDECIDED_EXIT and self._is_bridge)
            self._on_failed(f"the server ended {how} while it was in use", is_servers=theirs)
        for channel in (*self._channels.values(), self.own):
            channel.put(None)

    def _said(self, line: bytes) -> None:
        read = parse_message(line)
        if not isinstance(read, Message):
            if line.strip():
                note(f"a line of the server is no message: {line[:_SHOWN_BYTES]!r}")
            return
        parts = [part for part in (read.parts if read.kind == "batch" else (read,)) if isinstance(part, Message)]
        with self._lock:
            answered = [part.id_key for part in parts if part.kind == "response" and part.id_key in self._asked]
            channel = self._asked[answered[0]] if answered else self._place_of(parts)
            channel.put(line)
            for key in answered:
                whose = self._asked.pop(key)
                whose.waits.discard(key)
                if not whose.waits:
                    whose.put(None)
            self._forget()

    def _forget(self) -> None:
        """Let go of the oldest streams that are whole, so that no more is kept than one message may have."""
        kept = sum(channel.size_bytes for channel in self._channels.values())
        for number, channel in list(self._channels.items()):
            if kept <= self._max_bytes and len(self._channels) <= _KEPT_STREAMS:
                return
            if not channel.waits:
                kept -= channel.size_bytes
                del self._channels[number]

    def _place_of(self, parts: list[Message]) -> Channel:
        """Choose the channel of what answers nothing."""
        for part in parts:
            params = part.params
            if not isinstance(params, dict):
                continue
            subscription, token = key_in_meta(params, SUBSCRIPTION_ID), key_of(params.get("progressToken"))
            if subscription is not None and subscription in self._asked:
                return self._asked[subscription]
            for channel in self._asked.values():
                if token is not None and token in channel.tokens:
                    return channel
        under_way = [channel for channel in self._asked.values() if not channel.is_given_up]
        return under_way[-1] if under_way else self.own


class Sessions:
    """All sessions of a door, and what is asked without one."""

    def __init__(self, command: list[str], max_bytes: int, on_failed: OnFailed) -> None:
        self._command, self._max_bytes, self._on_failed = command, max_bytes, on_failed
        self._named: dict[str, DoorSession] = {}
        self._nameless: dict[bool, list[DoorSession]] = {False: [], True: []}
        self._lock = threading.Lock()

    def open(self) -> tuple[str, DoorSession]:
        """Open a session with a process of its own."""
        name, session = uuid4().hex, self._start()
        self._named[name] = session
        return name, session

    def find(self, name: str) -> DoorSession | None:
        """Return a session by its name."""
        return self._named.get(name)

    def take(self, name: str) -> DoorSession | None:
        """Return a session that ends."""
        return self._named.pop(name, None)

    def without(
        self, requests: list[Message], *, odd: bool = False, about: JsonValue = None
    ) -> tuple[DoorSession, Channel | None]:
        """Ask without a session: one process for all, and another one only while ids would meet in it.

        What is `odd` for the era without sessions is asked of other processes: a server may take the first request for
        the sign of an era. `about` is the id of a request that a notification is about.
        """
        with self._lock:
            alike = self._nameless[odd]
            asked = [each for kind in self._nameless.values() for each in kind if about is not None and each.has(about)]
            session = next(iter([*asked, *(each for each in alike if not each.is_asked(requests))]), None)
            if session is None:
                session = self._start()
                alike.append(session)
            return session, session.ask(requests) if requests else None

    def end(self) -> int:
        """Ask them all to end and wait until they have; return the worst exit code."""
        every = (*self._named.values(), *self._nameless[False], *self._nameless[True])
        for session in every:
            session.end()
        return max((session.wait() for session in every), key=abs, default=0)

    def _start(self) -> DoorSession:
        try:
            return DoorSession(self._command, self._max_bytes, self._on_failed)
        except OSError as error:
            # One that started before starts again, unless whoever wanted so many used up what that takes.
            is_first = not self._named and not any(self._nameless.values())
            self._on_failed(f"the server could not be started: {error}", is_servers=is_first)
            raise
