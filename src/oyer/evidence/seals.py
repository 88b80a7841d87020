"""Seals: every closing act lists each stored file it added, and the seal before it.

Owns the form of a seal and the rules that tie seals to each other and to the stored files. Must never list a seal, the
derived index or a ledger that can still grow, and never raise from a `check_` function.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from oyer.errors import EvidenceError, Problem
from oyer.evidence.canonical import (
    ABSENT_DIGEST,
    DIGEST_PATTERN,
    MAX_SAFE_INT,
    digest_of,
    encode_canonical,
    explain_form,
)
from oyer.evidence.events import WALL_TIME_PATTERN

__all__ = [
    "ACTS",
    "Seal",
    "StoredFile",
    "check_seals",
    "encode_seal",
    "is_sealable",
    "is_stored_path",
    "make_seal",
    "parse_seal",
    "seal_path",
]

Act = Literal["run", "judge", "interpret", "report", "import"]
ACTS: tuple[Act, ...] = ("run", "judge", "interpret", "report", "import")

_Count = Annotated[int, Meta(ge=0, le=MAX_SAFE_INT)]
_Digest = Annotated[str, Meta(pattern=DIGEST_PATTERN)]
_SEGMENT = re.compile(r"^[A-Za-z0-9_][A-Za-z0-9_.+=,@~-]{0,254}\Z")
_UNSEALED = frozenset({"index.sqlite", "index.sqlite-wal", "index.sqlite-shm", "index.sqlite-journal"})


class StoredFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True, gc=False):
    """One stored file: its path inside the series, digest and size of the bytes as they stand on disk."""

    path: str
    sha256: _Digest
    size: _Count


class Seal(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One closing act. `prev` is the `digest` of the seal before; `digest` is of this seal without itself."""

    act: Act
    digest: _Digest
    files: tuple[StoredFile, ...]
    number: Annotated[int, Meta(ge=1, le=MAX_SAFE_INT)]
    prev: _Digest | None
    t_wall: Annotated[str, Meta(pattern=WALL_TIME_PATTERN)]


_DECODER = msgspec.json.Decoder(Seal)


def seal_path(number: int) -> str:
    """Return where a seal stands in a series: `seals/001.json`."""
    return f"seals/{number:03d}.json"


def is_stored_path(path: str) -> bool:
    """Whether a path may name a stored file: relative, plain segments, no links up, no hidden names."""
    return all(_SEGMENT.match(segment) for segment in path.split("/"))


def is_sealable(path: str) -> bool:
    """Whether a stored file belongs in a seal: seals and the derived index do not."""
    return not path.startswith("seals/") and path not in _UNSEALED


def make_seal(number: int, act: Act, files: Sequence[StoredFile], prev: str | None, t_wall: str) -> Seal:
    """Build a seal over files in any order.

    Raises: EvidenceError `E-SEAL-FORM`, `E-SEAL-PATH`, `E-SEAL-TWICE`.
    """
    ordered = tuple(sorted(files, key=lambda file: file.path))
    seal = Seal(act=act, digest=ABSENT_DIGEST, files=ordered, number=number, prev=prev, t_wall=t_wall)
    seal = msgspec.structs.replace(seal, digest=_digest_of(seal))
    return parse_seal(encode_seal(seal))


def encode_seal(seal: Seal) -> bytes:
    """Return the canonical bytes of a seal."""
    return encode_canonical(seal)


def parse_seal(data: bytes) -> Seal:
    """Parse one seal and prove its form, its own digest and the paths it lists.

    Raises: EvidenceError `E-SEAL-FORM`, `E-SEAL-CANONICAL`, `E-SEAL-DIGEST`, `E-SEAL-PATH`, `E-SEAL-TWICE`.
    """
    try:
        seal = _DECODER.decode(data)
    except (msgspec.MsgspecError, ValueError, RecursionError) as error:
        raise EvidenceError("E-SEAL-FORM", f"not a seal: {error}") from error
    if encode_seal(seal) != data:
        raise EvidenceError("E-SEAL-CANONICAL", explain_form(data))
    if seal.digest != _digest_of(seal):
        raise EvidenceError("E-SEAL-DIGEST", "the seal is not what its digest says", where=seal_path(seal.number))
    paths = [file.path for file in seal.files]
    for path in paths:
        if not (is_stored_path(path) and is_sealable(path)):
            raise EvidenceError("E-SEAL-PATH", f"a seal cannot list {path!r}", where=seal_path(seal.number))
    if any(first >= second for first, second in pairwise(paths)):
        raise EvidenceError("E-SEAL-TWICE", "files stand twice or out of order", where=seal_path(seal.number))
    return seal


def _digest_of(seal: Seal) -> str:
    fields = {name: getattr(seal, name) for name in seal.__struct_fields__ if name != "digest"}
    return digest_of(encode_canonical(fields))


def check_seals(seals: Sequence[bytes], stored: Mapping[str, StoredFile]) -> tuple[Problem, ...]:
    """Check seals (in order of their numbers) against each other and against all stored files of a series.

    `stored` holds every file that is there, by path; seals and index are skipped. Codes: `E-SEAL-*` of `parse_seal`,
    `E-SEAL-NUMBER`, `E-SEAL-PREV`, `E-SEAL-MISSING`, `E-SEAL-CHANGED`, `E-SEAL-UNSEALED`, `E-SEAL-TWICE`.
    """
    defects: list[Problem] = []
    listed: dict[str, int] = {}
    prev: str | None = None
    for number, data in enumerate(seals, start=1):
        try:
            seal = parse_seal(data)
        except EvidenceError as error:
            defects.append(Problem(error.code, error.problems[0].message, seal_path(number)))
            continue
        if seal.number != number:
            defects.append(Problem("E-SEAL-NUMBER", f"seal {seal.number} stands as {number}", seal_path(number)))
        if seal.prev != prev:
            defects.append(Problem("E-SEAL-PREV", "prev is not the seal before", seal_path(number)))
        prev = seal.digest
        for file in seal.files:
            defects.extend(_check_file(file, number, listed, stored))
    unsealed = sorted(path for path in stored if is_sealable(path) and path not in listed)
    defects.extend(Problem("E-SEAL-UNSEALED", "the file is in no seal", path) for path in unsealed)
    return tuple(defects)


def _check_file(
    file: StoredFile, number: int, listed: dict[str, int], stored: Mapping[str, StoredFile]
) -> list[Problem]:
    if file.path in listed:
        return [Problem("E-SEAL-TWICE", f"the file is in seals {listed[file.path]} and {number}", file.path)]
    listed[file.path] = number
    found = stored.get(file.path)
    if found is None:
        return [Problem("E-SEAL-MISSING", f"the file of seal {number} is not there", file.path)]
    if found != file:
        return [Problem("E-SEAL-CHANGED", f"the file is not the one seal {number} lists", file.path)]
    return []
