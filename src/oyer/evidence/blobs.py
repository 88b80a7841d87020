"""Blobs: large contents, compressed one by one and named by the digest of what they hold.

Owns the stored form (one zstd frame with content size and checksum) and the path of a blob. Must never inflate
beyond a limit the caller states, and never accept a frame with anything after it.

Source: RFC 8878 (zstd frame header: content size, checksum).
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator
from itertools import chain

import zstandard

from oyer.errors import EvidenceError
from oyer.evidence.canonical import DIGEST_PATTERN

__all__ = [
    "FRAME_HEAD_BYTES",
    "blob_path",
    "content_size",
    "decode_blob",
    "digest_hex",
    "encode_blob",
    "measure_blob",
    "measure_blob_pieces",
]

_LEVEL = 3
# One block of a frame unfolds to at most 128 KiB and takes at least four bytes: a piece gives at most 32 MiB.
_PIECE_BYTES = 1024
# Up to this size, stored and unfolded, a content is measured in one step.
_WHOLE_BYTES = 8 << 20
_DIGEST = re.compile(DIGEST_PATTERN)
FRAME_HEAD_BYTES = 18
"""The longest header a frame can have. Source: RFC 8878 section 3.1.1.1."""


def encode_blob(raw: bytes) -> bytes:
    """Compress one content into its stored bytes."""
    compressor = zstandard.ZstdCompressor(level=_LEVEL, write_content_size=True, write_checksum=True)
    return compressor.compress(raw)


def decode_blob(stored: bytes, limit_bytes: int) -> bytes:
    """Return the content of stored bytes; at most `limit_bytes` are ever allocated for it.

    Raises: EvidenceError `E-BLOB-FORM`, `E-BLOB-LIMIT`.
    """
    header = _header(stored)
    if header.content_size > limit_bytes:
        raise EvidenceError("E-BLOB-LIMIT", f"{header.content_size} bytes of content, at most {limit_bytes} allowed")
    try:
        raw = zstandard.ZstdDecompressor().decompress(stored, allow_extra_data=False)
    except zstandard.ZstdError as error:
        raise EvidenceError("E-BLOB-FORM", f"damaged frame: {error}") from error
    if len(raw) != header.content_size:
        raise EvidenceError("E-BLOB-FORM", "the content is not as long as the frame states")
    return raw


def measure_blob(stored: bytes) -> tuple[str, int]:
    """Return digest and size of the content of stored bytes, as `measure_blob_pieces` does."""
    return measure_blob_pieces((stored,))


def measure_blob_pieces(pieces: Iterable[bytes]) -> tuple[str, int]:
    """Return digest and size of the content of stored bytes given in pieces, unfolding a small one at a time.

    The first piece must hold the whole frame header (18 bytes), or everything. Raises: EvidenceError `E-BLOB-FORM`.
    """
    pieces = iter(pieces)
    first = next(pieces, b"")
    header = _header(first)
    if max(header.content_size, len(first)) <= _WHOLE_BYTES:
        stored = first + b"".join(_at_most(pieces, _WHOLE_BYTES - len(first)))
        if len(stored) <= _WHOLE_BYTES:
            raw = decode_blob(stored, _WHOLE_BYTES)
            return "sha256:" + hashlib.sha256(raw).hexdigest(), len(raw)
        first = stored
    return _unfold(header, chain((first,), pieces))


def _at_most(pieces: Iterator[bytes], limit_bytes: int) -> Iterator[bytes]:
    """Yield pieces until more than `limit_bytes` were taken."""
    taken = 0
    while taken <= limit_bytes and (piece := next(pieces, None)) is not None:
        taken += len(piece)
        yield piece


def _unfold(header: zstandard.FrameParameters, pieces: Iterable[bytes]) -> tuple[str, int]:
    """Unfold a large frame a small piece at a time: what one piece gives is bounded, whatever the header says."""
    unfolding = zstandard.ZstdDecompressor().decompressobj()
    state, size = hashlib.sha256(), 0
    try:
        for piece in pieces:
            for at in range(0, len(piece), _PIECE_BYTES):
                if unfolding.eof:
                    raise EvidenceError("E-BLOB-FORM", "the stored bytes are not exactly one frame")
                content = unfolding.decompress(piece[at : at + _PIECE_BYTES])
                state.update(content)
                size += len(content)
    except zstandard.ZstdError as error:
        raise EvidenceError("E-BLOB-FORM", f"damaged frame: {error}") from error
    if not unfolding.eof or unfolding.unused_data:
        raise EvidenceError("E-BLOB-FORM", "the stored bytes are not exactly one frame")
    if size != header.content_size:
        raise EvidenceError("E-BLOB-FORM", "the content is not as long as the frame states")
    return "sha256:" + state.hexdigest(), size


def content_size(head: bytes) -> int | None:
    """Return how many bytes a frame says it unfolds to, from its first 18 bytes; None where it does not say."""
    try:
        return _header(head).content_size
    except EvidenceError:
        return None


def _header(stored: bytes) -> zstandard.FrameParameters:
    try:
        header = zstandard.get_frame_parameters(stored)
    except zstandard.ZstdError as error:
        raise EvidenceError("E-BLOB-FORM", f"not a zstd frame: {error}") from error
    if header.content_size == zstandard.CONTENTSIZE_UNKNOWN or not header.has_checksum:
        raise EvidenceError("E-BLOB-FORM", "the frame states no content size or holds no checksum")
    return header


def digest_hex(digest: str) -> str:
    """Return the hexadecimal part of a digest, as it stands in file names.

    Raises: EvidenceError `E-DIGEST-FORM`.
    """
    if _DIGEST.match(digest) is None:
        raise EvidenceError("E-DIGEST-FORM", f"not a digest: {digest!r}")
    return digest.removeprefix("sha256:")


def blob_path(digest: str) -> str:
    """Return where a blob stands in a series: `blobs/ab/<hex>.zst`."""
    name = digest_hex(digest)
    return f"blobs/{name[:2]}/{name}.zst"
