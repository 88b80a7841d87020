"""Where an answer says something: its text blocks, its structured copy, and which of them say the same.

Owns finding the copies of a fact in a result, by shape: `content[].text`, `content[].resource.text`,
`contents[].text` (resources), `messages[].content.text` (prompts), and every string of `structuredContent`.
Must never read a value that stands under a repeated key: two readers would see two different facts.
Source: MCP 2024-11-05 to 2026-07-28, schema of CallToolResult, ReadResourceResult, GetPromptResult.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from oyer.errors import ProtocolError
from oyer.protocol.jsonvalue import JsonValue, loads, same_json
from oyer.protocol.spans import Node, decode_string, scan

__all__ = ["AnswerView", "Copy", "Path", "Place", "container_in_text", "json_in_text", "open_answer"]

Path = tuple[str | int, ...]


class Place(NamedTuple):
    """A string value of the answer: its path from the root, its node, its text, and the raw byte of each character."""

    path: Path
    node: Node
    text: str
    offsets: list[int]


class Copy(NamedTuple):
    """A text block that says the same as the part of `structuredContent` at `tokens`."""

    block: int  # index into `AnswerView.texts`
    tokens: Path
    whole_text_is_json: bool  # the text is the JSON form of the part; else it is that string itself


class AnswerView:
    """A successful answer, opened for editing: nodes point into `raw`."""

    __slots__ = ("raw", "result", "root", "structured", "texts")

    def __init__(self, raw: bytes, root: Node, result: Node) -> None:
        self.raw = raw
        self.root = root
        self.result = result
        self.texts = [self._place(path, node) for path, node in _text_nodes(result)]
        structured = result.member("structuredContent") if result.kind == "object" else None
        self.structured = None if structured is None or structured.kind == "null" else structured

    def _place(self, path: Path, node: Node) -> Place:
        return Place(path, node, *decode_string(self.raw, node.span))

    def structured_strings(self) -> list[Place]:
        """Return every string value of `structuredContent`."""
        if self.structured is None:
            return []
        return [self._place(path, node) for path, node in self.structured.strings(("result", "structuredContent"))]

    def value(self, node: Node) -> JsonValue:
        """Return the value at a node. Raises: ProtocolError (`E-JSON-DUPLICATE-KEY`)."""
        return loads(self.raw[node.start : node.end])

    def copies(self) -> list[Copy]:
        """Return which text blocks repeat which part of `structuredContent`."""
        if self.structured is None:
            return []
        value = self.value(self.structured)
        strings = self.structured_strings()
        return [copy for index in range(len(self.texts)) for copy in self._copies_of(index, value, strings)]

    def _copies_of(self, index: int, value: JsonValue, strings: list[Place]) -> Iterator[Copy]:
        text = self.texts[index].text
        prefix = len(("result", "structuredContent"))
        for place in strings:
            if place.text == text != "":
                yield Copy(index, place.path[prefix:], False)
        parsed = json_in_text(text)
        if parsed is None:
            return
        for tokens, part in _parts(value, index, len(self.texts)):
            if not isinstance(part, str) and same_json(parsed[0], part):
                yield Copy(index, tokens, True)


def _parts(value: JsonValue, index: int, blocks: int) -> Iterator[tuple[Path, JsonValue]]:
    """Yield the parts that servers repeat as text: the whole, the only member, and the item of this block's number."""
    yield (), value
    if isinstance(value, dict) and len(value) == 1:
        ((key, inner),) = value.items()
        yield (key,), inner
        if isinstance(inner, list) and len(inner) == blocks:
            yield (key, index), inner[index]


def json_in_text(text: str) -> tuple[JsonValue] | None:
    """Return the JSON value that a whole text is (boxed, since null is one), None if it is not JSON.

    A JSON string is not taken for JSON in text. Raises: ProtocolError (`E-JSON-DUPLICATE-KEY`).
    """
    if text[:1] == '"':
        return None
    try:
        return (loads(text.encode("utf-8")),)
    except UnicodeEncodeError:
        return None
    except ProtocolError as error:
        if error.code == "E-JSON-DUPLICATE-KEY":
            raise
        return None


def container_in_text(text: str) -> tuple[JsonValue] | None:
    """Return the object or array that a whole text is (boxed), None if it is none. Raises as `json_in_text`."""
    return json_in_text(text) if text.lstrip(" \t\r\n")[:1] in ("{", "[") else None


def open_answer(raw: bytes) -> AnswerView:
    """Open one answer that has a result.

    Raises: ProtocolError (`E-EDIT-NOT-JSON`, `E-EDIT-BATCH`, `E-EDIT-NO-RESULT`, `E-JSON-DUPLICATE-KEY`).
    """
    try:
        root = scan(raw)
    except ProtocolError as error:
        raise ProtocolError("E-EDIT-NOT-JSON", str(error), side="server") from None
    if root.kind == "array":
        raise ProtocolError("E-EDIT-BATCH", "a batch is not edited", side="endpoint")
    result = root.member("result") if root.kind == "object" else None
    if result is None or root.member("error") is not None or root.member("method") is not None:
        raise ProtocolError("E-EDIT-NO-RESULT", "this is no answer with a result", side="endpoint")
    root.member("id")  # two ids: nobody knows whose answer it is
    return AnswerView(raw, root, result)


def _text_nodes(result: Node) -> Iterator[tuple[Path, Node]]:
    if result.kind != "object":
        return
    for name, inner in (("content", ("resource",)), ("contents", ()), ("messages", ("content",))):
        for index, item in enumerate(_items(result.member(name))):
            path = ("result", name, index)
            if name != "messages":
                yield from _own_text(path, item)
            for step in inner:
                below = item.member(step) if item.kind == "object" else None
                if below is not None and below.kind == "array":
                    for number, part in enumerate(below.children):
                        yield from _own_text((*path, step, number), part)
                elif below is not None:
                    yield from _own_text((*path, step), below)


def _items(node: Node | None) -> list[Node]:
    return node.children if node is not None and node.kind == "array" else []


def _own_text(path: Path, block: Node) -> Iterator[tuple[Path, Node]]:
    text = block.member("text") if block.kind == "object" else None
    if text is not None and text.kind == "string":
        yield (*path, "text"), text
