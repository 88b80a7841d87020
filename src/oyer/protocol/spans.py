"""Where each JSON value stands in its bytes, so that an edit can splice and leave all other bytes alone.

Owns the byte-level scanner: a tree of spans (no values), the map from decoded text to raw bytes, and string splices.
Must never: normalise, re-order or re-serialise; guess between two members of one name (that is an error).
Source: RFC 8259 (grammar), RFC 6901 (pointers).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from oyer.errors import ProtocolError
from oyer.protocol.jsonvalue import MAX_DEPTH, escape_text, parse_pointer

__all__ = ["DecodedString", "Node", "Span", "decode_string", "find_span", "scan", "string_edit"]

_SPACE = re.compile(rb"[ \t\n\r]*")
_STRING = re.compile(rb'"[^"\\\x00-\x1f]*(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})[^"\\\x00-\x1f]*)*"')
_SCALAR = re.compile(rb"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?|true|false|null")
_PIECE = re.compile(rb"\\u([0-9a-fA-F]{4})|\\(.)|[^\\]+", re.DOTALL)
_SHORT = {b"b": "\b", b"f": "\f", b"n": "\n", b"r": "\r", b"t": "\t", b'"': '"', b"\\": "\\", b"/": "/"}
_LITERALS = {0x74: "boolean", 0x66: "boolean", 0x6E: "null"}


class Span(NamedTuple):
    """A value's place: bytes `start` to `end` (exclusive), and its JSON type."""

    start: int
    end: int
    kind: str


class Node:
    """One value of a scanned text: its span, and for objects and arrays the nodes inside."""

    __slots__ = ("children", "end", "keys", "kind", "start")

    def __init__(self, kind: str, start: int) -> None:
        self.kind = kind
        self.start = start
        self.end = start
        self.keys: list[tuple[str, int, int]] = []  # object only, parallel to children: name, start, end of the key
        self.children: list[Node] = []

    @property
    def span(self) -> Span:
        """Return the place of this value."""
        return Span(self.start, self.end, self.kind)

    def member(self, name: str) -> Node | None:
        """Return the value of the object member `name`, None if there is none.

        Raises: ProtocolError (`E-JSON-DUPLICATE-KEY`).
        """
        index = self.member_index(name)
        return None if index is None else self.children[index]

    def member_index(self, name: str) -> int | None:
        """Return the position of the member `name`. Raises: ProtocolError (`E-JSON-DUPLICATE-KEY`)."""
        found = [index for index, key in enumerate(self.keys) if key[0] == name]
        if len(found) > 1:
            where = f"byte {self.keys[found[1]][1]}"
            raise ProtocolError("E-JSON-DUPLICATE-KEY", f"key {name!r} occurs twice", side="endpoint", where=where)
        return found[0] if found else None

    def at(self, tokens: Sequence[str]) -> Node | None:
        """Follow pointer tokens from here. Raises: ProtocolError (`E-JSON-DUPLICATE-KEY`)."""
        node: Node | None = self
        for token in tokens:
            if node is None:
                return None
            if node.kind == "object":
                node = node.member(token)
            else:
                index = _array_index(token)
                inside = node.kind == "array" and index is not None and index < len(node.children)
                node = node.children[index] if inside and index is not None else None
        return node

    def strings(self, path: tuple[str | int, ...] = ()) -> Iterator[tuple[tuple[str | int, ...], Node]]:
        """Yield every string value at or below this node with its path, in document order.

        Raises: ProtocolError (`E-JSON-DUPLICATE-KEY`) when an object on the way names a member twice.
        """
        stack: list[tuple[tuple[str | int, ...], Node]] = [(path, self)]
        while stack:
            here, node = stack.pop()
            if node.kind == "string":
                yield here, node
            elif node.kind == "object":
                for name, _, _ in node.keys:
                    node.member_index(name)
                pairs = zip(node.keys, node.children, strict=True)
                stack.extend(reversed([((*here, key[0]), child) for key, child in pairs]))
            elif node.kind == "array":
                stack.extend(reversed([((*here, index), child) for index, child in enumerate(node.children)]))


def _array_index(token: str) -> int | None:
    return int(token) if re.fullmatch(r"0|[1-9][0-9]{0,8}", token) else None


def _fault(raw: bytes, position: int, expected: str) -> ProtocolError:
    found = raw[position : position + 1]
    what = f"found {found!r}" if found else "the text ends"
    return ProtocolError("E-JSON-SYNTAX", f"{what}, expected {expected}", side="endpoint", where=f"byte {position}")


class _Scanner:
    """One pass over the bytes with an explicit stack, so that a count bounds the depth, not the interpreter."""

    __slots__ = ("open", "position", "raw")

    def __init__(self, raw: bytes) -> None:
        self.raw = raw
        self.position = 0
        self.open: list[Node] = []

    def skip_space(self) -> int:
        match = _SPACE.match(self.raw, self.position)
        self.position = match.end() if match else self.position
        return self.raw[self.position] if self.position < len(self.raw) else -1

    def take(self, byte: int, expected: str) -> None:
        if self.skip_space() != byte:
            raise _fault(self.raw, self.position, expected)
        self.position += 1

    def string_end(self) -> int:
        match = _STRING.match(self.raw, self.position)
        if match is None:
            raise _fault(self.raw, self.position, "a string")
        return match.end()

    def key(self, parent: Node) -> None:
        self.skip_space()
        start, end = self.position, self.string_end()
        parent.keys.append((decode_string(self.raw, Span(start, end, "string")).text, start, end))
        self.position = end
        self.take(0x3A, "':'")

    def value(self) -> Node:
        """Read a scalar completely, or open a container."""
        first = self.skip_space()
        start = self.position
        if first in (0x7B, 0x5B):
            if len(self.open) >= MAX_DEPTH:
                message = f"nested deeper than {MAX_DEPTH}"
                raise ProtocolError("E-JSON-DEPTH", message, side="endpoint", where=f"byte {start}")
            self.position += 1
            return Node("object" if first == 0x7B else "array", start)
        node = Node("string" if first == 0x22 else _LITERALS.get(first, "number"), start)
        if first == 0x22:
            node.end = self.string_end()
        else:
            match = _SCALAR.match(self.raw, start)
            if match is None:
                raise _fault(self.raw, start, "a value")
            node.end = match.end()
        self.position = node.end
        return node

    def close_finished(self) -> bool:
        """After a value: go to the next one of the innermost container, closing what ends here. False at the end."""
        while self.open:
            parent = self.open[-1]
            closing = 0x7D if parent.kind == "object" else 0x5D
            byte = self.skip_space()
            if byte == 0x2C and parent.children:
                self.position += 1
                if parent.kind == "object":
                    self.key(parent)
                return True
            if byte != closing:
                raise _fault(self.raw, self.position, f"',' or {chr(closing)!r}")
            self.position += 1
            parent.end = self.position
            self.open.pop()
        return False

    def enter(self, node: Node) -> bool:
        """Step into a container that was just opened. False if it is empty."""
        self.open.append(node)
        if self.skip_space() == (0x7D if node.kind == "object" else 0x5D):
            return False
        if node.kind == "object":
            self.key(node)
        return True

    def run(self) -> Node:
        root = node = self.value()
        while True:
            more = self.enter(node) if node.kind in ("object", "array") else self.close_finished()
            if not more and not (self.open and self.close_finished()):
                break
            node = self.value()
            self.open[-1].children.append(node)
        self.skip_space()
        if self.position != len(self.raw):
            raise _fault(self.raw, self.position, "nothing more")
        return root


def scan(raw: bytes) -> Node:
    """Return the tree of spans of one JSON text; white space around it (a line end too) is allowed.

    Raises: ProtocolError (`E-JSON-UTF8`, `E-JSON-SYNTAX`, `E-JSON-DEPTH`).
    """
    try:
        raw.decode("utf-8")
    except UnicodeDecodeError as error:
        raise ProtocolError("E-JSON-UTF8", "not UTF-8", side="endpoint", where=f"byte {error.start}") from None
    return _Scanner(raw).run()


def find_span(raw: bytes, path: str) -> Span | None:
    """Return the span of the value at an RFC 6901 pointer, None if there is no such value.

    Raises: ProtocolError; `E-JSON-DUPLICATE-KEY` if an object on the path names its step twice.
    """
    node = scan(raw).at(parse_pointer(path))
    return None if node is None else node.span


class DecodedString(NamedTuple):
    """A string's text, and for every code point of it (and the end) the byte where its raw form starts."""

    text: str
    offsets: list[int]


def decode_string(raw: bytes, span: Span) -> DecodedString:
    """Decode the JSON string at `span` (quotes included); `offsets` has one item more than `text`."""
    parts: list[str] = []
    offsets: list[int] = []
    for match in _PIECE.finditer(raw, span.start + 1, span.end - 1):
        start = match.start()
        if match.group(1) is not None:
            unit = int(match.group(1), 16)
            if 0xDC00 <= unit <= 0xDFFF and parts and _is_high_half(parts[-1]):
                parts[-1] = chr(0x10000 + ((ord(parts[-1]) - 0xD800) << 10) + (unit - 0xDC00))
                continue
            parts.append(chr(unit))
            offsets.append(start)
        elif match.group(2) is not None:
            parts.append(_SHORT[match.group(2)])
            offsets.append(start)
        else:
            text = match.group().decode("utf-8")
            parts.append(text)
            offsets.extend(_character_starts(text, start, match.end()))
    offsets.append(span.end - 1)
    return DecodedString("".join(parts), offsets)


def _is_high_half(part: str) -> bool:
    # Raw UTF-8 never holds a half, so the piece before can only be one if it was escaped and stands directly before.
    return len(part) == 1 and 0xD800 <= ord(part) <= 0xDBFF


def _character_starts(text: str, start: int, end: int) -> Iterator[int]:
    if end - start == len(text):
        yield from range(start, end)
        return
    position = start
    for character in text:
        yield position
        code = ord(character)
        position += 1 if code < 0x80 else 2 if code < 0x800 else 3 if code < 0x10000 else 4


def string_edit(raw: bytes, span: Span, start: int, end: int, replacement_text: str) -> bytes:
    """Replace the decoded characters `start` to `end` of the string at `span`; all other bytes stay as they are."""
    offsets = decode_string(raw, span).offsets
    return raw[: offsets[start]] + escape_text(replacement_text) + raw[offsets[end] :]
