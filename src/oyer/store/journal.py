"""Journals: what an observer records, one event at a time.

Owns the `Journal` port that every observer writes to, the file behind it, and an in-memory one. Must never lie about
what is kept: after a failed or short write the writer is poisoned, refuses everything, and its torn tail stays.
"""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

from oyer.errors import HarnessError
from oyer.evidence import Chain, Redactor, WriterHead, digest_of
from oyer.store.blobs import BlobStore
from oyer.store.drafting import Payloads, draft_body, draft_one
from oyer.store.durable import FaultPoint, append_all, flush, flush_dir, no_fault, open_new, write_errors

__all__ = ["Clock", "Journal", "JournalWriter", "MemoryJournal"]

# Returns (monotonic nanoseconds, UTC wall time with Z).
Clock = Callable[[], tuple[int, str]]

_NO_PAYLOADS: Payloads = {}
_NO_BLOBS: Mapping[str, bytes] = {}
_MAX_HELD_LINES = 256


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

    def now(self) -> tuple[int, str]:
        """Read the clock this journal is stamped with, for an event that is noted later."""
        ...

    def later(self, write: Callable[..., None], *arguments: Any) -> None:
        """Owe the journal what `write` will `note`, of things stamped already.

        It is called by `settle`, and before anything else is recorded or the journal sealed: in the order given, so
        that events stand in the order of their stamps. If it fails, the journal can never be sealed.
        """
        ...

    def note(
        self,
        kind: str,
        body: dict[str, Any],
        raw: bytes | None = None,
        *,
        stamp: tuple[int, str],
        session: str | None = None,
        because: Sequence[str] = (),
    ) -> tuple[str, str, int]:
        """Record one event of an earlier moment; its line may wait in memory for the next write, sync or seal.

        `raw` becomes the payload. The body is taken over, and checked whole only when its keys were not seen before.
        Returns the reference, and digest and size under which the payload is kept, "" and 0 without one.
        Raises: as `record`.
        """
        ...

    def settle(self) -> None:
        """Do what was owed, and write out every line that waits. Raises: as `record`."""
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
        self._redactor = redactor
        self._lock = threading.Lock()
        self._owed: deque[tuple[Callable[..., None], tuple[Any, ...]]] = deque()
        self._poison: HarnessError | None = None
        self._ref = f"{chain.writer}:%d"
        self.now = clock

    @property
    def writer(self) -> str:
        return self._chain.writer

    @property
    def head(self) -> WriterHead:
        return self._chain.head

    @property
    def sealed(self) -> bool:
        return self._chain.sealed

    @property
    def poisoned(self) -> bool:
        """Whether a write failed or something owed was lost, so that the journal can never be sealed."""
        return self._poison is not None

    def kept(self, raw: bytes) -> tuple[str, int]:
        redacted, _ = self._redactor.keep(raw)
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
        if self._owed:
            self._pay()
        draft = draft_body(kind, body, payloads, self._redactor)
        with self._lock:
            self._require_usable()
            t_mono_ns, t_wall = self.now()
            line = self._chain.line(
                kind,
                draft.body,
                t_mono_ns=t_mono_ns,
                t_wall=t_wall,
                session=session,
                because=because,
                blobs=tuple(draft.blobs),
            )
            ref = self._ref % (self._chain.length - 1)
            self._keep(line, draft.blobs)
        if sync:
            self.sync()
        return ref

    def note(
        self,
        kind: str,
        body: dict[str, Any],
        raw: bytes | None = None,
        *,
        stamp: tuple[int, str],
        session: str | None = None,
        because: Sequence[str] = (),
    ) -> tuple[str, str, int]:
        sha256, size, blobs = "", 0, _NO_BLOBS
        if raw is not None or self._redactor.active:
            body, blobs = draft_one(body, raw, self._redactor)
            if raw is not None:
                sha256, size = body["payload"]["sha256"], body["payload"]["size"]
        with self._lock:
            self._require_usable()
            line = self._chain.line(
                kind,
                body,
                t_mono_ns=stamp[0],
                t_wall=stamp[1],
                session=session,
                because=because,
                blobs=tuple(blobs),
                by_shape=True,
            )
            ref = self._ref % (self._chain.length - 1)
            self._keep(line, blobs, hold=True)
        return ref, sha256, size

    def later(self, write: Callable[..., None], *arguments: Any) -> None:
        self._owed.append((write, arguments))

    def settle(self) -> None:
        if self._owed:
            self._pay()
        with self._lock:
            self._require_usable()
            self._write_held()

    def seal(self, *, sync: bool = True) -> WriterHead:
        if self._owed:
            self._pay()
        with self._lock:
            self._require_usable()
            t_mono_ns, t_wall = self.now()
            self._keep(self._chain.seal(t_mono_ns=t_mono_ns, t_wall=t_wall), _NO_BLOBS)
        if sync:
            self.sync()
        return self._chain.head

    def sync(self) -> None:
        raise NotImplementedError

    def _pay(self) -> None:
        """Do what is owed. What fails is lost, and with it the right to seal."""
        owed = self._owed
        while owed:
            write, arguments = owed.popleft()
            try:
                write(*arguments)
            except BaseException as error:
                owed.clear()
                if self._poison is None:
                    self._poison = HarnessError("E-STORE-UNRECORDED", f"what was seen was not recorded: {error}")
                raise

    def _require_usable(self) -> None:
        if self._poison is not None:
            raise HarnessError(
                "E-STORE-POISONED", f"the journal is unusable since: {self._poison}", where=self._chain.writer
            )

    def _keep(self, line: bytes, blobs: Mapping[str, bytes], *, hold: bool = False) -> None:
        raise NotImplementedError

    def _write_held(self) -> None:
        """Write out every line that waits."""


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
        self._held: list[bytes] = []
        self._cited: set[str] = set()
        self._entry_synced = False
        self._sync_lock = threading.Lock()
        with write_errors(path):
            self._fd = open_new(path)

    def sync(self) -> None:
        """Flush the blobs cited since the last time, then the journal; a failure poisons the writer."""
        with self._sync_lock:
            with self._lock:
                self._require_usable()
                self._write_held()
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
        """Give the descriptor back. Without a seal before it the journal stays unsealed.

        Raises: HarnessError when lines that waited could not be written; the journal is closed all the same.
        """
        with self._sync_lock, self._lock:
            if self._fd < 0:
                return
            try:
                if self._poison is None:
                    self._write_held()
            finally:
                os.close(self._fd)
                self._fd = -1
                if self._poison is None and not self._chain.sealed:
                    self._poison = HarnessError("E-STORE-POISONED", "the journal was closed unsealed")

    def _keep(self, line: bytes, blobs: Mapping[str, bytes], *, hold: bool = False) -> None:
        self._held.append(line)  # the chain has moved on: whatever fails now, this line is missing from the file
        if blobs:
            self._keep_blobs(blobs)
        if not hold or len(self._held) >= _MAX_HELD_LINES:
            self._write_held()

    def _keep_blobs(self, blobs: Mapping[str, bytes]) -> None:
        try:
            for digest, raw in blobs.items():
                self._blobs.put(raw, digest)
                self._cited.add(digest)
            with write_errors(self._path):
                self._fault_point("store.blob")
        except HarnessError as error:
            self._poison = error
            raise

    def _write_held(self) -> None:
        """Write every line that waits with one call."""
        if not self._held:
            return
        lines = self._held[0] if len(self._held) == 1 else b"".join(self._held)
        self._held.clear()
        try:
            with write_errors(self._path):
                self._fault_point("store.append")
                append_all(self._fd, lines)
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

    def _keep(self, line: bytes, blobs: Mapping[str, bytes], *, hold: bool = False) -> None:
        self.contents.update(blobs)
        self._lines.append(line)


_PORTS: tuple[type[Journal], ...] = (JournalWriter, MemoryJournal)  # both keep to the port, says the type checker
