"""Any bytes give vectors or a RecordError, nothing else; and whatever a vector describes can be scored."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from hypothesis import example, given
from hypothesis import strategies as st

from oyer.conform import agree, parse_vectors
from oyer.errors import RecordError
from oyer.records import parse_documents

FILE = Path(__file__).parents[1] / "conform" / "own-vectors.yaml"
VALUES: list[Any] = parse_documents(FILE.read_bytes(), name=FILE.name)[0].value
WHOLE = {value["id"]: value for value in VALUES if "like" not in value["given"]}
WORDS = [
    "", "a", "s2", "b2", "read_status", "apply_change", "approve_refund", "one-treat", "policy", "refused", "asked",
    "call", "result", "cancel", "absent", "malformed", "missing", "other", "every", "\u00fc\u2713", "$ref", "none",
    "readable", "failed", "turn_limit", "two_hop", "{}", '{"order":1}', "s2 b2", "1", "treatment",
]  # fmt: skip
SCALARS = st.sampled_from([None, True, False, -1, 0, 1, 2, 13, 10**9, 10**10, 1.5, *WORDS])
SMALL = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(WORDS), inner)
)
CODES = ("E-YAML-", "E-JSON-", "E-RECORD-", "E-VECTOR-")


def read(data: bytes, name: str) -> None:
    try:
        vectors = parse_vectors(data, name=name)
    except RecordError as error:
        for problem in error.problems:
            assert problem.code.startswith(CODES), problem
            assert problem.where.startswith(name), problem
            assert str(problem).isprintable()
        return
    agree(vectors)


def places(value: Any, path: tuple[str | int, ...] = ()) -> list[tuple[str | int, ...]]:
    found = [path]
    if isinstance(value, dict):
        for key, item in value.items():
            found += places(item, (*path, key))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            found += places(item, (*path, index))
    return found


def edited(value: Any, path: tuple[str | int, ...], act: str, new: Any) -> Any:
    """Return a copy of a value with one place of it removed, replaced or, in a list, doubled."""
    if not path:
        return new
    copy: Any = dict(value) if isinstance(value, dict) else list(value)
    key = path[0]
    if len(path) > 1:
        copy[key] = edited(copy[key], path[1:], act, new)
    elif act == "remove":
        del copy[key]
    elif act == "double" and isinstance(copy, list):
        copy.insert(int(key), copy[int(key)])
    else:
        copy[key] = new
    return copy


def like(old: Any) -> st.SearchStrategy[Any]:
    """Values of the kind that an old one is: what such a field can hold, mostly."""
    if isinstance(old, bool):
        return st.booleans()
    if isinstance(old, int):
        return st.integers(0, 40)
    if isinstance(old, str):
        return st.sampled_from(WORDS)
    return st.permutations(old) if isinstance(old, list) else SMALL


@st.composite
def broken_files(draw: st.DrawFn) -> bytes:
    """A file of one or two vectors, the second like the first, with a few places of their evidence changed."""
    first = WHOLE[draw(st.sampled_from(sorted(WHOLE)))]
    likes = [value for value in VALUES if value["given"].get("like") == first["id"]]
    value: Any = [first, *(draw(st.lists(st.sampled_from(likes), max_size=1)) if likes else ())]
    for _ in range(draw(st.integers(1, 4))):
        path = draw(st.sampled_from([path for path in places(value) if "arms" in path[:-1] or "declared" in path[:-1]]))
        old = value
        for step in path:
            old = old[step]
        act = draw(st.sampled_from(["remove", "double", "replace", "replace", "replace", "replace"]))
        value = edited(value, path, act, draw(SMALL if draw(st.integers(0, 9)) == 0 else like(old)))
    return json.dumps(value).encode()


@given(broken_files())
def test_whatever_is_changed_is_named_or_can_be_scored(data: bytes) -> None:
    read(data, "f.json")


@given(st.binary(max_size=60), st.sampled_from(["f", "f.yaml", "f.json"]))
@example(b"[]", "f.json")
@example(b"{}", "f.json")
@example(b"[1]", "f.json")
@example(b"- id: a\n---\n- id: b\n", "f.yaml")
@example(b"- given: {like: {}}\n", "f.yaml")
@example(b"- {id: a, given: {like: a}}\n- {id: b, given: {like: a, arms: null}}\n", "f.yaml")
def test_any_bytes_are_vectors_or_a_named_error(data: bytes, name: str) -> None:
    read(data, name)


@given(st.integers(0, 30_000), st.integers(0, 400), st.binary(max_size=8))
def test_a_damaged_file_is_read_or_named(start: int, length: int, instead: bytes) -> None:
    data = FILE.read_bytes()[:40_000]
    read(data[:start] + instead + data[start + length :], "f.yaml")
