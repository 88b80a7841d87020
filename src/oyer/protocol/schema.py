"""A small honest subset of JSON Schema.

Owns `check_schema`: what it understands it checks, what it does not understand it says (`unknown`).
Must never call a schema kept that it could not fully read.
Source: JSON Schema 2020-12 (type, const, enum, properties, required, additionalProperties, items, anyOf).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from oyer.protocol.jsonvalue import JsonNumber, JsonValue, pointer_of, same_json

__all__ = ["SchemaCheck", "check_schema"]

Path = tuple[str | int, ...]


class SchemaCheck(NamedTuple):
    """`verdict` is `kept`, `broken` or `unknown`; `where` a pointer into the checked value."""

    verdict: str
    where: str = ""
    why: str = ""


_KEPT = SchemaCheck("kept")
_ANNOTATIONS = frozenset(
    ("$schema", "$id", "$comment", "$defs", "definitions", "title", "description", "default", "examples", "format",
     "deprecated", "readOnly", "writeOnly")
)  # fmt: skip
_KNOWN = frozenset(("type", "const", "enum", "properties", "required", "additionalProperties", "items", "anyOf"))


def check_schema(value: JsonValue, schema: object) -> SchemaCheck:
    """Say whether a value keeps a schema."""
    return _check(value, schema, (), 0)


def _check(value: JsonValue, schema: object, path: Path, depth: int) -> SchemaCheck:
    where = pointer_of(path)
    if isinstance(schema, bool):
        return _KEPT if schema else SchemaCheck("broken", where, "nothing is allowed here")
    if not isinstance(schema, Mapping) or depth > 64:
        return SchemaCheck("unknown", where, "this schema cannot be read")
    checks = [SchemaCheck("broken", where, why) for why in _own_breaches(value, schema)]
    checks += [
        SchemaCheck("unknown", where, f"keyword {key!r} is not understood")
        for key in schema
        if key not in _KNOWN and key not in _ANNOTATIONS and not key.startswith("x-")
    ]
    checks += _below(value, schema, path, depth)
    return _worst(checks)


def _worst(checks: Sequence[SchemaCheck]) -> SchemaCheck:
    for verdict in ("broken", "unknown"):
        for check in checks:
            if check.verdict == verdict:
                return check
    return _KEPT


def _own_breaches(value: JsonValue, schema: Mapping[str, object]) -> Iterator[str]:
    if "type" in schema:
        declared = schema["type"]
        types = declared if isinstance(declared, list | tuple) else [declared]
        if not any(_is_of(value, name) for name in types):
            yield f"it is not of type {declared}"
    if "const" in schema and not same_json(value, schema["const"]):
        yield "it is not the declared constant"
    options = schema.get("enum")
    if isinstance(options, list | tuple) and not any(same_json(value, option) for option in options):
        yield "it is none of the declared values"
    required = schema.get("required")
    if isinstance(value, dict) and isinstance(required, list | tuple):
        for name in required:
            if name not in value:
                yield f"the member {name!r} is missing"


def _is_of(value: JsonValue, name: object) -> bool:
    if isinstance(value, bool):
        return name == "boolean"
    if isinstance(value, int | JsonNumber):
        return name == "number" or (name == "integer" and (isinstance(value, int) or _is_whole(value)))
    names = {dict: "object", list: "array", str: "string", type(None): "null"}
    return names.get(type(value)) == name


def _is_whole(value: JsonNumber) -> bool:
    lexical = value.lexical.lower()
    return "e" not in lexical and not lexical.partition(".")[2].strip("0")


def _below(value: JsonValue, schema: Mapping[str, object], path: Path, depth: int) -> Iterator[SchemaCheck]:
    options = schema.get("anyOf")
    if isinstance(options, list | tuple):
        verdicts = [_check(value, option, path, depth + 1) for option in options]
        if all(check.verdict != "kept" for check in verdicts):
            unsure = [check for check in verdicts if check.verdict == "unknown"]
            yield from (unsure or verdicts)[:1]
    if isinstance(value, dict):
        named = schema.get("properties")
        properties: Mapping[str, object] = named if isinstance(named, Mapping) else {}
        for key, item in value.items():
            if key in properties:
                yield _check(item, properties[key], (*path, key), depth + 1)
            elif "additionalProperties" in schema:
                yield _check(item, schema["additionalProperties"], (*path, key), depth + 1)
    if isinstance(value, list) and "items" in schema:
        for place, item in enumerate(value):
            yield _check(item, schema["items"], (*path, place), depth + 1)
