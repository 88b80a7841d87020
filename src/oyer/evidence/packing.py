"""Packing: all journals of one attempt in one deterministic file.

Owns the form: a ustar archive (sorted names, mode 0600, no owner, no time) in one zstd frame. Must never extract to a
disk, and never accept an archive that packing its own contents again would not give: that one rule refuses links,
directories, duplicates, other orders, hidden bytes in padding and anything after the end.

Source: POSIX.1-1988 ustar.
"""

from __future__ import annotations

import io
import tarfile
from collections.abc import Mapping

from oyer.errors import EvidenceError
from oyer.evidence.attempt import writer_of
from oyer.evidence.blobs import decode_blob, encode_blob
from oyer.evidence.canonical import digest_of

__all__ = ["attempt_dir", "pack", "packed_path", "unpack"]

_BLOCK = 512


def attempt_dir(trial: str, attempt: int) -> str:
    """Return where an attempt stands in a series while it runs."""
    return f"trials/{digest_of(trial.encode())[7:9]}/{trial}/{attempt}"


def packed_path(trial: str, attempt: int) -> str:
    """Return where an attempt stands in a series once packed."""
    return attempt_dir(trial, attempt) + ".tar.zst"


def pack(journals: Mapping[str, bytes]) -> bytes:
    """Return the stored bytes for journals given as file name -> bytes. Equal journals give equal bytes.

    Raises: EvidenceError `E-PACK-NAME`.
    """
    return encode_blob(_archive(journals))


def unpack(stored: bytes, limit_bytes: int) -> dict[str, bytes]:
    """Return file name -> bytes of a packed attempt, allocating at most `limit_bytes` for the archive.

    Raises: EvidenceError `E-BLOB-FORM`, `E-BLOB-LIMIT`, `E-PACK-NAME`, `E-PACK-FORM`.
    """
    archive = decode_blob(stored, limit_bytes)
    journals: dict[str, bytes] = {}
    at = 0
    while archive[at : at + _BLOCK].strip(b"\x00"):
        try:
            member = tarfile.TarInfo.frombuf(archive[at : at + _BLOCK], "utf-8", "strict")
        except (tarfile.HeaderError, ValueError) as error:
            raise EvidenceError("E-PACK-FORM", f"damaged archive at byte {at}: {error}") from error
        if member.type != tarfile.REGTYPE or member.size < 0 or member.name in journals:
            raise EvidenceError("E-PACK-FORM", "the archive holds something that is no plain file", where=member.name)
        at += _BLOCK
        journals[member.name] = archive[at : at + member.size]
        at += _padded(member.size)
    if _archive(journals) != archive:
        raise EvidenceError("E-PACK-FORM", "the archive is not in the one form its contents have")
    return journals


def _archive(journals: Mapping[str, bytes]) -> bytes:
    _check_names(journals)
    out = io.BytesIO()
    for name in sorted(journals):
        member = tarfile.TarInfo(name)
        member.size = len(journals[name])
        member.mode = 0o600
        out.write(member.tobuf(tarfile.USTAR_FORMAT, "utf-8", "strict"))
        out.write(journals[name])
        out.write(b"\x00" * (_padded(member.size) - member.size))
    out.write(b"\x00" * (2 * _BLOCK))
    return out.getvalue()


def _check_names(journals: Mapping[str, bytes]) -> None:
    folded: set[str] = set()
    for name in journals:
        if writer_of(name) is None:
            raise EvidenceError("E-PACK-NAME", f"not the name of a journal: {name!r}")
        if name.casefold() in folded:
            raise EvidenceError("E-PACK-NAME", f"two names differ only in case: {name!r}")
        folded.add(name.casefold())


def _padded(size: int) -> int:
    return -(-size // _BLOCK) * _BLOCK
