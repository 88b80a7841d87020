"""A tiny MCP server for fixtures: lines in, lines out, tools only.

Owns the server side of both eras (`initialize` up to 2025-11-25; `server/discover` and per-request `_meta` of
2026-07-28). Reading and writing is the caller's loop. Must never do I/O, keep time, or hide a tool's own failure:
what a tool function raises goes up and ends the server, as a bug should.
Source: MCP schemas 2024-11-05 to 2026-07-28; the official Python SDK 2.3.0 for the order of checks.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple, TypeAlias

from oyer.errors import ProtocolError
from oyer.protocol.frames import Message, Noise, encode_message, parse_message
from oyer.protocol.jsonvalue import JsonValue, dumps
from oyer.protocol.mcp_names import (
    CLIENT_CAPABILITIES,
    HANDSHAKE_VERSIONS,
    INVALID_PARAMS,
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    MODERN_VERSION,
    PARSE_ERROR,
    PROTOCOL_VERSION,
    SERVER_INFO,
    SUBSCRIPTION_ID,
    UNSUPPORTED_VERSION,
)
from oyer.protocol.schema import check_schema

__all__ = ["Tool", "ToolFunction", "ToolServer", "tool_error"]

ToolFunction: TypeAlias = Callable[[dict[str, JsonValue]], str | Mapping[str, object]]
"""Takes the arguments. Returns text; or an object (structured content, repeated as JSON text); or, if the object has a
`content` list, a whole result."""


class Tool(NamedTuple):
    """One tool of a server."""

    name: str
    description: str
    input_schema: Mapping[str, object]
    function: ToolFunction
    output_schema: Mapping[str, object] | None = None

    def definition(self) -> dict[str, object]:
        """Return the tool as it stands in a listing."""
        listed: dict[str, object] = {
            "name": self.name,
            "description": self.description,
            "inputSchema": self.input_schema,
        }
        return listed if self.output_schema is None else {**listed, "outputSchema": self.output_schema}


def tool_error(text: str) -> dict[str, object]:
    """Return the result of a tool that failed in a way its caller should read."""
    return {"content": [{"type": "text", "text": text}], "isError": True}


class _Refusal(Exception):
    """A JSON-RPC error to be answered; never leaves this module."""

    def __init__(self, code: int, message: str, data: object = None) -> None:
        self.error: dict[str, object] = {"code": code, "message": message}
        if data is not None:
            self.error["data"] = data
        super().__init__(message)


class ToolServer:
    """Answer MCP messages about a fixed set of tools."""

    __slots__ = ("_page_size", "_tools", "info", "instructions")

    def __init__(
        self,
        name: str,
        version: str = "1",
        tools: tuple[Tool, ...] = (),
        *,
        instructions: str | None = None,
        page_size: int | None = None,
    ) -> None:
        self.info = {"name": name, "version": version}
        self.instructions = instructions
        self._page_size = page_size
        self._tools: dict[str, Tool] = {}
        for tool in tools:
            self.add(tool)

    def add(self, tool: Tool) -> None:
        """Register a tool. Raises: ProtocolError (`E-MCP-TOOL-TWICE`)."""
        if tool.name in self._tools:
            raise ProtocolError("E-MCP-TOOL-TWICE", f"two tools named {tool.name!r}", side="server")
        self._tools[tool.name] = tool

    def handle(self, line: bytes) -> bytes | None:
        """Take one frame; return the frame to write, None if there is none. What a tool raises passes through."""
        message = parse_message(line)
        if isinstance(message, Noise):
            return None if message.why == "blank" else _no_message(message)
        if message.kind != "batch":
            return self._one(message)
        answers = [_no_message(part) if isinstance(part, Noise) else self._one(part) for part in message.parts]
        given = [answer.strip() for answer in answers if answer is not None]
        return b"[" + b",".join(given) + b"]\n" if given else None

    def _one(self, message: Message) -> bytes | None:
        if message.kind != "request":
            return None
        try:
            meta = _modern_meta(message)
            if message.method == "subscriptions/listen" and meta is not None:
                return self._acknowledge(message)
            result = self._result(message, modern=meta is not None)
        except _Refusal as refusal:
            return encode_message({"id": message.id, "error": refusal.error})
        if meta is not None:
            result = {"resultType": "complete", **result, "_meta": {SERVER_INFO: self.info}}
        return encode_message({"id": message.id, "result": result})

    def _result(self, message: Message, *, modern: bool) -> dict[str, object]:
        method = message.method
        if method == "ping":
            return {}
        if method == "tools/list":
            return self._list(message, modern=modern)
        if method == "tools/call":
            return self._call(message)
        if method == "initialize" and not modern:
            return self._initialize(message)
        if method == "server/discover" and modern:
            found: dict[str, object] = {"supportedVersions": [MODERN_VERSION], "capabilities": {"tools": {}}}
            return {**found, **self._instructions(), "ttlMs": 0, "cacheScope": "private"}
        raise _Refusal(METHOD_NOT_FOUND, f"Method not found: {method}")

    def _instructions(self) -> dict[str, object]:
        return {} if self.instructions is None else {"instructions": self.instructions}

    def _initialize(self, message: Message) -> dict[str, object]:
        params = message.params
        asked = params.get("protocolVersion") if isinstance(params, dict) else None
        if not isinstance(asked, str):
            raise _Refusal(INVALID_PARAMS, "initialize needs a protocolVersion")
        version = asked if asked in HANDSHAKE_VERSIONS else HANDSHAKE_VERSIONS[-1]
        answer: dict[str, object] = {"protocolVersion": version, "capabilities": {"tools": {}}}
        return {**answer, "serverInfo": self.info, **self._instructions()}

    def _list(self, message: Message, *, modern: bool) -> dict[str, object]:
        params = message.params
        cursor = params.get("cursor") if isinstance(params, dict) else None
        start = 0
        if cursor is not None:
            if not isinstance(cursor, str) or not cursor.isdecimal() or len(cursor) > 9:
                raise _Refusal(INVALID_PARAMS, "unknown cursor")
            start = int(cursor)
        end = len(self._tools) if self._page_size is None else start + self._page_size
        result: dict[str, object] = {"tools": [tool.definition() for tool in list(self._tools.values())[start:end]]}
        if end < len(self._tools):
            result["nextCursor"] = str(end)
        if modern:
            result.update(ttlMs=0, cacheScope="private")
        return result

    def _call(self, message: Message) -> dict[str, object]:
        tool = self._tools.get(message.tool or "")
        arguments = message.arguments
        if tool is None:
            raise _Refusal(INVALID_PARAMS, f"Unknown tool: {message.tool}")
        if not isinstance(arguments, dict):
            raise _Refusal(INVALID_PARAMS, "arguments must be an object")
        check = check_schema(arguments, tool.input_schema)
        if check.verdict == "broken":
            raise _Refusal(INVALID_PARAMS, f"Invalid arguments for {tool.name}: {check.where}: {check.why}")
        returned = tool.function(arguments)
        if isinstance(returned, str):
            return {"content": [{"type": "text", "text": returned}]}
        if isinstance(returned.get("content"), list):
            return dict(returned)
        text = dumps(returned).decode("utf-8")
        return {"content": [{"type": "text", "text": text}], "structuredContent": returned}

    def _acknowledge(self, message: Message) -> bytes:
        # A fixture's tools never change, so it honours no subscription; the stream stays open without an answer.
        params = {"_meta": {SUBSCRIPTION_ID: message.id}, "notifications": {}}
        return encode_message({"method": "notifications/subscriptions/acknowledged", "params": params})


def _no_message(noise: Noise) -> bytes:
    if noise.why in ("not_json", "not_utf8", "too_deep"):
        return encode_message({"id": None, "error": {"code": PARSE_ERROR, "message": "Parse error"}})
    return encode_message({"id": None, "error": {"code": INVALID_REQUEST, "message": "Invalid request"}})


def _modern_meta(message: Message) -> Mapping[str, JsonValue] | None:
    """Return the per-request envelope of 2026-07-28, None for a request of the handshake era."""
    params = message.params
    meta = params.get("_meta") if isinstance(params, dict) else None
    if not isinstance(meta, dict) or PROTOCOL_VERSION not in meta or message.method == "initialize":
        return None
    version = meta[PROTOCOL_VERSION]
    if CLIENT_CAPABILITIES not in meta or not isinstance(version, str):
        raise _Refusal(INVALID_PARAMS, f"_meta needs {PROTOCOL_VERSION} (text) and {CLIENT_CAPABILITIES}")
    if version != MODERN_VERSION:
        data = {"supported": [MODERN_VERSION], "requested": version}
        raise _Refusal(UNSUPPORTED_VERSION, "Unsupported protocol version", data)
    return meta
