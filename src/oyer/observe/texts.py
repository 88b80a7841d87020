"""What a tool's answer says: its text, its structured copy, and the value compared along a chain."""

from __future__ import annotations

from typing import Any

from oyer.errors import ProtocolError
from oyer.observe.matching import field_of
from oyer.protocol import Message, Noise, loads, parse_message
from oyer.records import Value

__all__ = ["answer_texts", "answer_value", "content_value", "failed", "result_of"]


def result_of(raw: bytes | None) -> Any:
    """Return the `result` member of an answer's bytes, None where there is none."""
    if raw is None:
        return None
    message = parse_message(raw)
    return None if isinstance(message, Noise) or message.kind != "response" else message.result


def answer_texts(raw: bytes | None) -> tuple[str, ...]:
    """Return the text blocks of a tool result (or the texts of a resource or prompt), in order."""
    result = result_of(raw)
    blocks = result.get("content") if isinstance(result, dict) else None
    if blocks is None and isinstance(result, dict):
        blocks = result.get("contents")
    if not isinstance(blocks, list):
        return ()
    return tuple(block["text"] for block in blocks if isinstance(block, dict) and isinstance(block.get("text"), str))


def failed(message: Message) -> bool:
    """Whether an answer says that the call failed: a protocol error, or a tool result marked as an error."""
    result = message.result
    return message.is_error or (isinstance(result, dict) and result.get("isError") is True)


def content_value(text: str, value: Value) -> Any:
    """Return what of a content is compared: the whole text, or one field of the JSON it holds."""
    if value.field is None:
        return text
    try:
        return field_of(loads(text.encode("utf-8", "surrogatepass")), value.field)
    except ProtocolError:
        return None


def answer_value(raw: bytes | None, value: Value) -> Any:
    """Return what of an answer is compared: its texts joined, or one field of the JSON in them or beside them."""
    text = "".join(answer_texts(raw))
    found = content_value(text, value)
    if found is None and value.field is not None:
        result = result_of(raw)
        structured = result.get("structuredContent") if isinstance(result, dict) else None
        return field_of(structured, value.field)
    return found
