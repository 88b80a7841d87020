"""A server that is reached over HTTP, as a server over standard streams: one process for one connection.

Owns the start and the end of what serves (where the Case declares a command), and standard input and output. What is
said over HTTP is in `oyer.programs.wires`. Must never answer for a server, heal a broken session or try again what
may have been carried out: what the transports do not allow ends this process, with the reason on standard error.

python -m oyer.programs.http_bridge MAX_BYTES TRANSPORT URL [COMMAND ...]

TRANSPORT is `http` (Streamable HTTP), `sse` (HTTP with SSE as of 2024-11-05) or `auto`. `{port}` in the address, the
command and the environment is a free port of this machine, drawn at each start.
"""

from __future__ import annotations

import os
import signal
import socket
import sys
import threading
import time
from typing import Final, NoReturn

from oyer.programs.wire import WireFailed, note
from oyer.programs.wires import TRANSPORTS, AnyWire
from oyer.protocol import UNDECIDED_EXIT, LineSplitter, Overlong

__all__ = ["main"]

_CHUNK_BYTES: Final = 65536
_POLL_S: Final = 0.01
_LEAVING_S: Final = 1.0
_PORT: Final = "{port}"
_OF_SIGNALS: Final = 128


class _Served:
    """The process that serves, if this one started it."""

    def __init__(self, command: list[str], wire: AnyWire) -> None:
        self._wire = wire
        self._leaving = False
        self._gone = threading.Event()
        actions = [(os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0), (os.POSIX_SPAWN_DUP2, 2, 1)]
        self._pid = os.posix_spawnp(command[0], command, os.environ, file_actions=actions)
        threading.Thread(target=self._watch, daemon=True).start()

    def wait_until_open(self) -> None:
        """Return when the port takes a connection; a server that ends before it does ends this process too."""
        while True:
            try:
                socket.create_connection(self._wire.address, timeout=_LEAVING_S).close()
            except OSError:
                time.sleep(_POLL_S)
            else:
                return

    def end(self) -> None:
        """Ask it to end, and wait a moment; whoever started us ends what is left."""
        self._leaving = True
        if not self._gone.is_set():
            os.kill(self._pid, signal.SIGTERM)
            self._gone.wait(_LEAVING_S)

    def _watch(self) -> None:
        _, status = os.waitpid(self._pid, 0)
        self._gone.set()
        if not self._leaving:
            code = os.waitstatus_to_exitcode(status)
            how = f"with code {code}" if code >= 0 else f"by signal {-code}"
            # The signals of others are told from its own end by whoever reads our code.
            _end(f"the server ended {how} while it was in use", 1 if 0 <= code < _OF_SIGNALS else UNDECIDED_EXIT)


def main(argv: list[str]) -> int:
    """Carry frames both ways until standard input ends; return the exit code."""
    max_bytes, transport, url, command = int(argv[1]), TRANSPORTS[argv[2]], argv[3], argv[4:]
    port = str(_free_port()) if command else ""
    wire = AnyWire(url.replace(_PORT, port), max_bytes, 1, lambda why: _end(why, _code(wire)), transport)
    served: _Served | None = None
    if command:
        for name, value in list(os.environ.items()):
            os.environ[name] = value.replace(_PORT, port)
        served = _start([word.replace(_PORT, port) for word in command], wire)
        served.wait_until_open()
    _carry(wire, LineSplitter(max_bytes))
    wire.leave(_LEAVING_S)
    if served is not None:
        served.end()
    return 0


def _start(command: list[str], wire: AnyWire) -> _Served:
    try:
        return _Served(command, wire)
    except OSError as error:
        _end(f"the server could not be started: {error}")


def _end(why: str, code: int = 1) -> NoReturn:
    """End this process: what the server's client would need to know cannot be said over standard streams."""
    if why:
        note(why)
    os._exit(code if why else 0)


def _code(wire: AnyWire) -> int:
    return 1 if wire.is_servers else UNDECIDED_EXIT


def _carry(wire: AnyWire, splitter: LineSplitter) -> None:
    while chunk := os.read(0, _CHUNK_BYTES):
        for frame in splitter.feed(chunk):
            if isinstance(frame, Overlong):
                _end(f"a frame of {frame.size_bytes} bytes is beyond the bound")
            _send(wire, frame)
    rest = splitter.end()
    if isinstance(rest, bytes) and rest:
        _send(wire, rest)


def _send(wire: AnyWire, frame: bytes) -> None:
    try:
        wire.send(frame)
    except WireFailed:
        raise
    except Exception as error:  # noqa: BLE001 - told: what a client sends must not look like the server's end
        _end(f"a message could not be sent on: {type(error).__name__}: {error}", UNDECIDED_EXIT)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


if __name__ == "__main__":
    code = main(sys.argv)
    os._exit(code)  # threads may still wait for a stream that nobody needs any more
