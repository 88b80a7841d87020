"""Where a secret hides from a plain search: in a packed body, and in the pieces of a stream of events.

Owns the unpacking of what is compressed, and the texts that a reader of a stream puts together. Pure; must never fail
on what an agent or an endpoint sends: what cannot be read is taken as it stands.
"""

from __future__ import annotations

import json
import re
import zlib
from collections.abc import Iterator
from typing import Final, NamedTuple

import zstandard

__all__ = ["Piece", "streamed_texts", "unpacked"]

_MOST_UNPACKED_BYTES: Final = 64 * 1024 * 1024
_GZIP: Final = b"\x1f\x8b"
_ZSTD: Final = b"\x28\xb5\x2f\xfd"
_TOKEN: Final = re.compile(rb'"(?:[^"\\]|\\.)*"|[{}\[\],]', re.DOTALL)
_LINE: Final = re.compile(rb"^data:[^\r\n]*", re.MULTILINE)

_Place = tuple[object, ...]


class Piece(NamedTuple):
    """One JSON text of a stream: its bytes `start` to `end` (quotes included), and what it says, in UTF-8."""

    start: int
    end: int
    said: bytes


def unpacked(raw: bytes) -> bytes | None:
    """Return what a gzip, zlib or zstd body holds, as far as it can be read and up to 64 MiB; None for other bodies."""
    try:
        if raw.startswith(_GZIP) or (raw[:1] == b"\x78" and len(raw) > 2 and int.from_bytes(raw[:2]) % 31 == 0):
            return zlib.decompressobj(zlib.MAX_WBITS | 32).decompress(raw, _MOST_UNPACKED_BYTES)
        if raw.startswith(_ZSTD):
            with zstandard.ZstdDecompressor().stream_reader(raw) as reader:
                return reader.read(_MOST_UNPACKED_BYTES)
    except (zlib.error, zstandard.ZstdError):
        return None
    return None


def streamed_texts(raw: bytes) -> Iterator[list[Piece]]:
    """Yield the texts that stand in one place of several events (or members of an array), in their order.

    Source: the HTML standard, 9.2 (`data:` lines); each line is read as an event of its own.
    """
    events = [(match.start() + 5, match.end()) for match in _LINE.finditer(raw)]
    if not events and raw.lstrip()[:1] == b"[":
        events = [(0, len(raw))]
    places: dict[_Place, list[Piece]] = {}
    for start, end in events:
        for place, piece in _texts(raw, start, end):
            places.setdefault(place, []).append(piece)
    return (pieces for pieces in places.values() if len(pieces) > 1)


def _texts(raw: bytes, start: int, end: int) -> Iterator[tuple[_Place, Piece]]:
    """Yield the texts of one JSON value; a top array is what an API sends in the place of events."""
    stack: list[object] = []
    expects_key = False
    for match in _TOKEN.finditer(raw, start, end):
        token = match.group()
        if token == b"{":
            stack.append(None)
            expects_key = True
        elif token == b"[":
            stack.append(0)
            expects_key = False
        elif token in (b"}", b"]"):
            if stack:
                stack.pop()
            expects_key = False
        elif token == b",":
            top = stack[-1] if stack else None
            expects_key = bool(stack) and not isinstance(top, int)
            if isinstance(top, int):
                stack[-1] = top + 1
        elif expects_key:
            stack[-1], expects_key = token, False
        else:
            said = _said(token)
            if said is not None:
                place = stack[1:] if stack and isinstance(stack[0], int) else stack
                yield tuple(place), Piece(match.start(), match.end(), said)


def _said(token: bytes) -> bytes | None:
    try:
        text: str = json.loads(token, strict=False)
    except ValueError:
        return None
    return text.encode("utf-8", "surrogatepass")
