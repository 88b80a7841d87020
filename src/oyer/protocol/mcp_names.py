"""Names and numbers of the Model Context Protocol that both of our ends need.

Source: MCP schemas 2024-11-05 to 2026-07-28; JSON-RPC 2.0 section 5.1.
"""

from __future__ import annotations

__all__ = [
    "CLIENT_CAPABILITIES",
    "CLIENT_INFO",
    "HANDSHAKE_VERSIONS",
    "INVALID_PARAMS",
    "INVALID_REQUEST",
    "METHOD_NOT_FOUND",
    "MODERN_VERSION",
    "PARSE_ERROR",
    "PROTOCOL_VERSION",
    "SERVER_INFO",
    "SUBSCRIPTION_ID",
    "UNSUPPORTED_VERSION",
]

HANDSHAKE_VERSIONS = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
"""Revisions that begin with `initialize`, oldest first."""

MODERN_VERSION = "2026-07-28"
"""The revision without a handshake: every request carries its version in `_meta`."""

PROTOCOL_VERSION = "io.modelcontextprotocol/protocolVersion"
CLIENT_INFO = "io.modelcontextprotocol/clientInfo"
CLIENT_CAPABILITIES = "io.modelcontextprotocol/clientCapabilities"
SERVER_INFO = "io.modelcontextprotocol/serverInfo"
SUBSCRIPTION_ID = "io.modelcontextprotocol/subscriptionId"

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
UNSUPPORTED_VERSION = -32022
