"""What a request says again in its headers is what the reference implementation says."""

from __future__ import annotations

import json
from typing import Any

import pytest

from oyer.protocol import Message, header_value, marked_arguments, mirrored_headers, modern_version, parse_message

META = {"_meta": {"io.modelcontextprotocol/protocolVersion": "2026-07-28"}}
SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "region": {"type": "string", "x-mcp-header": "Region"},
        "deep": {"type": "object", "properties": {"on": {"type": "boolean", "x-mcp-header": "On"}}},
        "plain": {"type": "string"},
        "bad": {"type": "string", "x-mcp-header": "two words"},
    },
}


def message(value: Any) -> Message:
    read = parse_message(json.dumps({"jsonrpc": "2.0", **value}).encode())
    assert isinstance(read, Message)
    return read


@pytest.mark.parametrize("text", ["plain", "", " edge", "é", "=?base64?eA==?=", "a\nb", "tab\t", "~ !"])
def test_a_header_value_is_the_reference_implementations(text: str) -> None:
    from mcp.shared.inbound import decode_header_value, encode_header_value

    assert header_value(text) == encode_header_value(text)
    assert decode_header_value(header_value(text)) == text


def test_a_call_of_the_new_era_says_method_name_and_marked_arguments() -> None:
    from mcp.shared.inbound import mcp_param_headers, x_mcp_header_map

    listing = message({"id": 1, "result": {"tools": [{"name": "go", "inputSchema": SCHEMA}, "odd", {"name": 1}]}})
    marked = marked_arguments(listing)
    arguments: dict[str, Any] = {"region": "süd", "deep": {"on": True}, "plain": "x"}
    call = message({"id": 2, "method": "tools/call", "params": {"name": "go", "arguments": arguments, **META}})
    told = dict(mirrored_headers(call, marked))
    assert told == {
        "MCP-Protocol-Version": "2026-07-28",
        "Mcp-Method": "tools/call",
        "Mcp-Name": "go",
        "Mcp-Param-Region": "=?base64?c8O8ZA==?=",
        "Mcp-Param-On": "true",
    }
    reference = {k: v for k, v in x_mcp_header_map(SCHEMA).items() if v != "two words"}
    assert mcp_param_headers(reference, arguments) == {k: v for k, v in told.items() if k.startswith("Mcp-Param")}


def test_what_a_resource_is_about_is_its_address() -> None:
    read = message({"id": 2, "method": "resources/read", "params": {"uri": "test://x", **META}})
    assert dict(mirrored_headers(read, {}))["Mcp-Name"] == "test://x"


@pytest.mark.parametrize("params", [None, [], {}, {"_meta": 1}, {"_meta": {next(iter(META["_meta"])): "2025-11-25"}}])
def test_nothing_is_mirrored_for_the_eras_with_a_handshake(params: Any) -> None:
    call = message({"id": 2, "method": "tools/call", **({} if params is None else {"params": params})})
    assert modern_version(call) is None and mirrored_headers(call, {}) == []


def test_what_is_no_listing_marks_nothing() -> None:
    assert marked_arguments(message({"id": 1, "result": {"tools": 3}})) == {}
    assert marked_arguments(message({"id": 1, "error": {"code": 1, "message": ""}})) == {}
