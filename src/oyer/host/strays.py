"""Processes that carry no sign of their run any more: no parent, session, environment or directory leads back to it.

Owns which runs are open and what had already come to this process when each of them began. Only where orphans come to
us (Linux, after `become_subreaper`) can a stray be known at all. Must never name a process that another open run may
have started: what is in doubt waits for the last run that it may belong to.
"""

from __future__ import annotations

import os

from oyer.host.process_table import ProcessInfo, children_of, process_info
from oyer.host.processes import is_ours

__all__ = ["all_strays", "forget_run", "know_run", "strays_of"]

_Key = tuple[int, int]

_open: dict[str, frozenset[_Key]] = {}
"""The strays that were there when a run began, by the directory of the run."""


def know_run(run_root: str) -> None:
    """A run begins: what is a stray already is none of its own."""
    _open[run_root] = frozenset(_key(row) for row in _adopted())


def forget_run(run_root: str) -> None:
    """A run is over, and everything that could be told to be its own has ended."""
    _open.pop(run_root, None)


def strays_of(run_root: str) -> list[ProcessInfo]:
    """List the strays that only this run can have started."""
    known = _open.get(run_root)
    if known is None:
        return []
    others = [before for root, before in _open.items() if root != run_root]
    return [row for row in _adopted() if _key(row) not in known and all(_key(row) in before for before in others)]


def all_strays() -> list[ProcessInfo]:
    """List the strays that came while any run was open, whichever it was."""
    return [row for row in _adopted() if any(_key(row) not in before for before in _open.values())]


def _adopted() -> list[ProcessInfo]:
    """List children that nobody here started. Every tree of a run has a session of its own: ours is not touched."""
    rows = [process_info(pid) for pid in children_of(os.getpid()) if not is_ours(pid)]
    return [row for row in rows if row is not None and row.session != os.getsid(0)]


def _key(row: ProcessInfo) -> _Key:
    return row.pid, row.started
