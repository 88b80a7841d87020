"""A server at an address, for a program that speaks lines over two descriptors: the bridge in a thread of that program.

Owns the thread and its ends of the two descriptors. Must never end the program: what the lines cannot say ends the
connection, and `why` says what it was.
"""

from __future__ import annotations

import os
import socket
import threading
from contextlib import suppress
from typing import Final

from oyer.programs.wire import WireFailed
from oyer.programs.wires import TRANSPORTS, AnyWire
from oyer.protocol import MAX_FRAME_BYTES, LineSplitter, Overlong

__all__ = ["Addressed"]

_READ_BYTES: Final = 65536
_LEAVING_S: Final = 1.0


class Addressed:
    """One connection: lines go into `to_fd` and come out of `from_fd`, which belong to the caller."""

    def __init__(self, url: str, transport: str) -> None:
        self.why: str | None = None
        taken, given = socket.socketpair(), socket.socketpair()
        self._in, self._out = taken[0], given[0]
        self.to_fd, self.from_fd = taken[1].detach(), given[1].detach()
        self._wire = AnyWire(url, MAX_FRAME_BYTES, self._out.fileno(), self._failed, TRANSPORTS[transport])
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def wait(self, limit_s: float) -> None:
        """Wait, but no longer than this, until the session has been ended, which the end of `to_fd` asks for."""
        self._thread.join(limit_s)

    def _run(self) -> None:
        with suppress(WireFailed):
            self._carry(LineSplitter(MAX_FRAME_BYTES))
            self._wire.leave(_LEAVING_S)
        self._shut()

    def _carry(self, splitter: LineSplitter) -> None:
        while chunk := os.read(self._in.fileno(), _READ_BYTES):
            for frame in splitter.feed(chunk):
                if isinstance(frame, Overlong):
                    self._failed(f"a frame of {frame.size_bytes} bytes is beyond the bound")
                    return
                self._wire.send(frame)

    def _failed(self, why: str) -> None:
        self.why = why
        self._shut()

    def _shut(self) -> None:
        """Say the end to whoever reads. The descriptors stay until the program ends: threads may still use them."""
        for end in (self._in, self._out):
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
