"""Connections on which an exchange is over and the next one may begin, kept for a second.

Owns when a connection may be used again. A request must not be sent twice, so it must meet no connection that its
server is closing. Common servers keep theirs for two seconds and longer, and one that closes at once says so. Of one
that should say so and does not nothing is kept: before any connection is used again, one must have stayed open for a
moment. Where the two still meet, the exchange has failed. Must never keep one whose answer was not read to its end.
Source: RFC 9112, 9.3 and 9.6.
"""

from __future__ import annotations

import select
import threading
import time
from typing import Any, Final

__all__ = ["KeptConnections"]

_KEPT_S: Final = 1.0
_PROVEN_S: Final = 0.005


class KeptConnections:
    """The connections that one client keeps; those that nobody took are closed when their time is over."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._idle: list[tuple[float, Any]] = []
        self._keeps = threading.Event()
        self._over = False
        self._proven = False
        self._closer: threading.Thread | None = None

    def take(self) -> Any | None:
        """Return the connection that was kept last and is still open, None where there is none."""
        while True:
            with self._lock:
                if not self._idle:
                    return None
                until, connection = self._idle.pop()
            left_s = until - time.monotonic()
            quiet = _is_quiet(connection)
            if not quiet:
                self.close()
            elif left_s > 0 and (self._proven or left_s < _KEPT_S - _PROVEN_S):
                self._proven = True
                return connection
            connection.close()

    def keep(self, connection: Any, response: Any | None) -> None:
        """Keep a connection whose answer was read to its end and whose server keeps it too; close any other."""
        if response is None or not response.isclosed() or response.will_close or connection.sock is None:
            connection.close()
            return
        with self._lock:
            if not self._over:
                self._idle.append((time.monotonic() + _KEPT_S, connection))
                if self._closer is None:
                    self._closer = threading.Thread(target=self._close_late, daemon=True)
                    self._closer.start()
                self._keeps.set()
                return
        connection.close()

    def close(self) -> None:
        """Close them all, and keep none any more."""
        with self._lock:
            self._over, idle = True, self._idle
            self._idle = []
        self._keeps.set()
        for _, connection in idle:
            connection.close()

    def _close_late(self) -> None:
        while not self._over:
            self._keeps.wait()
            with self._lock:
                wait_s = self._idle[0][0] - time.monotonic() if self._idle else None
                late = self._idle.pop(0)[1] if wait_s is not None and wait_s <= 0 else None
                if wait_s is None:
                    self._keeps.clear()
            if late is not None:
                late.close()
            elif wait_s is not None:
                time.sleep(wait_s)


def _is_quiet(connection: Any) -> bool:
    """Whether nothing can be read: that would be the connection's end, or what nobody asked for."""
    poll = select.poll()
    poll.register(connection.sock, select.POLLIN)
    return not poll.poll(0)
