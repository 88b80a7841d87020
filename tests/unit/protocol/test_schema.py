"""The schema subset: kept, broken, or honestly unknown."""

from __future__ import annotations

import pytest

from oyer.protocol import check_schema, loads

SCHEMA: dict[str, object] = {
    "type": "object",
    "title": "T",
    "required": ["n"],
    "additionalProperties": False,
    "properties": {
        "n": {"type": "integer"},
        "s": {"enum": ["a", "b"]},
        "c": {"const": 1},
        "l": {"type": "array", "items": {"type": ["number", "null"]}},
        "o": {"anyOf": [{"type": "string"}, {"type": "null"}]},
    },
}


@pytest.mark.parametrize(
    ("content", "verdict", "where"),
    [
        ('{"n":1}', "kept", ""),
        ('{"n":1.0,"s":"a","c":1.0,"l":[1,2.5,null],"o":null}', "kept", ""),
        ("{}", "broken", ""),
        ('{"n":1.5}', "broken", "/n"),
        ('{"n":true}', "broken", "/n"),
        ('{"n":1,"s":"c"}', "broken", "/s"),
        ('{"n":1,"c":"1"}', "broken", "/c"),
        ('{"n":1,"l":[1,"2"]}', "broken", "/l/1"),
        ('{"n":1,"o":5}', "broken", "/o"),
        ('{"n":1,"z":5}', "broken", "/z"),
        ("[1]", "broken", ""),
    ],
)
def test_the_schema_subset(content: str, verdict: str, where: str) -> None:
    check = check_schema(loads(content.encode()), SCHEMA)
    assert (check.verdict, check.where) == (verdict, where)


def test_what_is_not_understood_is_unknown_and_a_breach_still_counts() -> None:
    value = loads(b'{"a":"x"}')
    assert check_schema(value, {"properties": {"a": {"pattern": "y"}}}).verdict == "unknown"
    assert check_schema(value, {"$ref": "#/x", "type": "array"}).verdict == "broken"
    assert (
        check_schema(value, {"properties": {"a": {"anyOf": [{"pattern": "y"}, {"type": "null"}]}}}).verdict == "unknown"
    )
    deep: dict[str, object] = {}
    for _ in range(100):
        deep = {"anyOf": [deep]}
    assert check_schema(value, deep).verdict == "unknown"
