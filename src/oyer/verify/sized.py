"""A series read by size first: what is not as large as its seal lists is neither read nor hashed.

A file can claim terabytes and hold nothing. Owns that rule for everything a verification reads after the seals. Small
files are read whatever their size, so that the check in charge can say what is wrong inside. Must never judge: what is
refused here is a finding of the check that asked.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from oyer.errors import EvidenceError
from oyer.evidence import ABSENT_DIGEST, StoredFile, blob_path, digest_hex, packed_path
from oyer.verify.reading import Listed, Reader

__all__ = ["SizedReader"]

SMALL_BYTES = 1 << 20
UNLISTED_BYTES = 64 << 20
"""How large a file may be that no seal lists, where seals list others."""


class SizedReader:
    """Satisfies `Reader` over another one. `sizes` are the sizes that the seals list, by path."""

    def __init__(self, reader: Reader, sizes: Mapping[str, int]) -> None:
        self._reader = reader
        self._sizes = sizes

    def manifest(self) -> bytes:
        """Return `series.json`."""
        self._require("series.json")
        return self._reader.manifest()

    def plan(self) -> bytes:
        """Return `plan.json`."""
        self._require("plan.json")
        return self._reader.plan()

    def ledger_bytes(self) -> bytes:
        """Return `ledger.jsonl`."""
        self._require("ledger.jsonl")
        return self._reader.ledger_bytes()

    def pin(self, digest: str) -> bytes | None:
        """Return one pinned record, None when it is not there."""
        self._require(f"pins/{digest_hex(digest)}.json")
        return self._reader.pin(digest)

    def journals(self, trial: str, attempt: int) -> Mapping[str, bytes]:
        """Return the journals of an attempt."""
        self._require(packed_path(trial, attempt))
        return self._reader.journals(trial, attempt)

    def content(self, digest: str) -> bytes | None:
        """Return the content of a blob, None when it is not there."""
        self._require(blob_path(digest))
        return self._reader.content(digest)

    def read(self, path: str) -> bytes | None:
        """Return the stored bytes of any file, None when it is not there."""
        self._require(path)
        return self._reader.read(path)

    def pieces(self, path: str) -> Iterable[bytes] | None:
        """Yield the stored bytes of any file in pieces, None when it is not there."""
        self._require(path)
        return self._reader.pieces(path)

    def size(self, path: str) -> int | None:
        """Return how large a file is, None when it is not there or was withheld."""
        return self._reader.size(path)

    def file(self, path: str) -> StoredFile | None:
        """Return size and digest of the stored bytes; without a digest where the size alone says that they differ."""
        size = self._reader.size(path)
        if size is not None and self._is_refused(path, size):
            return StoredFile(path=path, sha256=ABSENT_DIGEST, size=size)
        return self._reader.file(path)

    def listing(self) -> Iterable[Listed]:
        """Yield everything that is no directory, in order."""
        return self._reader.listing()

    def _require(self, path: str) -> None:
        size = self._reader.size(path)
        if size is None or not self._is_refused(path, size):
            return
        listed = self._sizes.get(path)
        told = "no seal lists it" if listed is None else f"its seal lists {listed}"
        raise EvidenceError("E-SEAL-CHANGED", f"it has {size} bytes and {told}: it was not read", where=path)

    def _is_refused(self, path: str, size: int) -> bool:
        listed = self._sizes.get(path)
        if listed is None:
            return bool(self._sizes) and size > UNLISTED_BYTES
        return size != listed and size > SMALL_BYTES
