"""Interventions as pure transforms of one answer: `(edit, original bytes) -> modified bytes`, with proof.

Owns applying an edit and recomputing it for the scorer. An edit splices: only the span of an edited value differs,
numbers elsewhere keep their literal, the id and the line end stay. It changes *every copy* of the fact it can find
(text blocks, JSON inside text blocks, `structuredContent`), and what it could not apply it does not half-apply.
`copies` says what an edit left standing.

Must never: edit around a repeated key, edit a batch, invent an answer, or depend on anything but its two arguments.

Kinds and parameters:
    replace_text      find, with            every occurrence, in every copy
    replace_json      patch                 RFC 6902, on `structuredContent` and on the text blocks that repeat it
    replace_result    result                the whole result
    append_text       text                  at the end of the last text block, and of the strings equal to it
    error             tool | code, message, data?
    tool_description  tool, text            in a listing
    tool_schema       tool, schema          in a listing
    shadow_tool       definition            one more tool in a listing
    delay_ms          (any)                 equal bytes; the proof is the measured delay
    drop              (none)                nothing is delivered
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from oyer.errors import ProtocolError
from oyer.protocol.jsonvalue import dumps, escape_text, loads, loads_tolerant, parse_pointer, same_json
from oyer.protocol.patch import patch_splices
from oyer.protocol.places import AnswerView, Place, container_in_text, open_answer
from oyer.protocol.spans import Node, decode_string, scan
from oyer.protocol.splices import Splice, splice

__all__ = [
    "EDIT_KINDS",
    "Applied",
    "Edit",
    "NotApplied",
    "apply_edit",
    "apply_splices",
    "edit_copies",
    "recompute",
    "remove_members",
    "splices_of",
    "why_code",
]

_NESTING = 4  # JSON in a string in JSON in a string: deeper than any server goes


class Edit(NamedTuple):
    """One declared change. `parameters` as listed in this module's docstring."""

    kind: str
    parameters: Mapping[str, object]


class Applied(NamedTuple):
    """An edit that took place: the new bytes, and which ranges of the original became what."""

    modified: bytes
    spans: tuple[Splice, ...]


class NotApplied(NamedTuple):
    """An edit that did not take place. `why_code`: `not_found`, `duplicate_key`, `no_result`, `noop`, `no_text`,
    `no_such_path`, `test_failed`, `bad_patch`, `bad_edit`, `not_json`, `batch`, `no_tool`, `copy_not_editable`,
    `lone_surrogate`.
    """

    why_code: str
    why: str


def apply_edit(edit: Edit, original: bytes) -> Applied | NotApplied:
    """Apply an edit to one answer frame (its line end included). Never raises for what a server sent."""
    try:
        if edit.kind == "delay_ms":
            return Applied(original, ())
        if edit.kind == "drop":
            return Applied(b"", (Splice(0, len(original), b""),))
        if edit.kind not in _KINDS:
            return NotApplied("bad_edit", f"{edit.kind!r} is no kind of edit")
        return apply_splices(original, splices_of(edit, open_answer(original)))
    except ProtocolError as error:
        return NotApplied(why_code(error), str(error))


def splices_of(edit: Edit, view: AnswerView) -> list[Splice]:
    """Return what an edit does to what a view shows. Raises: ProtocolError where it does not apply."""
    return _KINDS[edit.kind](edit.parameters, view)


def why_code(error: ProtocolError) -> str:
    """Return the `NotApplied.why_code` that an error of the editing modules stands for."""
    return error.code.removeprefix("E-EDIT-").removeprefix("E-JSON-").replace("-", "_").lower()


def apply_splices(original: bytes, splices: list[Splice]) -> Applied | NotApplied:
    """Apply splices in any order; a result that says the same as before is a `noop`."""
    ordered = tuple(sorted(one for one in splices if original[one.start : one.end] != one.replacement))
    modified = splice(original, ordered)
    if modified == original or same_json(loads_tolerant(modified)[0], loads_tolerant(original)[0]):
        return NotApplied("noop", "the edit changes nothing")
    return Applied(modified, ordered)


def recompute(edit: Edit, original: bytes) -> bytes:
    """Return exactly the bytes that `apply_edit` delivered for this original.

    Raises: ProtocolError (`E-EDIT-NOT-APPLIED`) where it was not applied.
    """
    outcome = apply_edit(edit, original)
    if isinstance(outcome, NotApplied):
        raise ProtocolError("E-EDIT-NOT-APPLIED", f"{outcome.why_code}: {outcome.why}", side="endpoint")
    return outcome.modified


def _text(parameters: Mapping[str, object], name: str) -> str:
    value = parameters.get(name)
    if not isinstance(value, str):
        raise ProtocolError("E-EDIT-BAD-EDIT", f"{name!r} must be text", side="endpoint")
    return value


def _given(parameters: Mapping[str, object], name: str) -> object:
    if name not in parameters:
        raise ProtocolError("E-EDIT-BAD-EDIT", f"{name!r} is missing", side="endpoint")
    return parameters[name]


def _replace_text(parameters: Mapping[str, object], view: AnswerView) -> list[Splice]:
    find, with_ = _text(parameters, "find"), _text(parameters, "with")
    if find == "":
        raise ProtocolError("E-EDIT-BAD-EDIT", "'find' is empty", side="endpoint")
    splices: list[Splice] = []
    for place in (*view.texts, *view.structured_strings()):
        for start, end, text in _replacements(place.text, find, with_, _NESTING):
            splices.append(_in_string(place, start, end, text))
    if not splices:
        raise ProtocolError("E-EDIT-NOT-FOUND", f"{find[:80]!r} is nowhere in the answer", side="endpoint")
    return splices


def _in_string(place: Place, start: int, end: int, text: str) -> Splice:
    """Replace characters `start` to `end` of a string value."""
    if any("\ud800" <= character <= "\udfff" for character in place.text + text):
        # Half a pair may join with its new neighbour into another character: the splice would lie about its effect.
        raise ProtocolError("E-EDIT-LONE-SURROGATE", "the text holds half a surrogate pair", side="endpoint")
    return Splice(place.offsets[start], place.offsets[end], escape_text(text))


def _replacements(text: str, find: str, with_: str, nesting: int) -> list[tuple[int, int, str]]:
    """Return (start, end, new text) for each occurrence; where the text is JSON, its strings are decoded first."""
    changes = _inner_replacements(text, find, with_, nesting) if nesting else []
    start = text.find(find)
    while start >= 0:
        end = start + len(find)
        if any(start < inner_end and inner_start < end for inner_start, inner_end, _ in changes):
            start = text.find(find, start + 1)
        else:
            changes.append((start, end, with_))
            start = text.find(find, end)
    return sorted(changes)


def _inner_replacements(text: str, find: str, with_: str, nesting: int) -> list[tuple[int, int, str]]:
    if container_in_text(text) is None:
        return []
    raw = text.encode("utf-8")
    found = []
    for _, node in scan(raw).strings():
        inner, offsets = decode_string(raw, node.span)
        for start, end, new in _replacements(inner, find, with_, nesting - 1):
            low, high = (len(raw[: offsets[place]].decode("utf-8")) for place in (start, end))
            found.append((low, high, escape_text(new).decode("utf-8")))
    return found


def _append_text(parameters: Mapping[str, object], view: AnswerView) -> list[Splice]:
    text = _text(parameters, "text")
    if not view.texts:
        raise ProtocolError("E-EDIT-NO-TEXT", "the answer has no text block", side="endpoint")
    last = view.texts[-1]
    copies = [place for place in view.structured_strings() if place.text == last.text]
    return [_in_string(place, len(place.text), len(place.text), text) for place in (last, *copies)]


def _replace_json(parameters: Mapping[str, object], view: AnswerView) -> list[Splice]:
    patch = _given(parameters, "patch")
    if view.structured is not None:
        return edit_copies(view, patch)
    splices: list[Splice] = []
    refused: ProtocolError | None = None
    for place in view.texts:
        if container_in_text(place.text) is not None:
            try:
                splices += _patched_text(place, patch)
            except ProtocolError as error:
                refused = error
    if not splices:
        raise refused or ProtocolError("E-EDIT-NO-SUCH-PATH", "the answer holds no JSON to patch", side="endpoint")
    return splices


def _patched_text(place: Place, patch: object) -> list[Splice]:
    raw = place.text.encode("utf-8")
    splices = []
    for one in patch_splices(raw, patch):
        start, end = (len(raw[:at].decode("utf-8")) for at in (one.start, one.end))
        splices.append(_in_string(place, start, end, one.replacement.decode("utf-8")))
    return splices


def edit_copies(view: AnswerView, patch: object, *, may_empty: bool = False) -> list[Splice]:
    """Patch `structuredContent` and every text block that repeats it or the changed part of it.

    A block that repeats what is gone can only be emptied, where the caller says that it `may_empty` it.
    Raises: ProtocolError as `patch_splices`, or `E-EDIT-COPY-NOT-EDITABLE`.
    """
    node = view.structured
    if node is None:
        raise ProtocolError("E-EDIT-NO-SUCH-PATH", "the answer has no structuredContent", side="endpoint")
    before = view.raw[node.start : node.end]
    inner = patch_splices(before, patch)
    after = splice(before, inner)
    splices = [Splice(one.start + node.start, one.end + node.start, one.replacement) for one in inner]
    done: set[int] = set()
    for copy in view.copies():
        place = view.texts[copy.block]
        if copy.block in done:
            continue
        if copy.whole_text_is_json and copy.tokens == ():
            splices += _patched_text(place, patch)
            done.add(copy.block)
            continue
        old, new = (scan(raw).at([str(token) for token in copy.tokens]) for raw in (before, after))
        if old is not None and new is None and may_empty:
            splices.append(_in_string(place, 0, len(place.text), ""))
            done.add(copy.block)
            continue
        if old is None or new is None:
            raise ProtocolError("E-EDIT-COPY-NOT-EDITABLE", f"what {place.path} repeats is gone", side="endpoint")
        text = _text_form(after, new)
        if not same_json(loads(before[old.start : old.end]), loads(after[new.start : new.end])):
            splices.append(_in_string(place, 0, len(place.text), text))
            done.add(copy.block)
    return splices


def remove_members(view: AnswerView, pointers: Sequence[str]) -> list[Splice]:
    """Remove members from `structuredContent`, from what repeats it, and from every other text block that is JSON.

    A block that repeats a removed member is left empty. What a pointer does not find is no error.
    Raises: ProtocolError as `edit_copies`.
    """
    splices: list[Splice] = []
    repeated: set[int] = set()
    if view.structured is not None:
        raw = view.raw[view.structured.start : view.structured.end]
        splices += edit_copies(view, _removals(raw, pointers), may_empty=True)
        repeated = {copy.block for copy in view.copies()}
    for index, place in enumerate(view.texts):
        if index not in repeated and container_in_text(place.text) is not None:
            splices += _patched_text(place, _removals(place.text.encode("utf-8"), pointers))
    return splices


def _removals(raw: bytes, pointers: Sequence[str]) -> list[dict[str, str]]:
    """The patch that removes what stands, from the end on: an item of an array keeps its number until it is gone."""
    root = scan(raw)
    found = {pointer: node for pointer in pointers if (node := root.at(parse_pointer(pointer))) is not None}
    outer = [p for p in found if not any(p.startswith(f"{other}/") for other in found)]
    return [{"op": "remove", "path": pointer} for pointer in sorted(outer, key=lambda p: -found[p].start)]


def _text_form(raw: bytes, node: Node) -> str:
    return decode_string(raw, node.span).text if node.kind == "string" else raw[node.start : node.end].decode("utf-8")


def _whole_result(view: AnswerView, result: object) -> list[Splice]:
    return [Splice(view.result.start, view.result.end, dumps(result))]


def _replace_result(parameters: Mapping[str, object], view: AnswerView) -> list[Splice]:
    return _whole_result(view, _given(parameters, "result"))


def _error(parameters: Mapping[str, object], view: AnswerView) -> list[Splice]:
    if "tool" in parameters:
        result: dict[str, object] = {"content": [{"type": "text", "text": _text(parameters, "tool")}], "isError": True}
        if view.result.kind == "object" and view.result.member("resultType") is not None:
            result["resultType"] = "complete"
        return _whole_result(view, result)
    code = parameters.get("code")
    if not isinstance(code, int) or isinstance(code, bool):
        raise ProtocolError("E-EDIT-BAD-EDIT", "an error needs 'tool', or 'code' and 'message'", side="endpoint")
    error: dict[str, object] = {"code": code, "message": _text(parameters, "message")}
    if "data" in parameters:
        error["data"] = parameters["data"]
    index = view.root.member_index("result")
    start = view.root.keys[index][1] if index is not None else view.result.start
    return [Splice(start, view.result.end, b'"error":' + dumps(error))]


def _tool(parameters: Mapping[str, object], view: AnswerView) -> Node:
    name = _text(parameters, "tool")
    tools = view.result.member("tools") if view.result.kind == "object" else None
    for tool in tools.children if tools is not None and tools.kind == "array" else ():
        named = tool.member("name") if tool.kind == "object" else None
        if named is not None and named.kind == "string" and decode_string(view.raw, named.span).text == name:
            return tool
    raise ProtocolError("E-EDIT-NO-TOOL", f"this listing holds no tool {name!r}", side="endpoint")


def _set_member(node: Node, name: str, value: object) -> list[Splice]:
    existing = node.member(name)
    if existing is not None:
        return [Splice(existing.start, existing.end, dumps(value))]
    end = node.children[-1].end
    return [Splice(end, end, b"," + dumps(name) + b":" + dumps(value))]


def _tool_description(parameters: Mapping[str, object], view: AnswerView) -> list[Splice]:
    return _set_member(_tool(parameters, view), "description", _text(parameters, "text"))


def _tool_schema(parameters: Mapping[str, object], view: AnswerView) -> list[Splice]:
    return _set_member(_tool(parameters, view), "inputSchema", _given(parameters, "schema"))


def _shadow_tool(parameters: Mapping[str, object], view: AnswerView) -> list[Splice]:
    definition = dumps(_given(parameters, "definition"))
    tools = view.result.member("tools") if view.result.kind == "object" else None
    if tools is None or tools.kind != "array":
        raise ProtocolError("E-EDIT-NO-TOOL", "this answer is no listing of tools", side="endpoint")
    if not tools.children:
        return [Splice(tools.start + 1, tools.start + 1, definition)]
    end = tools.children[-1].end
    return [Splice(end, end, b"," + definition)]


_KINDS = {
    "append_text": _append_text,
    "error": _error,
    "replace_json": _replace_json,
    "replace_result": _replace_result,
    "replace_text": _replace_text,
    "shadow_tool": _shadow_tool,
    "tool_description": _tool_description,
    "tool_schema": _tool_schema,
}

EDIT_KINDS = tuple(sorted((*_KINDS, "delay_ms", "drop")))
"""Every kind of edit that `apply_edit` knows."""
