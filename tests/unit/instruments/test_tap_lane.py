"""A lane keeps frames in order, holds its reader back, and lets no failed step pass for silence."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Coroutine
from typing import Any

import pytest
from waiting import until

from oyer.errors import HarnessError, OyerError
from oyer.instruments import TapLimits
from oyer.instruments.tap_lane import Lane
from oyer.protocol import Overlong

Frame = bytes | Overlong


class Bench:
    """A lane between two pipes, with everything it says."""

    def __init__(self, limits: TapLimits | None = None) -> None:
        self.floods: list[str] = []
        self.frames: list[tuple[Frame, bool]] = []
        self.errors: list[OSError | OyerError] = []
        self.ended = 0
        self.raises: BaseException | None = None
        self.hold: asyncio.Event | None = None
        reads, self.source = os.pipe()
        self.target, writes = os.pipe()
        self.lane = Lane(
            reads,
            writes,
            limits=limits or TapLimits(max_frame_bytes=100),
            step=self.step,
            on_end=self.end,
            on_broken=lambda: None,
            on_error=self.errors.append,
            on_flood=self.floods.append,
        )

    def step(self, frame: Frame, is_whole: bool) -> Coroutine[Any, Any, None] | None:
        if self.raises is not None:
            raise self.raises
        self.frames.append((frame, is_whole))
        return None if self.hold is None else self.wait(self.hold)

    async def wait(self, hold: asyncio.Event) -> None:
        await hold.wait()

    def end(self) -> None:
        self.ended += 1

    async def close(self) -> None:
        self.lane.cancel()
        self.lane.writer.close()
        for fd in (self.source, self.target):
            os.close(fd)


async def test_frames_wait_for_the_step_before_them() -> None:
    bench = Bench()
    bench.hold = asyncio.Event()
    os.write(bench.source, b"one\ntwo\nrest")
    await until(lambda: bench.frames)
    await asyncio.sleep(0.01)
    assert bench.frames == [(b"one\n", True)]
    bench.hold.set()
    os.close(bench.source)
    bench.source = os.open(os.devnull, os.O_RDONLY)
    await bench.lane.finished.wait()
    assert bench.frames == [(b"one\n", True), (b"two\n", True), (b"rest", False)]
    assert bench.ended == 1
    await bench.close()


async def test_a_frame_without_end_is_cut_at_the_bound() -> None:
    bench = Bench(TapLimits(max_frame_bytes=10))
    os.write(bench.source, b"x" * 50)
    await until(lambda: bench.frames)
    ((frame, is_whole),) = bench.frames
    assert isinstance(frame, Overlong)
    assert (frame.prefix, is_whole) == (b"x" * 10, False)
    await bench.close()


async def test_a_known_failure_is_reported_and_nothing_follows() -> None:
    bench = Bench()
    bench.raises = HarnessError("E-STORE-WRITE", "no space")
    os.write(bench.source, b"one\ntwo\n")
    await until(lambda: bench.errors)
    assert [error is bench.raises for error in bench.errors] == [True]
    bench.raises = None
    await asyncio.sleep(0.01)
    assert (bench.frames, bench.lane.finished.is_set()) == ([], True)
    await bench.close()


async def test_an_unforeseen_failure_is_reported_too_and_reaches_the_event_loop() -> None:
    heard: list[dict[str, Any]] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: heard.append(context))
    bench = Bench()
    bench.raises = ZeroDivisionError("a bug")
    os.write(bench.source, b"one\n")
    await until(lambda: bench.errors and heard)
    assert [error.code for error in bench.errors if isinstance(error, OyerError)] == ["E-TAP-STEP"]
    assert [type(context["exception"]) for context in heard] == [ZeroDivisionError]
    await bench.close()


async def test_a_lane_with_much_to_do_lets_others_have_their_turn() -> None:
    bench = Bench()
    os.write(bench.source, b"x\n" * 2000)
    seen = []
    while len(bench.frames) < 2000:
        await asyncio.sleep(0)
        seen.append(len(bench.frames))
    assert len(set(seen)) > 20
    await bench.close()


@pytest.mark.parametrize(
    ("limits", "what"), [(TapLimits(max_frames=100), "frames"), (TapLimits(max_total_bytes=100), "bytes")]
)
async def test_a_flood_is_ended_and_told_once(limits: TapLimits, what: str) -> None:
    bench = Bench(limits)
    os.write(bench.source, b"x\n" * 1000)
    await bench.lane.finished.wait()
    assert bench.floods == [what]
    assert len(bench.frames) <= 100
    await bench.close()
