"""Waiting for what must come: until it is there, however busy the machine is, and not a moment longer.

A test that waits for a length of time guesses how fast the machine is; these only give up where nothing comes at all.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable

GIVE_UP_S = 90.0
_LOOK_S = 0.01


async def until(come: Callable[[], object]) -> None:
    """Let the event loop work until `come` is true."""
    give_up = time.monotonic() + GIVE_UP_S
    while not come():
        assert time.monotonic() < give_up, "it never came"
        await asyncio.sleep(_LOOK_S)


def wait_until(come: Callable[[], object]) -> None:
    """Wait until `come` is true of something outside of this process."""
    give_up = time.monotonic() + GIVE_UP_S
    while not come():
        assert time.monotonic() < give_up, "it never came"
        time.sleep(_LOOK_S)


def leap(seconds: float, loop: asyncio.AbstractEventLoop | None = None) -> None:
    """Set the clock of an event loop forward (the running one's): a limit passes that nobody has to wait for."""
    at_work = loop or asyncio.get_running_loop()
    before = at_work.time
    at_work.time = lambda: before() + seconds  # type: ignore[method-assign]
    if loop is not None:
        loop.call_soon_threadsafe(lambda: None)
