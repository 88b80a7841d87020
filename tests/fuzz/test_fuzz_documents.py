"""Any bytes give documents or a RecordError, nothing else; and what is read is what a standard reader reads."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import example, given
from hypothesis import strategies as st

from oyer.errors import RecordError
from oyer.records import Document, canonical_bytes, parse_canonical, parse_documents
from oyer.records.strict_yaml import parse_yaml

YAMLISH = st.lists(
    st.sampled_from(
        [b"a", b"b", b": ", b":", b"- ", b"-", b"\n", b"\n  ", b"\n ", b"{", b"}", b"[", b"]", b", ", b",", b"'", b'"',
         b"&x ", b"*x", b"!!str ", b"!", b"<<", b"? ", b"---\n", b"...\n", b"%YAML 1.2\n", b"%TAG ! x\n", b"# c",
         b"|\n", b">-\n", b"1", b"0x", b"-.inf", b".nan", b"~", b"null", b"true", b"\\", b"\\u", b"d800",
         b"\\UFFFFFFFF", b"\t", b"\r", b"\0", b"\xff", b"\xc3\xa9", b"\xe2\x80\xa8", b"\xef\xbb\xbf", b"\x1b", b"@"]
    ),
    max_size=24,
).map(b"".join)  # fmt: skip
JSONISH = st.lists(
    st.sampled_from(
        [b"{", b"}", b"[", b"]", b",", b":", b'"', b'"a"', b'"b"', b"1", b"-", b"0", b".5", b"e9", b"E+999", b"null",
         b"true", b"NaN", b"-Infinity", b"\\", b"\\u", b"d83d", b"\\ude00", b"\xc3", b"\xa9", b" ", b"\n",
         b"9007199254740993"]
    ),
    max_size=24,
).map(b"".join)  # fmt: skip


def only_plain(value: Any) -> bool:
    if isinstance(value, dict):
        return all(type(key) is str and only_plain(item) for key, item in value.items())
    if isinstance(value, list):
        return all(map(only_plain, value))
    return value is None or type(value) in (str, int, float, bool)


def read(data: bytes, name: str) -> tuple[Document, ...] | None:
    try:
        documents = parse_documents(data, name=name)
    except RecordError as error:
        for problem in error.problems:
            assert problem.code.startswith(("E-YAML-", "E-JSON-"))
            line, column = problem.where.removeprefix(name + ":").split(":")[:2]
            assert int(line) >= 1
            assert int(column) >= 1
            assert str(problem).isprintable()
        return None
    assert documents
    for document in documents:
        assert only_plain(document.value)
        assert document.where().startswith(name + ":")
    return documents


@given(st.binary(max_size=60) | YAMLISH | JSONISH, st.sampled_from(["f", "f.yaml", "f.json"]))
@example(b"[" * 100_000, "f.yaml")
@example(b"- " * 100_000, "f.yaml")
@example(b"{a: " * 100_000, "f.yaml")
@example(b"? " * 10_000, "f.yaml")
@example(b"'" + b"a\n" * 10_000, "f.yaml")
@example(b"&a [" * 1000, "f.yaml")
@example(b'{"a":' * 100_000, "f.json")
@example(b'"' + b"\\u0041" * 100_000 + b'"', "f.json")
def test_any_bytes_are_documents_or_a_named_error(data: bytes, name: str) -> None:
    read(data, name)


@given(YAMLISH)
def test_the_parser_in_python_keeps_the_same_promise(data: bytes) -> None:
    try:
        documents = parse_yaml(data, name="f", pure=True)
    except RecordError:
        return
    assert all(only_plain(document.value) for document in documents)


@given(st.binary(max_size=60) | JSONISH)
@example(b'{"a":1,"\\u0061":2}')
@example(b'"\\ud83d\\ude00"')
@example(b'"\x7f"')
@example(b"\xc2\xa01")
def test_strict_json_is_json_without_what_readers_disagree_on(data: bytes) -> None:
    documents = read(data, "f.json")
    if documents is not None:
        assert json.loads(data.decode("utf-8")) == documents[0].value
        return
    # What the standard reader takes and we do not: each for one of the reasons that we name.
    try:
        json.loads(data.decode("utf-8"))
    except (ValueError, RecursionError):
        return
    try:
        parse_documents(data, name="f.json")
    except RecordError as error:
        named = {problem.code for problem in error.problems}
        assert named <= {"E-JSON-DUPLICATE-KEY", "E-JSON-NUMBER", "E-JSON-SURROGATE", "E-JSON-DEPTH", "E-JSON-NUL"}


@given(JSONISH)
def test_canonical_reading_refuses_or_returns_the_only_form(data: bytes) -> None:
    try:
        value = parse_canonical(data)
    except RecordError:
        return
    assert canonical_bytes(value) == data
    assert json.loads(data) == value
