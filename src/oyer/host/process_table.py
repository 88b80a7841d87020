"""What the system knows about processes: who descends from whom, who belongs to a run.

Owns the reading of the process table (`/proc` on Linux, `ps` elsewhere) and the sending of signals to a
process that is still the one that was looked at. Ends nothing by itself and never looks for a process by its
program's name.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

__all__ = [
    "ProcessInfo",
    "Usage",
    "all_processes",
    "children_of",
    "descendants_of",
    "names_run",
    "process_info",
    "send_signal",
    "usage_of",
]

_LINUX = sys.platform == "linux"
_MAX_ENVIRON_BYTES = 1024 * 1024


class ProcessInfo(NamedTuple):
    """One row: `started` tells two processes with one pid apart (clock ticks since boot on Linux)."""

    pid: int
    parent: int
    group: int
    session: int
    started: int
    state: str
    name: str

    @property
    def is_zombie(self) -> bool:
        """True when it has ended and only waits to be reaped."""
        return self.state in ("Z", "X")


def process_info(pid: int) -> ProcessInfo | None:
    """Look one process up; None when there is none."""
    if not _LINUX:
        return next((row for row in _ps_rows() if row.pid == pid), None)
    try:
        raw = Path(f"/proc/{pid}/stat").read_bytes()
    except (FileNotFoundError, ProcessLookupError):
        return None
    return _parse_stat(raw)


def _parse_stat(raw: bytes) -> ProcessInfo:
    # The name is in parentheses and may itself hold blanks and parentheses: it ends at the last one.
    opened, closed = raw.index(b"("), raw.rindex(b")")
    rest = raw[closed + 2 :].split()
    return ProcessInfo(
        pid=int(raw[:opened]),
        parent=int(rest[1]),
        group=int(rest[2]),
        session=int(rest[3]),
        started=int(rest[19]),
        state=rest[0].decode("ascii"),
        name=raw[opened + 1 : closed].decode("utf-8", "backslashreplace"),
    )


def _ps_rows() -> Iterator[ProcessInfo]:
    shown = subprocess.run(
        ["/bin/ps", "-axo", "pid=,ppid=,pgid=,sess=,state=,comm="], capture_output=True, check=True, timeout=30
    )
    for line in shown.stdout.decode("utf-8", "backslashreplace").split("\n"):
        fields = line.split(None, 5)
        if len(fields) == 6:
            pid, parent, group = (int(field) for field in fields[:3])
            yield ProcessInfo(pid, parent, group, 0, 0, fields[4][:1], Path(fields[5]).name)


class Usage(NamedTuple):
    """What a process and everything below it used so far: processor time, and the sum of their highest residences."""

    cpu_ns: int
    rss_bytes: int


def usage_of(pid: int) -> Usage | None:
    """Look at what a process used, with its descendants and the children it has waited for; None where it is gone or
    the system does not say.
    """
    if not _LINUX:
        return None
    first = _usage(pid)
    if first is None:
        return None
    rows = [first, *(found for row in descendants_of(pid) if (found := _usage(row.pid)) is not None)]
    return Usage(sum(row.cpu_ns for row in rows), sum(row.rss_bytes for row in rows))


def _usage(pid: int) -> Usage | None:
    try:
        raw = Path(f"/proc/{pid}/stat").read_bytes()
        told = Path(f"/proc/{pid}/status").read_bytes()
    except (FileNotFoundError, ProcessLookupError, PermissionError):
        return None
    ticks = sum(int(field) for field in raw[raw.rindex(b")") + 2 :].split()[11:15])
    peak = next((line for line in told.splitlines() if line.startswith(b"VmHWM:")), b"VmHWM: 0 kB")
    return Usage(ticks * 1_000_000_000 // os.sysconf("SC_CLK_TCK"), int(peak.split()[1]) * 1024)


def all_processes() -> list[ProcessInfo]:
    """List every process there is."""
    if not _LINUX:
        return list(_ps_rows())
    with os.scandir("/proc") as listed:
        rows = [process_info(int(entry.name)) for entry in listed if entry.name.isdigit()]
    return [row for row in rows if row is not None]


def children_of(pid: int) -> list[int]:
    """List the direct children of a process, ended but unreaped ones included."""
    if not _LINUX:
        return [row.pid for row in _ps_rows() if row.parent == pid]
    found: list[int] = []
    try:
        with os.scandir(f"/proc/{pid}/task") as listed:
            threads = [entry.name for entry in listed]
    except (FileNotFoundError, ProcessLookupError):
        return found
    for thread in threads:
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            found += map(int, Path(f"/proc/{pid}/task/{thread}/children").read_bytes().split())
    return found


def descendants_of(pid: int) -> list[ProcessInfo]:
    """List everything below a process, parents before children. What moves away meanwhile may be missed: look again."""
    if not _LINUX:
        return _descendants_from_rows(pid, list(_ps_rows()))
    found: list[ProcessInfo] = []
    seen = {pid}
    waiting = children_of(pid)
    while waiting:
        child = waiting.pop()
        if child in seen:
            continue
        seen.add(child)
        info = process_info(child)
        if info is not None:
            found.append(info)
            waiting += children_of(child)
    return found


def _descendants_from_rows(pid: int, rows: list[ProcessInfo]) -> list[ProcessInfo]:
    inside = {pid}
    found: list[ProcessInfo] = []
    grew = True
    while grew:
        fresh = [row for row in rows if row.parent in inside and row.pid not in inside]
        inside.update(row.pid for row in fresh)
        found += fresh
        grew = bool(fresh)
    return found


def names_run(pid: int, run_root: str) -> bool:
    """Say whether a process carries the run directory in its environment or works inside it.

    What may not be looked at (another user's process) does not count as belonging to the run.
    """
    if not _LINUX:
        return False
    needle = os.fsencode(run_root)
    try:
        here = os.fsencode(Path(f"/proc/{pid}/cwd").readlink())
        if here == needle or here.startswith(needle + b"/"):
            return True
        with Path(f"/proc/{pid}/environ").open("rb") as file:
            return needle in file.read(_MAX_ENVIRON_BYTES)
    except (FileNotFoundError, ProcessLookupError, PermissionError):
        return False


def send_signal(info: ProcessInfo, number: signal.Signals) -> bool:
    """Signal exactly this process; False when it is gone, its pid means another one, or it may not be signalled."""
    try:
        if not _LINUX:
            os.kill(info.pid, number)
            return True
        descriptor = os.pidfd_open(info.pid)
    except (ProcessLookupError, PermissionError):
        return False
    try:
        now = process_info(info.pid)
        if now is None or now.started != info.started:
            return False
        signal.pidfd_send_signal(descriptor, number)
    except (ProcessLookupError, PermissionError):
        return False
    finally:
        os.close(descriptor)
    return True
