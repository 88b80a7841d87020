"""Tampering with a golden series: what a forger would do, from one byte to a consistent forgery of every digest.

`Forger` rewrites parts and then mends what refers to them (chains, packed digests, ledger, seals), so that only the
one check that looks at the thing itself can notice.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from oyer.evidence import (
    ABSENT_DIGEST,
    StoredFile,
    digest_of,
    encode_canonical,
    encode_seal,
    is_sealable,
    make_seal,
    pack,
    packed_path,
    parse_seal,
    seal_path,
    unpack,
)
from oyer.store import SeriesReader
from oyer.verify import Verification, verify_series

Lines = list[dict[str, Any]]
Spoil = Callable[[dict[str, Any], bytes], bytes]
LIMIT_BYTES = 1 << 24


def as_it_is(_event: dict[str, Any], line: bytes) -> bytes:
    """Leave a line in its canonical form."""
    return line


def verify(root: Path) -> Verification:
    """Verify a series directory."""
    with SeriesReader(root) as reader:
        return verify_series(reader)


def statuses(found: Verification) -> dict[int, str]:
    """Return the status of every check by its number."""
    return {check.number: check.status for check in found.checks}


def failing(found: Verification) -> set[int]:
    """Return the numbers of the checks that failed."""
    return {check.number for check in found.checks if check.status == "failed"}


def told(found: Verification) -> str:
    """Return every finding of every check as one text."""
    return "\n".join(line for check in found.checks for line in check.lines())


class Forger:
    """A copy of a series that can be changed, with everything that refers to the change mended."""

    def __init__(self, root: Path) -> None:
        self.root = root

    @classmethod
    def copy(cls, source: Path, to: Path) -> Forger:
        """Copy a series to where it may be forged."""
        shutil.copytree(source, to)
        return cls(to)

    def read(self, path: str) -> bytes:
        """Return a stored file."""
        return (self.root / path).read_bytes()

    def write(self, path: str, data: bytes) -> None:
        """Put a stored file in place of the one that is there."""
        (self.root / path).write_bytes(data)

    def paths(self) -> list[str]:
        """Return the path of every file, in order."""
        return [p.relative_to(self.root).as_posix() for p in sorted(self.root.rglob("*")) if p.is_file()]

    def path(self, pattern: str) -> Path:
        """Return the one file that a pattern names."""
        (found,) = self.root.glob(pattern)
        return found

    def trial(self, word: str) -> str:
        """Return the planned trial whose name ends in a word."""
        plan = json.loads(self.read("plan.json"))
        (found,) = [item["trial"] for item in plan["trials"] if item["trial"].endswith(word)]
        return str(found)

    def journals(self, trial: str) -> dict[str, bytes]:
        """Return the journals of the first attempt of a trial."""
        return unpack(self.read(packed_path(trial, 1)), LIMIT_BYTES)

    def repack(self, trial: str, journals: Mapping[str, bytes]) -> None:
        """Pack other journals for a trial and mend the ledger."""
        stored = pack(journals)
        self.write(packed_path(trial, 1), stored)

        def mend(records: Lines) -> None:
            for record in records:
                if record["trial"] == trial and record["kind"] == "sealed":
                    record["digest"] = digest_of(stored)

        self.edit_ledger(mend)

    def edit_ledger(self, edit: Callable[[Lines], object]) -> None:
        """Change the ledger's records and chain them again."""
        records = [json.loads(line) for line in self.read("ledger.jsonl").split(b"\n") if line]
        edit(records)
        prev, lines = ABSENT_DIGEST, []
        for seq, record in enumerate(records):
            record["seq"], record["prev"] = seq, prev
            lines.append(encode_canonical(record))
            prev = digest_of(lines[-1])
        self.write("ledger.jsonl", b"".join(line + b"\n" for line in lines))

    def edit_events(
        self, trial: str, name: str, edit: Callable[[Lines], object] = lambda _: None, *, spoil: Spoil = as_it_is
    ) -> None:
        """Change the events of one journal, chain them again, and mend `trial.closed`, the pack and the ledger.

        `spoil` may give an event another byte form than the canonical one; the chain is made over that form.
        """
        journals = self.journals(trial)
        events = events_of(journals[name])
        edit(events)
        journals[name] = chained(events, spoil)
        if name != "harness.jsonl":
            harness = events_of(journals["harness.jsonl"])
            writer = name.removesuffix(".jsonl").replace(".", ":", 1)
            head = digest_of(journals[name].rstrip(b"\n").rpartition(b"\n")[2])
            for event in harness:
                if event["kind"] == "trial.closed":
                    event["body"]["writers"][writer] = {"length": len(events), "head": head}
            journals["harness.jsonl"] = chained(harness)
        self.repack(trial, journals)

    def edit_json(self, path: Path | str, edit: Callable[[dict[str, Any]], object]) -> None:
        """Change a record and keep its canonical form."""
        name = path if isinstance(path, str) else path.relative_to(self.root).as_posix()
        value = json.loads(self.read(name))
        edit(value)
        self.write(name, encode_canonical(value))

    def reseal(self) -> None:
        """Write every seal anew: each file that is there now in the seal that listed it, new files in the first."""
        seals = [path for path in self.paths() if path.startswith("seals/")]
        before = [parse_seal(self.read(path)) for path in seals]
        where = {file.path: seal.number for seal in before for file in seal.files}
        present = [path for path in self.paths() if is_sealable(path) and not path.startswith(".tmp/")]
        prev = None
        for seal in before:
            files = [self._stored(path) for path in present if where.get(path, 1) == seal.number]
            made = make_seal(seal.number, seal.act, files, prev, seal.t_wall)
            self.write(seal_path(seal.number), encode_seal(made))
            prev = made.digest

    def _stored(self, path: str) -> StoredFile:
        data = self.read(path)
        return StoredFile(path=path, sha256=digest_of(data), size=len(data))


def flip(path: Path, at: int = -2, mask: int = 1) -> None:
    """Change one byte of a file."""
    data = bytearray(path.read_bytes())
    data[at] ^= mask
    path.write_bytes(bytes(data))


def events_of(data: bytes) -> Lines:
    return [json.loads(line) for line in data.split(b"\n") if line]


def chained(events: Lines, spoil: Spoil = as_it_is) -> bytes:
    """Chain events again: sequence numbers, links, and what `sealed` states."""
    prev, lines = ABSENT_DIGEST, []
    for seq, event in enumerate(events):
        event["seq"], event["prev"] = seq, prev
        if event["kind"] == "sealed":
            event["body"] = {"length": seq, "head": prev}
        lines.append(spoil(event, encode_canonical(event)))
        prev = digest_of(lines[-1])
    return b"".join(line + b"\n" for line in lines)
