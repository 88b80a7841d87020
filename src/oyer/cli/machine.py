"""Looking at this machine: what there is, what works, what is missing, each with its cause.

Owns the probes behind `oyer doctor`. Each probe tries the thing itself where it can (a port is bound, a file is
flushed, a user namespace is made), in a temporary directory, and cleans up. Must never install or change anything,
and never call a level of isolation available that this version does not provide.
"""

from __future__ import annotations

import ctypes
import os
import platform
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from importlib.metadata import PackageNotFoundError, requires, version
from pathlib import Path
from typing import Literal, NamedTuple

__all__ = ["Finding", "look_at_machine"]

State = Literal["ok", "limited", "missing"]
_PR_SET_PDEATHSIG = 1
_PR_GET_CHILD_SUBREAPER = 37
_FLUSHES = 15
_PATIENCE_S = 10
_AGENTS = ("claude", "codex", "gemini", "opencode", "aider", "goose", "qwen", "crush", "amp", "cursor-agent", "copilot")
_TOOLS = {
    "node": "for MCP servers from npm",
    "npm": "to install MCP servers from npm",
    "git": "for MCP servers that work on repositories",
}


class Finding(NamedTuple):
    """One thing looked at. `needed` says that Oyer cannot run without it."""

    group: str
    name: str
    state: State
    told: str
    hint: str = ""
    needed: bool = False


def look_at_machine() -> tuple[Finding, ...]:
    """Try everything once."""
    return (*_python(), *_packages(), *_tools(), *_processes(), *_network(), *_disk(), *_isolation(), *_agents())


def _python() -> Iterator[Finding]:
    told = f"{platform.python_version()} at {sys.executable}"
    good = sys.version_info >= (3, 11)
    yield Finding("Python", "interpreter", "ok" if good else "missing", told, "" if good else "3.11 or newer", True)
    yield Finding("Python", "system", "ok", f"{platform.system()} {platform.release()}, {platform.machine()}, "
                  f"{os.cpu_count() or '?'} cores")  # fmt: skip


def _packages() -> Iterator[Finding]:
    try:
        names = [_bare(text) for text in requires("oyer") or () if "extra ==" not in text]
    except PackageNotFoundError:
        yield Finding("Python", "packages", "limited", "oyer runs from its sources and is not installed")
        return
    found: dict[str, str] = {}
    gone: list[str] = []
    for name in names:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            gone.append(name)
    yield _signing()
    if gone:
        yield Finding("Python", "packages", "missing", ", ".join(gone), "install Oyer anew", needed=True)
    yield Finding("Python", "packages", "ok", ", ".join(f"{name} {number}" for name, number in sorted(found.items())))


def _signing() -> Finding:
    try:
        return Finding("Python", "signing", "ok", f"keys can be made and used (cryptography {version('cryptography')})")
    except PackageNotFoundError:
        told = "nothing can be signed here; signatures are still checked"
        return Finding("Python", "signing", "limited", told, "pip install 'securesystemslib[crypto]' (the extra sign)")


def _bare(requirement: str) -> str:
    return "".join(letter if letter.isalnum() or letter in "-_." else " " for letter in requirement).split()[0]


def _tools() -> Iterator[Finding]:
    for name, purpose in _TOOLS.items():
        path = shutil.which(name)
        if path is None:
            yield Finding("Tools", name, "limited", f"not found ({purpose})")
        else:
            yield Finding("Tools", name, "ok", f"{_first_line([path, '--version'])} at {path}")


def _first_line(argv: list[str]) -> str:
    try:
        done = subprocess.run(argv, capture_output=True, timeout=_PATIENCE_S, stdin=subprocess.DEVNULL)
    except (OSError, subprocess.TimeoutExpired):
        return "found, but it does not start"
    return done.stdout.decode("utf-8", "replace").split("\n")[0].strip() or "found"


def _processes() -> Iterator[Finding]:
    if sys.platform != "linux":
        yield Finding("Processes", "orphans", "limited", "no subreaper on this system: a process that leaves its group "
                      "is found by its marks only")  # fmt: skip
        return
    libc = ctypes.CDLL(None, use_errno=True)
    held = ctypes.c_int(-1)
    works = libc.prctl(_PR_GET_CHILD_SUBREAPER, ctypes.byref(held), 0, 0, 0) == 0
    yield Finding("Processes", "orphans", "ok" if works else "limited",
                  "the kernel can hand them to Oyer (subreaper)" if works else "prctl refuses a subreaper")  # fmt: skip
    dies = _in_child(lambda: libc.prctl(_PR_SET_PDEATHSIG, 9, 0, 0, 0) == 0)
    yield Finding("Processes", "parent death", "ok" if dies else "limited",
                  "children can be ended with Oyer (pdeathsig)" if dies else "prctl refuses pdeathsig")  # fmt: skip


def _in_child(act: Callable[[], bool]) -> bool:
    """Try something that changes a process for good in one that ends right after."""
    child = os.fork()
    if child == 0:
        try:
            os._exit(0 if act() else 1)
        finally:
            os._exit(1)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def _network() -> Iterator[Finding]:
    try:
        with socket.socket() as listener:
            listener.bind(("127.0.0.1", 0))
            listener.listen(1)
            port = listener.getsockname()[1]
            with socket.create_connection(("127.0.0.1", port), timeout=_PATIENCE_S):
                yield Finding("Loopback", "ports", "ok", "an ephemeral port could be bound and reached", needed=True)
    except OSError as error:
        yield Finding("Loopback", "ports", "missing", f"{error.strerror}", "sinks need loopback", needed=True)
    with tempfile.TemporaryDirectory(prefix="oyer-") as directory:
        try:
            with socket.socket(socket.AF_UNIX) as listener:
                listener.bind(str(Path(directory) / "s"))
            yield Finding("Loopback", "sockets", "ok", "local sockets work", needed=True)
        except OSError as error:
            yield Finding("Loopback", "sockets", "missing", f"{error}", "taps need local sockets", needed=True)


def _disk() -> Iterator[Finding]:
    here = Path.cwd()
    try:
        with tempfile.TemporaryFile(dir=here) as file:
            median_ms = statistics.median(_flush_ms(file.fileno()) for _ in range(_FLUSHES))
    except OSError as error:
        yield Finding("Disk", "here", "limited", f"{here}: {error.strerror}", "give --out a place you may write to")
        return
    word = "fast" if median_ms < 1 else "usual" if median_ms < 15 else "slow"
    hint = "a changed message waits for one flush" if word == "slow" else ""
    yield Finding(
        "Disk", "flush", "ok" if word != "slow" else "limited", f"{word} (median {median_ms:.2f} ms here)", hint
    )
    yield _left_behind()
    free = shutil.disk_usage(here).free
    enough = free > 1 << 30
    yield Finding("Disk", "free", "ok" if enough else "limited", f"{free / (1 << 30):.1f} GiB here")


def _left_behind() -> Finding:
    """Name what a killed run left: the next run removes it."""
    from oyer.host import stale_runs
    from oyer.report import counted

    left = stale_runs()
    if not left:
        return Finding("Disk", "left behind", "ok", "no directory of a killed run")
    told = f"{counted(len(left), 'directory', 'directories')} of killed runs, such as {left[0]}"
    return Finding("Disk", "left behind", "limited", told, "the next run removes them")


def _flush_ms(fd: int) -> float:
    os.write(fd, b"x" * 512)
    start = time.perf_counter()
    os.fsync(fd)
    return (time.perf_counter() - start) * 1000


def _isolation() -> Iterator[Finding]:
    yield Finding("Isolation", "none", "ok", "available: nothing is kept from the subject")
    yield Finding(
        "Isolation", "process", "ok", "available: own process group, scrubbed environment, bounds, tree ended"
    )
    bwrap = shutil.which("bwrap")
    works, why = _user_namespaces(bwrap)
    parts = [
        "bubblewrap " + (f"{_first_line([bwrap, '--version'])} found" if bwrap else "not found"),
        "user namespaces " + ("work" if works else f"do not work: {why}"),
    ]
    yield Finding("Isolation", "sandbox", "missing", "not available: this version of Oyer does not provide it yet; "
                  "a case that asks for it is blocked", "here: " + "; ".join(parts))  # fmt: skip


def _user_namespaces(bwrap: str | None) -> tuple[bool, str]:
    """Make one, with whatever is here to make it with."""
    unshare = shutil.which("unshare")
    if bwrap is not None:
        argv = [bwrap, "--unshare-user", "--ro-bind", "/", "/", "true"]
    elif unshare is not None:
        argv = [unshare, "--user", "true"]
    else:
        return False, "neither bwrap nor unshare is here to try it"
    try:
        done = subprocess.run(argv, capture_output=True, timeout=_PATIENCE_S, stdin=subprocess.DEVNULL)
    except (OSError, subprocess.TimeoutExpired) as error:
        return False, type(error).__name__
    return done.returncode == 0, done.stderr.decode("utf-8", "replace").strip().split("\n")[0]


def _agents() -> Iterator[Finding]:
    found = [name for name in _AGENTS if shutil.which(name)]
    told = ", ".join(found) if found else "none of " + ", ".join(_AGENTS)
    yield Finding("Agents", "on PATH", "ok" if found else "limited", told,
                  "only looked up, never started; command-line agents are not driven yet")  # fmt: skip
