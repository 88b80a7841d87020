"""Changes JSON as JSON: one place of one line gets another value, goes, is doubled, or trades places.

A fuzzer that only knows bytes spends most of its inputs on what the first reader refuses. Owns the change; the choice
comes from the seed alone, so that the fuzzer can repeat it.
"""

from __future__ import annotations

import json
import random
from typing import Any

__all__ = ["mutated"]

Path = tuple[str | int, ...]
_ODD: list[Any] = [
    *[
        None,
        True,
        False,
        -1,
        0,
        1,
        2,
        2**31,
        2**53,
        2**63,
        2**64,
        10**40,
        -0.0,
        1.5,
        1e308,
        "",
        "a",
        "\n",
        "{",
        "\ud800",
    ],
    *[
        "\u00e9",
        "\U0001f600",
        "/",
        "/-",
        "/a/0",
        "~",
        "~2",
        "sha256:" + "0" * 64,
        [],
        {},
        [[]],
        {"": None},
        ["a", 1],
        "$",
    ],
    *["{}", '{"a": [1]}', "2026-01-01T00:00:00Z", "harness:0", "a" * 300],
]


def mutated(data: bytes, max_bytes: int, seed: int) -> bytes | None:
    """Return other bytes of at most `max_bytes`; None where there is no JSON to change, or it grew too much."""
    choose = random.Random(seed)
    lines = data.split(b"\n")
    tried = choose.sample(range(len(lines)), min(len(lines), 4))
    values = {at: value for at in tried if (value := _read(lines[at])) is not None}
    if not values:
        return None
    at = choose.choice(sorted(values))
    value = values[at]
    for _ in range(choose.choice([1, 1, 1, 2, 3])):
        value = _changed(value, choose)
    compact = choose.random() < 0.8
    lines[at] = _written(value, compact=compact)
    whole = b"\n".join(lines)
    return whole if len(whole) <= max_bytes else None


def _read(line: bytes) -> Any:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict | list) and value else None


def _written(value: Any, *, compact: bool) -> bytes:
    text = json.dumps(value, ensure_ascii=False, sort_keys=compact, separators=(",", ":") if compact else None)
    return text.encode("utf-8", "surrogatepass")


def _places(value: Any, path: Path = ()) -> list[Path]:
    items: Any = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(place for key, item in items for place in _places(item, (*path, key)))]


def _at(value: Any, path: Path) -> Any:
    for step in path:
        value = value[step]
    return value


def _changed(value: Any, choose: random.Random) -> Any:
    places = _places(value)[1:]
    if not places:
        return [choose.choice(_ODD)]
    path = choose.choice(places)
    parent, key = _at(value, path[:-1]), path[-1]
    match choose.randrange(7):
        case 0:
            del parent[key]
        case 1:
            _double(parent, key, choose)
        case 2:
            parent[key] = _copy(_at(value, choose.choice(places)))
        case 3 if isinstance(parent[key], str):
            parent[key] = _text(parent[key], choose)
        case 4 if isinstance(parent, dict):
            parent[choose.choice([str(place[-1]) for place in places] + ["", "x"])] = parent.pop(key)
        case _:
            parent[key] = _copy(choose.choice(_ODD))
    return value


def _double(parent: Any, key: Any, choose: random.Random) -> None:
    if isinstance(parent, list):
        parent.insert(choose.randint(0, len(parent)), _copy(parent[key]))
    else:
        parent[f"{key}x"] = _copy(parent[key])


def _text(text: str, choose: random.Random) -> str:
    inner = _read(text.encode("utf-8", "surrogatepass")) if text[:1] in ("{", "[") else None
    if inner is not None:
        return json.dumps(_changed(inner, choose))
    start, end = sorted((choose.randint(0, len(text)), choose.randint(0, len(text))))
    given = choose.choice(["", text[start:end] * 2, "\\", '"', "\x00", "\u2028", ".", "/", "0"])
    return text[:start] + given + text[end:]


def _copy(value: Any) -> Any:
    return json.loads(json.dumps(value))
