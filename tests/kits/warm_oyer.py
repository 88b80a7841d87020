"""`oyer` without the time it takes to import itself: one process imports it once, and forks for each command line.

Owns a host and a client. The host is started once (`WarmOyer`); the client is a program that hands its arguments,
directory, environment and standard streams to the host, which forks a process that runs the command line with them.
Everything that a command line starts (servers, subjects, sinks) is started as always. Must never be what a test of the
start itself uses, or of signals: those take the real program.
"""

from __future__ import annotations

import array
import atexit
import contextlib
import fcntl
import importlib
import json
import os
import shlex
import signal
import socket
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType

STREAMS = (0, 1, 2)
NO_CODE = 71
F_SETSIG = 10
CLIENT = """\
import array, json, os, socket, sys
line = socket.socket(socket.AF_UNIX)
line.connect(sys.argv[1])
told = json.dumps([sys.argv[2:], os.getcwd(), dict(os.environ)]).encode()
fds = array.array("i", [0, 1, 2])
line.sendmsg([len(told).to_bytes(8, "big")], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, fds)])
line.sendall(told)
code = line.recv(1)
sys.exit(code[0] if code else "the command line ended without a code")
"""


class WarmOyer:
    """The host as a context; `write_program` makes an `oyer` that uses it."""

    def __init__(self, python: str) -> None:
        self._python = python
        self._place = tempfile.TemporaryDirectory(prefix="warm-")
        self.place = Path(self._place.name)
        self._socket = self.place / "s"

    def __enter__(self) -> WarmOyer:
        self._host = subprocess.Popen(
            [self._python, __file__, str(self._socket)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        assert self._host.stdout is not None
        assert self._host.stdout.readline() == b"ready\n"
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, at: TracebackType | None) -> None:
        self._host.communicate()  # the host ends when its standard input does
        self._place.cleanup()

    def write_program(self, path: Path) -> Path:
        """Write a program that runs one command line."""
        client = self.place / "client.py"
        client.write_text(CLIENT)
        words = [self._python, "-I", "-S", str(client), str(self._socket)]
        path.write_text(f'#!/bin/sh\nexec {shlex.join(words)} "$@"\n')
        path.chmod(0o755)
        return path


class Warm:
    """The words that start an `oyer` of this interpreter, `[*OYER, "run", ...]`; the first who asks starts the host."""

    def __init__(self) -> None:
        self._words: list[str] = []

    def __iter__(self) -> Iterator[str]:
        if not self._words:
            running = WarmOyer(sys.executable).__enter__()
            atexit.register(running.__exit__, None, None, None)
            self._words = [str(running.write_program(running.place / "oyer"))]
        return iter(self._words)


OYER = Warm()


def host(place: str) -> None:
    """Import what command lines import, and fork for each of them until nobody holds the other end of stdin."""
    from oyer.cli.commands import COMMANDS

    for entry in COMMANDS.values():
        importlib.import_module(f"oyer.cli.{entry.module}")
    later = ("evaluators", "instruments.gateway", "instruments.tap_http", "cli.running", "cli.against")
    for room in ("adjudicate", "engine", "library", "report", "store", "verify", *later):
        importlib.import_module(f"oyer.{room}")
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(place)
        listener.listen(64)
        sys.stdout.write("ready\n")
        sys.stdout.flush()
        serve(listener)


def serve(listener: socket.socket) -> None:
    """Fork for each client."""
    import select

    while True:
        ready, _, _ = select.select([listener, 0], [], [])
        with contextlib.suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        if 0 in ready:
            return
        line = listener.accept()[0]
        if os.fork() == 0:
            listener.close()
            run(line)
        line.close()


def run(line: socket.socket) -> None:
    """Become what the client asks for, run it, and say how it ended. Never returns; ends when the client does."""
    code = NO_CODE
    try:
        arguments, directory, environment = receive(line)
        fcntl.fcntl(line, fcntl.F_SETOWN, os.getpid())
        fcntl.fcntl(line, F_SETSIG, signal.SIGTERM)
        fcntl.fcntl(line, fcntl.F_SETFL, fcntl.fcntl(line, fcntl.F_GETFL) | os.O_ASYNC)
        os.chdir(directory)
        os.environ.clear()
        os.environ.update(environment)
        sys.argv = ["oyer", *arguments]
        from oyer.cli import main

        code = main(arguments)
    except BaseException:  # noqa: BLE001 - whatever it is, this process must not go on as a host
        traceback.print_exc()
        sys.stderr.flush()
    finally:
        with contextlib.suppress(OSError):
            line.sendall(bytes([code]))
        os._exit(code)


def receive(line: socket.socket) -> tuple[list[str], str, dict[str, str]]:
    """Read the request, and put the client's streams in the place of this process's own."""
    fds = array.array("i")
    head, ancillary, _, _ = line.recvmsg(8, socket.CMSG_SPACE(len(STREAMS) * fds.itemsize))
    for level, kind, data in ancillary:
        if (level, kind) == (socket.SOL_SOCKET, socket.SCM_RIGHTS):
            fds.frombytes(data)
    size, told = int.from_bytes(head, "big"), b""
    while len(told) < size:
        told += line.recv(size - len(told))
    for number, fd in zip(STREAMS, fds, strict=True):
        os.dup2(fd, number)
        os.close(fd)
    arguments, directory, environment = json.loads(told)
    return arguments, directory, environment


if __name__ == "__main__":
    host(sys.argv[1])
