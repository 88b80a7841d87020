"""Lines that a subject process writes, taken as they come and handed over one by one.

Owns the splitting on byte 0x0A, the bounds and the waiting. Knows nothing of what a line says, and records nothing:
whoever takes a line does, so that a failing journal is an error in the caller's hands and not in a callback.
"""

from __future__ import annotations

import asyncio
from collections import deque
from typing import Final

from oyer.host import PipeReader

__all__ = ["MAX_LINE_BYTES", "LineInbox"]

MAX_LINE_BYTES: Final = 64 * 1024 * 1024
_PAUSE_LINES: Final = 256
_PAUSE_BYTES: Final = MAX_LINE_BYTES


class LineInbox:
    """Reads one descriptor, which it owns, into lines without their end."""

    def __init__(self, fd: int) -> None:
        self._ended = asyncio.Event()
        self._lines: deque[bytes] = deque()
        self._held_bytes = 0
        self._rest = bytearray()
        self._max_line_bytes = MAX_LINE_BYTES
        self._overlong = False
        self._changed = asyncio.Event()
        self._reader = PipeReader(fd, self._take, self._end)

    @property
    def ended(self) -> bool:
        """Whether nothing more will come."""
        return self._ended.is_set()

    @property
    def rest(self) -> bytes:
        """What came after the last line end."""
        return bytes(self._rest)

    @property
    def overlong(self) -> bool:
        """Whether a line is longer than the bound; nothing is read any more then, and `rest` holds its beginning."""
        return self._overlong and not self._lines

    def pop(self) -> bytes | None:
        """Take the next line; None when there is none now."""
        if not self._lines:
            return None
        line = self._lines.popleft()
        self._held_bytes -= len(line)
        if not self._overlong and not self.ended:
            self._reader.resume()
        return line

    def wake(self) -> None:
        """End a wait: something else that the waiting party looks at has changed."""
        self._changed.set()

    async def wait(self, limit_s: float) -> bool:
        """Wait until something changed, at most `limit_s` seconds; say whether it did."""
        changed = await _within(limit_s, self._changed)
        self._changed.clear()
        return changed

    async def wait_end(self, limit_s: float) -> None:
        """Wait until nothing more will come, at most `limit_s` seconds."""
        await _within(limit_s, self._ended)

    def close(self) -> None:
        """Give the descriptor back."""
        self._ended.set()
        self._reader.close()

    def _take(self, chunk: bytes) -> None:
        self._rest += chunk
        if b"\n" in chunk:
            *lines, rest = bytes(self._rest).split(b"\n")
            self._rest = bytearray(rest)
            self._lines.extend(lines)
            self._held_bytes += sum(map(len, lines))
        self._overlong = len(self._rest) > self._max_line_bytes
        if self._overlong or len(self._lines) > _PAUSE_LINES or self._held_bytes > _PAUSE_BYTES:
            self._reader.pause()
        self._changed.set()

    def _end(self) -> None:
        self._ended.set()
        self._changed.set()


async def _within(limit_s: float, event: asyncio.Event) -> bool:
    try:
        async with asyncio.timeout(limit_s):
            await event.wait()
    except TimeoutError:
        return event.is_set()
    return True
