"""JSON values: nothing lost, nothing invented."""

from __future__ import annotations

import pytest

from oyer.errors import ProtocolError
from oyer.protocol import (
    JsonNumber,
    dumps,
    escape_text,
    loads,
    loads_tolerant,
    parse_pointer,
    pointer_of,
    same_json,
    subset_of,
)


def test_numbers_keep_their_literal() -> None:
    raw = b'{"id":1234567890123456789,"x":1.0,"y":1e2,"z":-0,"big":' + b"9" * 5000 + b"}"
    value = loads(raw)
    assert isinstance(value, dict)
    assert value["id"] == 1234567890123456789
    assert dumps(value) == raw


def test_numbers_compare_by_exact_value() -> None:
    assert JsonNumber("1.0") == 1
    assert JsonNumber("1e2") == JsonNumber("100.00")
    assert JsonNumber("1e2") == 100
    assert hash(JsonNumber("1e2")) == hash(100)
    assert JsonNumber("0.1") == 0.1
    assert JsonNumber("1234567890123456789.0") != 1234567890123456788
    assert JsonNumber("-1.5") < 0 < JsonNumber("1e-9") < JsonNumber("0.5") <= JsonNumber("5e-1")
    assert JsonNumber("1e999999999999") > 10**100
    assert JsonNumber("-2") >= JsonNumber("-10")
    assert JsonNumber("1.0") != "1.0"
    assert JsonNumber("1.0") is not None
    with pytest.raises(ProtocolError):
        JsonNumber("1.")


def test_types_are_never_confused() -> None:
    assert not same_json(1, True)
    assert not same_json(1, "1")
    assert not same_json(None, False)
    assert not same_json([], {})
    assert same_json({"a": [1, JsonNumber("2.50")]}, {"a": [JsonNumber("1.0"), 2.5]})
    assert not same_json({"a": 1}, {"a": 1, "b": 2})


def test_a_subset_names_what_it_asks_for() -> None:
    assert subset_of({"a": {"b": 1}}, {"a": {"b": 1, "c": 2}, "d": 3})
    assert not subset_of({"a": [1]}, {"a": [1, 2]})
    assert not subset_of({"a": 1}, {})
    assert subset_of({}, {"a": 1})
    assert not subset_of({}, [])


def test_a_repeated_key_is_refused_or_named() -> None:
    with pytest.raises(ProtocolError) as caught:
        loads(b'{"a":1,"a":2}')
    assert caught.value.code == "E-JSON-DUPLICATE-KEY"
    assert loads_tolerant(b'{"a":1,"a":2}') == ({"a": 2}, ("a",))


def test_text_is_escaped_only_where_it_must_be() -> None:
    assert escape_text('"\\\n\x00\u00e9\u2028\U0001f600\ud83d') == (
        b'\\"\\\\\\n\\u0000\xc3\xa9\xe2\x80\xa8\xf0\x9f\x98\x80\\ud83d'
    )


def test_what_is_no_json_value_is_refused() -> None:
    for value in (object(), float("nan"), float("inf"), {1: 2}, b"x"):
        with pytest.raises(ProtocolError):
            dumps(value)


def test_deep_values_are_refused_not_crashed_on() -> None:
    deep: list[object] = []
    for _ in range(600):
        deep = [deep]
    with pytest.raises(ProtocolError):
        dumps(deep)
    assert same_json(deep, deep)


def test_pointers_go_both_ways() -> None:
    assert parse_pointer("") == ()
    assert parse_pointer("/a~1b/~0/0/") == ("a/b", "~", "0", "")
    assert pointer_of(("a/b", "~", 0, "")) == "/a~1b/~0/0/"
    for bad in ("a", "/~2", "/~"):
        with pytest.raises(ProtocolError):
            parse_pointer(bad)
