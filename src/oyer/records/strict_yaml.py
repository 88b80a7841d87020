"""Strict YAML: the 1.2 core schema over the parser's events, with the place of every key and value.

Owns what an authored file may say. Refused, each with its place: duplicate keys, anchors, aliases, merge keys,
tags, directives, keys that are not text, numbers that JSON cannot hold exactly, and depth beyond `MAX_DEPTH`. All of
them are collected in one pass; only an error of the grammar itself ends the reading.

Must never build anything but plain values, and never resolve a scalar by the rules of YAML 1.1 (`no` is text, and
so are `12:30` and `2026-09-13`).

Limitation: the grammar below the scalars is that of libyaml (YAML 1.1), which differs from 1.2 in corners that end
in a syntax error; NEL, LS and PS, which 1.1 takes for line breaks and 1.2 does not, are refused unless escaped.

Source: YAML 1.2.2, section 10.3 (core schema).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any, Final, NoReturn

import yaml

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

__all__ = ["parse_yaml"]

_FAST_LOADER: Final[Any] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_PURE_LOADER: Final[Any] = yaml.SafeLoader

_WORDS: Final[dict[str, bool | None]] = {
    "": None, "~": None, "null": None, "Null": None, "NULL": None,
    "true": True, "True": True, "TRUE": True,
    "false": False, "False": False, "FALSE": False,
}  # fmt: skip
_INT = re.compile(r"[-+]?[0-9]+\Z|0o[0-7]+\Z|0x[0-9a-fA-F]+\Z")
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?\Z")
_NOT_FINITE = re.compile(r"[-+]?\.(?:inf|Inf|INF)\Z|\.(?:nan|NaN|NAN)\Z")
_BREAK_ESCAPES: Final = {"\x85": "\\N", "\u2028": "\\L", "\u2029": "\\P"}
_REFUSED_CHARACTER = re.compile("[^\t\n\r\x20-\x7e\xa0-\u2027\u202a-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]")
_SURROGATE = re.compile("[\ud800-\udfff]")
# Only a plain scalar that starts with one of these can be anything but text (or, as a key, the merge key).
_SPECIAL_START = frozenset("0123456789+-.~nNtTfF<")

_Event = Any


def parse_yaml(data: bytes, *, name: str, pure: bool = False) -> tuple[Parsed, ...]:
    """Parse every document of a YAML stream.

    `pure` takes the parser written in Python instead of libyaml (for machines without it, and for tests).
    Raises `RecordError` with every problem that could be found.
    """
    findings = Findings(name, "YAML")
    text = decode_text(data, findings)
    _refuse_characters(text, findings)
    try:
        loader = (_PURE_LOADER if pure else _FAST_LOADER)(text)
        documents = tuple(_Builder(loader.get_event, findings).documents())
    except (yaml.YAMLError, ValueError, OverflowError) as error:
        # ValueError: the Python parser lets chr() fail on an escape such as "\UFFFFFFFF".
        _stop(error, findings)
    if not documents:
        findings.add("EMPTY", "the file holds no document", (1, 1), hint="start with `oyer: <Kind>@<version>`")
    findings.require_none()
    return documents


def _refuse_characters(text: str, findings: Findings) -> None:
    """Refuse what YAML cannot hold bare, and what its versions read in different ways."""
    for match in _REFUSED_CHARACTER.finditer(text):
        letter, before = match.group(), match.start()
        at = text.count("\n", 0, before) + 1, before - (text.rfind("\n", 0, before) + 1) + 1
        escape = _BREAK_ESCAPES.get(letter)
        if escape:
            message = f"U+{ord(letter):04X} is a line break to some readers and not to others"
            findings.add("LINE-SEPARATOR", message, at, hint=f'write "{escape}" in double quotes')
        else:
            message = f"the character U+{ord(letter):04X} is not allowed in YAML"
            findings.add("CHARACTER", message, at, hint="remove it, or write it as an escape in double quotes")
    findings.require_none()


def _stop(error: Exception, findings: Findings) -> NoReturn:
    """Name an error after which the grammar gives no structure to go on with."""
    mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
    at = (mark.line + 1, mark.column + 1) if mark else (1, 1)
    told = " ".join(getattr(error, part, None) or "" for part in ("context", "problem")).strip() or str(error)
    findings.stop("SYNTAX", f"not YAML: {shown(told, limit=200)}", at)


def _start(event: _Event) -> Position:
    mark = event.start_mark
    return mark.line + 1, mark.column + 1


class _Builder:
    """Builds plain values from events, going on after every problem that leaves the structure clear."""

    __slots__ = ("_depth", "_findings", "_next", "_nodes", "_path")

    def __init__(self, next_event: Callable[[], _Event], findings: Findings) -> None:
        self._next = next_event
        self._findings = findings
        self._path: list[str | int] = []
        self._depth = 0
        self._nodes = 0

    def documents(self) -> Iterator[Parsed]:
        while type(event := self._next()) is not yaml.StreamEndEvent:
            if type(event) is yaml.DocumentStartEvent:
                self._refuse_directives(event)
                self._nodes = 0
                yield Parsed(*self._node(self._next()))

    def _refuse_directives(self, event: _Event) -> None:
        if event.version or event.tags:
            hint = "remove the line that starts with %"
            self._findings.add("DIRECTIVE", "a YAML directive; records are always YAML 1.2", _start(event), hint=hint)

    def _node(self, event: _Event) -> tuple[Any, Place | Position]:
        mark = event.start_mark
        at = (mark.line + 1, mark.column + 1)
        self._nodes += 1
        if self._nodes > MAX_NODES:
            self._findings.stop("SIZE", f"more than {MAX_NODES} values in one document", at)
        kind = type(event)
        if kind is yaml.AliasEvent:
            message = f"the alias *{shown(event.anchor)} is not allowed"
            self._findings.add("ALIAS", message, at, hint="write the value out", path=tuple(self._path))
            return None, at
        if event.anchor is not None or event.tag is not None:
            self._refuse_properties(event, at)
        if kind is yaml.ScalarEvent:
            return self._scalar(event, at), at
        self._depth += 1
        if self._depth > MAX_DEPTH:
            self._findings.stop("DEPTH", f"nested deeper than {MAX_DEPTH} levels", at)
        built = self._mapping(at) if kind is yaml.MappingStartEvent else self._sequence(at)
        self._depth -= 1
        return built

    def _refuse_properties(self, event: _Event, at: Position) -> None:
        path = tuple(self._path)
        if event.anchor is not None:
            message = f"the anchor &{shown(event.anchor)} is not allowed"
            self._findings.add("ANCHOR", message, at, hint="write each value out", path=path)
        if event.tag is not None:
            hint = "quote a value to make it text; remove the tag"
            self._findings.add("TAG", f"the tag {shown(event.tag)} is not allowed", at, hint=hint, path=path)

    def _scalar(self, event: _Event, at: Position) -> str | int | float | bool | None:
        text: str = event.value
        if not event.style and (not text or text[0] in _SPECIAL_START):
            return self._plain(text, at)
        if not text.isascii() and _SURROGATE.search(text):
            self._findings.add("SURROGATE", "half of a surrogate pair", at, path=tuple(self._path))
        return text

    def _plain(self, text: str, at: Position) -> str | int | float | bool | None:
        """Resolve a plain scalar by the core schema."""
        if text in _WORDS:
            return _WORDS[text]
        if not _is_number(text):
            return text
        number = _number(text)
        if number is None:
            message = f"the number {shown(text, limit=40)} cannot be held exactly"
            hint = f"whole numbers go to {MAX_SAFE_INTEGER} and others are finite; put it in quotes to make it text"
            self._findings.add("NUMBER", message, at, hint=hint, path=tuple(self._path))
            return 0
        return number

    def _sequence(self, at: Position) -> tuple[Any, Place]:
        values: list[Any] = []
        places: list[Place | Position] = []
        path, next_event = self._path, self._next
        path.append(0)
        while type(event := next_event()) is not yaml.SequenceEndEvent:
            path[-1] = len(values)
            value, place = self._node(event)
            values.append(value)
            places.append(place)
        path.pop()
        return values, Place(*at, places)

    def _mapping(self, at: Position) -> tuple[Any, Place]:
        values: dict[str, Any] = {}
        places: dict[str, Place | Position] = {}
        keys: dict[str, Position] = {}
        path, next_event = self._path, self._next
        while type(event := next_event()) is not yaml.MappingEndEvent:
            key_at = _start(event)
            key = self._key(event, key_at)
            path.append("?" if key is None else key)
            if key is None:
                self._node(next_event())
            elif key in keys:
                self._refuse_duplicate(key, keys[key], key_at)
                self._node(next_event())
            else:
                keys[key] = key_at
                values[key], places[key] = self._node(next_event())
            path.pop()
        return values, Place(*at, places, keys)

    def _refuse_duplicate(self, key: str, first: Position, at: Position) -> None:
        message = f"the key `{shown(key)}` is here twice; first on line {first[0]}, column {first[1]}"
        self._findings.add("DUPLICATE-KEY", message, at, hint="keep one of them", path=tuple(self._path))

    def _key(self, event: _Event, at: Position) -> str | None:
        """Read one key; None when it is refused."""
        if type(event) is not yaml.ScalarEvent:
            self._node(event)
            if type(event) is not yaml.AliasEvent:
                self._refuse_key("KEY", "a list or mapping cannot be a key", at, "a key is text")
            return None
        text: str = event.value
        if event.anchor is not None or event.tag is not None:
            self._refuse_properties(event, at)
        if event.style or (text and text[0] not in _SPECIAL_START):
            if not text.isascii() and _SURROGATE.search(text):
                self._refuse_key("SURROGATE", "half of a surrogate pair", at, "")
            return text
        if text == "<<":
            self._refuse_key("MERGE", "the merge key << is not allowed", at, "write the fields out")
            return None
        if text in _WORDS or _is_number(text):
            hint = f'put it in quotes: "{shown(text)}"' if text else 'an empty key is written ""'
            self._refuse_key("KEY", f"the key `{shown(text)}` is not text", at, hint)
            return None
        return text

    def _refuse_key(self, rule: str, message: str, at: Position, hint: str) -> None:
        self._findings.add(rule, message, at, hint=hint, path=tuple(self._path))


def _is_number(text: str) -> bool:
    return bool(_INT.match(text) or _FLOAT.match(text) or _NOT_FINITE.match(text))


def _number(text: str) -> int | float | None:
    """Read a number of the core schema, or return None for one that JSON cannot hold."""
    if _INT.match(text):
        base = {"0o": 8, "0x": 16}.get(text[:2], 10)
        digits = text.lstrip("+-0ox" if base != 10 else "+-0")
        if len(digits) > 18:  # more digits than any safe integer has in any of the three bases
            return None
        value = int(digits or "0", base)
        return None if not is_safe_number(value) else -value if text[0] == "-" else value
    if _NOT_FINITE.match(text):
        return None
    number = float(text)
    return number if is_safe_number(number) else None
