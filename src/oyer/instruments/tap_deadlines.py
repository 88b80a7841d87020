"""How long a request may wait for its answer.

Owns one timer for all requests of a connection. Must never answer, cancel or close anything: it tells.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import NamedTuple

__all__ = ["Deadlines", "Waiting"]

STANDING_METHODS = frozenset({"subscriptions/listen"})
"""Requests whose answer only comes when a subscription ends."""


class Waiting(NamedTuple):
    """A request that has no answer yet."""

    ref: str
    method: str
    identifier: object
    due_s: float

    @property
    def id_text(self) -> str:
        """The id as it may be shown."""
        return repr(self.identifier)


class Deadlines:
    """The requests of one connection that wait, in order; the limit is the same for all.

    `before_look` is called before one is said to be late: its answer may just have come.
    """

    __slots__ = ("_before_look", "_limit_s", "_loop", "_on_late", "_paused", "_timer", "_waiting")

    def __init__(self, limit_s: float, on_late: Callable[[Waiting], None], *, before_look: Callable[[], None]) -> None:
        self._before_look = before_look
        self._limit_s = limit_s
        self._on_late = on_late
        self._loop = asyncio.get_running_loop()
        self._paused = False
        self._timer: asyncio.TimerHandle | None = None
        self._waiting: dict[str, Waiting] = {}

    def __len__(self) -> int:
        return len(self._waiting)

    def __contains__(self, ref: str) -> bool:
        return ref in self._waiting

    def start(self, ref: str, method: str, identifier: object) -> None:
        """A request is about to be forwarded."""
        if method in STANDING_METHODS or ref in self._waiting:
            return
        self._waiting[ref] = Waiting(ref, method, identifier, self._loop.time() + self._limit_s)
        if self._timer is None and not self._paused:
            self._timer = self._loop.call_later(self._limit_s, self._look)

    def end(self, ref: str) -> None:
        """It was answered or cancelled."""
        self._waiting.pop(ref, None)

    def oldest(self) -> Waiting | None:
        """The request that waits longest."""
        return next(iter(self._waiting.values()), None)

    def close(self) -> None:
        """Forget everything."""
        self._waiting.clear()
        self.pause()

    def pause(self) -> None:
        """Report nothing more as late, but go on knowing what waits."""
        self._paused = True
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _look(self) -> None:
        """Report what is late, and look again when the next one is due."""
        self._timer = None
        self._before_look()
        now = self._loop.time()
        for late in [one for one in self._waiting.values() if one.due_s <= now]:
            del self._waiting[late.ref]
            self._on_late(late)
        oldest = self.oldest()
        if oldest is not None:
            self._timer = self._loop.call_later(max(0.0, oldest.due_s - now), self._look)
