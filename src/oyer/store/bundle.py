"""Writing a bundle: a sealed series in one file, the same bytes for the same series.

Owns what goes in (every sealed file and every seal; not the derived index, not what a crash left) and the order of
work: measured, compared with the seals, listed, signed, written, measured again on the way. Must never bundle a series
that was not closed or that its own seals disown, overwrite a file, or leave half a bundle under its name.
"""

from __future__ import annotations

import hashlib
import os
import secrets
from collections.abc import Callable, Iterator, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import NamedTuple

import msgspec

from oyer.errors import EvidenceError, UsageError
from oyer.evidence import (
    ANNOUNCED,
    ARCHIVE_END,
    MANIFEST_NAME,
    SERIES_PREFIX,
    SIGNATURE_NAME,
    Manifest,
    Signed,
    StoredFile,
    can_withhold,
    check_archive,
    check_ledger,
    check_seals,
    check_unfolding,
    encode_manifest,
    encode_signed,
    is_sealable,
    make_bundle_statement,
    make_manifest,
    member_header,
    member_padding,
    parse_seal,
    unfinished,
)
from oyer.store.archive import ArchiveFile
from oyer.store.durable import append_all, flush, flush_dir, open_new, write_errors
from oyer.store.reader import SeriesReader

__all__ = ["Sign", "WrittenBundle", "make_parents", "require_new_file", "write_bundle"]

Sign = Callable[[bytes], Signed]
"""Signs the payload of an envelope."""


class WrittenBundle(NamedTuple):
    """What was written: `files` counts the members under `series/`; `withheld` are paths of the series left out."""

    path: Path
    size: int
    sha256: str
    series: str
    head: str
    files: int
    withheld: tuple[str, ...]
    keyid: str | None


def write_bundle(
    series: Path, target: Path, *, withhold: Sequence[str] = (), sign: Sign | None = None
) -> WrittenBundle:
    """Write the bundle of a series directory into a new file; the same series gives the same bytes.

    `withhold` are patterns over paths in the series (`blobs/*`; a star goes over slashes too).

    Raises: UsageError `E-BUNDLE-OPEN`, `E-OUT-EXISTS`, `E-WITHHOLD-NONE`, `E-WITHHOLD-KEPT`; EvidenceError where the
    series is not what its seals say; HarnessError `E-STORE-WRITE`.
    """
    require_new_file(target)
    with SeriesReader(series) as reader:
        seals = reader.seals()
        if not seals or not check_ledger(reader.ledger_bytes()).closed:
            raise UsageError(
                "E-BUNDLE-OPEN", "the series is not closed: nothing seals it yet", where=str(series), hint="finish it"
            )
        sizes = _sealed_sizes(seals)
        files = [_measure(reader, path, sizes.get(path)) for path in _paths(reader)]
        _require_sealed(seals, files)
        left_out = _withheld([file.path for file in files], withhold)
        manifest = make_manifest(
            (_as_member(file) for file in files if file.path not in left_out),
            (_as_member(file) for file in files if file.path in left_out),
        )
        name, head = _series_id(reader.manifest()), parse_seal(seals[-1]).digest
        signed = None if sign is None else sign(make_bundle_statement(manifest, name, head))
        make_parents(target)
        sha256, size = _write(reader, target, manifest, signed)
    return WrittenBundle(
        path=target,
        size=size,
        sha256=sha256,
        series=name,
        head=head,
        files=len(manifest.files),
        withheld=tuple(sorted(left_out)),
        keyid=None if signed is None else signed.keyid,
    )


def require_new_file(target: Path) -> None:
    """Refuse a name that is taken, or in what can be no directory; its directory need not be there yet.

    Raises: UsageError `E-OUT-EXISTS`, `E-PATH`.
    """
    if os.path.lexists(target):
        raise UsageError("E-OUT-EXISTS", "something is there already", where=str(target), hint="name a new file")
    nearest = next((parent for parent in target.parents if os.path.lexists(parent)), None)
    if nearest is not None and not nearest.is_dir():
        raise UsageError("E-PATH", "it is no directory: nothing can be made in it", where=str(nearest))


def make_parents(target: Path) -> None:
    """Make the directories that a new file will lie in. Raises: UsageError `E-PATH`."""
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        told = f"no directory can be made there: {error.strerror or error}"
        raise UsageError("E-PATH", told, where=str(target.parent)) from error


def _paths(reader: SeriesReader) -> list[str]:
    announced = reader.read(ANNOUNCED)
    left = frozenset() if announced is None else unfinished(announced, reader.seals())
    kept = (p for p in reader.paths() if not p.startswith(".tmp/") and p not in left)
    return [p for p in kept if p.startswith("seals/") or is_sealable(p)]


def _measure(reader: SeriesReader, path: str, listed: int | None) -> StoredFile:
    """Return size and digest of a file; one of another size than its seal lists is refused before it is hashed."""
    size = reader.size(path)
    if size is not None and listed is not None and size != listed:
        raise EvidenceError("E-SEAL-CHANGED", f"it has {size} bytes and its seal lists {listed}", where=path)
    file = reader.file(path)
    if file is None:
        raise EvidenceError("E-STORE-MISSING", "a file went away while the series was read")
    return file


def _sealed_sizes(seals: Sequence[bytes]) -> dict[str, int]:
    return {file.path: file.size for data in seals for file in parse_seal(data).files}


def _require_sealed(seals: Sequence[bytes], files: Sequence[StoredFile]) -> None:
    """A signature would vouch for what the seals do not: refuse. What is in no seal yet is for `verify` to tell."""
    defects = [d for d in check_seals(seals, {file.path: file for file in files}) if d.code != "E-SEAL-UNSEALED"]
    if defects:
        raise EvidenceError.of(defects)


def _withheld(paths: Sequence[str], patterns: Sequence[str]) -> frozenset[str]:
    found: set[str] = set()
    for pattern in patterns:
        matching = {path for path in paths if fnmatchcase(path, pattern)}
        if not matching:
            raise UsageError("E-WITHHOLD-NONE", f"no file of the series matches {pattern!r}", where="--withhold")
        kept = sorted(path for path in matching if not can_withhold(path))
        if kept:
            raise UsageError(
                "E-WITHHOLD-KEPT",
                f"{pattern!r} matches {kept[0]}, which ties the rest together",
                where="--withhold",
                hint="for example blobs/*, trials/* or pins/*",
            )
        found |= matching
    return frozenset(found)


def _as_member(file: StoredFile) -> StoredFile:
    return StoredFile(path=SERIES_PREFIX + file.path, sha256=file.sha256, size=file.size)


def _series_id(manifest: bytes) -> str:
    try:
        return str(msgspec.json.decode(manifest)["series"])
    except (msgspec.MsgspecError, ValueError, RecursionError, LookupError, TypeError) as error:
        raise EvidenceError("E-RECORD-KIND", "not the manifest of a series", where="series.json") from error


def _write(reader: SeriesReader, target: Path, manifest: Manifest, signed: Signed | None) -> tuple[str, int]:
    """Write under a temporary name, look at the archive as a reader would, and give it its own name in one step."""
    temporary = target.parent / f".{target.name}.{secrets.token_hex(8)}"
    state, size = hashlib.sha256(), 0
    with write_errors(target):
        fd = open_new(temporary)
        try:
            try:
                for piece in _archive(reader, manifest, signed):
                    append_all(fd, piece)
                    state.update(piece)
                    size += len(piece)
                flush(fd)
            finally:
                os.close(fd)
            _require_readable(temporary)
            _give_name(temporary, target)
        finally:
            temporary.unlink(missing_ok=True)
        flush_dir(target.parent)
    return "sha256:" + state.hexdigest(), size


def _archive(reader: SeriesReader, manifest: Manifest, signed: Signed | None) -> Iterator[bytes]:
    yield from _whole(MANIFEST_NAME, encode_manifest(manifest))
    for file in manifest.files:
        yield member_header(file.path, file.size)
        yield from _copied(reader, file)
        yield member_padding(file.size)
    if signed is not None:
        yield from _whole(SIGNATURE_NAME, encode_signed(signed))
    yield ARCHIVE_END


def _whole(path: str, data: bytes) -> Iterator[bytes]:
    yield member_header(path, len(data)) + data + member_padding(len(data))


def _copied(reader: SeriesReader, file: StoredFile) -> Iterator[bytes]:
    """Yield a file as it was listed. Raises: EvidenceError `E-BUNDLE-CHANGED`."""
    path = file.path.removeprefix(SERIES_PREFIX)
    state, size = hashlib.sha256(), 0
    for piece in reader.pieces(path) or ():
        state.update(piece)
        size += len(piece)
        if size > file.size:
            break
        yield piece
    if size != file.size or "sha256:" + state.hexdigest() != file.sha256:
        raise EvidenceError("E-BUNDLE-CHANGED", "the file changed while it was bundled", where=path)


def _require_readable(path: Path) -> None:
    source = ArchiveFile(path)
    try:
        found = check_archive(source)
        defects = (*found.defects, *check_unfolding(source, found.members))
    finally:
        source.close()
    if defects:
        raise EvidenceError.of(defects)


def _give_name(temporary: Path, target: Path) -> None:
    try:
        target.hardlink_to(temporary)  # a link fails where a rename would overwrite
    except FileExistsError as error:
        raise UsageError("E-OUT-EXISTS", "something is there already", where=str(target)) from error
