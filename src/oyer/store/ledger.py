"""The ledger file: every transition of every attempt, on the device before anything acts on it.

Owns `ledger.jsonl` and the lock that keeps two runs out of one series. Must never repair in silence: a torn tail
stays in the file and is followed by a record that states its length and digest.
"""

from __future__ import annotations

import fcntl
import os
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from oyer.errors import HarnessError, UsageError
from oyer.evidence import AttemptState, LedgerChain
from oyer.store.durable import FaultPoint, append_all, flush, write_errors

__all__ = ["LedgerFile"]


class LedgerFile:
    """The open ledger of a series; one process at a time holds it. Thread-safe.

    Fault points: `store.ledger` (before the append), `store.ledger-fsync`.
    """

    def __init__(self, path: Path, *, wall: Callable[[], str], fault_point: FaultPoint, create: bool) -> None:
        self._path = path
        self._wall = wall
        self._fault_point = fault_point
        self._lock = threading.Lock()
        self._poison: HarnessError | None = None
        flags = os.O_RDWR | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW | (os.O_CREAT | os.O_EXCL if create else 0)
        with write_errors(path):
            self._fd = os.open(path, flags, 0o600)
        try:
            self._hold()
            self._chain, mending = LedgerChain.resume(_read_all(self._fd), t_wall=wall())
            if mending:
                self._write(mending)
        except BaseException:
            os.close(self._fd)
            raise

    @property
    def attempts(self) -> Mapping[str, tuple[AttemptState, ...]]:
        """Where every attempt stands, by trial (a live view)."""
        return self._chain.attempts

    @property
    def excluded(self) -> Mapping[str, str]:
        """The excluded trials and the reasons."""
        return self._chain.excluded

    @property
    def closed(self) -> bool:
        """Whether the series has ended."""
        return self._chain.closed

    @property
    def opened(self) -> tuple[str | None, str | None]:
        """The digests of plan and manifest the series was opened with."""
        return self._chain.plan, self._chain.manifest

    def append(self, kind: str, **fields: Any) -> None:
        """Write one transition and wait until it is on the device.

        Raises: EvidenceError for an illegal transition (nothing is written), HarnessError `E-STORE-WRITE`,
        `E-STORE-POISONED`.
        """
        with self._lock:
            if self._poison is not None:
                raise HarnessError("E-STORE-POISONED", f"the ledger is unusable since: {self._poison}")
            self._write(self._chain.append(kind, t_wall=self._wall(), **fields))

    def close(self) -> None:
        """Give the lock and the descriptor back."""
        with self._lock:
            if self._fd >= 0:
                os.close(self._fd)
                self._fd = -1
            self._poison = self._poison or HarnessError("E-STORE-POISONED", "the ledger was closed")

    def _write(self, data: bytes) -> None:
        try:
            with write_errors(self._path):
                self._fault_point("store.ledger")
                append_all(self._fd, data)
                self._fault_point("store.ledger-fsync")
                flush(self._fd)
        except HarnessError as error:
            self._poison = error
            raise

    def _hold(self) -> None:
        try:
            fcntl.flock(self._fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise UsageError(
                "E-STORE-LOCKED", "another process is running this series", where=str(self._path.parent)
            ) from error


def _read_all(fd: int) -> bytes:
    pieces: list[bytes] = []
    while piece := os.read(fd, 1 << 20):
        pieces.append(piece)
    return b"".join(pieces)
