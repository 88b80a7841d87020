"""The protocol room: what crosses between a subject, its servers and its model, as pure values and byte transforms.

Owns JSON-RPC and MCP frames and their correlation, interventions and policies as transforms `bytes -> bytes`, small
MCP client and server state machines, and model-API messages.
Must never do I/O, keep time, or re-serialise what crosses: an edit splices bytes, and everything outside the edited
value stays as it came. Light on purpose (stdlib only): processes that must start in milliseconds load it.
"""

from __future__ import annotations

from oyer.protocol.chat import (
    ChatMessage,
    ChatRequest,
    ChatResponse,
    Defect,
    ToolCall,
    Usage,
    build_request,
    build_response,
    parse_chat_request,
    parse_chat_response,
    parse_chat_stream,
)
from oyer.protocol.copies import (
    remaining_copies,
    schema_breach,
)
from oyer.protocol.correlation import (
    Answer,
    Cancel,
    Correlator,
    Direction,
    NoiseLine,
    Notification,
    Request,
    Seen,
)
from oyer.protocol.edits import (
    EDIT_KINDS,
    Applied,
    Edit,
    NotApplied,
    apply_edit,
    recompute,
)
from oyer.protocol.frames import (
    MAX_FRAME_BYTES,
    IdKey,
    LineSplitter,
    Message,
    Noise,
    Overlong,
    encode_message,
    id_key,
    parse_message,
    strip_terminator,
)
from oyer.protocol.jsonvalue import (
    MAX_DEPTH,
    JsonNumber,
    JsonValue,
    dumps,
    escape_text,
    loads,
    loads_tolerant,
    parse_pointer,
    pointer_of,
    same_json,
    subset_of,
)
from oyer.protocol.listing import (
    listing_digest,
)
from oyer.protocol.mcp_client import (
    CallFailed,
    ClientEvent,
    McpClient,
    Ready,
    ServerAsked,
    ServerNotified,
    ToolReturned,
    ToolsListed,
    tool_text,
)
from oyer.protocol.mcp_server import (
    Tool,
    ToolFunction,
    ToolServer,
    tool_error,
)
from oyer.protocol.policy import (
    REFUSAL_TEXT,
    BlockRule,
    approval,
    changed_tools,
    label,
    refuse,
    strip_fields,
)
from oyer.protocol.schema import (
    SchemaCheck,
    check_schema,
)
from oyer.protocol.selector import (
    Occurrence,
    OccurrenceCounter,
    Selector,
)
from oyer.protocol.spans import (
    DecodedString,
    Node,
    Span,
    decode_string,
    find_span,
    scan,
    string_edit,
)
from oyer.protocol.splices import (
    Splice,
    splice,
)

__all__ = [
    "EDIT_KINDS",
    "MAX_DEPTH",
    "MAX_FRAME_BYTES",
    "REFUSAL_TEXT",
    "Answer",
    "Applied",
    "BlockRule",
    "CallFailed",
    "Cancel",
    "ChatMessage",
    "ChatRequest",
    "ChatResponse",
    "ClientEvent",
    "Correlator",
    "DecodedString",
    "Defect",
    "Direction",
    "Edit",
    "IdKey",
    "JsonNumber",
    "JsonValue",
    "LineSplitter",
    "McpClient",
    "Message",
    "Node",
    "Noise",
    "NoiseLine",
    "NotApplied",
    "Notification",
    "Occurrence",
    "OccurrenceCounter",
    "Overlong",
    "Ready",
    "Request",
    "SchemaCheck",
    "Seen",
    "Selector",
    "ServerAsked",
    "ServerNotified",
    "Span",
    "Splice",
    "Tool",
    "ToolCall",
    "ToolFunction",
    "ToolReturned",
    "ToolServer",
    "ToolsListed",
    "Usage",
    "apply_edit",
    "approval",
    "build_request",
    "build_response",
    "changed_tools",
    "check_schema",
    "decode_string",
    "dumps",
    "encode_message",
    "escape_text",
    "find_span",
    "id_key",
    "label",
    "listing_digest",
    "loads",
    "loads_tolerant",
    "parse_chat_request",
    "parse_chat_response",
    "parse_chat_stream",
    "parse_message",
    "parse_pointer",
    "pointer_of",
    "recompute",
    "refuse",
    "remaining_copies",
    "same_json",
    "scan",
    "schema_breach",
    "splice",
    "string_edit",
    "strip_fields",
    "strip_terminator",
    "subset_of",
    "tool_error",
    "tool_text",
]
