"""Newline-delimited frames and what each one is.

Owns splitting a byte stream into frames and classifying a frame as a JSON-RPC 2.0 message or as noise.
Must never: split on anything but byte 0x0A (U+2028 and U+0085 stand inside strings), change a byte, raise on what a
peer sends, or hold more than the declared bound in memory.
Source: JSON-RPC 2.0; MCP transports, stdio (messages are delimited by newlines).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, NamedTuple

from oyer.errors import ProtocolError
from oyer.protocol.jsonvalue import JsonNumber, JsonValue, dumps, loads_tolerant
from oyer.protocol.spans import scan

__all__ = [
    "MAX_FRAME_BYTES",
    "IdKey",
    "LineSplitter",
    "Message",
    "Noise",
    "Overlong",
    "encode_message",
    "id_key",
    "parse_message",
    "strip_terminator",
]

MAX_FRAME_BYTES = 16 * 1024 * 1024
"""Default bound of one frame; a longer one is reported as `Overlong`."""

IdKey = tuple[str, object]
"""A message id by JSON type and value, usable as a dictionary key."""


class Overlong(NamedTuple):
    """A frame above the bound: what was kept of it, and how long it was (terminator included)."""

    prefix: bytes
    size_bytes: int


class LineSplitter:
    """Cut a byte stream into frames that end in 0x0A. Feed any chunks; the frames do not depend on the chunking."""

    __slots__ = ("_held", "_held_bytes", "_lost_bytes", "max_frame_bytes")

    def __init__(self, max_frame_bytes: int = MAX_FRAME_BYTES) -> None:
        self.max_frame_bytes = max_frame_bytes
        self._held: list[bytes] = []
        self._held_bytes = 0
        self._lost_bytes = 0

    def feed(self, data: bytes) -> list[bytes | Overlong]:
        """Take the next bytes and return the frames they complete, terminators included."""
        if not self._held and 0 < len(data) <= self.max_frame_bytes and data.find(b"\n") == len(data) - 1:
            return [data]  # one whole frame: nearly every read of a conversation
        frames: list[bytes | Overlong] = []
        start = 0
        while (newline := data.find(b"\n", start)) >= 0:
            self._hold(data[start : newline + 1])
            frames.append(self._release())
            start = newline + 1
        self._hold(data[start:])
        return frames

    def end(self) -> bytes | Overlong | None:
        """Return the unterminated rest at the end of the stream, None if there is none."""
        return self._release() if self._held_bytes or self._lost_bytes else None

    @property
    def pending_bytes(self) -> int:
        """The number of bytes of the frame that has begun and not ended."""
        return self._held_bytes + self._lost_bytes

    def _hold(self, piece: bytes) -> None:
        kept = piece[: self.max_frame_bytes - self._held_bytes]
        if kept:
            self._held.append(kept)
            self._held_bytes += len(kept)
        self._lost_bytes += len(piece) - len(kept)

    def _release(self) -> bytes | Overlong:
        kept = b"".join(self._held)
        frame = Overlong(kept, self._held_bytes + self._lost_bytes) if self._lost_bytes else kept
        self._held, self._held_bytes, self._lost_bytes = [], 0, 0
        return frame


class Noise(NamedTuple):
    """A frame that is no JSON-RPC message. `why`: `blank`, `not_json`, `not_utf8`, `too_deep`, `not_a_message`."""

    raw: bytes
    why: str


class Message:
    """One JSON-RPC message, or a batch of them.

    `id` is None both for an absent and for a null id: `has_id` tells them apart. `defects` names what a strict peer
    would refuse: `no_version`, `bad_id` (fraction, boolean, container), `null_id`, `duplicate_key`,
    `result_and_error`, `bad_params`. They are facts about the sender; the message counts all the same.
    """

    __slots__ = ("defects", "has_id", "id", "kind", "method", "parts", "raw", "value")

    def __init__(self, raw: bytes, kind: Literal["request", "response", "notification", "batch"]) -> None:
        self.raw = raw
        self.kind = kind
        self.id: JsonValue = None
        self.has_id = False
        self.method: str | None = None
        self.value: dict[str, JsonValue] = {}
        self.parts: tuple[Message | Noise, ...] = ()
        self.defects: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return f"Message({self.kind}, id={self.id!r}, method={self.method!r})"

    @property
    def id_key(self) -> IdKey:
        """The id by JSON type and value: 1 and "1" differ, 1 and 1.0 do not."""
        return id_key(self.id)

    @property
    def params(self) -> JsonValue:
        """The parameters as sent, None if absent."""
        return self.value.get("params")

    @property
    def result(self) -> JsonValue:
        """The result of a response, None if absent."""
        return self.value.get("result")

    @property
    def error(self) -> JsonValue:
        """The error member of a response, None if absent."""
        return self.value.get("error")

    @property
    def is_error(self) -> bool:
        """Whether this response is a JSON-RPC error (a tool result with `isError` is not)."""
        return self.kind == "response" and "error" in self.value

    @property
    def target(self) -> str | None:
        """What the request is about: the tool or prompt name, or the resource address; None for other methods."""
        names = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}
        key = names.get(self.method or "")
        params = self.params
        value = params.get(key) if key is not None and isinstance(params, dict) else None
        return value if isinstance(value, str) else None

    @property
    def tool(self) -> str | None:
        """The tool that a `tools/call` request names."""
        return self.target if self.method == "tools/call" else None

    @property
    def arguments(self) -> JsonValue:
        """`params.arguments` of a tool or prompt request (an absent one is an empty object); else the parameters."""
        params = self.params
        if self.method in ("tools/call", "prompts/get"):
            return params.get("arguments", {}) if isinstance(params, dict) else None
        return params


def id_key(value: JsonValue) -> IdKey:
    """Return an id as a dictionary key that compares by JSON type and value."""
    if isinstance(value, bool):
        return ("boolean", value)
    if isinstance(value, int):
        return ("number", value)  # a JsonNumber of equal value is equal to it and hashes alike
    if isinstance(value, JsonNumber):
        return ("number", value)
    if isinstance(value, str):
        return ("string", value)
    return ("null", None) if value is None else ("container", dumps(value))


def strip_terminator(raw: bytes) -> bytes:
    """Return a frame without its line end (LF or CR LF)."""
    if raw.endswith(b"\r\n"):
        return raw[:-2]
    return raw[:-1] if raw.endswith(b"\n") else raw


def parse_message(raw: bytes) -> Message | Noise:
    """Say what a frame is. Never raises: what is no message is `Noise`, and the caller still forwards its bytes."""
    if not raw.strip(b" \t\r\n"):
        return Noise(raw, "blank")
    try:
        value, repeated = loads_tolerant(raw)
    except ProtocolError as error:
        return Noise(raw, {"E-JSON-UTF8": "not_utf8", "E-JSON-DEPTH": "too_deep"}.get(error.code, "not_json"))
    extra = ("duplicate_key",) if repeated else ()
    if isinstance(value, dict):
        return _single(raw, value, extra)
    if isinstance(value, list):
        return _batch(raw, value, extra)
    return Noise(raw, "not_a_message")


def _batch(raw: bytes, items: list[JsonValue], extra: tuple[str, ...]) -> Message | Noise:
    parts = tuple(
        _single(raw[node.start : node.end], item, extra) if isinstance(item, dict) else Noise(raw, "not_a_message")
        for item, node in zip(items, scan(raw).children, strict=True)
    )
    if not any(isinstance(part, Message) for part in parts):
        return Noise(raw, "not_a_message")
    batch = Message(raw, "batch")
    batch.parts = parts
    batch.defects = extra
    return batch


def _single(raw: bytes, value: dict[str, JsonValue], extra: tuple[str, ...]) -> Message | Noise:
    method = value.get("method")
    if isinstance(method, str):
        message = Message(raw, "request" if "id" in value else "notification")
        message.method = method
    elif "method" not in value and ("result" in value or "error" in value):
        message = Message(raw, "response")
    else:
        return Noise(raw, "not_a_message")
    message.value = value
    message.has_id = "id" in value
    message.id = value.get("id")
    message.defects = (*extra, *_defects(message))
    return message


def _defects(message: Message) -> list[str]:
    found = []
    value = message.value
    if value.get("jsonrpc") != "2.0":
        found.append("no_version")
    if message.has_id and message.id is None and not message.is_error:
        found.append("null_id")
    if isinstance(message.id, bool | JsonNumber | list | dict):
        found.append("bad_id")
    if message.kind == "response" and not message.has_id:
        found.append("bad_id")
    if "error" in value and "result" in value:
        found.append("result_and_error")
    if "params" in value and not isinstance(value["params"], dict | list):
        found.append("bad_params")
    return found


def encode_message(fields: Mapping[str, object]) -> bytes:
    """Write one JSON-RPC 2.0 message as a frame that ends in LF; for what Oyer itself says, never for what crosses."""
    return dumps({"jsonrpc": "2.0", **fields}) + b"\n"
