"""What an edit left standing, and whether the edited answer still keeps its declared schema.

Owns `remaining_copies` (a lie must be self-consistent: one honest copy makes it INTERVENTION_INCOMPLETE) and a small
honest subset of JSON Schema. Must never call a schema kept that it could not fully read: that is `unknown`.
Limit: a fact that is worded differently in text and in `structuredContent` cannot be recognised as one fact.
Source: JSON Schema 2020-12 (type, const, enum, properties, required, additionalProperties, items, anyOf).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from oyer.errors import ProtocolError
from oyer.protocol.edits import Edit
from oyer.protocol.jsonvalue import JsonNumber, JsonValue, pointer_of, same_json
from oyer.protocol.places import AnswerView, Path, container_in_text, open_answer

__all__ = ["SchemaCheck", "remaining_copies", "schema_breach"]


def remaining_copies(edit: Edit, modified: bytes, original: bytes | None = None) -> tuple[str, ...]:
    """Return pointers into the modified answer where the original fact still stands.

    With `original`, also what only a comparison shows: a text block and its structured copy that agreed and no longer
    do, and (for `replace_json`) old values that are still quoted elsewhere. Raises: ProtocolError as `open_answer`.
    """
    if edit.kind not in ("replace_text", "replace_json"):
        return ()
    view = open_answer(modified)
    found: list[str] = []
    stale: list[str] = []
    if edit.kind == "replace_text":
        stale = [str(edit.parameters.get("find"))]
    elif original is not None:
        stale = _old_strings(open_answer(original), view)
    instead = str(edit.parameters.get("with", ""))
    for path, text in _all_texts(view.value(view.result), ("result",)):
        bare = text.replace(instead, "\x00") if instead else text
        if any(_quotes(bare, old, whole=edit.kind == "replace_json") for old in stale):
            found.append(pointer_of(path))
    if original is not None:
        found += _parted(open_answer(original), view)
    return tuple(dict.fromkeys(found))


def _quotes(text: str, old: str, *, whole: bool) -> bool:
    # A short old value ("a", "ok") inside other words proves nothing; a long one does.
    return text == old if whole and len(old) < 8 else old in text


def _old_strings(before: AnswerView, after: AnswerView) -> list[str]:
    """Return the strings that `structuredContent` (or the JSON in a text block) held before and no longer holds."""

    def held(view: AnswerView) -> set[str]:
        roots = [view.value(view.structured)] if view.structured is not None else []
        roots += [box[0] for place in view.texts if view.structured is None and (box := container_in_text(place.text))]
        return {text for root in roots for _, text in _leaves(root, ())}

    return sorted(held(before) - held(after) - {""})


def _parted(before: AnswerView, after: AnswerView) -> Iterator[str]:
    """Yield the structured parts that a text block repeated before and repeats no more."""
    kept = {(copy.block, copy.tokens) for copy in after.copies()}
    for copy in before.copies():
        if (copy.block, copy.tokens) not in kept:
            yield pointer_of(("result", "structuredContent", *copy.tokens))


def _all_texts(value: JsonValue, path: Path) -> Iterator[tuple[Path, str]]:
    """Yield every string and key, and those of JSON inside strings, each with the path of the outer value."""
    for here, text in _leaves(value, path, keys=True):
        yield here, text
        try:
            inner = container_in_text(text)
        except ProtocolError:
            inner = None  # an unreadable inner document was searched as plain text above
        if inner is not None:
            yield from ((here, below) for _, below in _all_texts(inner[0], here))


def _leaves(value: JsonValue, path: Path, *, keys: bool = False) -> Iterator[tuple[Path, str]]:
    stack = [(path, value)]
    while stack:
        here, item = stack.pop()
        if isinstance(item, str):
            yield here, item
        elif isinstance(item, dict):
            for key, inner in item.items():
                if keys:
                    yield (*here, key), key
                stack.append(((*here, key), inner))
        elif isinstance(item, list):
            stack.extend(((*here, place), inner) for place, inner in enumerate(item))


class SchemaCheck(NamedTuple):
    """`verdict` is `kept`, `broken` or `unknown`; `where` a pointer into the structured content."""

    verdict: str
    where: str = ""
    why: str = ""


_KEPT = SchemaCheck("kept")
_ANNOTATIONS = frozenset(
    ("$schema", "$id", "$comment", "$defs", "definitions", "title", "description", "default", "examples", "format",
     "deprecated", "readOnly", "writeOnly")
)  # fmt: skip
_KNOWN = frozenset(("type", "const", "enum", "properties", "required", "additionalProperties", "items", "anyOf"))


def schema_breach(modified: bytes, output_schema: Mapping[str, object] | None) -> SchemaCheck:
    """Say whether an answer's `structuredContent` keeps the output schema that its tool declared.

    No schema, or a tool error (which need not carry structured content): kept. Raises: ProtocolError as `open_answer`.
    """
    view = open_answer(modified)
    result = view.value(view.result)
    if output_schema is None or not isinstance(result, dict) or result.get("isError") is True:
        return _KEPT
    if view.structured is None:
        return SchemaCheck("broken", "", "structuredContent is missing")
    return _check(result["structuredContent"], output_schema, (), 0)


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
