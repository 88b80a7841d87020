"""The full pinned form of a record as YAML that Oyer itself reads back to the same digest.

Owns the writing: block style, every text in double quotes (so that no reader takes a text for a number or a truth
value), and every character that would not be seen as an escape.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from oyer.report import neutralise

__all__ = ["write_yaml"]

_PLAIN_KEY = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*\Z")
_TAKEN = frozenset("null true false yes no on off y n".split())


def write_yaml(value: Any) -> str:
    """Return a plain value as one YAML document, without its start mark."""
    return "".join(f"{text}\n" for text in _block(value, ""))


def _block(value: Any, indent: str) -> Iterator[str]:
    if isinstance(value, Mapping) and value:
        for key, item in value.items():
            name = key if _PLAIN_KEY.match(key) and key.lower() not in _TAKEN else _quoted(key)
            yield from _entry(f"{indent}{name}:", item, indent + "  ")
    elif isinstance(value, list) and value:
        for item in value:
            yield from _item(item, indent)
    else:
        yield indent + _scalar(value)


def _entry(head: str, value: Any, inner: str) -> Iterator[str]:
    if isinstance(value, Mapping | list) and value:
        yield head
        yield from _block(value, inner)
    else:
        yield f"{head} {_scalar(value)}"


def _item(value: Any, indent: str) -> Iterator[str]:
    lines = list(_block(value, indent + "  "))
    yield f"{indent}- {lines[0][len(indent) + 2 :]}"
    yield from lines[1:]


def _scalar(value: Any) -> str:
    if isinstance(value, str):
        return _quoted(value)
    return json.dumps(value, allow_nan=False)


def _quoted(text: str) -> str:
    """Quote as YAML 1.2: JSON's escapes, and the longer ones for what `neutralise` would show."""
    safe = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\t", "\\t")
    return f'"{neutralise(safe)}"'
