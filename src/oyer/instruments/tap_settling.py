"""When what a tap owes its journal is written down.

Owns one timer. Frames go on first; understanding and recording them costs more than forwarding them, so it is done in
the first quiet moment, which is while the server works or the subject thinks. Never longer than a bound, though, and
whatever must be on record before it (a change, a look, an end, a seal) does not wait for this.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

__all__ = ["QuietMoment"]

_QUIET_S = 0.003
_STILL_S = 0.002
_LONGEST_S = 0.025
_MOST = 256
_MOST_BYTES = 1 << 20


class QuietMoment:
    """Calls `settle` when `owe` was not called for a moment, or often, or long ago."""

    __slots__ = ("_bytes", "_last_s", "_loop", "_owed", "_settle", "_since_s", "_timer")

    def __init__(self, settle: Callable[[], None]) -> None:
        self._settle = settle
        self._loop = asyncio.get_running_loop()
        self._timer: asyncio.Handle | None = None
        self._owed = self._bytes = 0
        self._since_s = 0.0
        self._last_s = 0.0

    def owe(self, size_bytes: int) -> None:
        """Something more is owed, and holds this many bytes until it is recorded."""
        self._last_s = self._loop.time()
        self._owed += 1
        self._bytes += size_bytes
        if self._owed >= _MOST or self._bytes >= _MOST_BYTES:
            self.close()
            self._timer = self._loop.call_soon(self._now)
            self._owed = self._bytes = 0
        elif self._timer is None:
            self._since_s = self._last_s
            self._timer = self._loop.call_later(_QUIET_S, self._look)

    def close(self) -> None:
        """Wait no more; what is still owed is the owner's to settle."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _look(self) -> None:
        now = self._loop.time()
        quiet_s = now - self._last_s
        if quiet_s >= _STILL_S or now - self._since_s >= _LONGEST_S:
            self._now()
        else:
            self._timer = self._loop.call_later(_QUIET_S, self._look)

    def _now(self) -> None:
        self._timer = None
        self._owed = self._bytes = 0
        self._settle()
