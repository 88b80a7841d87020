"""Strict JSON: every ambiguity refused, each in its place."""

from __future__ import annotations

import pytest

from oyer.errors import RecordError
from oyer.records.source_text import MAX_DEPTH
from oyer.records.strict_json import parse_json


def refused(data: bytes | str) -> list[tuple[str, str]]:
    with pytest.raises(RecordError) as caught:
        parse_json(data.encode() if isinstance(data, str) else data, name="f")
    return [(problem.code, problem.where) for problem in caught.value.problems]


@pytest.mark.parametrize(
    "text",
    [
        '{"seq":3,"outcome":"FAIL","outcome":"PASS"}',
        '{"outcome":"FAIL","\\u006futcome":"PASS"}',
        '{"a":[{"outcome":"FAIL","outcome":"PASS"}]}',
    ],
)
def test_a_key_that_is_there_twice_is_refused_at_any_depth(text: str) -> None:
    ((code, where),) = refused(text)
    assert code == "E-JSON-DUPLICATE-KEY"
    assert where.endswith("outcome")


def test_both_spellings_of_an_integer_beyond_the_safe_range_are_refused() -> None:
    assert refused('{"id":9007199254740993}') == [("E-JSON-NUMBER", "f:1:7: id")]
    assert refused('{"id":9007199254740992}') == [("E-JSON-NUMBER", "f:1:7: id")]
    assert refused('{"id":9007199254740992.0}') == [("E-JSON-NUMBER", "f:1:7: id")]
    assert refused('{"id":-1e20}') == [("E-JSON-NUMBER", "f:1:7: id")]
    assert parse_json(b'{"id":-9007199254740991}', name="f").value == {"id": -9007199254740991}


def test_everything_that_leaves_the_structure_clear_is_told_at_once() -> None:
    text = '{\n "a": 1,\n "a": {"b": 1e999, "b": "\\udc00"},\n "c": [9007199254740992, NaN]\n}'
    assert refused(text) == [
        ("E-JSON-DUPLICATE-KEY", "f:3:2: a"),
        ("E-JSON-NUMBER", "f:3:13: a.b"),
        ("E-JSON-DUPLICATE-KEY", "f:3:20: a.b"),
        ("E-JSON-SURROGATE", "f:3:25: a.b"),
        ("E-JSON-NUMBER", "f:4:8: c[0]"),
        ("E-JSON-NUMBER", "f:4:26: c[1]"),
    ]


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ("", "f:1:1"),
        ("[1,]", "f:1:4: [1]"),
        ('{"a" 1}', "f:1:6"),
        ("{'a': 1}", "f:1:2"),
        ('["a\n"]', "f:1:4: [0]"),
        ('["\\x"]', "f:1:3: [0]"),
        ("[01]", "f:1:3"),
        ("[+1]", "f:1:2: [0]"),
        ("[1.]", "f:1:3"),
        ("[.5]", "f:1:2: [0]"),
        ("tru", "f:1:1"),
        ("true false", "f:1:6"),
        ('{"a":1,}', "f:1:8"),
        ('["\\u12"]', "f:1:3: [0]"),
        ('["', "f:1:3: [0]"),
        ("[1 2]", "f:1:4"),
        ("\u00a01", "f:1:1"),
        ("-", "f:1:1"),
        ("// x\n1", "f:1:1"),
        ("[\n  [1,\n   !]]", "f:3:4: [0][1]"),
    ],
)
def test_syntax_errors_have_a_place(text: str, where: str) -> None:
    assert refused(text) == [("E-JSON-SYNTAX", where)]


@pytest.mark.parametrize("word", ["NaN", "Infinity", "-Infinity"])
def test_numbers_that_are_none(word: str) -> None:
    assert refused(f"[{word}]") == [("E-JSON-NUMBER", "f:1:2: [0]")]


@pytest.mark.parametrize(
    ("data", "code", "where"),
    [
        (b'"\xff"', "E-JSON-UTF8", "f:1:2"),
        (b"\xef\xbb\xbf1", "E-JSON-BOM", "f:1:1"),
        (b"1\n\0", "E-JSON-NUL", "f:2:1"),
        (b"[" * 1_000_000, "E-JSON-DEPTH", f"f:1:{MAX_DEPTH + 1}"),
        (b"1" * 1_000_000, "E-JSON-NUMBER", "f:1:1"),
        (b'"\\ud83d"', "E-JSON-SURROGATE", "f:1:1"),
        (b'"\\ude00\\ud83d"', "E-JSON-SURROGATE", "f:1:1"),
    ],
)
def test_what_is_refused_by_name(data: bytes, code: str, where: str) -> None:
    assert refused(data) == [(code, where)]


def test_texts_and_escapes() -> None:
    data = '["\\u00e9\\n\\/\\"\\\\", "\\ud83d\\ude00", "\u00e9\u2028", ""]'.encode()
    assert parse_json(data, name="f").value == ['\u00e9\n/"\\', "\U0001f600", "\u00e9\u2028", ""]


def test_types_of_numbers() -> None:
    value = parse_json(b"[0, -0, 1.0, 1e2, -1.5E-3]", name="f").value
    assert [type(one) for one in value] == [int, int, float, float, float]
