"""What a server offers before any trial: its tool listing as observed, in its own bytes; with `further`, all it lists.

Owns starting a server once, the opening handshake, the listings with all their pages, and ending it. The digest is
`protocol.listing_digest` over the raw answers, so that the same listing seen through a tap gives the same digest.
Must never call a tool, and never leave the server running.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Literal, NamedTuple

from oyer.errors import Blocked, ProtocolError
from oyer.host import Child, Patience, PipeReader, PipeWriter, last_words, spawn, terminate_tree
from oyer.instruments.tap_settings import TappedServer
from oyer.protocol import (
    CallFailed,
    JsonValue,
    LineSplitter,
    McpClient,
    Message,
    Overlong,
    PageListed,
    Ready,
    ToolsListed,
    listing_digest,
    parse_message,
)

__all__ = ["Listing", "discover"]

Further = Literal["prompts/list", "resources/list"]
_FURTHER: Mapping[str, Further] = {"prompts": "prompts/list", "resources": "resources/list"}
_MOST_PAGES = 100
_STDERR_IN_MESSAGE_BYTES = 2000
_MAX_LISTING_BYTES = 16 * 1024 * 1024


class Listing(NamedTuple):
    """A server's tool listing. `answers` are the raw frames of all pages; `complete` is False for endless cursors.

    `greeting` is the raw frame of its opening answer. `prompts` and `resources` are the raw frames of those listings,
    None where they were not asked for, not offered, or refused.
    """

    digest: str
    answers: tuple[bytes, ...]
    tools: tuple[dict[str, JsonValue], ...]
    complete: bool
    protocol_version: str
    opening: JsonValue
    greeting: bytes = b""
    prompts: tuple[bytes, ...] | None = None
    resources: tuple[bytes, ...] | None = None


async def discover(
    server: TappedServer, *, limit_s: float = 30.0, patience: Patience | None = None, further: bool = False
) -> Listing:
    """Start a server, ask what it offers, and end it. `further` asks for prompts and resources too, if it has any.

    Raises: Blocked (`E-SERVER-START`, `E-SERVER-ANSWER`) when it cannot be started, dies, answers in error or not in
    time; the message holds the tail of its standard error.
    """
    try:
        child = spawn(server.command, env=server.env, cwd=server.cwd)
    except (OSError, ValueError) as error:
        raise Blocked("E-SERVER-START", f"could not be started: {error}", where=f"server:{server.name}") from error
    steps = patience or Patience()
    inquiry = _Inquiry(child, further=further)
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
        tail = last_words(stderr, _STDERR_IN_MESSAGE_BYTES)
        said = f"; stderr: {tail}" if tail else ""
        raise Blocked("E-SERVER-ANSWER", f"{why} (ended: {end.exit}){said}", where=f"server:{server.name}")
    return inquiry.listing


class _Inquiry:
    """The conversation: `initialize`, or `server/discover` where that is refused; then every page of each listing."""

    def __init__(self, child: Child, *, further: bool = False) -> None:
        self._further = further
        self._greeting = b""
        self._asked: list[Further] = []
        self._found: dict[str, list[bytes]] = {}
        self._tools: Listing | None = None
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
                self._opening, self._greeting = event, frame
                self._listing = True
                self._writer.write(self._client.data_to_send() + self._client.list_tools())
            elif isinstance(event, CallFailed):
                self._failed(event)
            elif isinstance(event, PageListed):
                self._page(event)
            elif isinstance(event, ToolsListed) and self._opening is not None:
                answers = tuple(self._pages)
                version, opening = self._opening
                self._listing = False
                self._tools = Listing(
                    listing_digest(answers), answers, event.tools, event.complete, version, opening, self._greeting
                )
                self._asked = _offered(opening) if self._further else []
                self._ask_further()
        self._writer.write(self._client.data_to_send())

    def _ask_further(self) -> None:
        """Ask for the next listing that the server says it has; when none is left, all is there."""
        if self._asked:
            self._writer.write(self._client.list_page(self._asked[0]))
        elif self._tools is not None:
            prompts, resources = (self._found.get(name) for name in _FURTHER.values())
            self.listing = self._tools._replace(
                prompts=None if prompts is None else tuple(prompts),
                resources=None if resources is None else tuple(resources),
            )

    def _page(self, page: PageListed) -> None:
        pages = self._found.setdefault(self._asked[0], [])
        pages.append(page.raw)
        if page.cursor is not None and len(pages) < _MOST_PAGES:
            self._writer.write(self._client.list_page(self._asked[0], page.cursor))
            return
        self._asked.pop(0)
        self._ask_further()

    def _failed(self, event: CallFailed) -> None:
        if self._asked and event.method == self._asked[0]:
            self._found.pop(self._asked.pop(0), None)
            self._ask_further()
            return
        if event.method == "initialize" and not self._tried_discover:
            self._tried_discover = True
            self._writer.write(self._client.start("discover"))
            return
        raise ProtocolError("E-MCP-ANSWER", f"answered {event.method} with an error: {event.message}", side="server")


def _offered(opening: JsonValue) -> list[Further]:
    """What a server says in its opening answer that it has, beside tools."""
    capabilities = opening.get("capabilities") if isinstance(opening, dict) else None
    return [method for name, method in _FURTHER.items() if isinstance(capabilities, dict) and name in capabilities]
