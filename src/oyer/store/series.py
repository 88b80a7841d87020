"""A series directory: created once, written by one process at a time, closed under seals.

Owns the layout of the design's evidence page and the order of writes: pins, plan and manifest are on the device before
the ledger opens, a transition before what it allows, a packed attempt before its journals go. Must never overwrite
a file, extend a closed series, or keep a file that holds a registered secret.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from oyer.errors import EvidenceError, HarnessError, UsageError
from oyer.evidence import (
    ANNOUNCED,
    PLAN_SIGNATURE,
    Act,
    AttemptState,
    Envelope,
    Redactor,
    Seal,
    StoredFile,
    digest_hex,
    digest_of,
    encode_seal,
    is_sealable,
    is_stored_path,
    make_seal,
    packed_path,
    parse_seal,
    seal_path,
    unfinished,
)
from oyer.store.attempt import AttemptStore, Packing
from oyer.store.blobs import BlobStore
from oyer.store.durable import FaultPoint, create_dir, flush_dir, flush_path, no_fault, publish, write_errors
from oyer.store.journal import Clock
from oyer.store.ledger import LedgerFile
from oyer.store.reader import SeriesReader

__all__ = ["Interrupted", "SeriesStore"]

_RESERVED = frozenset({"blobs", "ledger.jsonl", "pins", PLAN_SIGNATURE, "plan.json", "seals", "series.json", "trials"})
_TEMP = ".tmp"


class Interrupted(NamedTuple):
    """An attempt the ledger left open: the process that ran it is gone."""

    trial: str
    attempt: int
    run: str | None


class SeriesStore:
    """The one writer of a series directory."""

    def __init__(self, root: Path, *, clock: Clock, redactor: Redactor, fault_point: FaultPoint, create: bool) -> None:
        self.root = root
        self._clock = clock
        self._redactor = redactor
        self._fault_point = fault_point
        self._ledger = LedgerFile(root / "ledger.jsonl", wall=self._wall, fault_point=fault_point, create=create)
        _take_back(root)
        self._temp_dir = _fresh_temp_dir(root)
        self.blobs = BlobStore(root, self._temp_dir, redactor)
        self._added: list[Path] = []

    @classmethod
    def create(
        cls,
        path: Path,
        manifest: bytes,
        plan: bytes,
        pins: Mapping[str, bytes],
        *,
        clock: Clock,
        redactor: Redactor | None = None,
        fault_point: FaultPoint = no_fault,
        plan_signature: bytes | None = None,
        ledger_version: int = 1,
    ) -> SeriesStore:
        """Create a series in a new or empty directory; manifest, plan, pins and opening are on the device after it.

        `plan_signature` is the envelope of whoever signed the plan before; a series that a declared rule or budget may
        stop needs version 2 of the ledger.

        Raises: UsageError `E-OUT-NOT-EMPTY`, `E-OUT-NOT-DIR`, `E-OUT-WRITE`, `E-STORE-SECRET`, `E-PIN-DIGEST`.
        """
        redactor = redactor or Redactor({})
        files = {"plan.json": plan, "series.json": manifest}
        if plan_signature is not None:
            files[PLAN_SIGNATURE] = plan_signature
        for digest, content in pins.items():
            if digest_of(content) != digest:
                raise UsageError("E-PIN-DIGEST", "a pinned record is not what its digest says", where=digest)
            files[f"pins/{digest_hex(digest)}.json"] = content
        for name, content in files.items():
            if redactor.holds_secret(content):
                hint = "where a case needs it, write {secret.NAME}; elsewhere leave it out"
                raise UsageError("E-STORE-SECRET", "the record holds a registered secret", where=name, hint=hint)
        _require_empty(path)
        with write_errors(path):
            _create_root(path)
            temp_dir = _fresh_temp_dir(path)
            for name in sorted(files):
                create_dir((path / name).parent, path)
                publish(temp_dir, path / name, files[name])
        store = cls(path, clock=clock, redactor=redactor, fault_point=fault_point, create=True)
        opening: dict[str, Any] = {"plan": digest_of(plan), "manifest": digest_of(manifest)}
        store.ledger("opened_series", body=opening if ledger_version == 1 else {**opening, "ledger": ledger_version})
        return store

    @classmethod
    def open(
        cls, path: Path, *, clock: Clock, redactor: Redactor | None = None, fault_point: FaultPoint = no_fault
    ) -> SeriesStore:
        """Continue a series; a torn ledger tail is marked first.

        Raises: UsageError `E-SERIES-NONE`, `E-STORE-LOCKED`; EvidenceError when ledger, plan or manifest disagree.
        """
        with SeriesReader(path) as reader:
            if reader.file("ledger.jsonl") is None:
                raise UsageError("E-SERIES-NONE", "there is no opened series here", where=str(path))
            stated = digest_of(reader.plan()), digest_of(reader.manifest())
        store = cls(path, clock=clock, redactor=redactor or Redactor({}), fault_point=fault_point, create=False)
        if store._ledger.opened == (None, None):
            store.close()
            raise UsageError("E-SERIES-NONE", "the series was never opened: nothing ran", where=str(path))
        if store._ledger.opened != stated:
            store.close()
            raise EvidenceError("E-SERIES-DIFFERS", "plan or manifest is not the one the ledger was opened with")
        return store

    def __enter__(self) -> SeriesStore:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Let another process have the series. Open attempts stay open."""
        self._ledger.close()
        if self._temp_dir.is_dir() and not os.listdir(self._temp_dir):  # noqa: PTH208
            self._temp_dir.rmdir()

    @property
    def attempts(self) -> Mapping[str, tuple[AttemptState, ...]]:
        """Where every attempt stands, by trial (a live view)."""
        return self._ledger.attempts

    @property
    def excluded(self) -> Mapping[str, str]:
        """The excluded trials and the reasons."""
        return self._ledger.excluded

    @property
    def closed(self) -> bool:
        """Whether the series has ended."""
        return self._ledger.closed

    def ledger(self, kind: str, **fields: Any) -> None:
        """Record a transition, on the device when this returns. Raises: EvidenceError when it is illegal."""
        why, body = fields.get("why"), fields.get("body")
        if why is not None:
            fields["why"] = self._redactor.apply_value(why)
        if body is not None:
            fields["body"] = self._redactor.apply_value(body)
        self._ledger.append(kind, **fields)

    def open_attempt(self, envelope: Envelope) -> AttemptStore:
        """Open a claimed attempt: the ledger says so first, then its directory is made.

        Raises: HarnessError `E-ATTEMPT-EXISTS` when that attempt was opened before (the ledger keeps the refusal).
        """
        trial, attempt = envelope.trial, envelope.attempt
        self._require_trial_name(trial)
        known = [state for state in self.attempts.get(trial, ()) if state.attempt == attempt]
        if self._packing(trial, attempt).has_evidence or (known and known[0].state != "claimed"):
            self.ledger(
                "refused", trial=trial, attempt=attempt, why="the attempt has evidence", body={"duplicate": True}
            )
            raise HarnessError("E-ATTEMPT-EXISTS", "that attempt already has evidence", where=f"{trial}/{attempt}")
        self.ledger("opened", trial=trial, attempt=attempt, run=envelope.run)

        def finish(status: str, packed: StoredFile, why: str | None) -> None:
            self.ledger("sealed", trial=trial, attempt=attempt, status=status, digest=packed.sha256, why=why)

        return AttemptStore(
            self.root,
            self._temp_dir,
            envelope,
            blobs=self.blobs,
            clock=self._clock,
            redactor=self._redactor,
            fault_point=self._fault_point,
            finish=finish,
        )

    def interrupted(self) -> list[Interrupted]:
        """Return the attempts that are claimed or opened in the ledger, in the order of their trials' first claims."""
        last = [(trial, states[-1]) for trial, states in self.attempts.items()]
        return [
            Interrupted(trial, state.attempt, state.run)
            for trial, state in last
            if state.state in {"claimed", "opened"}
        ]

    def bury(self, trial: str, attempt: int, why: str = "interrupted") -> StoredFile | None:
        """End an interrupted attempt: pack what is left exactly as it is, and record it as torn."""
        packing = self._packing(trial, attempt)
        packed = packing.pack() if packing.has_evidence else None
        self.ledger(
            "torn",
            trial=trial,
            attempt=attempt,
            status="harness_error",
            why=why,
            digest=packed.sha256 if packed else None,
        )
        return packed

    def add(self, path: str, data: bytes) -> None:
        """Keep a derived file (`outcomes/…`, `facts/…`); it is flushed and listed by the next `seal`.

        Raises: HarnessError `E-STORE-PATH`, `E-STORE-SECRET`, `E-STORE-EXISTS`, `E-STORE-WRITE`.
        """
        if path.partition("/")[0] in _RESERVED or not (is_stored_path(path) and is_sealable(path)):
            raise HarnessError("E-STORE-PATH", "not a path for a derived file", where=path)
        self._keep(path, data)

    def pin(self, name: str, data: bytes) -> None:
        """Keep the record of somebody who judges after the series was closed, by its digest; the next `seal` lists it.

        One that is pinned already stays. Raises: as `add`.
        """
        path = f"pins/{name.removeprefix('sha256:')}.json"
        if digest_of(data) != name:
            raise HarnessError("E-STORE-PATH", "a pin is named by its digest", where=path)
        if not (self.root / path).exists():
            self._keep(path, data)

    def _keep(self, path: str, data: bytes) -> None:
        if self._redactor.holds_secret(data):
            raise HarnessError("E-STORE-SECRET", "the file would hold a registered secret", where=path)
        target = self.root / path
        with write_errors(path):
            create_dir(target.parent, self.root)
            try:
                publish(self._temp_dir, target, data, sync=False)
            except FileExistsError as error:
                raise HarnessError("E-STORE-EXISTS", "a kept file is never overwritten", where=path) from error
        self._added.append(target)

    def seal(self, act: Act) -> Seal:
        """Close an act: list every stored file that is in no seal yet, in a new one.

        Raises: HarnessError `E-SEAL-OPEN` while the ledger can still grow; EvidenceError when a seal before is broken.
        Fault point: `store.seal` (before the rename).
        """
        if not self.closed:
            raise HarnessError("E-SEAL-OPEN", "a seal needs a closed ledger", hint="record `closed` first")
        self.blobs.sync()
        with write_errors(self.root):
            _flush_all(self._added)
        with SeriesReader(self.root) as reader:
            before = [parse_seal(data) for data in reader.seals()]
            listed = {file.path for seal in before for file in seal.files}
            fresh = [path for path in reader.paths() if is_sealable(path) and path not in listed]
            files = [file for file in map(reader.file, fresh) if file is not None]
        seal = make_seal(len(before) + 1, act, files, before[-1].digest if before else None, self._wall())
        target = self.root / seal_path(seal.number)
        with write_errors(target):
            create_dir(target.parent, self.root)
            publish(self._temp_dir, target, encode_seal(seal), before_rename=lambda: self._fault_point("store.seal"))
        self._added.clear()
        return seal

    def close_act(self, act: Act, files: Mapping[str, bytes]) -> Seal:
        """Keep all files of an act and its seal, as one: what is killed on the way leaves nothing that counts, and the
        next who opens the series takes it back. Pins may be among them.

        Raises: HarnessError `E-STORE-*`, `E-SEAL-OPEN`; EvidenceError when a seal before is broken.
        Fault point: `store.seal` (before the seal is in force).
        """
        if not self.closed:
            raise HarnessError("E-SEAL-OPEN", "a seal needs a closed ledger", hint="record `closed` first")
        with SeriesReader(self.root) as reader:
            before = [parse_seal(data) for data in reader.seals()]
        listed = [StoredFile(path, digest_of(data), len(data)) for path, data in files.items()]
        seal = make_seal(len(before) + 1, act, listed, before[-1].digest if before else None, self._wall())
        announced, target = self.root / ANNOUNCED, self.root / seal_path(seal.number)
        with write_errors(announced):
            publish(self._temp_dir, announced, encode_seal(seal))
        for path, data in files.items():
            if path.startswith("pins/"):
                self.pin(f"sha256:{path[5:-5]}", data)
            else:
                self.add(path, data)
        with write_errors(target):
            _flush_all(self._added)
            create_dir(target.parent, self.root)
            self._fault_point("store.seal")
            target.hardlink_to(announced)
            flush_dir(target.parent)
            announced.unlink()
        self._added.clear()
        return seal

    def _wall(self) -> str:
        return self._clock()[1]

    def _packing(self, trial: str, attempt: int) -> Packing:
        return Packing(self.root, self._temp_dir, trial, attempt, self._fault_point)

    def _require_trial_name(self, trial: str) -> None:
        if "/" in trial or not is_stored_path(packed_path(trial, 1)):
            raise HarnessError("E-STORE-PATH", "a trial id must be usable as a file name", where=trial)


def _require_empty(path: Path) -> None:
    if not os.path.lexists(path):
        return
    if path.is_symlink() or not path.is_dir():
        raise UsageError("E-OUT-NOT-DIR", "the output is something else than a directory", where=str(path))
    if next(path.iterdir(), None) is not None:
        raise UsageError(
            "E-OUT-NOT-EMPTY",
            "the output directory is not empty",
            where=str(path),
            hint="a series is never extended in place: name a new directory",
        )


def _create_root(path: Path) -> None:
    """Make the directory itself. Raises: UsageError `E-OUT-WRITE`: nothing has been written then."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.mkdir(mode=0o700, exist_ok=True)
        path.chmod(0o700)
    except OSError as error:
        told = f"no directory can be made there: {error.strerror or error}"
        raise UsageError("E-OUT-WRITE", told, where=str(path), hint="name a directory that can be written") from error


def _fresh_temp_dir(root: Path) -> Path:
    """Make the directory for files that have no name yet; what a crash left there was never evidence."""
    temp_dir = root / _TEMP
    with write_errors(temp_dir):
        temp_dir.mkdir(mode=0o700, exist_ok=True)
        for left in temp_dir.iterdir():
            left.unlink()
    return temp_dir


def _take_back(root: Path) -> None:
    """Remove what an unfinished act wrote: no seal lists it, and its own was never in force."""
    with SeriesReader(root) as reader:
        announced = reader.read(ANNOUNCED)
        left = frozenset() if announced is None else unfinished(announced, reader.seals())
        there = [path for path in sorted(left) if reader.file(path) is not None]
    with write_errors(root):
        for path in there:
            (root / path).unlink()
            flush_dir((root / path).parent)


def _flush_all(paths: list[Path]) -> None:
    if len(paths) > 64:
        os.sync()
        return
    for path in paths:
        flush_path(path)
        flush_dir(path.parent)
