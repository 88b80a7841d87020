"""The protocol room: what crosses between a subject, its servers and its model, as pure values and byte transforms.

Owns JSON-RPC and MCP frames and their correlation, interventions and policies as transforms `bytes -> bytes`, small
MCP client and server state machines, and model-API messages.
Must never do I/O, keep time, or re-serialise what crosses: an edit splices bytes, and everything outside the edited
value stays as it came. Light on purpose (stdlib only, and each module only once a name of it is asked for): processes
that must start in milliseconds load it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from oyer.protocol.loading import load_module

if TYPE_CHECKING:
    from oyer.protocol.asking import (
        CallResult,
        Manner,
        Said,
        hear,
    )
    from oyer.protocol.asking_apis import (
        API_NAMES,
        manner_of,
    )
    from oyer.protocol.carried import carried_call
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
    from oyer.protocol.http_refusal import UNDECIDED_EXIT, is_servers_refusal
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
        as_target,
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
        read_answer,
        sse_data,
    )
    from oyer.protocol.model_apis import MODEL_APIS, ResultCounter, ShownResult, api_of, change_results, names_tool
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
    from oyer.protocol.scripted_model import (
        scripted_answer,
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
        sse_block_data,
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
    "UNDECIDED_EXIT",
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
    "ResultCounter",
    "Said",
    "SchemaCheck",
    "Seen",
    "Selector",
    "ServerAsked",
    "ServerNotified",
    "ShownResult",
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
    "api_of",
    "apply_edit",
    "approval",
    "as_target",
    "carried_call",
    "change_results",
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
    "is_servers_refusal",
    "label",
    "listing_digest",
    "loads",
    "loads_tolerant",
    "manner_of",
    "marked_arguments",
    "mirrored_headers",
    "modern_version",
    "names_tool",
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
    "scripted_answer",
    "splice",
    "sse_block_data",
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
    "asking": "CallResult Manner Said hear",
    "asking_apis": "API_NAMES manner_of",
    "carried": "carried_call",
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
    "http_refusal": "UNDECIDED_EXIT is_servers_refusal",
    "mcp_http": "SESSION_HEADER VERSION_HEADER as_target header_value marked_arguments mirrored_headers modern_version",
    "mcp_names": "SUBSCRIPTION_ID",
    "mcp_server": "Tool ToolFunction ToolServer tool_error",
    "model_api": "AskedCall Defect ModelApi Reasoning SseReader read_answer sse_data",
    "model_apis": "MODEL_APIS ResultCounter ShownResult api_of change_results names_tool",
    "policy": "REFUSAL_TEXT BlockRule approval changed_tools label refuse strip_fields",
    "schema": "SchemaCheck check_schema",
    "scripted_model": "scripted_answer",
    "selector": "Occurrence OccurrenceCounter Selector",
    "spans": "DecodedString Node Span decode_string find_span scan string_edit",
    "splices": "Splice splice",
    "sse": "SseEvent SseSplitter parse_sse sse_block_data with_sse_data",
}
_HOME_OF = {name: module for module, names in _HOMES.items() for name in names.split()}


def __getattr__(name: str) -> object:
    """Load the module of a name when the name is first asked for; a test holds the table to the imports above."""
    if name not in _HOME_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return globals().setdefault(name, load_module(_HOME_OF[name])[name])
