"""The relay hands its streams over, or copies where it must; both ways the far side sees the same."""

from __future__ import annotations

import array
import asyncio
import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from oyer.host import open_run_dir

RELAY = Path(__file__).parents[3] / "src" / "oyer" / "programs" / "relay.py"
ARGV = [sys.executable, "-I", "-S", str(RELAY)]


class Door:
    """The harness side, reduced to what the relay speaks to."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.listener.bind(str(path))
        self.listener.listen()
        self.listener.settimeout(60)

    def greet(self) -> tuple[socket.socket, int, int]:
        link, _ = self.listener.accept()
        hello, ancillary, _, _ = link.recvmsg(1, socket.CMSG_SPACE(64))
        assert hello == b"\x01"
        fds = array.array("i", ancillary[0][2])
        return link, fds[0], fds[1]


@pytest.fixture
def door() -> Iterator[Door]:
    with open_run_dir() as run_dir:
        opened = Door(run_dir.new_socket_path())
        yield opened
        opened.listener.close()


def conversation(door: Door, relay: subprocess.Popen[bytes]) -> None:
    """Read one line, answer it in capitals, end with exit code 7."""
    link, reads, writes = door.greet()
    line = b""
    while not line.endswith(b"\n"):
        line += os.read(reads, 65536)
    os.write(writes, line.upper())
    os.close(reads)
    os.close(writes)
    link.send(b"7\n")
    link.close()
    assert relay.wait(10) == 7


def test_pipes_are_handed_over_and_no_byte_passes_through(door: Door) -> None:
    with subprocess.Popen([*ARGV, str(door.path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as relay:
        assert relay.stdin is not None and relay.stdout is not None
        link, reads, writes = door.greet()
        assert os.fstat(reads).st_ino == os.fstat(relay.stdin.fileno()).st_ino
        assert os.fstat(writes).st_ino == os.fstat(relay.stdout.fileno()).st_ino
        os.write(writes, b"said\n")
        assert relay.stdout.readline() == b"said\n"
        # The end of the stream is seen though the relay still lives: it holds neither of them.
        os.close(writes)
        assert relay.stdout.read() == b""
        assert relay.poll() is None
        os.close(reads)
        link.send(b"0\n")
        link.close()
        assert relay.wait(10) == 0


def test_sockets_are_handed_over_too(door: Door) -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs, subprocess.Popen([*ARGV, str(door.path)], stdin=theirs, stdout=theirs) as relay:
        ours.send(b"line\n")
        conversation(door, relay)
        assert ours.recv(100) == b"LINE\n"


def test_files_are_copied(door: Door, tmp_path: Path) -> None:
    (tmp_path / "in").write_bytes(b"from a file\n" + b"x" * 300_000)
    with (
        (tmp_path / "in").open("rb") as source,
        (tmp_path / "out").open("wb") as target,
        subprocess.Popen([*ARGV, str(door.path)], stdin=source, stdout=target) as relay,
    ):
        link, reads, writes = door.greet()
        got = b""
        while chunk := os.read(reads, 65536):
            got += chunk
        assert got == (tmp_path / "in").read_bytes()
        os.write(writes, b"y" * 50_000)
        os.close(writes)
        os.close(reads)
        link.send(b"3\n")
        link.close()
        assert relay.wait(10) == 3
    assert (tmp_path / "out").read_bytes() == b"y" * 50_000


async def test_a_conversation_by_copying_is_the_same(door: Door, tmp_path: Path) -> None:
    (tmp_path / "in").write_bytes(b"line\n")
    with (
        (tmp_path / "in").open("rb") as source,
        subprocess.Popen([*ARGV, str(door.path)], stdin=source, stdout=subprocess.PIPE) as relay,
    ):
        assert relay.stdout is not None
        await asyncio.to_thread(conversation, door, relay)
        assert relay.stdout.read() == b"LINE\n"


def test_nobody_there_and_a_vanished_harness_have_one_code(door: Door, tmp_path: Path) -> None:
    nobody = subprocess.run([*ARGV, str(tmp_path / "none")], stdin=subprocess.PIPE, capture_output=True, check=False)
    assert (nobody.returncode, nobody.stdout, nobody.stderr) == (70, b"", b"")
    with subprocess.Popen([*ARGV, str(door.path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as relay:
        link, reads, writes = door.greet()
        for fd in (reads, writes):
            os.close(fd)
        link.close()
        assert relay.wait(10) == 70


def test_it_says_nothing_that_names_the_product_and_loads_little() -> None:
    code = "import sys; exec(open(sys.argv[1]).read(), {'__name__': 'relay'}); print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-I", "-S", "-c", code, RELAY], capture_output=True, check=True)
    heavy = {b"socket", b"selectors", b"threading", b"re", b"typing", b"enum", b"collections"}
    assert not heavy & set(loaded.stdout.split())
    assert b"oyer" not in RELAY.read_bytes().lower()
