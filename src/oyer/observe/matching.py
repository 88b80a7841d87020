"""Matching JSON patterns against values taken from evidence.

Pure. `exact` is for layers 6 and 7: a key that the pattern does not name is a mismatch unless it is tolerated by name.
Everywhere else objects match by subset. Scalars match by value and JSON type: `1` is not `"1"` nor `true`.
Source: "Matchers" in the record design; regular expressions run on a linear-time engine (RE2).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import lru_cache
from typing import Any

import re2

from oyer.protocol import JsonNumber, same_json
from oyer.records import OPERATORS, digest_bytes

__all__ = ["Bindings", "field_of", "match_json"]

Bindings = Mapping[str, Any]
"""Values that earlier links matched, by link id, for `digest_of` and `equals_field`."""

_MISSING = object()


def match_json(
    pattern: Any,
    value: Any,
    *,
    exact: bool = False,
    allow_extra: Collection[str] = (),
    bindings: Bindings | None = None,
) -> bool:
    """Say whether a value matches a pattern.

    A null pattern stands for an undeclared one: it matches anything, and exactly nothing but null and objects of which
    every key is tolerated. Inside a pattern null is JSON null.
    """
    if pattern is None:
        return not exact or value is None or (isinstance(value, Mapping) and set(value) <= set(allow_extra))
    return _match(pattern, value, exact, frozenset(allow_extra), bindings or {})


def field_of(value: Any, path: str) -> Any:
    """Return the member at a dotted path of a JSON value, or None where there is none."""
    for part in path.split("."):
        if isinstance(value, Mapping) and part in value:
            value = value[part]
        elif isinstance(value, Sequence) and not isinstance(value, str) and _is_index(part, len(value)):
            value = value[int(part)]
        else:
            return None
    return value


def _is_index(part: str, length: int) -> bool:
    return part.isascii() and part.isdigit() and len(part) < 10 and int(part) < length


def _match(pattern: Any, value: Any, exact: bool, extra: frozenset[str], bindings: Bindings) -> bool:
    if isinstance(pattern, Mapping):
        if len(pattern) == 1 and next(iter(pattern)) in OPERATORS:
            name, operand = next(iter(pattern.items()))
            return _operator(name, operand, value, exact, bindings)
        return _object(pattern, value, exact, extra, bindings)
    if isinstance(pattern, Sequence) and not isinstance(pattern, str):
        return (
            isinstance(value, Sequence)
            and not isinstance(value, str)
            and len(value) == len(pattern)
            and all(
                _match(mine, yours, exact, frozenset(), bindings) for mine, yours in zip(pattern, value, strict=True)
            )
        )
    return value is not _MISSING and same_json(pattern, value)


def _object(pattern: Mapping[str, Any], value: Any, exact: bool, extra: frozenset[str], bindings: Bindings) -> bool:
    if not isinstance(value, Mapping):
        return False
    if exact and not set(value) <= set(pattern) | extra:
        return False
    return all(_match(item, value.get(key, _MISSING), exact, frozenset(), bindings) for key, item in pattern.items())


def _operator(name: str, operand: Any, value: Any, exact: bool, bindings: Bindings) -> bool:
    if name == "absent":
        return value is _MISSING
    if value is _MISSING:
        return False
    if name in ("any", "all", "none"):
        return _members(name, operand, value, exact, bindings)
    if name == "equals":
        return same_json(operand, value)
    if name == "contains":
        return isinstance(value, str) and operand in value
    if name == "regex":
        return isinstance(value, str) and _is_text(value) and _compiled(operand).search(value) is not None
    if name == "one_of":
        return any(_match(choice, value, exact, frozenset(), bindings) for choice in operand)
    if name == "digest_of":
        bound = bindings.get(operand, _MISSING)
        return isinstance(bound, str) and digest_bytes(bound.encode("utf-8", "surrogatepass")) == value
    if name == "equals_field":
        link, _, path = operand.partition(".")
        bound = bindings.get(link)
        found = field_of(bound, path) if path else bound
        return found is not None and same_json(found, value)
    return _bound(name, operand, value)


def _members(name: str, operand: Any, value: Any, exact: bool, bindings: Bindings) -> bool:
    if not isinstance(value, Sequence) or isinstance(value, str):
        return False
    hits = [_match(operand, item, exact, frozenset(), bindings) for item in value]
    return {"any": any(hits), "all": all(hits), "none": not any(hits)}[name]


def _bound(name: str, operand: Any, value: Any) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float | JsonNumber):
        return False
    mine = JsonNumber(str(operand)) if isinstance(value, JsonNumber) else operand
    return bool(value >= mine) if name == "gte" else bool(value <= mine)


def _is_text(value: str) -> bool:
    """The engine works on UTF-8, which half a surrogate pair does not have."""
    return value.isascii() or not any("\ud800" <= character <= "\udfff" for character in value)


@lru_cache(maxsize=512)
def _compiled(pattern: str) -> Any:
    options = re2.Options()
    options.log_errors = False
    return re2.compile(pattern, options)
