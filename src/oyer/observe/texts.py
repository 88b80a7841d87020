"""What a tool's answer says: its text, its structured copy, and the value compared along a chain.

Owns the one way in which a text is looked for in evidence. Must never recurse by the depth of foreign data.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator
from typing import Any

from oyer.errors import ProtocolError
from oyer.observe.matching import field_of
from oyer.protocol import Message, Noise, escape_text, loads, parse_message
from oyer.records import Delimiters, Value

__all__ = [
    "answer_texts",
    "answer_value",
    "any_holds",
    "content_value",
    "failed",
    "json_or_none",
    "one_reading",
    "printable",
    "result_of",
    "strings_in",
    "without_reasoning",
]


_MODELS_ROLES = ("assistant", "model")
"""Whose messages are the model's own, in the APIs that are understood."""


def printable(text: str) -> str:
    """Return text of foreign origin in a form that a record can hold: half a surrogate pair becomes an escape."""
    return text if text.isascii() else text.encode("utf-8", "backslashreplace").decode("utf-8")


def json_or_none(raw: bytes | None) -> Any:
    """Return the JSON value of bytes, None where they are absent or no JSON (as for JSON null)."""
    if raw is None:
        return None
    try:
        return loads(raw)
    except ProtocolError:
        return None


def one_reading(raw: bytes) -> bool | None:
    """Whether bytes are JSON that has one reading; None where others read some, as with duplicate keys or a BOM.

    False is what nobody reads as JSON.
    """
    try:
        loads(raw)
    except ProtocolError:
        pass
    else:
        return True
    try:
        json.loads(raw)
    except RecursionError:
        return None
    except ValueError:
        return False
    return None


def without_reasoning(text: str, delimiters: Delimiters) -> str:
    """Return what a text says outside of reasoning.

    A stretch that is never closed goes on to the end. Before one that was never opened all is reasoning: chat templates
    write the beginning themselves, so that the text shows its end only.
    """
    for opening, closing in delimiters:
        text = "".join(_outside(text, opening, closing))
    return text


def _outside(text: str, opening: str, closing: str) -> list[str]:
    said: list[str] = []
    at = 0
    begins, ends = text.find(opening), text.find(closing)
    while begins >= 0 or ends >= 0:
        if ends >= 0 and (begins < 0 or ends < begins):
            said.clear()
            at = ends + len(closing)
        else:
            said.append(text[at:begins])
            ends = text.find(closing, begins + len(opening))
            if ends < 0:
                return said
            at = ends + len(closing)
        ends = text.find(closing, at)
        begins = text.find(opening, at) if 0 <= begins < at else begins
    return [*said, text[at:]]


def strings_in(
    value: Any, *, hidden: Collection[str] = (), marked: Collection[str] = (), delimiters: Delimiters = ()
) -> Iterator[str]:
    """Yield every string and key of a JSON value, and those of JSON inside strings, unescaped.

    Members named in `hidden`, objects whose `type` is, and objects in which a member named in `marked` is true, are
    passed over with everything below them. What a model says (objects whose `role` is its own) is read without what
    stands between `delimiters`.
    """
    stack = [value]
    own: list[Any] = []
    while stack or own:
        spoken = not stack
        item = own.pop() if spoken else stack.pop()
        if isinstance(item, str):
            item = without_reasoning(item, delimiters) if spoken else item
            yield item
            if item.lstrip(" \t\r\n")[:1] in ("{", "["):
                inner = json_or_none(item.encode("utf-8", "surrogatepass"))
                if isinstance(inner, dict | list):
                    (own if spoken else stack).append(inner)
        elif isinstance(item, dict):
            kind = item.get("type")
            if (isinstance(kind, str) and kind in hidden) or any(item.get(mark) is True for mark in marked):
                continue
            shown = [key for key in item if key not in hidden]
            yield from shown
            its = own if spoken or (delimiters and item.get("role") in _MODELS_ROLES) else stack
            its.extend(item[key] for key in shown)
        elif isinstance(item, list):
            (own if spoken else stack).extend(item)


def any_holds(strings: Iterable[str], text: str) -> bool:
    """Whether any string holds a text, as it is or escaped for JSON (as where JSON stands inside prose)."""
    needles = {text, escape_text(text).decode("utf-8"), json.dumps(text)[1:-1]}
    return any(needle in string for string in strings for needle in needles)


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
    return field_of(json_or_none(text.encode("utf-8", "surrogatepass")), value.field)


def answer_value(raw: bytes | None, value: Value) -> Any:
    """Return what of an answer is compared: its texts joined, or one field of the JSON in them or beside them."""
    text = "".join(answer_texts(raw))
    found = content_value(text, value)
    if found is None and value.field is not None:
        result = result_of(raw)
        structured = result.get("structuredContent") if isinstance(result, dict) else None
        return field_of(structured, value.field)
    return found
