"""The journal of one http sink in one attempt, written by the sink's own process.

Owns the file `sink.<name>.jsonl` and the blobs its large payloads need. Must never write into another writer's
chain, and never go on after a failed write: the torn tail stays and everything later is refused.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from oyer.errors import HarnessError
from oyer.evidence import Chain, Envelope, Redactor, WriterHead, blob_path, encode_blob, make_payload

__all__ = ["SinkJournal"]

_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW


class SinkJournal:
    """A chain in a file; every line is written before `record` returns, and flushed where asked."""

    __slots__ = ("_blob_root", "_broken", "_chain", "_fd", "_redactor")

    def __init__(self, path: Path, sink: str, envelope: Envelope, blob_root: Path, redactor: Redactor) -> None:
        self._chain = Chain(f"sink:{sink}", envelope)
        self._blob_root = blob_root
        self._redactor = redactor
        self._broken = ""
        self._fd = os.open(path, _NEW, 0o600)

    @property
    def sealed(self) -> bool:
        """Whether the chain has ended."""
        return self._chain.sealed

    def record(
        self,
        kind: str,
        body: Mapping[str, Any],
        payloads: Mapping[str, bytes],
        *,
        because: Sequence[str] = (),
        sync: bool = False,
    ) -> None:
        """Append one event, stamped now. Raises: HarnessError, EvidenceError; after a HarnessError nothing more."""
        whole = dict(self._redactor.apply_value(body)) if self._redactor.active else dict(body)
        blobs: dict[str, bytes] = {}
        for name, raw in payloads.items():
            kept, secrets = self._redactor.keep(raw)
            whole[name], blob = make_payload(kept, secrets)
            if blob is not None:
                blobs[whole[name]["sha256"]] = blob
        self._require_whole()
        line = self._chain.line(
            kind,
            whole,
            t_mono_ns=time.monotonic_ns(),
            t_wall=_wall(),
            because=because,
            blobs=sorted(blobs),
        )
        with self._poisoning():
            for digest, raw in blobs.items():
                self._keep_blob(digest, raw)
            self._append(line)
            if sync:
                os.fsync(self._fd)

    def seal(self) -> WriterHead:
        """End the chain, flush it, and return its head."""
        self._require_whole()
        line = self._chain.seal(t_mono_ns=time.monotonic_ns(), t_wall=_wall())
        with self._poisoning():
            self._append(line)
            os.fsync(self._fd)
        self.close()
        return self._chain.head

    def close(self) -> None:
        """Give the descriptor back."""
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1

    def _require_whole(self) -> None:
        if self._broken or self._fd < 0:
            why = self._broken or "it is closed"
            raise HarnessError("E-SINK-JOURNAL", f"the journal cannot be written: {why}", where=self._chain.writer)

    @contextlib.contextmanager
    def _poisoning(self) -> Any:
        try:
            yield
        except OSError as error:
            self._broken = error.strerror or str(error)
            raise HarnessError("E-SINK-JOURNAL", f"cannot write: {self._broken}", where=self._chain.writer) from error

    def _append(self, line: bytes) -> None:
        written = os.write(self._fd, line)
        if written != len(line):
            raise OSError(f"short write: {written} of {len(line)} bytes")

    def _keep_blob(self, digest: str, raw: bytes) -> None:
        """Publish a blob in one step, so that no half of it can ever be found; an existing one stays."""
        target = self._blob_root / blob_path(digest)
        if target.exists():
            return
        for place in (target.parent.parent, target.parent):
            place.mkdir(mode=0o700, exist_ok=True)
        stored = encode_blob(raw)
        # The store empties this directory when it opens a series: what a crash leaves there is never taken for a blob.
        temporary = self._blob_root / ".tmp" / f"{os.urandom(16).hex()}.sink"
        temporary.parent.mkdir(mode=0o700, exist_ok=True)
        fd = os.open(temporary, _NEW, 0o600)
        try:
            if os.write(fd, stored) != len(stored):
                raise OSError("short write of a blob")
            os.fsync(fd)
            with contextlib.suppress(FileExistsError):
                os.link(temporary, target)
        finally:
            os.close(fd)
            temporary.unlink()


def _wall() -> str:
    second, rest = divmod(time.time_ns(), 1_000_000_000)
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(second)) + f".{rest // 1000:06d}Z"
