"""One direction of one connection: bytes in, frames through a step, bytes out.

Owns order and back pressure. Each frame is handed to `step` and the next one waits until that step is done;
while the far side does not read, this side is not read either. After a few frames everybody else on the loop has
a turn, so that a peer that floods cannot hold up the clocks of others. What a frame means is not known here.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Coroutine
from typing import Any

from oyer.errors import HarnessError, OyerError
from oyer.host import PipeReader, PipeWriter
from oyer.instruments.tap_settings import TapLimits
from oyer.protocol import LineSplitter, Overlong

__all__ = ["Lane", "Step"]

_AT_ONCE = 32
"""How many frames are taken before the event loop goes on to somebody else."""

Step = Callable[["bytes | Overlong", bool], "Coroutine[Any, Any, None] | None"]
"""Takes a frame and whether its line end is there; returns what is left to await, if anything."""


class Lane:
    """Reads one descriptor, writes another. `on_end()` is called once, after the last frame's step.

    `on_error(error)` hears what a step raised, `on_flood(what)` that the reading side sent more than it may; the lane
    takes no further frame then.
    """

    __slots__ = ("_backlog", "_bytes_left", "_ended", "_frames_left", "_on_end", "_on_error", "_on_flood", "_reader",
                 "_rest", "_splitter", "_step", "_stopped", "_task", "finished", "writer")  # fmt: skip

    def __init__(
        self,
        read_fd: int,
        write_fd: int,
        *,
        limits: TapLimits,
        step: Step,
        on_end: Callable[[], None],
        on_broken: Callable[[], None],
        on_error: Callable[[OSError | OyerError], None],
        on_flood: Callable[[str], None],
    ) -> None:
        self._step = step
        self._on_flood = on_flood
        self._frames_left = limits.max_frames
        self._bytes_left = limits.max_total_bytes
        self._on_end = on_end
        self._on_error = on_error
        self._splitter = LineSplitter(limits.max_frame_bytes)
        self._backlog: deque[tuple[bytes | Overlong, bool]] = deque()
        self._ended = False
        self._stopped = False
        self._task: asyncio.Task[None] | None = None
        self._rest: asyncio.Handle | None = None
        self.finished = asyncio.Event()
        self.writer = PipeWriter(write_fd, on_broken=on_broken, on_drained=self._flow)
        self._reader = PipeReader(read_fd, self._data, self._end)

    @property
    def is_behind(self) -> bool:
        """True while frames that have come wait for nothing but their turn."""
        return bool(self._backlog) and not self.writer.pending_bytes

    def stop(self) -> None:
        """Read no more; what was written already still goes out until the writer is closed."""
        self._stopped = True
        self._backlog.clear()
        self._reader.close()
        self.finished.set()

    def cancel(self) -> None:
        """Stop, and give up the step under way."""
        self.stop()
        if self._task is not None:
            self._task.cancel()

    def _data(self, data: bytes) -> None:
        self._bytes_left -= len(data)
        if self._bytes_left < 0:
            self._flooded("bytes")
            return
        for frame in self._splitter.feed(data):
            self._backlog.append((frame, True))
        if self._splitter.pending_bytes > self._splitter.max_frame_bytes:
            # The bound is passed: no need to wait for a line end that may never come.
            rest = self._splitter.end()
            if rest is not None:
                self._backlog.append((rest, False))
        self._flow()

    def _end(self) -> None:
        rest = self._splitter.end()
        if rest is not None:
            self._backlog.append((rest, False))
        self._ended = True
        self._flow()

    def _flow(self) -> None:
        """Take frames until there is none, one needs to be awaited, or the far side must read first."""
        if self._task is not None or self._rest is not None:
            return
        taken = 0
        while self._backlog and not self.writer.pending_bytes:
            if taken == _AT_ONCE:
                self._reader.pause()
                self._rest = asyncio.get_running_loop().call_soon(self._go_on)
                return
            taken += 1
            self._frames_left -= 1
            if self._frames_left < 0:
                self._flooded("frames")
                return
            frame, is_whole = self._backlog.popleft()
            try:
                step = self._step(frame, is_whole)
            except BaseException as error:
                if self._reported(error):
                    return
                raise
            if step is not None:
                self._reader.pause()
                self._task = asyncio.get_running_loop().create_task(self._await_step(step))
                return
        if self._backlog or self.writer.pending_bytes:
            self._reader.pause()
        elif not self._ended:
            self._reader.resume()
        elif not self.finished.is_set():
            self.finished.set()
            self._on_end()

    def _flooded(self, what: str) -> None:
        self.stop()
        self._on_flood(what)

    def _go_on(self) -> None:
        self._rest = None
        if not self._stopped:
            self._flow()

    async def _await_step(self, step: Coroutine[Any, Any, None]) -> None:
        try:
            await step
        except asyncio.CancelledError:
            raise
        except BaseException as error:
            if not self._reported(error):
                raise
        finally:
            self._task = None
        if not self._stopped:
            self._flow()

    def _reported(self, error: BaseException) -> bool:
        """Report a failed step; True for a known failure, False for one that must also go on to the event loop."""
        self.stop()
        known = isinstance(error, OSError | OyerError)
        unforeseen = HarnessError("E-TAP-STEP", f"a step of the tap failed in an unforeseen way: {error!r}")
        self._on_error(error if isinstance(error, OSError | OyerError) else unforeseen)
        return known
