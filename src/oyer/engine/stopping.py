"""Stopping a run before its end: the operator's signals, and what must still be done after them.

Owns SIGINT and SIGTERM while a series runs. The first asks every attempt to stop and to seal what it has; the second
ends every process of the run at once, seals nothing more, and gives the signals back to the system. Must never let a
release of resources be cut short by the first.
"""

from __future__ import annotations

import asyncio
import contextlib
import signal
from collections.abc import Awaitable, Coroutine, Iterator
from typing import Any, TypeVar

from oyer.host import RunDir, kill_started

__all__ = ["Stop", "to_the_end"]

T = TypeVar("T")

AT_ONCE_S = 3.0
"""How long a release may go on after everything it waits for was killed."""


class Stop:
    """Whether the operator asked to stop, and who must hear of it."""

    def __init__(self) -> None:
        self.asked = False
        self.at_once = False
        self._tasks: set[asyncio.Task[Any]] = set()
        self._rundirs: set[RunDir] = set()

    @contextlib.contextmanager
    def listening(self) -> Iterator[None]:
        """Hear SIGINT and SIGTERM for the length of a `with` block (only the main thread can)."""
        loop = asyncio.get_running_loop()
        try:
            for number in (signal.SIGINT, signal.SIGTERM):
                with contextlib.suppress(NotImplementedError, ValueError, RuntimeError):
                    loop.add_signal_handler(number, self._heard)
            yield
        finally:
            self._deaf()
            if self.at_once:
                for rundir in tuple(self._rundirs):
                    rundir.remove()

    async def obeying(self, doing: Coroutine[Any, Any, T]) -> T:
        """Run something that the first signal cancels. Raises: CancelledError then."""
        task = asyncio.get_running_loop().create_task(doing)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        if self.asked:
            task.cancel()
        try:
            return await task
        finally:
            # Only reached with the task still running when whoever waits here was cancelled itself.
            task.cancel()
            await asyncio.wait({task})

    async def finish(self, doing: Coroutine[Any, Any, T]) -> T:
        """Run something that must be done whoever asks to stop; after the second signal only for a moment.

        Raises: CancelledError only after that moment, else what `doing` raises.
        """
        task = asyncio.get_running_loop().create_task(doing)
        while not task.done():
            try:
                await asyncio.wait({task}, timeout=AT_ONCE_S if self.at_once else None)
            except asyncio.CancelledError:
                # Whoever asked to stop has said so in `asked`; the work before this already heard it.
                continue
            if self.at_once and not task.done():
                task.cancel()
                await asyncio.wait({task}, timeout=AT_ONCE_S)
                if not task.done():
                    raise asyncio.CancelledError
        return task.result()

    @contextlib.contextmanager
    def keeping(self, rundir: RunDir) -> Iterator[None]:
        """Know a run directory while it is in use, so that it can be removed after a stop at once."""
        self._rundirs.add(rundir)
        try:
            yield
        finally:
            if not self.at_once:
                self._rundirs.discard(rundir)

    def ask(self) -> None:
        """Ask every attempt to stop in order."""
        self.asked = True
        for task in tuple(self._tasks):
            task.cancel()

    def _heard(self) -> None:
        if self.asked:
            self.at_once = True
            self._deaf()
            kill_started(tuple(str(rundir.root) for rundir in self._rundirs))
        self.ask()

    def _deaf(self) -> None:
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM):
            with contextlib.suppress(NotImplementedError, ValueError, RuntimeError):
                loop.remove_signal_handler(number)


async def to_the_end(doing: Awaitable[T]) -> T:
    """Wait for something that goes on in a thread whether or not it is waited for; a cancellation is raised after."""
    task = asyncio.ensure_future(doing)
    cancelled: asyncio.CancelledError | None = None
    while not task.done():
        try:
            await asyncio.wait({task})
        except asyncio.CancelledError as asked:
            cancelled = asked
    if cancelled is not None:
        raise cancelled
    return task.result()
