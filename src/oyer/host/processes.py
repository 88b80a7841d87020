"""Starting child processes, each in a session of its own, with exactly the environment that was declared.

Owns spawning, the wait for the exit and the bounded keeping of standard error. An exit and the end of a pipe
are different things here: a grandchild may hold a pipe open long after its parent has gone.
Ending a child with all it started is in `process_tree`.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from oyer.host.pipes import PipeReader
from oyer.host.process_table import ProcessInfo, process_info

__all__ = ["BoundedBytes", "Child", "Exit", "base_environment", "is_ours", "last_words", "spawn"]

_STDERR_HEAD_BYTES = 16 * 1024
_STDERR_TAIL_BYTES = 48 * 1024

_WITHIN_A_CHARACTER = bytes(range(0x80, 0xC0))
"""UTF-8: what a character never begins with."""

_ours: set[int] = set()
"""Pids that `spawn` started and whose exit it has not collected yet."""


class Exit(NamedTuple):
    """How a process ended: an exit code, or the number of the signal that ended it."""

    code: int | None
    signal: int | None

    def __str__(self) -> str:
        return f"exit code {self.code}" if self.signal is None else f"signal {signal.Signals(self.signal).name}"


class BoundedBytes:
    """Keeps the first and the last bytes of a stream; what was cut between them is marked, never silent."""

    __slots__ = ("_head", "_head_limit", "_seen", "_tail", "_tail_limit")

    def __init__(self, head_bytes: int = _STDERR_HEAD_BYTES, tail_bytes: int = _STDERR_TAIL_BYTES) -> None:
        self._head = bytearray()
        self._tail = bytearray()
        self._head_limit = head_bytes
        self._tail_limit = tail_bytes
        self._seen = 0

    def add(self, chunk: bytes) -> None:
        """Take the next bytes of the stream."""
        self._seen += len(chunk)
        room = self._head_limit - len(self._head)
        self._head += chunk[:room]
        self._tail += chunk[room:]
        if len(self._tail) > 2 * self._tail_limit:
            del self._tail[: -self._tail_limit]

    @property
    def cut_bytes(self) -> int:
        """How many bytes between head and tail are not kept."""
        return self._seen - len(self._head) - min(len(self._tail), self._tail_limit)

    def value(self) -> bytes:
        """Return what was kept, with a mark where something is missing."""
        tail = bytes(self._tail[-self._tail_limit :]) if self._tail_limit else b""
        mark = b"\n[... %d bytes cut ...]\n" % self.cut_bytes if self.cut_bytes else b""
        return bytes(self._head) + mark + tail


def last_words(output: bytes, limit_bytes: int) -> str:
    """Return the end of an output for a message, with a note before it where something was cut off."""
    if len(output) <= limit_bytes:
        return output.decode("utf-8", "replace").strip()
    tail = output[-limit_bytes:].lstrip(_WITHIN_A_CHARACTER)
    return f"[... {len(output) - len(tail)} bytes cut ...] {tail.decode('utf-8', 'replace').rstrip()}"


class Child:
    """One started process. The owner takes `stdin_fd` and `stdout_fd`, waits, and calls `release` on every path."""

    __slots__ = ("_exited", "_loop", "_pidfd", "_popen", "_stderr_end", "_stderr_reader", "argv", "info", "pid",
                 "stderr", "stdin_fd", "stdout_fd")  # fmt: skip

    def __init__(self, popen: subprocess.Popen[bytes], argv: Sequence[str], fds: tuple[int, int, int]) -> None:
        self._loop = asyncio.get_running_loop()
        self._popen = popen
        self._exited: asyncio.Future[Exit] = self._loop.create_future()
        self._stderr_end = asyncio.Event()
        self._pidfd = -1
        self.pid = popen.pid
        self.info: ProcessInfo | None = process_info(popen.pid)
        self.argv = tuple(argv)
        self.stdin_fd, self.stdout_fd = fds[0], fds[1]
        self.stderr = BoundedBytes()
        self._stderr_reader = PipeReader(fds[2], self.stderr.add, self._stderr_end.set)
        self._watch()

    @property
    def exit(self) -> Exit | None:
        """How it ended; None while it runs."""
        return self._exited.result() if self._exited.done() else None

    async def wait(self) -> Exit:
        """Wait for the exit (not for the end of any pipe)."""
        return await asyncio.shield(self._exited)

    async def wait_at_most(self, limit_s: float) -> Exit | None:
        """Wait for the exit, but no longer than this; None when it still runs."""
        await asyncio.wait((self._exited,), timeout=limit_s)
        return self.exit

    def on_exit(self, call: Callable[[], None]) -> None:
        """Have `call` made soon after the exit."""
        self._exited.add_done_callback(lambda _: call())

    def take_stdin(self) -> int:
        """Hand the write end of standard input to the caller, who closes it."""
        fd, self.stdin_fd = self.stdin_fd, -1
        return fd

    def take_stdout(self) -> int:
        """Hand the read end of standard output to the caller, who closes it."""
        fd, self.stdout_fd = self.stdout_fd, -1
        return fd

    def close_stdin(self) -> None:
        """Send end of stream, when nobody has taken standard input."""
        if self.stdin_fd >= 0:
            os.close(self.take_stdin())

    async def finish_stderr(self, grace_s: float) -> bytes:
        """Wait a short grace for the end of standard error, cut it then, and return what was kept."""
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._stderr_end.wait(), grace_s)
        self._stderr_reader.close()
        return self.stderr.value()

    def hear_last_words(self) -> None:
        """Take what waits on standard error now; of a process that has ended that is all it said there."""
        self._stderr_reader.catch_up()

    def kill_group(self) -> None:
        """Kill its whole group at once, if it still runs. `terminate_tree` is the gentle and thorough way."""
        if self.exit is None:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self.pid, signal.SIGKILL)

    def release(self) -> None:
        """Close every descriptor still held. The exit goes on being awaited until it is collected."""
        self.close_stdin()
        if self.stdout_fd >= 0:
            os.close(self.take_stdout())
        self._stderr_reader.close()

    def _watch(self) -> None:
        if sys.platform == "linux":
            self._pidfd = os.pidfd_open(self.pid)
            self._loop.add_reader(self._pidfd, self._collect)
        else:
            threading.Thread(target=self._wait_in_thread, name=f"wait-{self.pid}", daemon=True).start()

    def _wait_in_thread(self) -> None:
        self._popen.wait()
        with contextlib.suppress(RuntimeError):
            self._loop.call_soon_threadsafe(self._collect)

    def _collect(self) -> None:
        code = self._popen.poll()
        if code is None:
            return
        if self._pidfd >= 0:
            self._loop.remove_reader(self._pidfd)
            os.close(self._pidfd)
            self._pidfd = -1
        _ours.discard(self.pid)
        if not self._exited.done():
            self._exited.set_result(Exit(code, None) if code >= 0 else Exit(None, -code))


def is_ours(pid: int) -> bool:
    """Say whether `spawn` started this process and still waits for it."""
    return pid in _ours


def base_environment(home: Path, temp: Path, environ: Mapping[str, str]) -> dict[str, str]:
    """Return the whole undeclared part of a child's environment: PATH as here, the rest fixed.

    It is the same in every arm; nothing else of the operator's environment reaches a child.
    """
    return {
        "PATH": environ.get("PATH", "/usr/local/bin:/usr/bin:/bin"),
        "LANG": "C.UTF-8",
        "HOME": str(home),
        "TMPDIR": str(temp),
    }


def spawn(
    argv: Sequence[str],
    *,
    env: Mapping[str, str],
    cwd: Path,
    stdin: bool = True,
    stdout: bool = True,
    pass_fds: Sequence[int] = (),
) -> Child:
    """Start a program in a session and process group of its own; call it on a running event loop.

    Without `stdin` or `stdout` that stream is the null device. No other descriptor of this process reaches it.
    Raises: OSError when the program cannot be started, ValueError for a NUL in an argument.
    """
    kept: list[int] = []
    given: list[int] = []
    try:
        stdin_ends = _pipe(stdin, kept, given, child_reads=True)
        stdout_ends = _pipe(stdout, kept, given, child_reads=False)
        stderr_ends = _pipe(True, kept, given, child_reads=False)
        popen = subprocess.Popen(
            list(argv),
            stdin=stdin_ends[1],
            stdout=stdout_ends[1],
            stderr=stderr_ends[1],
            env=dict(env),
            cwd=cwd,
            start_new_session=True,
            close_fds=True,
            pass_fds=tuple(pass_fds),
        )
    except BaseException:
        _close_all(kept)
        raise
    finally:
        _close_all(given)
    _ours.add(popen.pid)
    return Child(popen, argv, (stdin_ends[0], stdout_ends[0], stderr_ends[0]))


def _pipe(wanted: bool, kept: list[int], given: list[int], *, child_reads: bool) -> tuple[int, int]:
    """Make one stream; return (our end or -1, the child's end)."""
    if not wanted:
        null = os.open(os.devnull, os.O_RDONLY if child_reads else os.O_WRONLY)
        given.append(null)
        return -1, null
    reads, writes = os.pipe()
    ours, theirs = (writes, reads) if child_reads else (reads, writes)
    kept.append(ours)
    given.append(theirs)
    return ours, theirs


def _close_all(fds: Sequence[int]) -> None:
    for fd in fds:
        os.close(fd)
