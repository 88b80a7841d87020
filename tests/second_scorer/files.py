"""The vector files as plain values: what is written as like another is patched. Imports nothing of Oyer."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

CONFORM = Path(__file__).resolve().parent.parent / "conform"


def vectors() -> list[dict[str, Any]]:
    """Every vector of every file, each with a whole `given`."""
    found = []
    for file in sorted(CONFORM.glob("*.yaml")):
        known: dict[str, dict[str, Any]] = {}
        for vector in yaml.safe_load(file.read_text(encoding="utf-8")):
            given = _spelled(vector["given"])
            like = given.pop("like", None)
            vector["given"] = known[vector["id"]] = patched(known[like], given) if like else given
            found.append(vector)
    return found


def _spelled(value: Any) -> Any:
    """Keys as they are written: the loader takes `on` for a truth value."""
    if isinstance(value, dict):
        return {"on" if key is True else key: _spelled(item) for key, item in value.items()}
    return [_spelled(item) for item in value] if isinstance(value, list) else value


def patched(value: Any, patch: Any) -> Any:
    """Apply a JSON merge patch (RFC 7396)."""
    if not isinstance(patch, dict):
        return patch
    result = dict(value) if isinstance(value, dict) else {}
    for key, change in patch.items():
        if change is None:
            result.pop(key, None)
        else:
            result[key] = patched(result.get(key), change)
    return result
