"""Values in the steps of scripts: what they hold, and the same values with something else in its place. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

__all__ = ["alter", "holds", "replace"]


def alter(value: Any) -> tuple[Any, bool]:
    """Alter the first scalar found, depth first in authored order; say whether there was one."""
    if isinstance(value, bool):
        return not value, True
    if isinstance(value, int | float):
        return value + 1, True
    if isinstance(value, str):
        return value + "-x", True
    if isinstance(value, Mapping):
        changed = dict(value)
        for key, inner in value.items():
            changed[key], done = alter(inner)
            if done:
                return changed, True
    elif isinstance(value, list):
        items = list(value)
        for index, inner in enumerate(value):
            items[index], done = alter(inner)
            if done:
                return items, True
    return value, False


def holds(value: Any, text: str) -> bool:
    """Say whether a text stands anywhere in a value."""
    if isinstance(value, str):
        return text in value
    if isinstance(value, Mapping):
        return any(holds(inner, text) for inner in value.values())
    return isinstance(value, list | tuple) and any(holds(inner, text) for inner in value)


def replace(value: Any, old: str, new: str) -> Any:
    """Return a value with one text put for another, wherever it stands."""
    if isinstance(value, str):
        return value.replace(old, new)
    if isinstance(value, Mapping):
        return {key: replace(inner, old, new) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [replace(inner, old, new) for inner in value]
    return value
