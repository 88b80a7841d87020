"""Reading a series directory: bytes of each part, nothing judged.

Owns the way from parts to files. Must never write, follow a link, or hold more than one attempt at a time.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple, Self

from oyer.errors import EvidenceError
from oyer.evidence import (
    SIGNATURE_NAME,
    ArchiveCheck,
    Manifest,
    StoredFile,
    attempt_dir,
    blob_path,
    decode_blob,
    digest_hex,
    packed_path,
    seal_path,
    unpack,
)
from oyer.store.archive import ArchiveTree
from oyer.store.beneath import Found, Tree

__all__ = ["BundleReader", "ReadLimits", "SeriesReader", "StoredAttempt"]

_PACKED = re.compile(r"^([1-9][0-9]{0,8})\.tar\.zst\Z")
_RUNNING = re.compile(r"^[1-9][0-9]{0,8}\Z")
_PIN = re.compile(r"^([0-9a-f]{64})\.json\Z")


class ReadLimits(NamedTuple):
    """How much one file, one packed attempt and one blob may unfold to, in bytes."""

    file_bytes: int = 1 << 30
    attempt_bytes: int = 1 << 31
    blob_bytes: int = 1 << 30


class StoredAttempt(NamedTuple):
    """One attempt that is on disk. Not packed: it still runs, or was interrupted."""

    trial: str
    attempt: int
    packed: bool


class SeriesReader:
    """A series directory, read only. Use as a context manager or close it."""

    def __init__(self, path: Path, limits: ReadLimits | None = None) -> None:
        self._tree: Tree | ArchiveTree = Tree(path)
        self._limits = limits or ReadLimits()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Give the descriptor back."""
        self._tree.close()

    def read(self, path: str) -> bytes | None:
        """Return the stored bytes of any file, None when it is not there."""
        return self._tree.read(path, self._limits.file_bytes)

    def require(self, path: str) -> bytes:
        """Return the stored bytes of a file that must be there. Raises: EvidenceError `E-STORE-MISSING`."""
        data = self.read(path)
        if data is None:
            raise EvidenceError("E-STORE-MISSING", "the file is not there", where=path)
        return data

    def manifest(self) -> bytes:
        """Return `series.json`."""
        return self.require("series.json")

    def plan(self) -> bytes:
        """Return `plan.json`."""
        return self.require("plan.json")

    def ledger_bytes(self) -> bytes:
        """Return `ledger.jsonl`."""
        return self.require("ledger.jsonl")

    def pins(self) -> dict[str, bytes]:
        """Return every pinned record by the digest its name states (the reader of them compares)."""
        found: dict[str, bytes] = {}
        for entry in self._tree.entries("pins"):
            match = _PIN.match(entry.name)
            if match is not None and not entry.is_dir:
                found["sha256:" + match[1]] = self.require(f"pins/{entry.name}")
        return found

    def pin(self, digest: str) -> bytes | None:
        """Return one pinned record, None when it is not there."""
        return self.read(f"pins/{digest_hex(digest)}.json")

    def seals(self) -> tuple[bytes, ...]:
        """Return all seals in order of their numbers, up to the first that is not there."""
        found: list[bytes] = []
        while (data := self.read(seal_path(len(found) + 1))) is not None:
            found.append(data)
        return tuple(found)

    def attempts(self) -> Iterator[StoredAttempt]:
        """Yield every attempt on disk, trial by trial; one that was being packed appears twice."""
        for shard in self._tree.entries("trials"):
            for trial in self._tree.entries(f"trials/{shard.name}") if shard.is_dir else ():
                if trial.is_dir:
                    yield from self._attempts_of(shard.name, trial.name)

    def _attempts_of(self, shard: str, trial: str) -> Iterator[StoredAttempt]:
        found: list[StoredAttempt] = []
        for entry in self._tree.entries(f"trials/{shard}/{trial}"):
            packed = _PACKED.match(entry.name)
            if packed is not None and not entry.is_dir:
                found.append(StoredAttempt(trial, int(packed[1]), True))
            elif entry.is_dir and _RUNNING.match(entry.name):
                found.append(StoredAttempt(trial, int(entry.name), False))
        yield from sorted(found)

    def journals(self, trial: str, attempt: int) -> dict[str, bytes]:
        """Return file name -> bytes of an attempt, packed or not; {} when nothing of it is there.

        Raises: EvidenceError for a packed file that is not in its one form.
        """
        stored = self.read(packed_path(trial, attempt))
        if stored is not None:
            return unpack(stored, self._limits.attempt_bytes)
        directory = attempt_dir(trial, attempt)
        return {
            entry.name: self.require(f"{directory}/{entry.name}")
            for entry in self._tree.entries(directory)
            if not entry.is_dir
        }

    def blob(self, digest: str) -> bytes | None:
        """Return the stored bytes of a blob, None when it is not there."""
        return self.read(blob_path(digest))

    def content(self, digest: str) -> bytes | None:
        """Return the content of a blob, as `payload_bytes` asks for it; None when it is not there."""
        stored = self.blob(digest)
        return None if stored is None else decode_blob(stored, self._limits.blob_bytes)

    def pieces(self, path: str) -> Iterator[bytes] | None:
        """Yield the stored bytes of any file in pieces, None when it is not there."""
        return self._tree.pieces(path)

    def paths(self) -> Iterator[str]:
        """Yield the path of every file of the series, in order."""
        return self._tree.walk()

    def listing(self) -> Iterator[Found]:
        """Yield everything below the series that is no directory, in order, links and devices included."""
        return self._tree.listing()

    def files(self) -> Iterator[StoredFile]:
        """Yield every file with size and digest of the bytes on disk, each read in pieces."""
        for path in self.paths():
            found = self._tree.digest(path)
            if found is not None:
                yield found

    def size(self, path: str) -> int | None:
        """Return how large a file is without reading it, None when it is not there (or was withheld from a bundle)."""
        return self._tree.size(path)

    def file(self, path: str) -> StoredFile | None:
        """Return size and digest of one file, None when it is not there."""
        return self._tree.digest(path)


class BundleReader(SeriesReader):
    """The series inside a bundle, read member by member; nothing is extracted.

    A file that was withheld is listed, with the size and digest that the manifest states; reading it is an
    EvidenceError `E-WITHHELD`. Where `archive` has defects, nothing is there to read.
    """

    def __init__(self, path: Path, limits: ReadLimits | None = None) -> None:
        self._archive = ArchiveTree(path)
        self._tree = self._archive
        self._limits = limits or ReadLimits()

    @property
    def archive(self) -> ArchiveCheck:
        """What was found when the archive was opened."""
        return self._archive.archive

    @property
    def withheld(self) -> tuple[StoredFile, ...]:
        """What was left out, by its path in the series."""
        return tuple(self._archive.withheld.values())

    def bundle_manifest(self) -> Manifest:
        """Return the manifest of the bundle. Raises: EvidenceError `E-MANIFEST-*`."""
        found = self._archive.manifest()
        if isinstance(found, EvidenceError):
            raise found
        return found

    def signature(self) -> bytes | None:
        """Return the envelope over the bundle, None when it is not signed."""
        return self._archive.member(SIGNATURE_NAME, 1 << 30)

    def measure(self, member: str) -> StoredFile | None:
        """Return size and digest of a member by its path in the archive, None when it is not there."""
        return self._archive.measure(member)
