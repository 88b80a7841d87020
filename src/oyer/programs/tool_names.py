"""Names of functions for a model: every tool of every server under one name that an endpoint accepts.

Owns the mapping `server.tool` -> `<server>__<tool>`: letters, digits, `_` and `-`, at most 64; every other character
becomes `_`. A name that was changed or cut, or that two tools would share, ends in `_` and eight hexadecimal digits
of the sha256 of `server.tool`, so that it does not depend on the order of the listing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

__all__ = ["MAX_NAME", "function_names"]

MAX_NAME: Final = 64
_OTHER: Final = re.compile(r"[^A-Za-z0-9_-]")


def function_names(tools: Iterable[tuple[str, str]]) -> dict[str, tuple[str, str]]:
    """Give every (server, tool) a function name; the same tool listed twice has one name."""
    wanted = dict.fromkeys(tools)
    plain = [(_OTHER.sub("_", f"{server}__{tool}"), server, tool) for server, tool in wanted]
    count: dict[str, int] = {}
    for name, _, _ in plain:
        count[name] = count.get(name, 0) + 1
    named: dict[str, tuple[str, str]] = {}
    for name, server, tool in plain:
        changed = count[name] > 1 or name != f"{server}__{tool}" or len(name) > MAX_NAME
        named[f"{name[: MAX_NAME - 9]}_{_digest8(server, tool)}" if changed else name] = (server, tool)
    return named


def _digest8(server: str, tool: str) -> str:
    import hashlib  # rare, and not worth its load time for every subject

    return hashlib.sha256(f"{server}.{tool}".encode("utf-8", "surrogatepass")).hexdigest()[:8]
