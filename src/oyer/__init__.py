"""Oyer puts AI agents on trial and refuses to say more than the retained evidence shows.

This front stays light: importing it pulls no network, MCP or numeric library. What a plug-in needs (`evaluator`,
`Evidence`, `supported`, ...) is loaded when it is first asked for.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from oyer.evaluators import Evidence, Opinion, conflict, evaluator, refuted, supported, unknown

__version__ = "0.1.0"

__all__ = [
    "Evidence",
    "Opinion",
    "__version__",
    "conflict",
    "evaluator",
    "refuted",
    "supported",
    "unknown",
]


def __getattr__(name: str) -> Any:
    if name not in __all__ or name.startswith("_"):
        raise AttributeError(f"module 'oyer' has no attribute {name!r}")
    return getattr(import_module("oyer.evaluators"), name)
