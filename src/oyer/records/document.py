"""A document: one plain value that knows where each of its parts was written.

Owns the choice between YAML and JSON and the answer to "where does this path stand?". A value that was expanded
from a short form keeps its places through `origins`: paths of the expanded value, each with the path of the source
it came from.

Must never interpret a field: that is `validation`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from oyer.errors import Problem
from oyer.records.source_text import Parsed, Path, Place, Position, path_text
from oyer.records.strict_json import parse_json
from oyer.records.strict_yaml import parse_yaml

__all__ = ["Document", "document_of", "parse_documents"]


class Document(NamedTuple):
    """One parsed document. `value` is made of dict, list, str, int, float, bool and None only."""

    value: Any
    name: str
    line: int = 1
    place: Place | Position | None = None
    origins: Mapping[Path, Path] | None = None

    def where(self, path: Path = ()) -> str:
        """Name the place of the value at `path`, or of its nearest known ancestor, as `file:line:column`."""
        return self._text_of(self._find(self._source_of(path))[0])

    def where_key(self, path: Path) -> str:
        """Name the place of the key at the end of `path`, as `file:line:column`."""
        return self._text_of(self._find(self._source_of(path))[1])

    def position(self, path: Path = (), *, at_key: bool = False) -> Position:
        """Return line and column of the value (or the key) at `path`, or (0, 0) when no place is known."""
        value, key = self._find(self._source_of(path))
        return (key if at_key else value) or (0, 0)

    def problem(self, code: str, path: Path, message: str, hint: str = "", *, at_key: bool = False) -> Problem:
        """Make a `Problem` whose place is `file:line:column: field.path`."""
        where = self.where_key(path) if at_key else self.where(path)
        return Problem(code, message, f"{where}: {path_text(path)}" if path else where, hint)

    def expanded(self, value: Any, origins: Mapping[Path, Path]) -> Document:
        """Return this document with another value; `origins` says where its paths come from in this one."""
        return self._replace(value=value, origins=dict(origins))

    def _text_of(self, at: Position | None) -> str:
        return self.name if at is None else f"{self.name}:{at[0]}:{at[1]}"

    def _source_of(self, path: Path) -> Path:
        """Follow the longest prefix of `path` that has an origin."""
        if not self.origins:
            return path
        for length in range(len(path), -1, -1):
            origin = self.origins.get(path[:length])
            if origin is not None:
                return origin + path[length:]
        return path

    def _find(self, path: Path) -> tuple[Position | None, Position | None]:
        """Find the places of a value and of its key; both fall back to the nearest known ancestor."""
        place = self.place
        if place is None:
            return None, None
        key: Position = (place[0], place[1])
        for step in path:
            if not isinstance(place, Place):
                break
            children = place.children
            if isinstance(children, Mapping) and isinstance(step, str) and step in children:
                key = (place.keys or {}).get(step, key)
                place = children[step]
            elif not isinstance(children, Mapping) and isinstance(step, int) and 0 <= step < len(children):
                place = children[step]
                key = (place[0], place[1])
            else:
                break
        return (place[0], place[1]), key


def document_of(value: Any, *, name: str = "<value>") -> Document:
    """Wrap a plain value that was not read from a text; its places are only the name and the field path."""
    return Document(value, name)


def parse_documents(data: bytes, *, name: str) -> tuple[Document, ...]:
    """Parse every document of a file; `name` is only for messages and for the choice of the reader.

    A name ending in `.json` is JSON, `.yaml` and `.yml` are YAML; anything else is JSON when it starts with `{`.
    Raises `RecordError` with every problem that could be found (`E-YAML-*`, `E-JSON-*`).
    """
    lowered = name.lower()
    as_json = lowered.endswith(".json")
    if not as_json and not lowered.endswith((".yaml", ".yml")):
        as_json = data.lstrip(b" \t\r\n").startswith(b"{")
    parsed: tuple[Parsed, ...] = (parse_json(data, name=name),) if as_json else parse_yaml(data, name=name)
    return tuple(Document(one.value, name, one.place[0], one.place) for one in parsed)
