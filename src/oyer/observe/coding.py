"""The coding of a body that came over HTTP: taken off where it is one that can be.

Owns gzip, deflate and zstd. Must never fail on what a peer sends, nor let a small body become an endless one.
"""

from __future__ import annotations

import zlib
from typing import Final

import zstandard

__all__ = ["decoded"]

_MAX_DECODED_BYTES: Final = 64 * 1024 * 1024


def decoded(body: bytes, encoding: str | None) -> bytes | None:
    """Return a body without its coding, None where that cannot be taken off."""
    coding = (encoding or "identity").strip().lower()
    if coding == "identity" or not body:
        return body
    try:
        if coding == "zstd":
            with zstandard.ZstdDecompressor().stream_reader(body, read_across_frames=True) as reader:
                return reader.read(_MAX_DECODED_BYTES)
        return _inflated(body) if coding in ("gzip", "x-gzip", "deflate") else None
    except (zlib.error, zstandard.ZstdError):
        return None


def _inflated(body: bytes) -> bytes:
    """Take off gzip or zlib, whichever header is there; a gzip file may have several members, one after the other."""
    plain = bytearray()
    while body and len(plain) < _MAX_DECODED_BYTES:
        member = zlib.decompressobj(zlib.MAX_WBITS | 32)
        plain += member.decompress(body, _MAX_DECODED_BYTES - len(plain))
        body = member.unused_data if member.eof else b""
    return bytes(plain)
