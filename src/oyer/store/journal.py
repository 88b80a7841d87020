"""Journals: what an observer records, one event at a time.

Owns the `Journal` port that every observer writes to, the file behind it, and an in-memory one. Must never lie about
what is kept: after a failed or short write the writer is poisoned, refuses everything, and its torn tail stays.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

from oyer.errors import HarnessError
from oyer.evidence import Chain, Redactor, WriterHead, digest_of
from oyer.store.blobs import BlobStore
from oyer.store.drafting import Payloads, draft_body
from oyer.store.durable import FaultPoint, append_all, flush, flush_dir, no_fault, open_new, write_errors

__all__ = ["Clock", "Journal", "JournalWriter", "MemoryJournal"]

# Returns (monotonic nanoseconds, UTC wall time with Z).
Clock = Callable[[], tuple[int, str]]

_NO_PAYLOADS: Payloads = {}


class Journal(Protocol):
    """The port an observer writes to. One journal belongs to one writer."""

    @property
    def writer(self) -> str:
        """The writer's name, as in every reference."""
        ...

    def record(
        self,
        kind: str,
        body: Mapping[str, Any],
        *,
        payloads: Payloads = _NO_PAYLOADS,
        session: str | None = None,
        because: Sequence[str] = (),
        sync: bool = False,
    ) -> str:
        """Record one event, stamped now, and return its reference; `sync` waits until it is on the device.

        Body keys named in `payloads` are filled with payload objects. Raises: EvidenceError for a body that breaks
        the vocabulary (nothing is written), HarnessError `E-STORE-WRITE`, `E-STORE-POISONED`.
        """
        ...

    def sync(self) -> None:
        """Wait until everything recorded so far, blobs first, is on the device; safe to call from another thread."""
        ...

    def kept(self, raw: bytes) -> tuple[str, int]:
        """Return digest and size these bytes would be kept under (they differ from `raw`'s if it holds a secret)."""
        ...

    def seal(self, *, sync: bool = True) -> WriterHead:
        """End the journal and return the head that `trial.closed` states.

        Without `sync` the last lines need not be on the device: for a journal that is packed before anything counts it.
        """
        ...


class _Recorder:
    """What both journals share: draft, append to the chain, hand the line to `_keep`."""

    def __init__(self, chain: Chain, clock: Clock, redactor: Redactor) -> None:
        self._chain = chain
        self._clock = clock
        self._redactor = redactor
        self._lock = threading.Lock()

    @property
    def writer(self) -> str:
        return self._chain.writer

    @property
    def head(self) -> WriterHead:
        return self._chain.head

    @property
    def sealed(self) -> bool:
        return self._chain.sealed

    def kept(self, raw: bytes) -> tuple[str, int]:
        redacted, _ = self._redactor.apply(raw)
        return digest_of(redacted), len(redacted)

    def record(
        self,
        kind: str,
        body: Mapping[str, Any],
        *,
        payloads: Payloads = _NO_PAYLOADS,
        session: str | None = None,
        because: Sequence[str] = (),
        sync: bool = False,
    ) -> str:
        draft = draft_body(kind, body, payloads, self._redactor)
        with self._lock:
            self._require_usable()
            t_mono_ns, t_wall = self._clock()
            event, line = self._chain.append(
                kind,
                draft.body,
                t_mono_ns=t_mono_ns,
                t_wall=t_wall,
                session=session,
                because=because,
                blobs=tuple(draft.blobs),
            )
            self._keep(line, draft.blobs)
        if sync:
            self.sync()
        return event.ref

    def seal(self, *, sync: bool = True) -> WriterHead:
        with self._lock:
            self._require_usable()
            t_mono_ns, t_wall = self._clock()
            self._keep(self._chain.seal(t_mono_ns=t_mono_ns, t_wall=t_wall), {})
        if sync:
            self.sync()
        return self._chain.head

    def sync(self) -> None:
        raise NotImplementedError

    def _require_usable(self) -> None:
        """Refuse to go on after a failure."""

    def _keep(self, line: bytes, blobs: Mapping[str, bytes]) -> None:
        raise NotImplementedError


class JournalWriter(_Recorder):
    """A journal in a file of its own: one write per event, flushed only where asked. Thread-safe.

    Fault points: `store.blob` (blobs kept, line not), `store.append`, `store.fsync`.
    """

    def __init__(
        self,
        path: Path,
        chain: Chain,
        *,
        blobs: BlobStore,
        clock: Clock,
        redactor: Redactor,
        fault_point: FaultPoint = no_fault,
    ) -> None:
        super().__init__(chain, clock, redactor)
        self._path = path
        self._blobs = blobs
        self._fault_point = fault_point
        self._poison: HarnessError | None = None
        self._cited: set[str] = set()
        self._entry_synced = False
        self._sync_lock = threading.Lock()
        with write_errors(path):
            self._fd = open_new(path)

    @property
    def poisoned(self) -> bool:
        """Whether a write failed, so that the journal can never be sealed."""
        return self._poison is not None

    def sync(self) -> None:
        """Flush the blobs cited since the last time, then the journal; a failure poisons the writer."""
        with self._sync_lock:
            with self._lock:
                self._require_usable()
                cited, self._cited = self._cited, set()
            try:
                if cited:
                    self._blobs.sync(cited)
                with write_errors(self._path):
                    self._fault_point("store.fsync")
                    flush(self._fd)
                    if not self._entry_synced:
                        flush_dir(self._path.parent)
                        self._entry_synced = True
            except HarnessError as error:
                self._poison = error  # what an fsync failed to keep is gone, whatever a later one says
                raise

    def close(self) -> None:
        """Give the descriptor back. Without a seal before it the journal stays unsealed."""
        with self._sync_lock, self._lock:
            if self._fd >= 0:
                os.close(self._fd)
                self._fd = -1
            if self._poison is None and not self._chain.sealed:
                self._poison = HarnessError("E-STORE-POISONED", "the journal was closed unsealed")

    def _require_usable(self) -> None:
        if self._poison is not None:
            raise HarnessError(
                "E-STORE-POISONED", f"the journal is unusable since: {self._poison}", where=self._chain.writer
            )

    def _keep(self, line: bytes, blobs: Mapping[str, bytes]) -> None:
        try:
            for digest, raw in blobs.items():
                self._blobs.put(raw, digest)
                self._cited.add(digest)
            with write_errors(self._path):
                if blobs:
                    self._fault_point("store.blob")
                self._fault_point("store.append")
                append_all(self._fd, line)
        except HarnessError as error:
            self._poison = error  # the chain has moved on and the file has not
            raise


class MemoryJournal(_Recorder):
    """A journal in memory: `data` holds the lines, `contents` the blobs by digest."""

    def __init__(self, chain: Chain, clock: Clock, redactor: Redactor | None = None) -> None:
        super().__init__(chain, clock, redactor or Redactor({}))
        self._lines: list[bytes] = []
        self.contents: dict[str, bytes] = {}

    @property
    def data(self) -> bytes:
        """All lines so far."""
        return b"".join(self._lines)

    def sync(self) -> None:
        """Memory needs no flushing."""

    def _keep(self, line: bytes, blobs: Mapping[str, bytes]) -> None:
        self.contents.update(blobs)
        self._lines.append(line)


_PORTS: tuple[type[Journal], ...] = (JournalWriter, MemoryJournal)  # both keep to the port, says the type checker
