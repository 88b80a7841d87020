"""Frames, spans, edits, model messages and both MCP ends out of any bytes. Total unless the front says otherwise."""

from __future__ import annotations

from typing import Any

from guided import named, total

from oyer.errors import ProtocolError
from oyer.protocol import (
    EDIT_KINDS,
    MODEL_APIS,
    Applied,
    Correlator,
    Defect,
    Edit,
    LineSplitter,
    McpClient,
    Message,
    Noise,
    Overlong,
    SseReader,
    Tool,
    ToolServer,
    apply_edit,
    changed_tools,
    check_schema,
    decode_string,
    label,
    listing_digest,
    loads,
    loads_tolerant,
    parse_message,
    read_answer,
    recompute,
    remaining_copies,
    same_json,
    scan,
    sse_data,
    strip_fields,
)
from oyer.protocol.chat import CHAT, ChatResponse, chat_response
from oyer.subjects.child_lines import parse_line


def frames(data: bytes) -> None:
    """Read lines as messages, and correlate them: those after an odd line go the other way."""
    wire, splitter, whole = Correlator(), LineSplitter(512), LineSplitter(512)
    half = len(data) // 2
    given = splitter.feed(data[:half]) + splitter.feed(data[half:])
    assert [*given, splitter.end()] == [*whole.feed(data), whole.end()]
    assert (
        sum(piece.size_bytes if isinstance(piece, Overlong) else len(piece) for piece in given) == data.rfind(b"\n") + 1
    )
    for place, raw in enumerate(data.split(b"\n")[:50]):
        parsed = total(lambda raw=raw: parse_message(raw))
        assert parsed.raw == raw
        assert isinstance(parsed, Message | Noise)
        if isinstance(parsed, Message):
            total(lambda parsed=parsed: _look(parsed))
        take = wire.received if place % 2 else wire.sent
        assert total(lambda take=take, raw=raw, place=place: take(raw, str(place)))
    assert all(isinstance(wire.pending(way), tuple) for way in ("to_server", "to_subject"))


def _look(message: Message) -> None:
    """Read everything that a message offers."""
    _ = (message.id_key, message.params, message.result, message.error, message.is_error, message.target, message.tool)
    _ = message.arguments
    for part in message.parts:
        if isinstance(part, Message):
            _look(part)


def spans(data: bytes) -> None:
    """Find the places of values; what the reader of values takes has places, and strings decode to what it reads."""
    root = named(ProtocolError, lambda: scan(data))
    value = named(ProtocolError, lambda: (loads(data),))
    if value is None:
        return
    assert root is not None
    assert data.strip(b" \t\r\n") == data[root.start : root.end]
    for path, node in root.strings():
        found: Any = value[0]
        for step in path:
            found = found[step]
        decoded = decode_string(data, node.span)
        assert decoded.text == found
        assert len(decoded.offsets) == len(decoded.text) + 1


def edits(data: bytes) -> None:
    """The first line holds the parameters (and `kind`) of an edit, the rest is an answer."""
    first, _, answer = data.partition(b"\n")
    said = named(ProtocolError, lambda: loads_tolerant(first)[0])
    parameters = said if isinstance(said, dict) else {}
    kind = parameters.get("kind")
    edit = Edit(kind if isinstance(kind, str) else sorted(EDIT_KINDS)[len(data) % len(EDIT_KINDS)], parameters)
    applied = total(lambda: apply_edit(edit, answer))
    if isinstance(applied, Applied):
        assert recompute(edit, answer) == applied.modified
        named(ProtocolError, lambda: remaining_copies(edit, applied.modified, answer))
    text = parameters.get("text")
    for done in (
        total(lambda: label(text if isinstance(text, str) else "Untrusted.", answer)),
        total(lambda: strip_fields([key for key in parameters if key.startswith("/")], answer)),
    ):
        if isinstance(done, Applied) and edit.kind != "drop":
            assert not same_json(loads_tolerant(done.modified)[0], loads_tolerant(answer)[0])
    listing_digest([first, answer])
    named(ProtocolError, lambda: changed_tools(first, answer))
    checked = named(ProtocolError, lambda: loads_tolerant(answer)[0])
    total(lambda: check_schema(checked, parameters))


def chat(data: bytes) -> None:
    """Read bytes as an answer and a stream of every model's interface."""
    events = b"".join(b"data: " + line + b"\n\n" for line in data.split(b"\n"))
    for whole in (data, events, events + b"data: [DONE]\n\n"):
        said = total(lambda whole=whole: read_answer(CHAT, whole))
        read = said if isinstance(said, Defect) else total(lambda said=said: chat_response(said))
        assert isinstance(read, ChatResponse | Defect)
    for api in MODEL_APIS.values():
        for raw in (data, events):
            answer = total(lambda api=api, raw=raw: read_answer(api, raw))
            assert isinstance(answer, dict | Defect)
            if isinstance(answer, dict):
                calls = total(lambda api=api, answer=answer: list(api.calls(answer)))
                assert all(isinstance(call.name, str) for call in calls)
                total(lambda api=api, answer=answer: (api.reported(answer), api.finish(answer), api.usage(answer)))
        total(lambda api=api: api.ends(data))
    half, reader = len(data) // 2, SseReader()
    assert reader.feed(data[:half]) + reader.feed(data[half:]) == sse_data(data)


def ends(data: bytes) -> None:
    """Feed bytes to a client that waits for answers, and each line to a server with a tool."""
    client = McpClient()
    client.start()
    client.list_tools()
    client.call_tool("t", {})
    total(lambda: client.feed(data))
    total(lambda: client.feed(b"\n"))
    client.data_to_send()
    server = ToolServer("box", tools=(Tool("t", "a tool", {"type": "object"}, lambda _arguments: {"content": []}),))
    for line in data.split(b"\n")[:20]:
        answer = total(lambda line=line: server.handle(line))
        assert answer is None or isinstance(parse_message(answer), Message)


def subject_lines(data: bytes) -> None:
    """Read what a subject process says."""
    for line in data.split(b"\n")[:20]:
        named(ProtocolError, lambda line=line: parse_line(line))
