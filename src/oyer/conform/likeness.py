"""Vectors that are written as a difference: `given: {like: ID, ...}` is another vector's `given`, patched.

Owns the JSON merge patch (RFC 7396: objects are merged, null removes a key, anything else replaces) and, beside it,
where each part of the patched value was written. Must never judge a field.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from oyer.errors import Problem
from oyer.records import Document, Path

__all__ = ["patched"]

LIKE = "like"


def patched(document: Document, values: list[Any]) -> tuple[Document, list[Problem]]:
    """Return a document `{vectors: [...]}` with every likeness worked out, and what is wrong with likenesses."""
    problems: list[Problem] = []
    known: dict[str, int] = {}
    origins: dict[Path, Path] = {("vectors",): ()}
    made: list[Any] = []
    for index, value in enumerate(values):
        given = value.get("given") if isinstance(value, dict) else None
        if not isinstance(given, dict):
            made.append(value)
            continue
        patch = {key: item for key, item in given.items() if key != LIKE}
        name = given.get(LIKE)
        if isinstance(name, str) and name in known:
            made.append({**value, "given": _merged(made[known[name]]["given"], patch)})
            _trace(origins, known[name], index, patch)
        else:
            made.append({**value, "given": patch})
            if LIKE in given:
                hint = "name a vector that stands before this one in the file"
                told = f"{name!r} is no vector before this one"
                problems.append(document.problem("E-VECTOR-LIKE", (index, "given", LIKE), told, hint))
        if isinstance(value.get("id"), str):
            known.setdefault(value["id"], index)
    return document.expanded({"vectors": made}, origins), problems


def _merged(base: Any, patch: Any) -> Any:
    if not isinstance(patch, dict):
        return patch
    result = dict(base) if isinstance(base, dict) else {}
    for key, item in patch.items():
        if item is None:
            result.pop(key, None)
        else:
            result[key] = _merged(result.get(key), item)
    return result


def _trace(origins: dict[Path, Path], source: int, index: int, patch: dict[str, Any]) -> None:
    """Say where each part of a patched `given` was written: in the patch, or where the other vector had it."""
    theirs: Path = ("vectors", source, "given")
    mine: Path = ("vectors", index, "given")
    inherited = {path: origin for path, origin in origins.items() if path[:3] == theirs}
    origins[mine] = inherited.get(theirs, (source, "given"))
    for path, origin in inherited.items():
        origins[mine + path[3:]] = origin
    for path in _leaves(patch, (index, "given")):
        written = ("vectors", *path)
        for below in [known for known in origins if known[: len(written)] == written]:
            del origins[below]
        origins[written] = path


def _leaves(patch: Any, path: Path) -> Iterator[Path]:
    """Yield the path of everything in a patch that is a value of its own."""
    if not isinstance(patch, dict):
        yield path
        return
    for key, item in patch.items():
        yield from _leaves(item, (*path, key))
