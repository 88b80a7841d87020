"""One attempt on disk: its journals while it runs, one packed file afterwards.

Owns `trials/<shard>/<trial>/<attempt>/` and `<attempt>.tar.zst`. Must never remove a journal before the packed file
that holds it is on the device, and never write into an attempt that already has evidence.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Mapping
from pathlib import Path

from oyer.errors import EvidenceError, HarnessError
from oyer.evidence import (
    Chain,
    Envelope,
    JournalCheck,
    Redactor,
    StoredFile,
    attempt_dir,
    check_journal,
    digest_of,
    journal_name,
    pack,
    packed_path,
    unpack,
    writer_of,
)
from oyer.store.blobs import BlobStore
from oyer.store.durable import FaultPoint, create_dir, flush_dir, publish, write_errors
from oyer.store.journal import Clock, JournalWriter

__all__ = ["AttemptStore", "attempt_dir", "packed_path"]

_UNPACK_LIMIT_BYTES = 1 << 32


class AttemptStore:
    """The files of one attempt. `finish` is called with (status, packed file, why) to write the ledger."""

    def __init__(
        self,
        root: Path,
        temp_dir: Path,
        envelope: Envelope,
        *,
        blobs: BlobStore,
        clock: Clock,
        redactor: Redactor,
        fault_point: FaultPoint,
        finish: Callable[[str, StoredFile, str | None], None],
    ) -> None:
        self.envelope = envelope
        self.directory = root / attempt_dir(envelope.trial, envelope.attempt)
        self._packing = Packing(root, temp_dir, envelope.trial, envelope.attempt, fault_point)
        self._blobs = blobs
        self._clock = clock
        self._redactor = redactor
        self._fault_point = fault_point
        self._finish = finish
        self._writers: dict[str, JournalWriter] = {}
        with write_errors(self.directory):
            create_dir(self.directory, root)

    def writer(self, name: str) -> JournalWriter:
        """Open the journal of one writer. Raises: HarnessError when it has one; EvidenceError for a wrong name."""
        chain = Chain(name, self.envelope)
        self._writers[name] = JournalWriter(
            self.journal_path(name),
            chain,
            blobs=self._blobs,
            clock=self._clock,
            redactor=self._redactor,
            fault_point=self._fault_point,
        )
        return self._writers[name]

    def journal_path(self, name: str) -> Path:
        """Return the path of a writer's journal; a process of its own may create and write it there."""
        return self.directory / journal_name(name)

    def foreign(self, name: str) -> JournalCheck:
        """Read and check a journal that another process wrote, for its head and whether it is sealed."""
        with write_errors(self.journal_path(name)):
            data = _read_regular(self.journal_path(name))
        return check_journal(data, expect=self.envelope, writer=name)

    def pack(self, *, require_sealed: bool = True) -> StoredFile:
        """Pack all journals into the one file that stays and remove the running directory after it is kept.

        Blobs are flushed first. Raises: HarnessError `E-PACK-UNSEALED`, `E-STORE-WRITE`.
        """
        if require_sealed:
            self._require_sealed()
        for writer in self._writers.values():
            writer.close()
        self._blobs.sync()
        return self._packing.pack()

    def seal(self, status: str, why: str | None = None) -> StoredFile:
        """Pack the attempt and record in the ledger that it ended with this status.

        Journals may be unsealed only where the status says that something of ours or around us failed.
        Fault point: `store.sealed` (packed, ledger not written).
        """
        packed = self.pack(require_sealed=status not in {"harness_error", "blocked"})
        with write_errors(packed.path):
            self._fault_point("store.sealed")
        self._finish(status, packed, why)
        return packed

    def _require_sealed(self) -> None:
        with write_errors(self.directory):
            names = sorted(os.listdir(self.directory))  # noqa: PTH208
        for name in names:
            writer = writer_of(name) or ""
            own = self._writers.get(writer)
            if not (own.sealed and not own.poisoned if own else bool(writer) and self.foreign(writer).sealed):
                raise HarnessError("E-PACK-UNSEALED", "the journal is not sealed", where=name)


class Packing:
    """Turning the running directory of an attempt into its packed file; also after a crash."""

    def __init__(self, root: Path, temp_dir: Path, trial: str, attempt: int, fault_point: FaultPoint) -> None:
        self._directory = root / attempt_dir(trial, attempt)
        self._path = packed_path(trial, attempt)
        self._packed = root / self._path
        self._temp_dir = temp_dir
        self._fault_point = fault_point

    @property
    def has_evidence(self) -> bool:
        """Whether anything of this attempt is on disk."""
        return os.path.lexists(self._directory) or os.path.lexists(self._packed)

    def pack(self) -> StoredFile:
        """Pack what the running directory holds; a packed file that is already there is kept and compared.

        Fault points: `store.pack` (before the rename), `store.unpacked` (before the directory goes).
        """
        with write_errors(self._directory):
            journals = self._journals()
            if os.path.lexists(self._packed):
                stored = _read_regular(self._packed)
                self._require_same(stored, journals)
            else:
                stored = pack(journals)
                self._publish(stored)
            self._fault_point("store.unpacked")
            self._remove(journals)
        return StoredFile(path=self._path, sha256=digest_of(stored), size=len(stored))

    def _publish(self, stored: bytes) -> None:
        publish(self._temp_dir, self._packed, stored, before_rename=lambda: self._fault_point("store.pack"))

    def _journals(self) -> dict[str, bytes]:
        if not self._directory.is_dir():
            return {}
        return {name: _read_regular(self._directory / name) for name in sorted(os.listdir(self._directory))}  # noqa: PTH208

    def _require_same(self, stored: bytes, journals: Mapping[str, bytes]) -> None:
        try:
            held = unpack(stored, _UNPACK_LIMIT_BYTES)
        except EvidenceError as error:
            raise HarnessError("E-PACK-DIFFERS", f"the packed attempt is damaged: {error}", where=self._path) from error
        # A crash while the directory was removed leaves only some of the journals.
        if any(held.get(name) != data for name, data in journals.items()):
            raise HarnessError("E-PACK-DIFFERS", "the packed attempt differs from its journals", where=self._path)

    def _remove(self, journals: Mapping[str, bytes]) -> None:
        for name in journals:
            (self._directory / name).unlink()
        if self._directory.is_dir():
            self._directory.rmdir()
            flush_dir(self._directory.parent)


def _read_regular(path: Path) -> bytes:
    """Read a whole plain file without following a link. Raises: OSError."""
    fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        if not stat.S_ISREG(os.fstat(fd).st_mode):
            raise OSError(f"not a plain file: {path.name}")
        pieces: list[bytes] = []
        while piece := os.read(fd, 1 << 20):
            pieces.append(piece)
    finally:
        os.close(fd)
    return b"".join(pieces)
