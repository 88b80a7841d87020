"""The protocol room: what crosses between a subject, its servers and its model, as pure values and byte transforms.

Owns JSON-RPC and MCP frames and their correlation, interventions and policies as transforms `bytes -> bytes`, small
MCP client and server state machines, and model-API messages.
Must never do I/O, keep time, or re-serialise what crosses: an edit splices bytes, and everything outside the edited
value stays as it came. Light on purpose (stdlib only, and each module only once a name of it is asked for): processes
that must start in milliseconds load it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from oyer.protocol.asking import (
        CallResult,
        Invent,
        Manner,
        Said,
        hear,
    )
    from oyer.protocol.asking_apis import (
        API_NAMES,
        manner_of,
    )
    from oyer.protocol.chat import (
        ToolCall,
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
        PageListed,
        Ready,
        ServerAsked,
        ServerNotified,
        ToolReturned,
        ToolsListed,
        tool_text,
    )
    from oyer.protocol.mcp_http import (
        SESSION_HEADER,
        VERSION_HEADER,
        header_value,
        marked_arguments,
        mirrored_headers,
        modern_version,
    )
    from oyer.protocol.mcp_names import SUBSCRIPTION_ID
    from oyer.protocol.mcp_server import (
        Tool,
        ToolFunction,
        ToolServer,
        tool_error,
    )
    from oyer.protocol.model_api import (
        AskedCall,
        Defect,
        ModelApi,
        Reasoning,
        SseReader,
        UsageField,
        read_answer,
        sse_data,
    )
    from oyer.protocol.model_apis import (
        MODEL_APIS,
        api_of,
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
    from oyer.protocol.sse import (
        SseEvent,
        SseSplitter,
        parse_sse,
        with_sse_data,
    )

__all__ = [
    "API_NAMES",
    "EDIT_KINDS",
    "MAX_DEPTH",
    "MAX_FRAME_BYTES",
    "MODEL_APIS",
    "REFUSAL_TEXT",
    "SESSION_HEADER",
    "SUBSCRIPTION_ID",
    "VERSION_HEADER",
    "Answer",
    "Applied",
    "AskedCall",
    "BlockRule",
    "CallFailed",
    "CallResult",
    "Cancel",
    "ClientEvent",
    "Correlator",
    "DecodedString",
    "Defect",
    "Direction",
    "Edit",
    "IdKey",
    "Invent",
    "JsonNumber",
    "JsonValue",
    "LineSplitter",
    "Manner",
    "McpClient",
    "Message",
    "ModelApi",
    "Node",
    "Noise",
    "NoiseLine",
    "NotApplied",
    "Notification",
    "Occurrence",
    "OccurrenceCounter",
    "Overlong",
    "PageListed",
    "Ready",
    "Reasoning",
    "Request",
    "Said",
    "SchemaCheck",
    "Seen",
    "Selector",
    "ServerAsked",
    "ServerNotified",
    "Span",
    "Splice",
    "SseEvent",
    "SseReader",
    "SseSplitter",
    "Tool",
    "ToolCall",
    "ToolFunction",
    "ToolReturned",
    "ToolServer",
    "ToolsListed",
    "UsageField",
    "api_of",
    "apply_edit",
    "approval",
    "changed_tools",
    "check_schema",
    "decode_string",
    "dumps",
    "encode_message",
    "escape_text",
    "find_span",
    "header_value",
    "hear",
    "id_key",
    "label",
    "listing_digest",
    "loads",
    "loads_tolerant",
    "manner_of",
    "marked_arguments",
    "mirrored_headers",
    "modern_version",
    "parse_message",
    "parse_pointer",
    "parse_sse",
    "pointer_of",
    "read_answer",
    "recompute",
    "refuse",
    "remaining_copies",
    "same_json",
    "scan",
    "schema_breach",
    "splice",
    "sse_data",
    "string_edit",
    "strip_fields",
    "strip_terminator",
    "subset_of",
    "tool_error",
    "tool_text",
    "with_sse_data",
]

_HOMES = {
    "asking": "CallResult Invent Manner Said hear",
    "asking_apis": "API_NAMES manner_of",
    "chat": "ToolCall",
    "copies": "remaining_copies schema_breach",
    "correlation": "Answer Cancel Correlator Direction NoiseLine Notification Request Seen",
    "edits": "EDIT_KINDS Applied Edit NotApplied apply_edit recompute",
    "frames": """
        MAX_FRAME_BYTES IdKey LineSplitter Message Noise Overlong encode_message id_key parse_message
        strip_terminator""",
    "jsonvalue": """
        MAX_DEPTH JsonNumber JsonValue dumps escape_text loads loads_tolerant parse_pointer pointer_of
        same_json subset_of""",
    "listing": "listing_digest",
    "mcp_client": """
        CallFailed ClientEvent McpClient PageListed Ready ServerAsked ServerNotified ToolReturned ToolsListed
        tool_text""",
    "mcp_http": "SESSION_HEADER VERSION_HEADER header_value marked_arguments mirrored_headers modern_version",
    "mcp_names": "SUBSCRIPTION_ID",
    "mcp_server": "Tool ToolFunction ToolServer tool_error",
    "model_api": "AskedCall Defect ModelApi Reasoning SseReader UsageField read_answer sse_data",
    "model_apis": "MODEL_APIS api_of",
    "policy": "REFUSAL_TEXT BlockRule approval changed_tools label refuse strip_fields",
    "schema": "SchemaCheck check_schema",
    "selector": "Occurrence OccurrenceCounter Selector",
    "spans": "DecodedString Node Span decode_string find_span scan string_edit",
    "splices": "Splice splice",
    "sse": "SseEvent SseSplitter parse_sse with_sse_data",
}
_HOME_OF = {name: module for module, names in _HOMES.items() for name in names.split()}


def __getattr__(name: str) -> object:
    """Load the module of a name when the name is first asked for; a test holds the table to the imports above."""
    if name not in _HOME_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return globals().setdefault(name, _load(_HOME_OF[name])[name])


def _load(module: str) -> dict[str, object]:
    """Import one module of this room. Statements, since no other way to import is allowed on these floors."""
    match module:
        case "chat":
            from oyer.protocol import chat

            return vars(chat)
        case "copies":
            from oyer.protocol import copies

            return vars(copies)
        case "correlation":
            from oyer.protocol import correlation

            return vars(correlation)
        case "edits":
            from oyer.protocol import edits

            return vars(edits)
        case "frames":
            from oyer.protocol import frames

            return vars(frames)
        case "jsonvalue":
            from oyer.protocol import jsonvalue

            return vars(jsonvalue)
        case "listing":
            from oyer.protocol import listing

            return vars(listing)
        case "policy":
            from oyer.protocol import policy

            return vars(policy)
        case "schema":
            from oyer.protocol import schema

            return vars(schema)
        case "selector":
            from oyer.protocol import selector

            return vars(selector)
        case "spans":
            from oyer.protocol import spans

            return vars(spans)
        case "splices":
            from oyer.protocol import splices

            return vars(splices)
        case "sse":
            from oyer.protocol import sse

            return vars(sse)
    return _load_model(module)


def _load_model(module: str) -> dict[str, object]:
    match module:
        case "asking":
            from oyer.protocol import asking

            return vars(asking)
        case "asking_apis":
            from oyer.protocol import asking_apis

            return vars(asking_apis)
        case "model_api":
            from oyer.protocol import model_api

            return vars(model_api)
        case "model_apis":
            from oyer.protocol import model_apis

            return vars(model_apis)
    return _load_mcp(module)


def _load_mcp(module: str) -> dict[str, object]:
    match module:
        case "mcp_client":
            from oyer.protocol import mcp_client

            return vars(mcp_client)
        case "mcp_http":
            from oyer.protocol import mcp_http

            return vars(mcp_http)
        case "mcp_names":
            from oyer.protocol import mcp_names

            return vars(mcp_names)
        case "mcp_server":
            from oyer.protocol import mcp_server

            return vars(mcp_server)
    raise AssertionError(module)
