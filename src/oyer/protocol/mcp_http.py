"""What a message says again in the headers of the HTTP request that carries it.

Owns the names of the headers, their codec and what is mirrored into them: from 2026-07-28 on a request's method, the
name of what it is about and marked arguments, which a server holds against the body. Must never touch a body.
Source: MCP transports, Streamable HTTP, 2025-03-26 to 2026-07-28 (standard request headers, custom headers).
"""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator, Mapping
from urllib.parse import quote

from oyer.protocol.frames import Message
from oyer.protocol.jsonvalue import JsonNumber, JsonValue
from oyer.protocol.mcp_names import HANDSHAKE_VERSIONS, PROTOCOL_VERSION

__all__ = [
    "SESSION_HEADER",
    "VERSION_HEADER",
    "as_target",
    "header_value",
    "marked_arguments",
    "mirrored_headers",
    "modern_version",
]

SESSION_HEADER = "Mcp-Session-Id"
VERSION_HEADER = "MCP-Protocol-Version"
_NAMED_BY = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}
_PLAIN = re.compile(r"[\x20-\x7e]*")
_WRAPPED = re.compile(r"=\?base64\?.*\?=")

Marks = Mapping[tuple[str, ...], str]
"""Which argument, by the path of its properties, is mirrored into which header."""


def modern_version(message: Message) -> str | None:
    """Return the revision that a request names in its own `_meta`, None where that is no part of it."""
    params = message.params
    meta = params.get("_meta") if isinstance(params, dict) else None
    version = meta.get(PROTOCOL_VERSION) if isinstance(meta, dict) else None
    return version if isinstance(version, str) and version not in HANDSHAKE_VERSIONS else None


def mirrored_headers(message: Message, marked: Mapping[str, Marks]) -> list[tuple[str, str]]:
    """Return what a request of the era without a handshake says in its headers; nothing for any other message.

    `marked` are the marked arguments of each tool, as its listing had them.
    """
    version = modern_version(message)
    if version is None or message.method is None:
        return []
    headers = [(VERSION_HEADER, version), ("Mcp-Method", header_value(message.method))]
    params = message.params if isinstance(message.params, dict) else {}
    name = params.get(_NAMED_BY.get(message.method, ""))
    if isinstance(name, str):
        headers.append(("Mcp-Name", header_value(name)))
    if message.tool is not None:
        for path, token in marked.get(message.tool, {}).items():
            told = _told(message.arguments, path)
            if told is not None:
                headers.append((f"Mcp-Param-{token}", header_value(told)))
    return headers


def marked_arguments(answer: Message) -> dict[str, Marks]:
    """Return which arguments a listing marks to be mirrored, by tool; nothing for any other answer."""
    result = answer.result
    tools = result.get("tools") if isinstance(result, dict) else None
    found: dict[str, Marks] = {}
    for tool in tools if isinstance(tools, list) else ():
        name = tool.get("name") if isinstance(tool, dict) else None
        if isinstance(tool, dict) and isinstance(name, str):
            found[name] = dict(_marks(tool.get("inputSchema"), ()))
    return found


def as_target(place: str) -> str:
    """Return a path with its query as it stands in a request: what may not stand there is percent-encoded.

    Source: WHATWG URL, percent-encoded bytes.
    """
    return quote(place, safe="%/:#=&?~+!$,;'()*@[]|^`{}\\-._")


def header_value(text: str) -> str:
    """Return a text as it stands in a header: itself where it survives that, else wrapped in base64."""
    if _PLAIN.fullmatch(text) and text == text.strip() and not _WRAPPED.fullmatch(text):
        return text
    return f"=?base64?{base64.b64encode(text.encode('utf-8', 'surrogatepass')).decode('ascii')}?="


def _marks(schema: JsonValue, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], str]]:
    if not isinstance(schema, dict):
        return
    token = schema.get("x-mcp-header")
    if path and isinstance(token, str) and re.fullmatch(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+", token):
        yield path, token
    properties = schema.get("properties")
    for name, inner in properties.items() if isinstance(properties, dict) else ():
        yield from _marks(inner, (*path, name))


def _told(arguments: JsonValue, path: tuple[str, ...]) -> str | None:
    value = arguments
    for name in path:
        value = value.get(name) if isinstance(value, dict) else None
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, JsonNumber):
        return value.lexical
    return str(value) if isinstance(value, str | int) else None
