"""A series in memory: the port that verify reads through, over a dict of paths. For tests that verify many variants."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from oyer.errors import EvidenceError
from oyer.evidence import StoredFile, attempt_dir, blob_path, decode_blob, digest_hex, digest_of, packed_path, unpack
from oyer.verify import Reader, Verification, verify_series

LIMIT_BYTES = 1 << 24


class Listed(NamedTuple):
    path: str
    kind: str


class MemoryReader:
    """Satisfies `oyer.verify.Reader`."""

    def __init__(self, files: Mapping[str, bytes]) -> None:
        self.files = files

    def _require(self, path: str) -> bytes:
        if path not in self.files:
            raise EvidenceError("E-STORE-MISSING", "the file is not there", where=path)
        return self.files[path]

    def manifest(self) -> bytes:
        return self._require("series.json")

    def plan(self) -> bytes:
        return self._require("plan.json")

    def ledger_bytes(self) -> bytes:
        return self._require("ledger.jsonl")

    def pin(self, digest: str) -> bytes | None:
        return self.files.get(f"pins/{digest_hex(digest)}.json")

    def journals(self, trial: str, attempt: int) -> Mapping[str, bytes]:
        stored = self.files.get(packed_path(trial, attempt))
        if stored is not None:
            return unpack(stored, LIMIT_BYTES)
        directory = attempt_dir(trial, attempt) + "/"
        return {path.removeprefix(directory): data for path, data in self.files.items() if path.startswith(directory)}

    def content(self, digest: str) -> bytes | None:
        stored = self.files.get(blob_path(digest))
        return None if stored is None else decode_blob(stored, LIMIT_BYTES)

    def read(self, path: str) -> bytes | None:
        return self.files.get(path)

    def pieces(self, path: str) -> Iterator[bytes] | None:
        data = self.files.get(path)
        return None if data is None else iter([data])

    def size(self, path: str) -> int | None:
        data = self.files.get(path)
        return None if data is None else len(data)

    def file(self, path: str) -> StoredFile | None:
        data = self.files.get(path)
        return None if data is None else StoredFile(path=path, sha256=digest_of(data), size=len(data))

    def listing(self) -> Iterator[Listed]:
        return (Listed(path, "file") for path in sorted(self.files))


def files_of(root: Path) -> dict[str, bytes]:
    """Return every file of a series directory by its path."""
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in sorted(root.rglob("*")) if path.is_file()}


def verify_files(files: Mapping[str, bytes]) -> Verification:
    """Verify a series that is in memory."""
    reader: Reader = MemoryReader(files)
    return verify_series(reader)
