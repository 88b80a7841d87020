"""Strict JSON: RFC 8259 with every ambiguity refused, and the place of every key and value.

Owns the reading of records that are written as JSON. Refused, each with its place: a key that is there twice (at any
depth, compared after unescaping, so that no two readers can take different values), `NaN` and `Infinity`, half
surrogate pairs, whole numbers beyond 2^53-1, numbers that overflow, depth beyond `MAX_DEPTH`.

Must never read foreign messages that have to keep their lexical form: those stay bytes.

Source: RFC 8259; RFC 7493 (I-JSON), section 2.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import Any, Final

from oyer.records.source_text import (
    MAX_DEPTH,
    MAX_NODES,
    MAX_SAFE_INTEGER,
    Findings,
    Parsed,
    Place,
    Position,
    decode_text,
    is_safe_number,
    shown,
)

__all__ = ["parse_json"]

_SPACE = re.compile(r"[ \t\n\r]*")
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?")
_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]*|-Infinity")
_STRING = re.compile(r'"((?:[^"\\\x00-\x1f]++|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*+)')
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|(.))")
_SHORT_ESCAPES: Final = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
_WORDS: Final[dict[str, bool | None]] = {"true": True, "false": False, "null": None}


def parse_json(data: bytes, *, name: str) -> Parsed:
    """Parse one JSON document. Raises `RecordError` with every problem that could be found."""
    findings = Findings(name, "JSON")
    reader = _Reader(decode_text(data, findings), findings)
    parsed = reader.document()
    findings.require_none()
    return parsed


class _Reader:
    """A recursive descent over the text; the depth limit bounds the recursion."""

    __slots__ = ("_depth", "_end", "_findings", "_line_starts", "_nodes", "_path", "_text")

    def __init__(self, text: str, findings: Findings) -> None:
        self._text = text
        self._findings = findings
        self._path: list[str | int] = []
        self._depth = 0
        self._nodes = 0
        self._end = 0
        self._line_starts = [0, *(match.end() for match in re.finditer("\n", text))]

    def document(self) -> Parsed:
        parsed = self._value(self._skip(0))
        end = self._skip(self._end)
        if end != len(self._text):
            self._syntax("something follows the end of the document", end)
        return parsed

    def _at(self, offset: int) -> Position:
        line = bisect_right(self._line_starts, offset)
        return line, offset - self._line_starts[line - 1] + 1

    def _skip(self, offset: int) -> int:
        match = _SPACE.match(self._text, offset)
        return match.end() if match else offset

    def _syntax(self, message: str, offset: int) -> Any:
        if offset >= len(self._text):
            message = f"the text ends too early: {message}"
        self._findings.stop("SYNTAX", f"not JSON: {message}", self._at(offset), path=tuple(self._path))

    def _value(self, offset: int) -> Parsed:
        """Read the value that starts at `offset`, and leave the offset behind it in `_end`."""
        self._nodes += 1
        if self._nodes > MAX_NODES:
            self._findings.stop("SIZE", f"more than {MAX_NODES} values in one document", self._at(offset))
        first = self._text[offset : offset + 1]
        at = self._at(offset)
        if first == '"':
            return Parsed(self._string(offset), at)
        if first in ("{", "["):
            self._depth += 1
            if self._depth > MAX_DEPTH:
                self._findings.stop("DEPTH", f"nested deeper than {MAX_DEPTH} levels", at)
            parsed = self._object(offset, at) if first == "{" else self._array(offset, at)
            self._depth -= 1
            return parsed
        number = _NUMBER.match(self._text, offset)
        if number:
            self._end = number.end()
            return Parsed(self._number(number, at), at)
        return Parsed(self._word(offset), at)

    def _word(self, offset: int) -> bool | None:
        match = _WORD.match(self._text, offset)
        word = match.group() if match else ""
        if match and word in _WORDS:
            self._end = match.end()
            return _WORDS[word]
        if word in ("NaN", "Infinity", "-Infinity"):
            hint = "write it as text, or leave the field out"
            message = f"{word} is not a JSON number"
            self._findings.add("NUMBER", message, self._at(offset), hint=hint, path=tuple(self._path))
            self._end = offset + len(word)
            return None
        self._syntax("a value was expected here", offset)
        return None

    def _number(self, match: re.Match[str], at: Position) -> int | float:
        text = match.group()
        if match.group(1) is None and match.group(2) is None:
            # The length is looked at first: converting a million digits is quadratic.
            if len(text) <= 17 and is_safe_number(int(text)):
                return int(text)
        else:
            number = float(text)
            if is_safe_number(number):
                return number
        message = f"the number {text[:40]} cannot be held exactly"
        hint = f"whole numbers go to {MAX_SAFE_INTEGER} and others are finite; write it as text"
        self._findings.add("NUMBER", message, at, hint=hint, path=tuple(self._path))
        return 0

    def _string(self, offset: int) -> str:
        match = _STRING.match(self._text, offset)
        end = match.end() if match else offset
        if match is None or self._text[end : end + 1] != '"':
            told = "an escape that JSON does not have" if self._text[end : end + 1] == "\\" else "a control character"
            self._syntax(f"{told} in a text", end)
            return ""
        self._end = end + 1
        text = match.group(1)
        if "\\" not in text:
            return text
        text = _ESCAPE.sub(_unescape, text)
        try:
            # Two escaped halves are one character; a half that stays alone cannot be decoded.
            return text if text.isascii() else text.encode("utf-16-le", "surrogatepass").decode("utf-16-le")
        except UnicodeDecodeError:
            self._findings.add("SURROGATE", "half of a surrogate pair", self._at(offset), path=tuple(self._path))
            return ""

    def _array(self, offset: int, at: Position) -> Parsed:
        values: list[Any] = []
        places: list[Place | Position] = []
        offset = self._skip(offset + 1)
        if self._text[offset : offset + 1] == "]":
            self._end = offset + 1
            return Parsed(values, Place(*at, places))
        while True:
            self._path.append(len(values))
            value, place = self._value(offset)
            self._path.pop()
            values.append(value)
            places.append(place)
            offset = self._skip(self._end)
            mark = self._text[offset : offset + 1]
            if mark == "]":
                self._end = offset + 1
                return Parsed(values, Place(*at, places))
            if mark != ",":
                self._syntax("`,` or `]` was expected here", offset)
            offset = self._skip(offset + 1)

    def _object(self, offset: int, at: Position) -> Parsed:
        values: dict[str, Any] = {}
        places: dict[str, Place | Position] = {}
        keys: dict[str, Position] = {}
        offset = self._skip(offset + 1)
        if self._text[offset : offset + 1] == "}":
            self._end = offset + 1
            return Parsed(values, Place(*at, places, keys))
        while True:
            self._member(offset, values, places, keys)
            offset = self._skip(self._end)
            mark = self._text[offset : offset + 1]
            if mark == "}":
                self._end = offset + 1
                return Parsed(values, Place(*at, places, keys))
            if mark != ",":
                self._syntax("`,` or `}` was expected here", offset)
            offset = self._skip(offset + 1)

    def _member(
        self, offset: int, values: dict[str, Any], places: dict[str, Place | Position], keys: dict[str, Position]
    ) -> None:
        if self._text[offset : offset + 1] != '"':
            self._syntax("a key in double quotes was expected here", offset)
        key = self._string(offset)
        colon = self._skip(self._end)
        if self._text[colon : colon + 1] != ":":
            self._syntax("`:` was expected here", colon)
        self._path.append(key)
        if key in keys:
            first = keys[key]
            message = f"the key `{shown(key)}` is here twice; first on line {first[0]}, column {first[1]}"
            hint = "keep one of them"
            self._findings.add("DUPLICATE-KEY", message, self._at(offset), hint=hint, path=tuple(self._path))
        value, place = self._value(self._skip(colon + 1))
        self._path.pop()
        if key not in keys:
            values[key], places[key], keys[key] = value, place, self._at(offset)


def _unescape(match: re.Match[str]) -> str:
    code, letter = match.groups()
    return chr(int(code, 16)) if code else _SHORT_ESCAPES.get(letter, letter)
