"""What an edit left standing, and whether the edited answer still keeps its tool's declared output schema.

Owns `remaining_copies`: a lie must be self-consistent, one honest copy makes it INTERVENTION_INCOMPLETE.
Must never take a copy it cannot read for a copy that was changed.
Limit: a fact that is worded differently in text and in `structuredContent` cannot be recognised as one fact.
Source: MCP 2025-06-18 and later, tools (structured content repeats the text content; output schema).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from oyer.errors import ProtocolError
from oyer.protocol.edits import Edit
from oyer.protocol.jsonvalue import JsonValue, pointer_of, same_json
from oyer.protocol.places import AnswerView, Path, container_in_text, open_answer
from oyer.protocol.schema import SchemaCheck, check_schema

__all__ = ["remaining_copies", "schema_breach"]


def remaining_copies(edit: Edit, modified: bytes, original: bytes | None = None) -> tuple[str, ...]:
    """Return pointers into the modified answer where the original fact still stands.

    With `original`, also what only a comparison shows: a text block and its structured copy that agreed and no longer
    do, (for `replace_json`) old values that are still quoted elsewhere, and (for `replace_result`) the one of the two
    that stayed as it was while the other changed. Raises: ProtocolError as `open_answer`.
    """
    if edit.kind == "replace_result" and original is not None:
        return tuple(_left_honest(open_answer(original), open_answer(modified)))
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


def _left_honest(before: AnswerView, after: AnswerView) -> Iterator[str]:
    """Yield the copy that another result left as it was where it changed the other: text, or `structuredContent`."""
    if before.structured is None or after.structured is None:
        return
    same_texts = [place.text for place in before.texts] == [place.text for place in after.texts]
    same_structured = same_json(before.value(before.structured), after.value(after.structured))
    if same_structured and not same_texts:
        yield pointer_of(("result", "structuredContent"))
    elif same_texts and not same_structured:
        yield from (pointer_of(place.path) for place in after.texts)


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


def schema_breach(modified: bytes, output_schema: Mapping[str, object] | None) -> SchemaCheck:
    """Say whether an answer's `structuredContent` keeps the output schema that its tool declared.

    No schema, or a tool error (which need not carry structured content): kept. Raises: ProtocolError as `open_answer`.
    """
    view = open_answer(modified)
    result = view.value(view.result)
    if output_schema is None or not isinstance(result, dict) or result.get("isError") is True:
        return SchemaCheck("kept")
    if view.structured is None:
        return SchemaCheck("broken", "", "structuredContent is missing")
    return check_schema(result["structuredContent"], output_schema)
