"""Laws of edits: only the declared spans change, recomputing gives the delivered bytes, literals survive."""

from __future__ import annotations

import copy
import json

from hypothesis import given
from hypothesis import strategies as st

from oyer.errors import ProtocolError
from oyer.protocol import Applied, Edit, NotApplied, apply_edit, loads, recompute, remaining_copies, splice
from oyer.protocol.patch import patch_splices
from oyer.protocol.splices import Splice, compose

WORD = st.text(st.sampled_from('ab"\\\n\u00e9\u2028\U0001f600{}[]:, '), max_size=8)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | WORD,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORD, inner, max_size=3),
    max_leaves=8,
)
NUMBERS = '"n":1234567890123456789,"x":1.0,"y":1e2'


@st.composite
def answers(draw: st.DrawFn) -> bytes:
    ascii_only = draw(st.booleans())
    value = draw(VALUES)
    blocks: list[object] = [{"type": "text", "text": draw(WORD)} for _ in range(draw(st.integers(0, 2)))]
    if draw(st.booleans()):
        blocks.append({"type": "text", "text": json.dumps(value, ensure_ascii=draw(st.booleans()))})
    result: dict[str, object] = {"content": blocks}
    if draw(st.booleans()):
        result["structuredContent"] = {"result": value}
    body = json.dumps({"id": draw(st.integers()), "result": result}, ensure_ascii=ascii_only)
    return ('{"jsonrpc":"2.0",' + NUMBERS + "," + body[1:] + draw(st.sampled_from(["\n", "\r\n", ""]))).encode()


EDITS = st.one_of(
    st.builds(lambda find, with_: Edit("replace_text", {"find": find, "with": with_}), WORD, WORD),
    st.builds(lambda text: Edit("append_text", {"text": text}), WORD),
    st.builds(lambda result: Edit("replace_result", {"result": result}), VALUES),
    st.builds(lambda text: Edit("error", {"tool": text}), WORD),
    st.builds(lambda text: Edit("error", {"code": -32000, "message": text}), WORD),
    st.builds(
        lambda value: Edit("replace_json", {"patch": [{"op": "replace", "path": "/result", "value": value}]}), VALUES
    ),
)


@given(EDITS, answers())
def test_an_edit_changes_only_what_it_declares(edit: Edit, original: bytes) -> None:
    outcome = apply_edit(edit, original)
    if isinstance(outcome, NotApplied):
        return
    assert recompute(edit, original) == outcome.modified
    assert splice(original, outcome.spans) == outcome.modified
    assert outcome.modified != original
    start, end = original.index(b'"result"'), len(original.rstrip()) - 1
    assert all(start <= span.start <= span.end <= end for span in outcome.spans)
    assert NUMBERS.encode() in outcome.modified
    assert loads(outcome.modified)["id"] == loads(original)["id"]  # type: ignore[index,call-overload]
    assert outcome.modified.endswith(original[end + 1 :])


@given(st.lists(WORD.filter(lambda text: "a" not in text), max_size=4), WORD.filter(lambda text: "a" not in text))
def test_a_fact_in_every_copy_is_gone_from_every_copy(parts: list[str], with_: str) -> None:
    text = "a".join(["x", *parts])
    result = {"content": [{"type": "text", "text": text}], "structuredContent": {"result": text}}
    original = json.dumps({"id": 1, "result": result}).encode()
    edit = Edit("replace_text", {"find": "a", "with": with_})
    outcome = apply_edit(edit, original)
    if parts:
        assert isinstance(outcome, Applied)
        changed = json.loads(outcome.modified)["result"]
        assert changed["content"][0]["text"] == text.replace("a", with_)
        assert changed["structuredContent"]["result"] == text.replace("a", with_)
        assert remaining_copies(edit, outcome.modified, original) == ()
    else:
        assert isinstance(outcome, NotApplied)


@given(
    EDITS, st.sampled_from([b'"result":{"content":[],"content":[]}', b'"result":1,"result":2', b'"id":1,"result":{}'])
)
def test_a_repeated_key_on_the_path_bars_every_edit_that_reads_it(edit: Edit, tail: bytes) -> None:
    outcome = apply_edit(edit, b'{"jsonrpc":"2.0","id":1,' + tail + b"}\n")
    assert isinstance(outcome, NotApplied)
    assert outcome.why_code in ("duplicate_key", "bad_edit")


def reference(document: object, operation: dict[str, object]) -> object:
    """RFC 6902 on values, for replace, add and remove of what exists."""
    tokens = list(str(operation["path"]).split("/")[1:])
    changed = copy.deepcopy(document)
    parent = changed
    for token in tokens[:-1]:
        parent = parent[int(token)] if isinstance(parent, list) else parent[token]  # type: ignore[index]
    key: object = int(tokens[-1]) if isinstance(parent, list) else tokens[-1]
    if operation["op"] == "remove":
        del parent[key]  # type: ignore[attr-defined]
    elif operation["op"] == "add" and isinstance(parent, list):
        parent.insert(key, operation["value"])  # type: ignore[arg-type]
    else:
        parent[key] = operation["value"]  # type: ignore[index]
    return changed


SIMPLE = st.recursive(
    st.integers(-9, 9), lambda i: st.lists(i, max_size=3) | st.dictionaries(st.sampled_from("abc"), i, max_size=3)
)


def inner_paths(value: object, here: str = "") -> list[str]:
    found = []
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for step, inner in items:
        found += [f"{here}/{step}", *inner_paths(inner, f"{here}/{step}")]
    return found


@given(SIMPLE, st.sampled_from([None, 1]), st.data())
def test_patches_by_splice_equal_patches_by_value(value: object, indent: int | None, data: st.DataObject) -> None:
    raw = json.dumps(value, indent=indent).encode()
    operations = []
    for _ in range(data.draw(st.integers(0, 4))):
        paths = inner_paths(value)
        if not paths:
            break
        name = data.draw(st.sampled_from(["replace", "add", "remove"]))
        operation = {"op": name, "path": data.draw(st.sampled_from(paths)), "value": data.draw(SIMPLE)}
        operations.append(operation)
        value = reference(value, operation)
    assert json.loads(splice(raw, patch_splices(raw, operations))) == value


@given(st.binary(max_size=12), st.data())
def test_composing_equals_applying_one_after_another(original: bytes, data: st.DataObject) -> None:
    splices: tuple[Splice, ...] = ()
    current = original
    for _ in range(data.draw(st.integers(0, 5))):
        start = data.draw(st.integers(0, len(current)))
        end = data.draw(st.integers(start, len(current)))
        step = Splice(start, end, data.draw(st.binary(max_size=4)))
        splices = compose(splices, step)
        current = splice(current, [step])
        assert splice(original, splices) == current


@given(EDITS, st.binary(max_size=40))
def test_any_bytes_are_edited_or_refused_by_name(edit: Edit, raw: bytes) -> None:
    outcome = apply_edit(edit, raw)
    try:
        remaining_copies(edit, raw, raw)
    except ProtocolError:
        assert isinstance(outcome, NotApplied)
