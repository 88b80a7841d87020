"""The library: packaged cases and the fixture servers they run on, authored in the ways that users have.

Owns case files with their worlds, the servers under `oyer.library.servers`, and the catalogue that finds them.
Must never hold scoring, run anything, or be imported by another room than the command line.

This front loads nothing until a name is asked for: every fixture server passes through it before it can answer.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from oyer.library.catalogue import PackagedCase, demo_case, find_case, packaged_cases, packaged_servers

__all__ = ["PackagedCase", "demo_case", "find_case", "packaged_cases", "packaged_servers"]


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from oyer.library import catalogue

    return getattr(catalogue, name)
