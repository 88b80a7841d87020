"""The blob store of a series: each large content once, under its digest.

Owns the files under `blobs/`. Must never keep a content that holds a registered secret, and never trust a file that
another process left: it is read and proven once before it stands for a content.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable
from pathlib import Path

from oyer.errors import EvidenceError, HarnessError
from oyer.evidence import Redactor, blob_path, decode_blob, digest_of, encode_blob
from oyer.store.durable import create_dir, flush_dir, flush_path, publish, write_errors

__all__ = ["BlobStore"]

_REMEMBERED = 65_536


class BlobStore:
    """Content-addressed files, shared by all attempts of a series. Thread-safe."""

    def __init__(self, root: Path, temp_dir: Path, redactor: Redactor) -> None:
        self._root = root
        self._temp_dir = temp_dir
        self._redactor = redactor
        # Insertion-ordered, so that the oldest is forgotten first: memory stays flat in the number of trials.
        self._known: dict[str, None] = {}
        self._unsynced: set[str] = set()
        self._lock = threading.Lock()

    def put(self, raw: bytes, digest: str | None = None) -> str:
        """Keep a content and return its digest; flushed only by `sync`.

        `digest` saves hashing again when the caller just computed it. Raises: HarnessError `E-STORE-WRITE`,
        `E-STORE-SECRET`.
        """
        digest = digest or digest_of(raw)
        with self._lock:
            if digest in self._known:
                return digest
            if self._redactor.holds_secret(raw):
                raise HarnessError("E-STORE-SECRET", "a blob would hold a registered secret", where=digest)
            with write_errors(digest):
                self._write(digest, raw)
            self._remember(digest)
        return digest

    def _write(self, digest: str, raw: bytes) -> None:
        target = self._root / blob_path(digest)
        if target.is_symlink() or target.exists():
            if self._holds(target, raw):
                self._unsynced.add(digest)
                return
            target.unlink()
        create_dir(target.parent, self._root)
        publish(self._temp_dir, target, encode_blob(raw), sync=False)
        self._unsynced.add(digest)

    def _holds(self, target: Path, raw: bytes) -> bool:
        """Whether a file left by someone else holds this content (a crash may have left an empty or cut one)."""
        if target.is_symlink() or not target.is_file():
            return False
        try:
            return decode_blob(target.read_bytes(), len(raw)) == raw
        except EvidenceError:
            return False

    def _remember(self, digest: str) -> None:
        self._known[digest] = None
        if len(self._known) > _REMEMBERED:
            del self._known[next(iter(self._known))]

    def sync(self, digests: Iterable[str] | None = None) -> None:
        """Wait until these blobs (all, when None) are on the device. Raises: HarnessError `E-STORE-WRITE`."""
        with self._lock:
            due = self._unsynced.copy() if digests is None else self._unsynced.intersection(digests)
        if not due:
            return
        paths = [self._root / blob_path(digest) for digest in due]
        with write_errors(self._root / "blobs"):
            for path in paths:
                flush_path(path)
            for directory in {path.parent for path in paths}:
                flush_dir(directory)
        with self._lock:
            self._unsynced -= due
