"""Bytes arrive whole and in order, and a slow reader holds the writer back."""

from __future__ import annotations

import asyncio
import os

from waiting import until

from oyer.host import PipeReader, PipeWriter


async def test_more_than_a_pipe_holds_arrives_in_order_with_back_pressure() -> None:
    reads, writes = os.pipe()
    blocks = [bytes([number]) * 300_000 for number in range(20)]
    written: list[int] = []
    got = bytearray()
    ended = asyncio.Event()
    broken: list[str] = []
    writer = PipeWriter(writes, on_broken=lambda: broken.append("x"))
    at_once = [writer.write(block, lambda number=number: written.append(number)) for number, block in enumerate(blocks)]
    assert at_once[-1] is False
    assert writer.pending_bytes > 0
    assert written == []
    writer.close_when_written()
    PipeReader(reads, got.extend, ended.set)
    await ended.wait()
    assert bytes(got) == b"".join(blocks)
    assert written == list(range(20))
    assert (broken, writer.is_open) == ([], False)


async def test_a_vanished_reader_is_told_once() -> None:
    reads, writes = os.pipe()
    told: list[str] = []
    writer = PipeWriter(writes, on_broken=lambda: told.append("broken"))
    os.close(reads)
    assert writer.write(b"x") is True
    assert writer.write(b"y") is True
    assert (told, writer.is_open, writer.pending_bytes) == (["broken"], False, 0)


async def test_pause_leaves_bytes_in_the_pipe() -> None:
    reads, writes = os.pipe()
    got = bytearray()
    reader = PipeReader(reads, got.extend, lambda: None)
    reader.pause()
    os.write(writes, b"abc")
    await asyncio.sleep(0.01)
    assert got == b""
    reader.resume()
    await until(lambda: got)
    assert got == b"abc"
    reader.close()
    os.close(writes)
    assert not reader.is_open
