"""Any bytes give a value or a ProtocolError, nothing else."""

from __future__ import annotations

import contextlib
import json

from hypothesis import example, given
from hypothesis import strategies as st

from oyer.errors import ProtocolError
from oyer.protocol import (
    ChatResponse,
    Correlator,
    Defect,
    LineSplitter,
    McpClient,
    Message,
    Noise,
    ToolServer,
    decode_string,
    loads,
    parse_chat_request,
    parse_chat_response,
    parse_chat_stream,
    parse_message,
    scan,
)

JSONISH = st.lists(
    st.sampled_from(
        [b"{", b"}", b"[", b"]", b",", b":", b'"', b'"id"', b'"method"', b'"result"', b'"tools/call"', b'"params"',
         b'"a"', b"1", b"1.5e3", b"-", b"null", b"true", b"\\", b"\\u", b"d83d", b"\xc3", b"\xa9", b" ", b"\n", b"\r"]
    ),
    max_size=24,
).map(b"".join)  # fmt: skip
BYTES = st.binary(max_size=60) | JSONISH


@given(BYTES)
@example(b"[" * 100_000)
@example(b'{"a":' * 100_000)
@example(b"1" * 10_000)
@example(b'"\\ud83d\\ude00\\ud83d"')
def test_readers_agree_or_refuse(raw: bytes) -> None:
    try:
        root = scan(raw)
    except ProtocolError:
        root = None
    value: object = None
    try:
        value = loads(raw)
    except ProtocolError as error:
        assert root is None or error.code == "E-JSON-DUPLICATE-KEY"
    else:
        assert root is not None
        assert raw.strip(b" \t\r\n") == raw[root.start : root.end]
        if root.kind == "string":
            assert decode_string(raw, root.span).text == value


@given(BYTES)
def test_any_frame_is_a_message_or_noise(raw: bytes) -> None:
    parsed = parse_message(raw)
    assert isinstance(parsed, Message | Noise)
    assert parsed.raw == raw
    if isinstance(parsed, Message):
        json.loads(raw)


@given(st.lists(st.tuples(st.booleans(), BYTES), max_size=6))
def test_the_correlator_takes_anything(frames: list[tuple[bool, bytes]]) -> None:
    wire, splitter = Correlator(), LineSplitter(32)
    for place, (is_sent, raw) in enumerate(frames):
        splitter.feed(raw)
        seen = (wire.sent if is_sent else wire.received)(raw, str(place))
        assert seen
    with contextlib.suppress(ProtocolError):
        loads(b"".join(raw for _, raw in frames))


ANY_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(
        st.sampled_from(
            ["choices", "message", "delta", "tool_calls", "function", "name", "arguments", "content", "messages", "id",
             "model", "usage", "index", "error", "method", "params", "_meta", "tools", "text", "type", "result"]
        ),
        inner,
        max_size=4,
    ),
    max_leaves=12,
).map(lambda value: json.dumps(value).encode())  # fmt: skip


@given(BYTES | ANY_JSON)
def test_chat_readers_take_anything(raw: bytes) -> None:
    assert isinstance(parse_chat_response(raw), ChatResponse | Defect)
    assert isinstance(parse_chat_stream(b"data: " + raw + b"\n\ndata: [DONE]\n\n"), ChatResponse | Defect)
    with contextlib.suppress(ProtocolError):
        parse_chat_request(raw)


@given(BYTES | ANY_JSON)
def test_both_mcp_ends_take_anything(raw: bytes) -> None:
    client = McpClient()
    client.start()
    client.call_tool("t", {})
    client.feed(raw + b"\n")
    client.feed(b'{"jsonrpc":"2.0","id":2,"result":' + raw.replace(b"\n", b"") + b"}\n")
    answer = ToolServer("box").handle(raw)
    assert answer is None or answer.endswith(b"\n")
