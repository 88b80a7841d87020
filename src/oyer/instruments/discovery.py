"""What a server offers before any trial: its tool listing as observed, in its own bytes.

Owns starting a server once, the opening handshake, the listing with all its pages, and ending it. The digest is
`protocol.listing_digest` over the raw answers, so that the same listing seen through a tap gives the same digest.
Must never call a tool, and never leave the server running.
"""

from __future__ import annotations

import asyncio
from typing import NamedTuple

from oyer.errors import Blocked, ProtocolError
from oyer.host import Child, Patience, PipeReader, PipeWriter, spawn, terminate_tree
from oyer.instruments.tap_settings import TappedServer
from oyer.protocol import (
    CallFailed,
    JsonValue,
    LineSplitter,
    McpClient,
    Message,
    Overlong,
    Ready,
    ToolsListed,
    listing_digest,
    parse_message,
)

__all__ = ["Listing", "discover"]

_STDERR_IN_MESSAGE_BYTES = 2000
_MAX_LISTING_BYTES = 16 * 1024 * 1024


class Listing(NamedTuple):
    """A server's tool listing. `answers` are the raw frames of all pages; `complete` is False for endless cursors."""

    digest: str
    answers: tuple[bytes, ...]
    tools: tuple[dict[str, JsonValue], ...]
    complete: bool
    protocol_version: str
    opening: JsonValue


async def discover(server: TappedServer, *, limit_s: float = 30.0, patience: Patience | None = None) -> Listing:
    """Start a server, ask what it offers, and end it.

    Raises: Blocked (`E-SERVER-START`, `E-SERVER-ANSWER`) when it cannot be started, dies, answers in error or not in
    time; the message holds the tail of its standard error.
    """
    try:
        child = spawn(server.command, env=server.env, cwd=server.cwd)
    except (OSError, ValueError) as error:
        raise Blocked("E-SERVER-START", f"could not be started: {error}", where=f"server:{server.name}") from error
    steps = patience or Patience()
    inquiry = _Inquiry(child)
    why = ""
    try:
        await asyncio.wait_for(inquiry.run(), limit_s)
    except TimeoutError:
        why = f"did not answer within {limit_s:g} s"
    except (ProtocolError, EOFError) as error:
        why = str(error)
    finally:
        inquiry.close()
        end = await terminate_tree(child, marker=server.marker, patience=steps)
        stderr = await child.finish_stderr(steps.grace_s)
        child.release()
    if why or inquiry.listing is None:
        tail = stderr[-_STDERR_IN_MESSAGE_BYTES:].decode("utf-8", "replace").strip()
        said = f"; stderr: {tail}" if tail else ""
        raise Blocked("E-SERVER-ANSWER", f"{why} (ended: {end.exit}){said}", where=f"server:{server.name}")
    return inquiry.listing


class _Inquiry:
    """The conversation: `initialize`, or `server/discover` where that is refused; then every page of the listing."""

    def __init__(self, child: Child) -> None:
        self.listing: Listing | None = None
        self._client = McpClient()
        self._splitter = LineSplitter(_MAX_LISTING_BYTES)
        self._frames: asyncio.Queue[bytes | Overlong | None] = asyncio.Queue()
        self._pages: list[bytes] = []
        self._listing = False
        self._opening: Ready | None = None
        self._tried_discover = False
        self._writer = PipeWriter(child.take_stdin(), on_broken=lambda: self._frames.put_nowait(None))
        self._reader = PipeReader(child.take_stdout(), self._data, lambda: self._frames.put_nowait(None))

    async def run(self) -> None:
        """Ask until the listing is there. Raises: ProtocolError, EOFError."""
        self._writer.write(self._client.start())
        received = 0
        while self.listing is None:
            frame = await self._frames.get()
            if frame is None:
                raise EOFError("ended its stream before it had answered")
            if isinstance(frame, Overlong):
                raise ProtocolError("E-MCP-OVERLONG", f"sent a frame of {frame.size_bytes} bytes", side="server")
            received += len(frame)
            if received > _MAX_LISTING_BYTES:
                raise ProtocolError("E-MCP-OVERLONG", "sent more than a listing may hold", side="server")
            self._take(frame)

    def close(self) -> None:
        self._reader.close()
        self._writer.close()

    def _data(self, data: bytes) -> None:
        for frame in self._splitter.feed(data):
            self._frames.put_nowait(frame)

    def _take(self, frame: bytes) -> None:
        message = parse_message(frame)
        if self._listing and isinstance(message, Message) and message.kind == "response":
            self._pages.append(frame)
        for event in self._client.feed(frame):
            if isinstance(event, Ready):
                self._opening = event
                self._listing = True
                self._writer.write(self._client.data_to_send() + self._client.list_tools())
            elif isinstance(event, CallFailed):
                self._failed(event)
            elif isinstance(event, ToolsListed) and self._opening is not None:
                answers = tuple(self._pages)
                version, opening = self._opening
                self.listing = Listing(listing_digest(answers), answers, event.tools, event.complete, version, opening)
        self._writer.write(self._client.data_to_send())

    def _failed(self, event: CallFailed) -> None:
        if event.method == "initialize" and not self._tried_discover:
            self._tried_discover = True
            self._writer.write(self._client.start("discover"))
            return
        raise ProtocolError("E-MCP-ANSWER", f"answered {event.method} with an error: {event.message}", side="server")
