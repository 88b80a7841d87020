"""Ending a child together with everything it started.

Owns the order of ending: end of stream on standard input, a time to settle, SIGTERM, SIGKILL; then whatever
is left of its tree, also what moved into a session of its own or lost its parent. What outlived its leader is
named by pid and program. Ends only processes that descend from this one and belong to the tree or run given.
"""

from __future__ import annotations

import asyncio
import ctypes
import os
import signal
import sys
import time
from collections.abc import Callable, Iterable
from typing import NamedTuple

from oyer.host.process_table import (
    ProcessInfo,
    all_processes,
    children_of,
    descendants_of,
    names_run,
    process_info,
    send_signal,
)
from oyer.host.processes import Child, Exit, is_ours
from oyer.host.strays import all_strays, forget_run, strays_of

__all__ = [
    "Patience",
    "Survivor",
    "TreeEnd",
    "become_subreaper",
    "end_with",
    "kill_started",
    "reap_orphans",
    "sweep_run",
    "terminate_tree",
]

_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36
_ORPHAN_WAIT_S = 1.0

_subreaper = False
_ended_orphans: dict[tuple[int, int], float] = {}
"""Ended children nobody here started, and when each was first seen unreaped."""


class Survivor(NamedTuple):
    """A process that outlived the leader of its tree."""

    pid: int
    name: str


class Patience(NamedTuple):
    """How long each step of ending may take, in seconds."""

    settle_s: float = 2.0
    term_s: float = 1.0
    kill_s: float = 5.0
    grace_s: float = 0.25


class TreeEnd(NamedTuple):
    """How a tree ended.

    `forced` is the strongest means its leader needed: `none`, `eof`, `term` or `kill`. `survivors` outlived the
    leader and were killed; `unkillable` were still there after `kill_s`.
    """

    exit: Exit | None
    forced: str
    survivors: tuple[Survivor, ...]
    unkillable: tuple[Survivor, ...]


def become_subreaper() -> bool:
    """Have orphans of our children become our children (Linux), so that none can hide; False where impossible.

    The whole process must then start children through `spawn` only: ended orphans are reaped by pid.
    """
    global _subreaper
    if sys.platform == "linux" and not _subreaper:
        libc = ctypes.CDLL(None, use_errno=True)
        _subreaper = libc.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0
    return _subreaper


def _forget_subreaper() -> None:
    # A fork does not inherit it, so a forked process that runs trials has to ask for it anew.
    global _subreaper
    _subreaper = False
    _ended_orphans.clear()


os.register_at_fork(after_in_child=_forget_subreaper)


def end_with(parent: int) -> None:
    """Have this process, forked by `parent`, asked to stop where that one ends (Linux): nothing runs on unattended."""
    if sys.platform == "linux":
        ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)
    if os.getppid() != parent:
        os._exit(1)  # it ended before it could be asked for


async def terminate_tree(child: Child, *, marker: str | None = None, patience: Patience | None = None) -> TreeEnd:
    """End a child and all of its tree, in order of force; also when it has already ended.

    `marker` is a directory name that only this tree carries in its environment or works in. The caller has
    closed standard input if it took it.
    """
    steps = Patience() if patience is None else patience
    known: dict[tuple[int, int], ProcessInfo] = {}
    already = child.exit is not None
    _remember(known, descendants_of(child.pid) if not already else ())
    child.close_stdin()
    forced = "none" if already else "eof"
    if await child.wait_at_most(steps.settle_s) is None:
        _remember(known, descendants_of(child.pid))
        forced = "term"
        _signal_group(child, signal.SIGTERM)
        if await child.wait_at_most(steps.term_s) is None:
            _remember(known, descendants_of(child.pid))
            forced = "kill"
            _signal_group(child, signal.SIGKILL)
            await child.wait_at_most(steps.kill_s)
    killed, left = await _kill_all(lambda: _tree_of(child, known, marker), steps.kill_s)
    return TreeEnd(child.exit, forced, killed, left)


async def sweep_run(run_root: str, *, kill_s: float = 5.0) -> tuple[tuple[Survivor, ...], tuple[Survivor, ...]]:
    """Kill every process that carries the run's directory, and every stray of the run; return (killed, still there).

    Call it once, when everything of the attempt should be down: what it finds was left behind.
    """
    try:
        return await _kill_all(lambda: _left_behind(run_root), kill_s)
    finally:
        forget_run(run_root)


def _left_behind(run_root: str) -> list[ProcessInfo]:
    named = [row for row in _candidates() if names_run(row.pid, run_root)]
    pids = {row.pid for row in named}
    return named + [row for row in (strays_of(run_root) if _subreaper else ()) if row.pid not in pids]


def kill_started(run_roots: Iterable[str] = ()) -> int:
    """Kill at once whatever `spawn` started and all below it, and every bearer or stray of a run; return how many.

    Nothing is waited for: whoever waits for one of them sees its end.
    """
    rows = _candidates()
    mine = {row.pid for row in rows if is_ours(row.pid) or any(names_run(row.pid, root) for root in run_roots)}
    mine |= {row.pid for row in (all_strays() if _subreaper else ())}
    grew = True
    while grew:
        below = {row.pid for row in rows if row.parent in mine} - mine
        mine |= below
        grew = bool(below)
    return sum(send_signal(row, signal.SIGKILL) for row in rows if row.pid in mine and not row.is_zombie)


def reap_orphans() -> int:
    """Collect ended orphans that were handed to this process; return how many. Only acts as subreaper.

    A child that nobody here started is left alone for a second first: somebody else may be waiting for it.
    """
    if not _subreaper:
        return 0
    now = time.monotonic()
    reaped = 0
    seen: dict[tuple[int, int], float] = {}
    for pid in children_of(os.getpid()):
        row = None if is_ours(pid) else process_info(pid)
        if row is None or not row.is_zombie:
            continue
        first = _ended_orphans.get((pid, row.started), now)
        if now - first >= _ORPHAN_WAIT_S:
            reaped += _reap(pid)
        else:
            seen[pid, row.started] = first
    _ended_orphans.clear()
    _ended_orphans.update(seen)
    return reaped


def _remember(known: dict[tuple[int, int], ProcessInfo], rows: Iterable[ProcessInfo]) -> None:
    known.update(((row.pid, row.started), row) for row in rows)


def _signal_group(child: Child, number: signal.Signals) -> None:
    """Signal the child's whole group. The group's number cannot mean others while the child is unreaped."""
    if child.exit is None:
        try:
            os.killpg(child.pid, number)
        except ProcessLookupError:
            return
        except PermissionError:
            if child.info is not None:
                send_signal(child.info, number)


def _candidates() -> list[ProcessInfo]:
    """List where members of a tree can be: below us when orphans come to us, else anywhere but ourselves."""
    if _subreaper:
        return descendants_of(os.getpid())
    return [row for row in all_processes() if row.pid != os.getpid()]


def _tree_of(child: Child, known: dict[tuple[int, int], ProcessInfo], marker: str | None) -> list[ProcessInfo]:
    """List what is left of a tree: known members, members of its group or session, bearers of its marker."""
    rows = _candidates()
    mine = [
        row
        for row in rows
        if (row.pid, row.started) in known
        or child.pid in (row.group, row.session)
        or (marker is not None and not is_ours(row.pid) and names_run(row.pid, marker))
    ]
    _remember(known, mine)
    below = {row.pid for row in mine}
    return mine + [row for row in rows if row.parent in below and row.pid not in below]


async def _kill_all(
    find: Callable[[], list[ProcessInfo]], kill_s: float
) -> tuple[tuple[Survivor, ...], tuple[Survivor, ...]]:
    """Kill until `find` finds nothing alive: a process may fork while it is being looked at."""
    killed: dict[tuple[int, int], Survivor] = {}
    deadline = time.monotonic() + kill_s
    pause_s = 0.001
    quiet = 0
    while True:
        alive = [row for row in find() if not row.is_zombie]
        for row in alive:
            killed.setdefault((row.pid, row.started), Survivor(row.pid, row.name))
            send_signal(row, signal.SIGKILL)
        quiet = 0 if alive else quiet + 1
        # The table is not read in one moment: what was forked meanwhile may be missing from a first quiet look.
        if quiet > (1 if killed else 0) or time.monotonic() > deadline:
            break
        await asyncio.sleep(pause_s)
        pause_s = min(2 * pause_s, 0.05)
    _reap_killed(pid for pid, _ in killed)
    return tuple(killed.values()), tuple(Survivor(row.pid, row.name) for row in alive)


def _reap_killed(pids: Iterable[int]) -> None:
    for pid in pids:
        row = None if is_ours(pid) else process_info(pid)
        if row is not None and row.is_zombie and row.parent == os.getpid():
            _reap(pid)


def _reap(pid: int) -> int:
    try:
        return 1 if os.waitpid(pid, os.WNOHANG)[0] == pid else 0
    except ChildProcessError:
        return 0
