"""Whoever knocks without handing over two streams is turned away, and nothing of it stays."""

from __future__ import annotations

import array
import asyncio
import os
import socket
from collections.abc import Callable
from pathlib import Path

import pytest

from instrument_kit import Rig
from oyer.instruments import tap_link

RigMaker = Callable[[str], Rig]


def knock(path: Path, hello: bytes, fds: list[int]) -> socket.socket:
    link = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    link.connect(str(path))
    link.sendmsg([hello], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", fds))])
    return link


async def turned_away(link: socket.socket) -> bool:
    link.settimeout(60)
    with link:
        return await asyncio.to_thread(link.recv, 1) == b""


@pytest.mark.parametrize("case", ["a file", "one stream", "three streams", "a wrong greeting", "nothing"])
async def test_anything_but_two_streams_is_refused(rig: RigMaker, tmp_path: Path, case: str) -> None:
    bench = rig("plain")
    await bench.open()
    reads, writes = os.pipe()
    regular = os.open(tmp_path / "file", os.O_RDWR | os.O_CREAT)
    given = {
        "a file": (b"\x01", [regular, writes]),
        "one stream": (b"\x01", [reads]),
        "three streams": (b"\x01", [reads, writes, writes]),
        "a wrong greeting": (b"\x02", [reads, writes]),
        "nothing": (b"\x01", []),
    }[case]
    before = len(list(Path("/proc/self/fd").iterdir()))
    assert await turned_away(knock(bench.path, *given))
    assert len(list(Path("/proc/self/fd").iterdir())) == before
    for fd in (reads, writes, regular):
        os.close(fd)
    await bench.close()
    assert [fault[:2] for fault in bench.faults] == [("tap:ops", "subject")]
    assert bench.journal.kinds() == ["fault"]


async def test_a_knock_without_a_greeting_does_not_stay(rig: RigMaker, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tap_link, "_GREETING_LIMIT_S", 0.05)
    bench = rig("plain")
    await bench.open()
    link = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    link.connect(str(bench.path))
    assert await turned_away(link)
    await bench.close()
    assert [fault[1] for fault in bench.faults] == ["subject"]


@pytest.mark.parametrize("how", ["deleted", "moved", "replaced"])
async def test_a_socket_that_was_taken_away_is_a_fault_told_once(rig: RigMaker, how: str) -> None:
    bench = rig("plain")
    tap = await bench.open()
    aside = bench.path.with_name("aside")
    if how == "deleted":
        bench.path.unlink()
    else:
        bench.path.rename(aside)
    if how == "replaced":
        bench.path.write_bytes(b"")
    await tap.end_connections()
    await bench.close()
    ((where, cls, message),) = bench.faults
    assert (where, cls) == ("tap:ops", "subject_not_excluded") and "moved, changed or deleted" in message
