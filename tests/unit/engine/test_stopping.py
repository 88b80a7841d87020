"""The operator's wish to stop: what it cancels, and what it never cuts short."""

from __future__ import annotations

import asyncio
import os
import signal

import pytest

from oyer.engine.stopping import Stop, to_the_end


async def test_the_first_signal_cancels_what_obeys_and_lets_the_rest_finish() -> None:
    stop = Stop()
    released: list[str] = []

    async def release() -> str:
        await asyncio.sleep(0.02)
        released.append("all")
        return "released"

    async def attempt() -> str:
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            return await stop.finish(release())
        return "never"

    with stop.listening():
        working = asyncio.create_task(stop.obeying(attempt()))
        await asyncio.sleep(0)
        os.kill(os.getpid(), signal.SIGINT)
        assert await working == "released"
    assert (stop.asked, stop.at_once, released) == (True, False, ["all"])


async def test_a_release_under_way_is_not_cut_short() -> None:
    stop = Stop()
    done: list[int] = []

    async def release() -> None:
        for number in range(3):
            await asyncio.sleep(0.01)
            done.append(number)

    async def attempt() -> None:
        await stop.finish(release())

    working = asyncio.create_task(stop.obeying(attempt()))
    await asyncio.sleep(0.005)
    stop.ask()
    await working
    assert done == [0, 1, 2]


async def test_what_starts_after_the_wish_is_cancelled_before_it_does_anything() -> None:
    stop = Stop()
    stop.ask()
    begun: list[str] = []

    async def attempt() -> None:
        begun.append("x")
        await asyncio.sleep(60)

    with pytest.raises(asyncio.CancelledError):
        await stop.obeying(attempt())
    assert begun == []


async def test_what_a_release_raises_is_raised() -> None:
    async def release() -> None:
        raise OSError("no")

    with pytest.raises(OSError, match="no"):
        await Stop().finish(release())


async def test_signals_are_given_back() -> None:
    before = signal.getsignal(signal.SIGTERM)
    with Stop().listening():
        assert signal.getsignal(signal.SIGTERM) is not before
    assert signal.getsignal(signal.SIGTERM) in (before, signal.SIG_DFL)


async def test_a_cancellation_waits_for_what_goes_on_in_a_thread_anyway() -> None:
    ended: list[str] = []

    async def thread() -> None:
        await asyncio.sleep(0.02)
        ended.append("x")

    waiting = asyncio.create_task(to_the_end(thread()))
    await asyncio.sleep(0.005)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert ended == ["x"]
