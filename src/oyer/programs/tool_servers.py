"""The servers of a subject process: started or asked when first used, spoken to over pipes, no timer.

Owns the processes of the servers' commands, the threads that ask addresses, and the pumping of their pipes, several at
once, so that none is held up because another is being waited for. Must never keep time: deadlines are set from outside,
by whoever started this process. A server that refuses a call is a `ServerError` for that call; one that is gone or
speaks nonsense is a `ServerGoneError` for every call that would need it.
"""

from __future__ import annotations

import os
import select
import signal
import time
from collections import deque
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from oyer.errors import ProtocolError
from oyer.protocol import CallFailed, ClientEvent, JsonValue, McpClient, Ready, ToolReturned, ToolsListed, dumps

if TYPE_CHECKING:
    from oyer.programs.addressed import Addressed

__all__ = ["Answer", "ServerError", "ServerGoneError", "ToolServers", "unmade"]

_READ_BYTES: Final = 256 * 1024
_WRITE_BYTES: Final = 64 * 1024
_SETTLE_S: Final = 1.0
_POLL_S: Final = 0.002


class ServerError(Exception):
    """A server could not be started, is gone, or answered with an error."""


class ServerGoneError(ServerError):
    """A call could not be made, or has no answer: nobody is there to take it."""


class Answer(NamedTuple):
    """A tool's answer. `strings` holds what it says outside its text blocks, for looking only."""

    text: str
    strings: tuple[str, ...]
    is_error: bool

    @property
    def shown(self) -> str:
        """What is shown to a model: the text, or where there is none, what else came."""
        return self.text or "\n".join(self.strings)


class _Process:
    """A server that a command starts: its two pipes and its end."""

    why: str | None = None

    def __init__(self, command: list[str], env: dict[str, str]) -> None:
        child_in, self.to_fd = os.pipe()
        self.from_fd, child_out = os.pipe()
        try:
            self._pid = os.posix_spawnp(
                command[0],
                command,
                env,
                file_actions=[(os.POSIX_SPAWN_DUP2, child_in, 0), (os.POSIX_SPAWN_DUP2, child_out, 1)],
                # Python ignores these, and a program that was started should not.
                setsigdef=[signal.SIGPIPE, signal.SIGXFSZ],
            )
        except OSError as error:
            os.close(self.to_fd)
            os.close(self.from_fd)
            raise ServerGoneError(f"cannot start {command[0]}: {error.strerror}") from error
        finally:
            os.close(child_in)
            os.close(child_out)

    def wait(self, limit_s: float) -> None:
        """Give it a moment to end, then end it."""
        until = time.monotonic() + limit_s
        while os.waitpid(self._pid, os.WNOHANG)[0] == 0:
            if time.monotonic() >= until:
                os.kill(self._pid, signal.SIGKILL)
                os.waitpid(self._pid, 0)
                return
            time.sleep(_POLL_S)


class _Server:
    """One server: what carries its lines, and what is said on them."""

    __slots__ = ("_line", "client", "events", "from_fd", "gone", "outbox", "to_fd", "tools")

    def __init__(self, line: _Process | Addressed) -> None:
        self._line = line
        self.to_fd, self.from_fd = line.to_fd, line.from_fd
        os.set_blocking(self.to_fd, False)
        self.client = McpClient()
        self.outbox = bytearray()
        self.events: deque[ClientEvent] = deque()
        self.gone: str | None = None
        self.tools: tuple[dict[str, JsonValue], ...] = ()

    def wait(self, limit_s: float) -> None:
        """Wait, but no longer than this, for the end of what is behind it."""
        self._line.wait(limit_s)

    def read(self) -> None:
        data = os.read(self.from_fd, _READ_BYTES)
        if not data:
            self.gone = self.gone or self._line.why or "it ended the connection"
            return
        try:
            self.events.extend(self.client.feed(data))
        except ProtocolError as error:
            self.gone = str(error)
        self.outbox += self.client.data_to_send()

    def write(self) -> None:
        try:
            done = os.write(self.to_fd, self.outbox[:_WRITE_BYTES])
        except BlockingIOError:
            return
        except OSError:
            # Nobody reads any more; what it still says is worth reading.
            self.outbox.clear()
            return
        del self.outbox[:done]


class ToolServers:
    """All servers that a subject may use, by name."""

    def __init__(self, commands: dict[str, Any]) -> None:
        self._commands = commands
        self._servers: dict[str, _Server] = {}

    @property
    def names(self) -> tuple[str, ...]:
        """The names of all servers, started or not."""
        return tuple(self._commands)

    def tools(self, name: str) -> tuple[dict[str, JsonValue], ...]:
        """Return a server's tools as listed right after the handshake. Raises: ServerError."""
        return self._connected(name).tools

    def call(self, name: str, tool: str, arguments: dict[str, JsonValue]) -> Answer:
        """Call a tool and wait for its answer. Raises: ServerError, also for an answer that is an error."""
        server = self._connected(name)
        server.outbox += server.client.call_tool(tool, arguments)
        number = server.client.pending[-1]
        while True:
            event = self._next(name, server)
            if isinstance(event, ToolReturned) and event.id == number:
                return Answer(event.text, _strings(event.result), event.is_error)
            if isinstance(event, CallFailed) and event.id == number:
                raise ServerError(f"{name} answered with an error: {event.message}")

    def write_raw(self, name: str, data: bytes) -> None:
        """Send bytes that need not be a message."""
        server = self._connected(name)
        server.outbox += data
        while server.outbox and server.gone is None:
            self._pump()

    def pump_until(self, fd: int) -> None:
        """Attend to the servers until `fd` is readable; returns at once where there are none."""
        while any(server.gone is None for server in self._servers.values()):
            if self._pump(fd):
                return

    def close(self) -> None:
        """End every connection, give the processes a moment, then end them."""
        for server in self._servers.values():
            os.close(server.to_fd)
            os.close(server.from_fd)
        until = time.monotonic() + _SETTLE_S
        for server in self._servers.values():
            server.wait(max(0.0, until - time.monotonic()))
        self._servers.clear()

    def _connected(self, name: str) -> _Server:
        server = self._servers.get(name)
        if server is not None:
            if server.gone is not None:
                raise ServerGoneError(f"{name} is gone: {server.gone}")
            return server
        given = self._commands.get(name)
        if given is None:
            raise ServerError(f"there is no server {name}")
        server = self._servers[name] = _Server(_line_to(given))
        server.outbox += server.client.start()
        self._await(name, server, Ready)
        server.outbox += server.client.list_tools()
        listed = self._await(name, server, ToolsListed)
        server.tools = listed.tools
        return server

    def _await(self, name: str, server: _Server, kind: Any) -> Any:
        while True:
            event = self._next(name, server)
            if isinstance(event, kind):
                return event
            if isinstance(event, CallFailed):
                server.gone = f"{event.method} failed: {event.message}"
                raise ServerGoneError(f"{name} is gone: {server.gone}")

    def _next(self, name: str, server: _Server) -> ClientEvent:
        while not server.events:
            if server.gone is not None:
                raise ServerGoneError(f"{name} is gone: {server.gone}")
            self._pump()
        return server.events.popleft()

    def _pump(self, fd: int = -1) -> bool:
        """Wait until any pipe is ready and attend to all that are; say whether `fd` is."""
        poll = select.poll()
        if fd >= 0:
            poll.register(fd, select.POLLIN)
        attend = {}
        for server in self._servers.values():
            if server.gone is None:
                attend[server.from_fd] = server.read
                poll.register(server.from_fd, select.POLLIN)
                if server.outbox:
                    attend[server.to_fd] = server.write
                    poll.register(server.to_fd, select.POLLOUT)
        ready = [found for found, _ in poll.poll()]
        for found in ready:
            if found != fd:
                attend[found]()
        return fd in ready


def _line_to(given: dict[str, Any]) -> _Process | Addressed:
    if "url" in given:
        from oyer.programs.addressed import Addressed  # loading HTTP takes longer than everything else here

        return Addressed(given["url"], given["transport"])
    return _Process(list(given["command"]), {**os.environ, **given.get("env", {})})


def unmade(about: dict[str, Any], error: ServerError) -> dict[str, Any]:
    """Return the note on a call that was not made or not answered.

    Where nobody was there to take it, that is a fault: what was tried then left no trace at any tap, and the silence
    there would be read as the subject's.
    """
    note = {**about, "why": str(error)}
    if isinstance(error, ServerGoneError):
        note["fault"] = {"class": "dependency_unavailable", "message": str(error)}
    return note


def _strings(result: dict[str, JsonValue]) -> tuple[str, ...]:
    """Collect what a result says outside its text blocks: its structured content as JSON, its embedded resources."""
    found: list[str] = []
    content = result.get("content")
    for block in content if isinstance(content, list) else []:
        resource = block.get("resource") if isinstance(block, dict) else None
        if isinstance(resource, dict) and isinstance(resource.get("text"), str):
            found.append(str(resource["text"]))
    structured = result.get("structuredContent")
    if structured is not None:
        found.append(dumps(structured).decode("utf-8", "replace"))
        found += _leaves(structured)
    return tuple(found)


def _leaves(value: JsonValue) -> list[str]:
    waiting, found = [value], list[str]()
    while waiting:
        item = waiting.pop()
        if isinstance(item, str):
            found.append(item)
        elif isinstance(item, dict):
            waiting.extend(item.values())
        elif isinstance(item, list):
            waiting.extend(item)
    return found
