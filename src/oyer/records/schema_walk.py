"""Which steps of an error's location are fields, and which are branches of a union.

Owns the walk along a record's core schema: pydantic mixes document keys and branch names in one tuple, and a key may
be called like a branch.

Must never import a record type or look at a document.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from oyer.records.source_text import Path

__all__ = ["Trace", "trace"]


class Trace(NamedTuple):
    """An error's location, taken apart."""

    path: Path  # the steps that a document has
    branches: tuple[int, ...]  # positions in the location that chose a branch of a union
    owner: type[Any] | None  # the record type whose field the last step is
    names: tuple[str, ...]  # the field names of `owner`, as documents write them
    at_key: bool  # the key itself is wrong, not its value


def trace(schema: Mapping[str, Any], loc: tuple[str | int, ...]) -> Trace:
    """Walk `loc` along the core schema of a record type."""
    return _Walk(schema, loc).result()


class _Walk:
    __slots__ = ("_branches", "_definitions", "_loc", "_names", "_node", "_owner", "_path")

    def __init__(self, schema: Mapping[str, Any], loc: tuple[str | int, ...]) -> None:
        self._definitions: dict[str, Mapping[str, Any]] = {}
        self._loc = loc
        self._node: Mapping[str, Any] | None = schema
        self._path: list[str | int] = []
        self._branches: list[int] = []
        self._owner: type[Any] | None = None
        self._names: tuple[str, ...] = ()

    def result(self) -> Trace:
        at_key = False
        for position, step in enumerate(self._loc):
            if step == "[key]" and position == len(self._loc) - 1:
                at_key = True
                break
            self._take(position, step)
        return Trace(tuple(self._path), tuple(self._branches), self._owner, self._names, at_key)

    def _take(self, position: int, step: str | int) -> None:
        node = self._node = self._reach(self._node)
        kind = node["type"] if node else None
        if node is None:
            self._path.append(step)
        elif kind == "model-fields":
            self._path.append(step)
            self._names = tuple(_document_name(name, field) for name, field in node["fields"].items())
            self._node = next(
                (field for name, field in node["fields"].items() if step in (name, _document_name(name, field))), None
            )
        elif kind in ("union", "tagged-union"):
            self._branches.append(position)
            self._node = _branch(node, step)
        elif kind == "dict":
            self._path.append(step)
            self._node = node.get("values_schema")
        elif kind == "tuple":
            self._path.append(step)
            self._node = _item(node, step)
        else:
            self._path.append(step)
            self._node = None

    def _reach(self, node: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
        """Go through everything that adds nothing to a location."""
        while node is not None:
            kind = node["type"]
            if kind == "definitions":
                self._definitions.update({one["ref"]: one for one in node["definitions"]})
                node = node["schema"]
            elif kind == "definition-ref":
                node = self._definitions.get(node["schema_ref"])
            elif kind in ("union", "tagged-union", "dict", "tuple", "model-fields"):
                return node
            else:
                if kind == "model":
                    self._owner = node["cls"]
                node = node.get("schema")
        return None


def _document_name(name: str, field: Mapping[str, Any]) -> str:
    alias = field.get("validation_alias")
    return alias if isinstance(alias, str) else name


def _branch(node: Mapping[str, Any], step: str | int) -> Mapping[str, Any] | None:
    choices = node["choices"]
    if isinstance(choices, Mapping):
        return choices.get(step)
    return next((choice[0] for choice in choices if isinstance(choice, tuple) and choice[1] == step), None)


def _item(node: Mapping[str, Any], step: str | int) -> Mapping[str, Any] | None:
    items = node["items_schema"]
    variadic = node.get("variadic_item_index")
    if not isinstance(step, int) or not items:
        return None
    if variadic is not None and step >= variadic:
        return items[variadic]  # type: ignore[no-any-return]
    return items[step] if step < len(items) else None
