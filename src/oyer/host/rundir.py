"""The directory of one attempt: a short opaque place that vanishes with the attempt.

Owns its making and its removal. Its name says nothing about case, arm or condition; it is never reused; it
never lies inside the series directory, so that no path a subject sees leads to the evidence.
"""

from __future__ import annotations

import contextlib
import os
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from oyer.errors import HarnessError
from oyer.host.entropy import neutral_name
from oyer.host.removal import remove_tree
from oyer.host.stale_runs import mark_run
from oyer.host.strays import forget_run, know_run

__all__ = ["MAX_SOCKET_PATH_BYTES", "RunDir", "make_run_dir", "open_run_dir"]

MAX_SOCKET_PATH_BYTES = 100
"""sun_path holds 108 bytes on Linux and 104 on macOS, with a terminating NUL."""

_TRIES = 16


class RunDir(NamedTuple):
    """Paths of one attempt; `made_mono_ns` says when it came to be."""

    root: Path
    made_mono_ns: int

    @property
    def world(self) -> Path:
        """The copy of the world, where the subject works."""
        return self.root / "w"

    @property
    def home(self) -> Path:
        """HOME of every process of the attempt."""
        return self.root / "h"

    @property
    def temp(self) -> Path:
        """TMPDIR of every process of the attempt."""
        return self.root / "t"

    @property
    def sockets(self) -> Path:
        """Where relays find their sockets."""
        return self.root / "s"

    def new_socket_path(self) -> Path:
        """Name a socket nobody can guess. Raises: HarnessError when the system could not bind such a long path."""
        path = self.sockets / neutral_name()
        if len(os.fsencode(path)) > MAX_SOCKET_PATH_BYTES:
            raise HarnessError("E-SOCKET-PATH", "the path is too long for a socket", where=str(path))
        return path

    def remove(self) -> tuple[str, ...]:
        """Delete everything; return what could not be deleted."""
        forget_run(str(self.root))
        return remove_tree(self.root)


def make_run_dir(parent: Path | None = None) -> RunDir:
    """Make a fresh 0700 directory with its four parts, under `parent` or the system's temporary directory."""
    place = _parent() if parent is None else parent
    for _ in range(_TRIES):
        root = place / neutral_name()
        with contextlib.suppress(FileExistsError):
            root.mkdir(mode=0o700)
            made = RunDir(root, time.monotonic_ns())
            try:
                for part in (made.world, made.home, made.temp, made.sockets):
                    part.mkdir(mode=0o700)
                mark_run(root)
            except OSError:
                made.remove()
                raise
            know_run(str(root))
            return made
    raise HarnessError("E-RUN-DIR", "could not make a fresh run directory", where=str(place))


@contextlib.contextmanager
def open_run_dir(parent: Path | None = None) -> Iterator[RunDir]:
    """Make a run directory for the length of a `with` block.

    Raises: HarnessError when it cannot be removed and the block itself did not fail.
    """
    run_dir = make_run_dir(parent)
    try:
        yield run_dir
    except BaseException:
        run_dir.remove()
        raise
    left = run_dir.remove()
    if left:
        raise HarnessError("E-RUN-DIR-LEFT", f"{len(left)} entries could not be removed", where=left[0])


def _parent() -> Path:
    system = Path(tempfile.gettempdir())
    longest = len(os.fsencode(system)) + 2 * (len(neutral_name()) + 1) + 2
    return system if longest <= MAX_SOCKET_PATH_BYTES else Path("/tmp")
