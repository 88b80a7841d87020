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
from collections.abc import Iterable, Iterator
from typing import Any, Final

import yaml

from oyer.records.source_text import (
    MAX_DEPTH,
    MAX_NODES,
    MAX_SAFE_INTEGER,
    Findings,
    Parsed,
    Path,
    Place,
    Position,
    decode_text,
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
_FOREIGN_BREAK = re.compile("[\x85\u2028\u2029]")
_SURROGATE = re.compile("[\ud800-\udfff]")
_NUMBER_START = frozenset("0123456789+-.")

_Event = Any


def parse_yaml(data: bytes, *, name: str, pure: bool = False) -> tuple[Parsed, ...]:
    """Parse every document of a YAML stream.

    `pure` takes the parser written in Python instead of libyaml (for machines without it, and for tests).
    Raises `RecordError` with every problem that could be found.
    """
    findings = Findings(name, "YAML")
    text = decode_text(data, findings)
    for match in _FOREIGN_BREAK.finditer(text):
        before = text[: match.start()]
        at = before.count("\n") + 1, match.start() - (before.rfind("\n") + 1) + 1
        escape = {"\x85": "\\N", "\u2028": "\\L", "\u2029": "\\P"}[match.group()]
        message = f"U+{ord(match.group()):04X} is a line break to some readers and not to others"
        findings.add("LINE-SEPARATOR", message, at, hint=f'write "{escape}" in double quotes')
    findings.require_none()
    builder = _Builder(_events(text, _PURE_LOADER if pure else _FAST_LOADER, findings), findings)
    documents = tuple(builder.documents())
    if not documents:
        findings.add("EMPTY", "the file holds no document", (1, 1), hint="start with `oyer: <Kind>@<version>`")
    findings.require_none()
    return documents


def _events(text: str, loader: Any, findings: Findings) -> Iterator[_Event]:
    try:
        yield from yaml.parse(text, Loader=loader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        at = (mark.line + 1, mark.column + 1) if mark else (1, 1)
        told = " ".join(part for part in (error.context, error.problem) if part)
        findings.stop("SYNTAX", f"not YAML: {told or 'unreadable'}", at)
    except yaml.YAMLError as error:
        # Reader errors (a control character) carry an offset into the text instead of a mark.
        position = getattr(error, "position", 0) or 0
        before = text[:position]
        at = before.count("\n") + 1, position - (before.rfind("\n") + 1) + 1
        findings.stop("CHARACTER", "a control character that YAML does not allow", at, hint="remove it or escape it")
    except (ValueError, OverflowError, RecursionError) as error:
        # The Python parser lets chr() fail on an escape such as "\UFFFFFFFF".
        findings.stop("SYNTAX", f"not YAML: {error}", (1, 1))


def _start(event: _Event) -> Position:
    mark = event.start_mark
    return mark.line + 1, mark.column + 1


class _Builder:
    """Builds plain values from events, going on after every problem that leaves the structure clear."""

    __slots__ = ("_depth", "_findings", "_nodes", "_path", "_stream")

    def __init__(self, stream: Iterable[_Event], findings: Findings) -> None:
        self._stream = iter(stream)
        self._findings = findings
        self._path: list[str | int] = []
        self._depth = 0
        self._nodes = 0

    def documents(self) -> Iterator[Parsed]:
        for event in self._stream:
            if isinstance(event, yaml.DocumentStartEvent):
                self._refuse_directives(event)
                self._nodes = 0
                yield self._node(next(self._stream))

    def _refuse_directives(self, event: yaml.DocumentStartEvent) -> None:
        if event.version or event.tags:
            hint = "remove the line that starts with %"
            self._findings.add("DIRECTIVE", "a YAML directive; records are always YAML 1.2", _start(event), hint=hint)

    def _node(self, event: _Event) -> Parsed:
        self._count(event)
        if isinstance(event, yaml.ScalarEvent):
            at = _start(event)
            if event.anchor is not None or event.tag is not None:
                self._refuse_properties(event)
            value: str | int | float | bool | None = event.value
            if event.style is None or event.style == "":
                value = self._plain(event.value, at)
            if isinstance(value, str) and not value.isascii() and _SURROGATE.search(value):
                self._findings.add("SURROGATE", "half of a surrogate pair", at, path=tuple(self._path))
            return Parsed(value, Place(at[0], at[1]))
        if isinstance(event, yaml.AliasEvent):
            hint = "write the value out"
            message = f"the alias *{event.anchor} is not allowed"
            self._findings.add("ALIAS", message, _start(event), hint=hint, path=tuple(self._path))
            return Parsed(None, Place(*_start(event)))
        self._refuse_properties(event)
        self._depth += 1
        if self._depth > MAX_DEPTH:
            self._findings.stop("DEPTH", f"nested deeper than {MAX_DEPTH} levels", _start(event))
        parsed = self._mapping(event) if isinstance(event, yaml.MappingStartEvent) else self._sequence(event)
        self._depth -= 1
        return parsed

    def _count(self, event: _Event) -> None:
        self._nodes += 1
        if self._nodes > MAX_NODES:
            self._findings.stop("SIZE", f"more than {MAX_NODES} values in one document", _start(event))

    def _refuse_properties(self, event: _Event) -> None:
        path: Path = tuple(self._path)
        if event.anchor is not None:
            message = f"the anchor &{event.anchor} is not allowed"
            self._findings.add("ANCHOR", message, _start(event), hint="write each value out", path=path)
        if event.tag is not None:
            hint = "quote a value to make it text; remove the tag"
            self._findings.add("TAG", f"the tag {event.tag} is not allowed", _start(event), hint=hint, path=path)

    def _sequence(self, event: _Event) -> Parsed:
        values: list[Any] = []
        places: list[Place] = []
        path = self._path
        for item in self._stream:
            if isinstance(item, yaml.SequenceEndEvent):
                break
            path.append(len(values))
            value, place = self._node(item)
            path.pop()
            values.append(value)
            places.append(place)
        return Parsed(values, Place(*_start(event), places))

    def _mapping(self, event: _Event) -> Parsed:
        values: dict[str, Any] = {}
        places: dict[str, Place] = {}
        keys: dict[str, Position] = {}
        path = self._path
        for item in self._stream:
            if isinstance(item, yaml.MappingEndEvent):
                break
            key = self._key(item)
            path.append(key if key is not None else "?")
            if key is not None and key in keys:
                first = keys[key]
                message = f"the key `{key}` is here twice; first on line {first[0]}, column {first[1]}"
                self._findings.add("DUPLICATE-KEY", message, _start(item), hint="keep one of them", path=tuple(path))
            value, place = self._node(next(self._stream))
            path.pop()
            if key is not None and key not in keys:
                values[key] = value
                places[key] = place
                keys[key] = _start(item)
        return Parsed(values, Place(*_start(event), places, keys))

    def _key(self, event: _Event) -> str | None:
        """Read one key; None when it is refused."""
        at = _start(event)
        if isinstance(event, yaml.ScalarEvent) and (event.style is None or event.style == ""):
            if event.value == "<<":
                self._refuse_key("MERGE", "the merge key << is not allowed", at, "write the fields out")
                return None
            if event.value in _WORDS or (event.value[0] in _NUMBER_START and _is_number(event.value)):
                hint = f'put it in quotes: "{event.value}"' if event.value else 'an empty key is written ""'
                self._refuse_key("KEY", f"the key `{event.value}` is not text", at, hint)
                return None
        parsed = self._node(event)
        if isinstance(parsed.value, str):
            return parsed.value
        if not isinstance(event, yaml.AliasEvent):
            self._refuse_key("KEY", "a list or mapping cannot be a key", at, "a key is text")
        return None

    def _refuse_key(self, rule: str, message: str, at: Position, hint: str) -> None:
        self._findings.add(rule, message, at, hint=hint, path=tuple(self._path))

    def _plain(self, text: str, at: Position) -> str | int | float | bool | None:
        """Resolve a plain scalar by the core schema."""
        if text in _WORDS:
            return _WORDS[text]
        if text[0] not in _NUMBER_START or not _is_number(text):
            return text
        number = _number(text)
        if number is None:
            message = f"the number {text[:40]} cannot be held exactly"
            hint = f"whole numbers go to {MAX_SAFE_INTEGER} and others are finite; put it in quotes to make it text"
            self._findings.add("NUMBER", message, at, hint=hint, path=tuple(self._path))
            return 0
        return number


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
        if value > MAX_SAFE_INTEGER:
            return None
        return -value if text[0] == "-" else value
    if _NOT_FINITE.match(text):
        return None
    number = float(text)
    return None if number in (float("inf"), float("-inf")) else number
