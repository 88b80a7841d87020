"""The library: packaged cases and suites, the fixture servers they run on, and the checks that look at their worlds.

Owns case and suite files with their worlds, the servers under `oyer.library.servers`, the validators under
`oyer.library.checks`, and the catalogue that finds them.
Must never hold scoring, run anything, or be imported by another room than the command line.

This front loads nothing until a name is asked for: every fixture server passes through it before it can answer.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from oyer.library.catalogue import (
        Packaged,
        cases_with,
        demo_case,
        find_case,
        find_record,
        find_suite,
        packaged_cases,
        packaged_servers,
        packaged_suites,
        project_files,
        start_files,
    )

__all__ = [
    "Packaged",
    "cases_with",
    "demo_case",
    "find_case",
    "find_record",
    "find_suite",
    "packaged_cases",
    "packaged_servers",
    "packaged_suites",
    "project_files",
    "start_files",
]


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from oyer.library import catalogue

    return getattr(catalogue, name)
