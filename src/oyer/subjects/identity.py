"""Who a shipped subject is: a digest over the sources of its program and its parameters.

Owns the revision. Must never change with what a run draws (tokens, ports, paths): two arms have one subject.
"""

from __future__ import annotations

import functools
import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from oyer.subjects.ports import SubjectIdentity

__all__ = ["identify"]

_ROOMS: Final = ("programs", "protocol", "subjects")


def identify(name: str, driver: str, parameters: Mapping[str, Any], *, model: str | None = None) -> SubjectIdentity:
    """Make the identity of a shipped subject. `parameters` are JSON values."""
    said = json.dumps([driver, model, parameters], sort_keys=True, separators=(",", ":")).encode("ascii")
    revision = hashlib.sha256(_sources_digest() + said).hexdigest()
    return SubjectIdentity(name, driver, f"sha256:{revision}", model, dict(parameters))


@functools.cache
def _sources_digest() -> bytes:
    root = Path(__file__).parents[1]
    files = [root / "errors.py", *(path for room in _ROOMS for path in sorted((root / room).glob("*.py")))]
    total = hashlib.sha256()
    for path in files:
        total.update(f"{path.relative_to(root).as_posix()}\n".encode())
        total.update(hashlib.sha256(path.read_bytes()).digest())
    return total.digest()
