"""JSON patterns: exact and by subset, by JSON type, and never raising on a foreign value."""

from __future__ import annotations

from typing import Any

import pytest

from oyer.observe import field_of, match_json
from oyer.protocol import loads
from oyer.records import digest_bytes


@pytest.mark.parametrize(
    ("pattern", "value", "subset", "exact"),
    [
        ({"a": 1}, {"a": 1}, True, True),
        ({"a": 1}, {"a": 1, "b": 2}, True, False),
        ({"a": {"b": 1}}, {"a": {"b": 1, "c": 2}}, True, False),
        ({"a": 1}, {"a": "1"}, False, False),
        ({"a": 1}, {"a": True}, False, False),
        ({"a": 1}, {"a": 1.0}, True, True),
        ({"a": None}, {"a": None}, True, True),
        ({"a": None}, {}, False, False),
        ({"a": None}, {"a": 1}, False, False),
        ([1, 2], [1, 2], True, True),
        ([1, 2], [1, 2, 3], False, False),
        ([{"a": 1}], [{"a": 1, "b": 1}], True, False),
        ("ab", ["a", "b"], False, False),
        ({}, {}, True, True),
        ({}, {"a": 1}, True, False),
        ({}, [], False, False),
        (1, None, False, False),
    ],
)
def test_objects_lists_and_scalars(pattern: Any, value: Any, subset: bool, exact: bool) -> None:
    assert match_json(pattern, value) is subset
    assert match_json(pattern, value, exact=True) is exact


@pytest.mark.parametrize(
    ("value", "exact", "with_extra"),
    [
        (None, True, True),
        ({}, True, True),
        ({"at": 1}, False, True),
        ({"at": 1, "x": 2}, False, False),
        (5, False, False),
        ("at", False, False),
        (["at"], False, False),
        ([{}], False, False),
        (True, False, False),
    ],
)
def test_a_null_pattern_is_an_undeclared_one(value: Any, exact: bool, with_extra: bool) -> None:
    assert match_json(None, value)
    assert match_json(None, value, exact=True) is exact
    assert match_json(None, value, exact=True, allow_extra=("at",)) is with_extra


def test_an_extra_key_is_tolerated_by_name_and_only_at_the_top() -> None:
    assert match_json({"a": {"b": 1}}, {"a": {"b": 1}, "at": 2}, exact=True, allow_extra=("at",))
    assert not match_json({"a": {"b": 1}}, {"a": {"b": 1, "at": 2}}, exact=True, allow_extra=("at",))
    assert not match_json({"a": 1}, {"at": 2}, exact=True, allow_extra=("at",))


@pytest.mark.parametrize(
    ("pattern", "value", "told"),
    [
        ({"contains": "ell"}, "hello", True),
        ({"contains": "ell"}, ["ell"], False),
        ({"equals": {"a": 1}}, {"a": 1}, True),
        ({"equals": {"a": 1}}, {"a": 1, "b": 1}, False),
        ({"regex": "^h.*o$"}, "hello", True),
        ({"regex": "^h"}, "oh", False),
        ({"regex": "h"}, 5, False),
        ({"gte": 2}, 2, True),
        ({"gte": 2}, 1, False),
        ({"lte": 2}, True, False),
        ({"gte": 0.5}, 1, True),
        ({"one_of": ["a", {"contains": "b"}]}, "xbx", True),
        ({"one_of": ["a"]}, "b", False),
        ({"any": {"a": 1}}, [{"a": 2}, {"a": 1}], True),
        ({"all": {"gte": 1}}, [1, 2], True),
        ({"all": {"gte": 2}}, [1, 2], False),
        ({"none": 3}, [1, 2], True),
        ({"none": 3}, "3", False),
    ],
)
def test_operators(pattern: Any, value: Any, told: bool) -> None:
    assert match_json({"x": pattern}, {"x": value}) is told
    assert match_json(pattern, value) is told


def test_a_member_that_must_not_be_there() -> None:
    assert match_json({"a": 1, "b": {"absent": True}}, {"a": 1}, exact=True)
    assert not match_json({"b": {"absent": True}}, {"b": None})
    for operator in ({"contains": "x"}, {"regex": ".*"}, {"one_of": [None]}, {"none": 1}, {"lte": 5}, {"equals": None}):
        assert not match_json({"b": operator}, {}), operator


def test_numbers_keep_every_digit() -> None:
    value = loads(b'{"n": 0.30000000000000000001, "m": 1e2}')
    assert match_json({"m": 100}, value)
    assert match_json({"m": {"gte": 99.5}}, value)
    assert not match_json({"n": 0.3}, value)
    assert match_json({"n": {"gte": 0.3}}, value)


def test_values_that_earlier_links_matched() -> None:
    bindings = {"memo": "the text", "action": {"note": {"id": 7}}}
    assert match_json({"t": {"equals_field": "memo"}}, {"t": "the text"}, bindings=bindings)
    assert match_json({"t": {"equals_field": "action.note.id"}}, {"t": 7}, bindings=bindings)
    assert not match_json({"t": {"equals_field": "action.note.none"}}, {"t": None}, bindings=bindings)
    assert match_json({"t": {"digest_of": "memo"}}, {"t": digest_bytes(b"the text")}, bindings=bindings)
    for pattern in ({"equals_field": "memo"}, {"digest_of": "memo"}, {"digest_of": "action"}):
        assert not match_json({"t": pattern}, {"t": "the text"}), "nothing bound matches nothing"


@pytest.mark.parametrize("pattern", [{"regex": "."}, {"contains": "x"}, {"digest_of": "memo"}, {"gte": 1}, {"any": 1}])
@pytest.mark.parametrize("value", ["\ud800", {"\ud800": 1}, [["\udfff"]], 10**400, None, {}, [], True])
def test_no_value_makes_a_pattern_raise(pattern: Any, value: Any) -> None:
    assert match_json(pattern, value, exact=True, bindings={"memo": "\ud800"}) in (True, False)


@pytest.mark.parametrize(
    ("path", "found"),
    [("a.b", 1), ("l.0", "x"), ("l.1", None), ("l.²", None), ("l.-1", None), ("a.c", None), ("", None), ("s.0", None)],
)
def test_fields(path: str, found: Any) -> None:
    assert field_of({"a": {"b": 1}, "l": ["x"], "s": "text"}, path) == found
    assert field_of(None, path) is None
