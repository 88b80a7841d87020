"""Any bytes give a value or a ProtocolError, nothing else."""

from __future__ import annotations

import contextlib
import itertools
import json

from hypothesis import example, given
from hypothesis import strategies as st
from model_streams import STREAMS

from oyer.errors import ProtocolError
from oyer.protocol import (
    MODEL_APIS,
    Correlator,
    Defect,
    LineSplitter,
    McpClient,
    Message,
    Noise,
    SseReader,
    ToolServer,
    decode_string,
    loads,
    parse_message,
    read_answer,
    scan,
    sse_data,
)
from oyer.protocol.chat import CHAT, ChatResponse, chat_response

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


STREAM_PARTS = st.sampled_from(list(STREAMS.values())).flatmap(
    lambda raw: st.lists(st.integers(0, len(raw)), max_size=4).map(
        lambda cuts: b"".join(raw[a:b] for a, b in itertools.pairwise(sorted({0, *cuts})) if (a + b) % 3)
    )
)
"""A good stream with some of its stretches left out."""

ANY_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(
        st.sampled_from(
            ["choices", "message", "delta", "tool_calls", "function", "name", "arguments", "content", "messages", "id",
             "model", "usage", "index", "error", "method", "params", "_meta", "tools", "text", "type", "result",
             "candidates", "parts", "finishReason", "functionCall", "output", "response", "content_block", "input"]
        ),
        inner,
        max_size=4,
    ),
    max_leaves=12,
).map(lambda value: json.dumps(value).encode())  # fmt: skip


@given(BYTES | ANY_JSON)
def test_chat_readers_take_anything(raw: bytes) -> None:
    for body in (raw, b"data: " + raw + b"\n\ndata: [DONE]\n\n"):
        answer = read_answer(CHAT, body)
        assert isinstance(answer if isinstance(answer, Defect) else chat_response(answer), ChatResponse | Defect)


EVENTS = st.lists(ANY_JSON | BYTES, max_size=5).map(lambda events: b"".join(b"data: " + e + b"\n\n" for e in events))


@given(st.sampled_from(sorted(MODEL_APIS)), BYTES | ANY_JSON | EVENTS | STREAM_PARTS)
@example("responses", b'data: {"type":"response.completed","response":{"output":[5,{"type":"function_call"}]}}\n\n')
@example("messages", b'data: {"type":"message_start"}\n\ndata: {"type":"message_stop"}\n\n')
@example("gemini", b'[{"candidates":[{"index":[],"content":5,"finishReason":"STOP"}]}]')
@example("chat", b"[" * 100_000)
def test_every_model_api_takes_anything(name: str, raw: bytes) -> None:
    api = MODEL_APIS[name]
    answer = read_answer(api, raw)
    assert isinstance(answer, dict | Defect)
    if isinstance(answer, dict):
        assert all(isinstance(call.name, str) for call in api.calls(answer))
        _ = (api.reported(answer), api.finish(answer), api.usage(answer))
        assert isinstance(api.parameters(answer), dict) and isinstance(api.streams("/", answer), bool)
        api.requested("/", answer)
    reader, found = SseReader(), []
    for place in range(0, len(raw), 3):
        found += reader.feed(raw[place : place + 3])
    assert found == sse_data(raw)
    assert all(isinstance(api.ends(data), bool) for data in found)


@given(BYTES | ANY_JSON)
def test_both_mcp_ends_take_anything(raw: bytes) -> None:
    client = McpClient()
    client.start()
    client.call_tool("t", {})
    client.feed(raw + b"\n")
    client.feed(b'{"jsonrpc":"2.0","id":2,"result":' + raw.replace(b"\n", b"") + b"}\n")
    answer = ToolServer("box").handle(raw)
    assert answer is None or answer.endswith(b"\n")
