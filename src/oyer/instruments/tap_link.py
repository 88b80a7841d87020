"""Where relays knock: a listening socket, and the two descriptors each of them hands over.

Owns the socket and the greeting. Must never trust what is handed over: anything but a pipe or a socket is
refused, more descriptors than two are closed, and a knock without a greeting does not stay.
"""

from __future__ import annotations

import array
import asyncio
import contextlib
import os
import socket
import stat
from collections.abc import Callable
from pathlib import Path

__all__ = ["RelayDoor", "RelayLink"]

_GREETING_LIMIT_S = 10.0
_BACKLOG = 64
_MAX_FDS = 16


class RelayLink:
    """The line to one relay that has handed over its streams; told the exit code at the end."""

    __slots__ = ("_loop", "_on_gone", "_socket", "_streams")

    def __init__(self, connected: socket.socket, from_subject_fd: int, to_subject_fd: int) -> None:
        self._loop = asyncio.get_running_loop()
        self._socket = connected
        self._on_gone: Callable[[], None] | None = None
        self._streams: tuple[int, ...] = (from_subject_fd, to_subject_fd)

    def take_streams(self) -> tuple[int, int]:
        """Hand the descriptors (to read the subject from, to write to it) to the caller, who closes them."""
        (reads, writes), self._streams = self._streams, ()
        return reads, writes

    def watch(self, on_gone: Callable[[], None]) -> None:
        """Have `on_gone` called once when the relay ends (or says anything: it has nothing to say)."""
        self._on_gone = on_gone
        self._loop.add_reader(self._socket.fileno(), self._readable)

    def close(self, exit_code: int | None) -> None:
        """Tell the relay what to exit with, if anything, and hang up."""
        for fd in self._streams:
            os.close(fd)
        self._streams = ()
        if self._socket.fileno() < 0:
            return
        self._loop.remove_reader(self._socket.fileno())
        if exit_code is not None:
            with contextlib.suppress(OSError):
                self._socket.send(b"%d\n" % exit_code)
        self._socket.close()

    def _readable(self) -> None:
        self._loop.remove_reader(self._socket.fileno())
        if self._on_gone is not None:
            self._on_gone()


class RelayDoor:
    """Listens on one path; calls `on_link` for each greeting, `on_refused(why)` for what is none."""

    __slots__ = ("_bound", "_listener", "_loop", "_on_link", "_on_refused", "_waiting", "path")

    def __init__(self, path: Path, on_link: Callable[[RelayLink], None], on_refused: Callable[[str], None]) -> None:
        self.path = path
        self._on_link = on_link
        self._on_refused = on_refused
        self._loop = asyncio.get_running_loop()
        self._waiting: dict[socket.socket, asyncio.TimerHandle] = {}
        self._listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM | socket.SOCK_CLOEXEC)
        try:
            self._listener.bind(str(path))
            path.chmod(0o600)
            self._bound = _identity(path)
            self._listener.listen(_BACKLOG)
            self._listener.setblocking(False)
        except BaseException:
            self._listener.close()
            raise
        self._loop.add_reader(self._listener.fileno(), self._accept)

    @property
    def is_reachable(self) -> bool:
        """False when the path no longer leads here: who knocked there was not heard."""
        return _identity(self.path) == self._bound

    def close(self) -> None:
        """Stop listening, turn away who has not greeted yet, and remove the path."""
        if self._listener.fileno() >= 0:
            self._loop.remove_reader(self._listener.fileno())
            self._listener.close()
        for waiting in list(self._waiting):
            self._drop(waiting)
        self.path.unlink(missing_ok=True)

    def _accept(self) -> None:
        try:
            connected, _ = self._listener.accept()
        except (BlockingIOError, InterruptedError, ConnectionAbortedError):
            return
        connected.setblocking(False)
        if len(self._waiting) >= _BACKLOG:
            connected.close()
            self._on_refused("too many relays knocked at once")
            return
        self._waiting[connected] = self._loop.call_later(_GREETING_LIMIT_S, self._too_late, connected)
        self._loop.add_reader(connected.fileno(), self._greet, connected)

    def _too_late(self, waiting: socket.socket) -> None:
        self._drop(waiting)
        self._on_refused("a relay connected and handed over nothing")

    def _drop(self, waiting: socket.socket) -> None:
        self._forget(waiting)
        waiting.close()

    def _forget(self, waiting: socket.socket) -> None:
        self._loop.remove_reader(waiting.fileno())
        self._waiting.pop(waiting).cancel()

    def _greet(self, waiting: socket.socket) -> None:
        try:
            hello, fds = _receive_fds(waiting)
        except (BlockingIOError, InterruptedError):
            return
        except OSError as error:
            self._drop(waiting)
            self._on_refused(f"a relay could not be read: {error.strerror}")
            return
        self._forget(waiting)
        if hello != b"\x01" or len(fds) != 2 or not all(map(_is_stream, fds)):
            for fd in fds:
                os.close(fd)
            waiting.close()
            self._on_refused("what connected handed over no two streams")
            return
        self._on_link(RelayLink(waiting, fds[0], fds[1]))


def _identity(path: Path) -> tuple[int, int, int] | None:
    try:
        found = path.lstat()
    except OSError:
        return None
    return found.st_dev, found.st_ino, stat.S_IMODE(found.st_mode)


def _receive_fds(connected: socket.socket) -> tuple[bytes, list[int]]:
    fds = array.array("i")
    room = socket.CMSG_SPACE(_MAX_FDS * fds.itemsize)
    hello, ancillary, _, _ = connected.recvmsg(1, room, getattr(socket, "MSG_CMSG_CLOEXEC", 0))
    for level, kind, data in ancillary:
        if level == socket.SOL_SOCKET and kind == socket.SCM_RIGHTS:
            fds.frombytes(data[: len(data) - len(data) % fds.itemsize])
    for fd in fds:
        os.set_inheritable(fd, False)
    return hello, list(fds)


def _is_stream(fd: int) -> bool:
    mode = os.fstat(fd).st_mode
    return stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode)
