"""The vector files as plain values: what is written as like another is patched. Imports nothing of Oyer."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import yaml

CONFORM = Path(__file__).resolve().parent.parent / "conform"
BOOL = "tag:yaml.org,2002:bool"


class Loader(yaml.CSafeLoader):
    """YAML 1.2: only `true` and `false` are truth values; `on` and `no` are words."""


Loader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in known if tag != BOOL]
    for first, known in yaml.CSafeLoader.yaml_implicit_resolvers.items()
}
Loader.add_implicit_resolver(BOOL, re.compile(r"^(?:true|false)$"), list("tf"))


def vectors(*files: Path) -> list[dict[str, Any]]:
    """Every vector of the given files (of all shared ones by default), each with a whole `given`."""
    found = []
    for file in files or sorted(CONFORM.glob("*.yaml")):
        known: dict[str, dict[str, Any]] = {}
        for vector in yaml.load(file.read_text(encoding="utf-8"), Loader):
            given = vector["given"]
            like = given.pop("like", None)
            vector["given"] = known[vector["id"]] = patched(known[like], given) if like else given
            found.append(vector)
    return found


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
