"""Bytes in and out of file descriptors on an event loop, with as few steps as the system allows.

Owns non-blocking reads and writes with back pressure. Knows nothing of frames, messages or journals. One
read is handed on as it came; one write is tried at once and only the rest waits for the descriptor.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import select
from collections import deque
from collections.abc import Callable

__all__ = ["PipeReader", "PipeWriter"]

_READ_BYTES = 64 * 1024  # what a pipe holds; a larger buffer is mapped and unmapped by the allocator at every read
_AT_ONCE = 64
"""How many reads make up for all that a pipe may hold."""


class PipeReader:
    """Reads a descriptor it owns and calls `on_data(chunk)`; `on_end()` once, at end of stream or a read error."""

    __slots__ = ("_ended", "_fd", "_loop", "_on_data", "_on_end", "_reading")

    def __init__(self, fd: int, on_data: Callable[[bytes], None], on_end: Callable[[], None]) -> None:
        self._fd = fd
        self._on_data = on_data
        self._on_end = on_end
        self._ended = False
        self._reading = False
        self._loop = asyncio.get_running_loop()
        os.set_blocking(fd, False)
        self.resume()

    @property
    def is_open(self) -> bool:
        """True until the end was reached or `close` was called."""
        return self._fd >= 0

    def pause(self) -> None:
        """Stop reading: what comes stays in the pipe and holds the writer back."""
        if self._reading:
            self._loop.remove_reader(self._fd)
            self._reading = False

    def resume(self) -> None:
        """Read on."""
        if not self._reading and self._fd >= 0:
            self._loop.add_reader(self._fd, self._readable)
            self._reading = True

    def catch_up(self) -> None:
        """Take what is in the pipe now, which is all that a writer which has ended wrote; bounded, and nobody waits."""
        for _ in range(_AT_ONCE):
            if self._fd < 0 or not select.select([self._fd], [], [], 0)[0]:
                return
            self._readable()

    def close(self) -> None:
        """Give the descriptor back; `on_end` is not called by this."""
        self._ended = True
        self._release()

    def _readable(self) -> None:
        try:
            chunk = os.read(self._fd, _READ_BYTES)
        except (BlockingIOError, InterruptedError):
            return
        except OSError:
            # A reset socket or a vanished terminal: nothing more will come.
            chunk = b""
        if chunk:
            self._on_data(chunk)
        elif not self._ended:
            self._ended = True
            self._release()
            self._on_end()

    def _release(self) -> None:
        self.pause()
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1


class PipeWriter:
    """Writes to a descriptor it owns, in order, never blocking the loop.

    Each block may carry a call for the moment after its last byte was handed to the system. `on_broken()` is
    called once when nobody reads any more; blocks not yet written are dropped then, their calls never made.
    """

    __slots__ = ("_closing", "_fd", "_loop", "_on_broken", "_on_drained", "_pending_bytes", "_waiting", "_writing")

    def __init__(self, fd: int, *, on_broken: Callable[[], None], on_drained: Callable[[], None] | None = None) -> None:
        self._fd = fd
        self._on_broken = on_broken
        self._on_drained = on_drained
        self._waiting: deque[tuple[memoryview, Callable[[], None] | None]] = deque()
        self._pending_bytes = 0
        self._writing = False
        self._closing = False
        self._loop = asyncio.get_running_loop()
        os.set_blocking(fd, False)

    @property
    def is_open(self) -> bool:
        """True until closed or broken."""
        return self._fd >= 0

    @property
    def pending_bytes(self) -> int:
        """How many bytes still wait for the descriptor."""
        return self._pending_bytes

    def write(self, data: bytes, on_written: Callable[[], None] | None = None) -> bool:
        """Write or queue a block; True when nothing had to wait. The block must not be changed afterwards."""
        if self._fd < 0 or self._closing:
            return True
        done = 0
        if not self._waiting:
            done = self._try_write(data)
            if done < 0:
                return True
            if done == len(data):
                if on_written is not None:
                    on_written()
                return True
        view = memoryview(data)[done:]
        self._waiting.append((view, on_written))
        self._pending_bytes += len(view)
        if not self._writing:
            self._loop.add_writer(self._fd, self._writable)
            self._writing = True
        return False

    def close_when_written(self) -> None:
        """Close after everything queued was written: the end of stream comes after the last byte."""
        self._closing = True
        if not self._waiting:
            self._release()

    def close(self) -> None:
        """Close now; what still waits is dropped."""
        self._release()

    def _try_write(self, view: bytes | memoryview) -> int:
        """Return how many bytes the system took; -1 when nobody reads any more."""
        try:
            return os.write(self._fd, view)
        except (BlockingIOError, InterruptedError):
            return 0
        except OSError:
            self._release()
            self._on_broken()
            return -1

    def _writable(self) -> None:
        while self._waiting:
            view, on_written = self._waiting[0]
            done = self._try_write(view)
            if done < 0:
                return
            self._pending_bytes -= done
            if done < len(view):
                self._waiting[0] = (view[done:], on_written)
                return
            self._waiting.popleft()
            if on_written is not None:
                on_written()
        self._stop_writing()
        if self._closing:
            self._release()
        elif self._on_drained is not None:
            self._on_drained()

    def _stop_writing(self) -> None:
        if self._writing:
            self._loop.remove_writer(self._fd)
            self._writing = False

    def _release(self) -> None:
        if self._fd < 0:
            return
        self._stop_writing()
        self._waiting.clear()
        self._pending_bytes = 0
        with contextlib.suppress(OSError):
            os.close(self._fd)
        self._fd = -1
