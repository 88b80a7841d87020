"""A small MCP client: calls in as bytes to send, bytes received out as events.

Owns the client side of both eras: the handshake, `server/discover` with its fall-back to `initialize`, paged listings,
tool calls, and answers to what a server asks. Reading, writing and waiting are the caller's.
Must never do I/O, keep time, or answer a server's question with more than `ping` or "not supported".
Source: MCP schemas 2024-11-05 to 2026-07-28 (lifecycle, tools, pagination, utilities).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, NamedTuple, TypeAlias

from oyer.errors import ProtocolError
from oyer.protocol.frames import LineSplitter, Message, Noise, Overlong, encode_message, id_key, parse_message
from oyer.protocol.jsonvalue import JsonValue
from oyer.protocol.mcp_names import (
    CLIENT_CAPABILITIES,
    CLIENT_INFO,
    HANDSHAKE_VERSIONS,
    METHOD_NOT_FOUND,
    MODERN_VERSION,
    PROTOCOL_VERSION,
)

__all__ = [
    "CallFailed",
    "ClientEvent",
    "McpClient",
    "PageListed",
    "Ready",
    "ServerAsked",
    "ServerNotified",
    "ToolReturned",
    "ToolsListed",
    "tool_text",
]

_MAX_PAGES = 100


class Ready(NamedTuple):
    """The server may be used: the agreed protocol version and what the server said of itself."""

    protocol_version: str
    answer: JsonValue


class ToolsListed(NamedTuple):
    """The whole listing, all pages together. `complete` is False where the server's cursors never ended."""

    tools: tuple[dict[str, JsonValue], ...]
    complete: bool


class PageListed(NamedTuple):
    """One page of what a server offers beside tools, as it came; `cursor` asks for the next one."""

    method: str
    cursor: str | None
    raw: bytes


class ToolReturned(NamedTuple):
    """A tool's result. `text` joins its text blocks with line feeds; `is_error` is the tool's own word."""

    id: int
    tool: str
    text: str
    is_error: bool
    result: dict[str, JsonValue]
    raw: bytes


class CallFailed(NamedTuple):
    """A request that was answered with an error, or with something that cannot be used (`code` None)."""

    id: int
    method: str
    tool: str | None
    code: JsonValue
    message: str
    raw: bytes


class ServerAsked(NamedTuple):
    """A request by the server; its answer is in `data_to_send`."""

    method: str
    raw: bytes


class ServerNotified(NamedTuple):
    """A notification by the server, or an answer to nothing we asked (`method` None)."""

    method: str | None
    raw: bytes


ClientEvent: TypeAlias = (
    Ready | ToolsListed | PageListed | ToolReturned | CallFailed | ServerAsked | ServerNotified | Noise
)


class McpClient:
    """One connection to one server. Write what the methods return, then what `data_to_send` gives after each `feed`."""

    __slots__ = ("_next_id", "_outgoing", "_pages", "_pending", "_splitter", "info", "modern", "strict")

    def __init__(self, name: str = "client", version: str = "1", *, strict: bool = False) -> None:
        self.info = {"name": name, "version": version}
        self.strict = strict  # whether a line that is no message is an error, as for many real clients
        self.modern = False
        self._splitter = LineSplitter()
        self._outgoing: list[bytes] = []
        self._pending: dict[tuple[str, object], tuple[int, str, str | None]] = {}  # id -> id, method, tool
        self._pages: list[tuple[dict[str, JsonValue], ...]] = []
        self._next_id = 1

    @property
    def pending(self) -> tuple[int, ...]:
        """The ids of our requests that have no answer yet."""
        return tuple(entry[0] for entry in self._pending.values())

    def start(self, era: Literal["initialize", "discover"] = "initialize") -> bytes:
        """Return the opening request; `Ready` follows. A server that knows no `discover` is asked to `initialize`."""
        self.modern = era == "discover"
        if self.modern:
            return self._request("server/discover", {})
        hello: dict[str, object] = {
            "protocolVersion": HANDSHAKE_VERSIONS[-1],
            "capabilities": {},
            "clientInfo": self.info,
        }
        return self._request("initialize", hello)

    def list_tools(self) -> bytes:
        """Return the request for the listing; further pages are asked for by `feed`."""
        self._pages = []
        return self._request("tools/list", {})

    def list_page(self, method: Literal["prompts/list", "resources/list"], cursor: str | None = None) -> bytes:
        """Return the request for one page of prompts or resources; `PageListed` follows, or `CallFailed`."""
        return self._request(method, {} if cursor is None else {"cursor": cursor})

    def call_tool(self, name: str, arguments: Mapping[str, object]) -> bytes:
        """Return a tool call. Its id is the last of `pending`."""
        return self._request("tools/call", {"name": name, "arguments": arguments}, name)

    def cancel(self, request_id: int) -> bytes:
        """Return the notification that cancels a request, and stop waiting for its answer."""
        self._pending.pop(id_key(request_id), None)
        return encode_message({"method": "notifications/cancelled", "params": {"requestId": request_id}})

    def data_to_send(self) -> bytes:
        """Return, once, what must be written because of what was fed."""
        data = b"".join(self._outgoing)
        self._outgoing.clear()
        return data

    def feed(self, data: bytes) -> list[ClientEvent]:
        """Take bytes from the server. Raises: ProtocolError (side `server`): noise if `strict`, or a frame too long."""
        events: list[ClientEvent] = []
        for frame in self._splitter.feed(data):
            if isinstance(frame, Overlong):
                raise ProtocolError("E-MCP-OVERLONG", f"a frame of {frame.size_bytes} bytes", side="server")
            message = parse_message(frame)
            parts = message.parts if isinstance(message, Message) and message.kind == "batch" else (message,)
            for part in parts:
                events += self._take(part)
        return events

    def _request(self, method: str, params: dict[str, object], tool: str | None = None) -> bytes:
        number = self._next_id
        self._next_id += 1
        self._pending[id_key(number)] = (number, method, tool)
        if self.modern:
            meta = {PROTOCOL_VERSION: MODERN_VERSION, CLIENT_INFO: self.info, CLIENT_CAPABILITIES: {}}
            params = {**params, "_meta": meta}
        return encode_message({"id": number, "method": method, "params": params})

    def _take(self, message: Message | Noise) -> list[ClientEvent]:
        if isinstance(message, Noise):
            if self.strict and message.why != "blank":
                raise ProtocolError("E-MCP-NOISE", f"a line that is no message ({message.why})", side="server")
            return [message]
        if message.kind == "request":
            self._outgoing.append(_answer_to(message))
            return [ServerAsked(message.method or "", message.raw)]
        entry = self._pending.pop(message.id_key, None) if message.kind == "response" else None
        if entry is None:
            return [ServerNotified(message.method, message.raw)]
        return self._answered(message, *entry)

    def _answered(self, message: Message, number: int, method: str, tool: str | None) -> list[ClientEvent]:
        result = message.result
        usable = not message.is_error and _is_complete(result)
        if method == "server/discover" and not (usable and _speaks_modern(result)):
            self._outgoing.append(self.start("initialize"))
            return []
        if not usable or not isinstance(result, dict):
            return [CallFailed(number, method, tool, *_error_of(message), message.raw)]
        if method == "tools/call":
            is_error = result.get("isError") is True
            return [ToolReturned(number, tool or "", tool_text(result), is_error, result, message.raw)]
        if method == "tools/list":
            return self._page(result)
        if method in ("prompts/list", "resources/list"):
            cursor = result.get("nextCursor")
            return [PageListed(method, cursor if isinstance(cursor, str) and cursor else None, message.raw)]
        if method == "initialize":
            self._outgoing.append(encode_message({"method": "notifications/initialized"}))
            version = result.get("protocolVersion")
            return [Ready(version if isinstance(version, str) else "", result)]
        return [Ready(MODERN_VERSION, result)]

    def _page(self, result: dict[str, JsonValue]) -> list[ClientEvent]:
        tools, cursor = result.get("tools"), result.get("nextCursor")
        listed = tools if isinstance(tools, list) else []
        self._pages.append(tuple(tool for tool in listed if isinstance(tool, dict)))
        more = isinstance(cursor, str) and cursor != ""
        if more and len(self._pages) < _MAX_PAGES:
            self._outgoing.append(self._request("tools/list", {"cursor": cursor}))
            return []
        return [ToolsListed(tuple(tool for page in self._pages for tool in page), not more)]


def tool_text(result: Mapping[str, JsonValue]) -> str:
    """Return what a tool result says in text: its text blocks joined with line feeds."""
    content = result.get("content")
    blocks = content if isinstance(content, list) else []
    texts = [block.get("text") for block in blocks if isinstance(block, dict) and block.get("type") == "text"]
    return "\n".join(text for text in texts if isinstance(text, str))


def _is_complete(result: JsonValue) -> bool:
    return isinstance(result, dict) and result.get("resultType", "complete") == "complete"


def _speaks_modern(result: JsonValue) -> bool:
    versions = result.get("supportedVersions") if isinstance(result, dict) else None
    return isinstance(versions, list) and MODERN_VERSION in versions


def _error_of(message: Message) -> tuple[JsonValue, str]:
    error = message.error
    if isinstance(error, dict):
        text = error.get("message")
        return error.get("code"), text if isinstance(text, str) else ""
    return None, "the answer cannot be used"


def _answer_to(message: Message) -> bytes:
    if message.method == "ping":
        return encode_message({"id": message.id, "result": {}})
    error = {"code": METHOD_NOT_FOUND, "message": f"Method not found: {message.method}"}
    return encode_message({"id": message.id, "error": error})
