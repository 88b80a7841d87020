"""The process behind an address, where the Case declares a command that serves one.

Owns its start on a port drawn at that moment, the wait until it takes a connection, and its end with everything it
started. Must never start it again: one that is gone is gone for the session.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable
from typing import Final

from oyer.errors import HarnessError
from oyer.host import Child, Patience, PipeReader, TreeEnd, spawn, terminate_tree
from oyer.instruments.tap_settings import TappedServer

__all__ = ["Served"]

_POLL_S: Final = 0.01


class Served:
    """One process that serves; `url` is where. `on_exit` is called when it ends before it was told to."""

    def __init__(self, server: TappedServer, on_exit: Callable[[], None]) -> None:
        """Start it. Raises: OSError, ValueError where it cannot be started; HarnessError without an address."""
        if server.url is None:
            raise HarnessError("E-TAP-START", f"server {server.name} has no address")
        self._port = _free_port()
        mark, port = server.port_mark, str(self._port)
        self.url = server.url.replace(mark, port)
        self.argv = [word.replace(mark, port) for word in server.command]
        env = {name: value.replace(mark, port) for name, value in server.env.items()}
        self._marker = server.marker
        self._ends_with_input = server.ends_with_input
        self._ending = False
        self._on_exit = on_exit
        self.child: Child = spawn(self.argv, env=env, cwd=server.cwd)
        # What it prints is kept with its errors: it must be read, or the server stops when the pipe is full.
        self._output = PipeReader(self.child.take_stdout(), self.child.stderr.add, lambda: None)
        self.child.on_exit(self._exited)

    async def wait_until_open(self, limit_s: float) -> bool:
        """Wait until it takes a connection; False when it ended or took too long."""
        loop = asyncio.get_running_loop()
        until = loop.time() + limit_s
        while self.child.exit is None and loop.time() < until:
            try:
                _, writer = await asyncio.open_connection("127.0.0.1", self._port)
            except OSError:
                await asyncio.sleep(_POLL_S)
            else:
                writer.close()
                return True
        return False

    async def end(self, patience: Patience) -> tuple[TreeEnd, bytes]:
        """End it and all it started; return how it ended and the end of what it wrote to standard error."""
        self._ending = True
        if not self._ends_with_input:
            patience = patience._replace(settle_s=0.0)
        end = await terminate_tree(self.child, marker=self._marker, patience=patience)
        stderr = await self.child.finish_stderr(patience.grace_s)
        self._output.close()
        self.child.release()
        return end, stderr

    def _exited(self) -> None:
        self._output.catch_up()
        self.child.hear_last_words()
        if not self._ending:
            self._on_exit()


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
