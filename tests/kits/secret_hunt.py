"""A search for secrets in everything that was written, which shares nothing with what took them out.

Every file is unpacked (zstd, gzip), read as it stands, with its escapes undone, with its percent signs undone, as
base64 at each alignment, and as what a reader of its streams puts together. Half of a secret counts as found.
"""

from __future__ import annotations

import base64
import gzip
import re
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from urllib.parse import unquote_to_bytes

import zstandard

_ZSTD, _GZIP = b"\x28\xb5\x2f\xfd", b"\x1f\x8b\x08"
_ESCAPES = {b"n": b"\n", b"r": b"\r", b"t": b"\t", b"b": b"\b", b"f": b"\f"}


def found_in(raw: bytes, secrets: Mapping[str, str]) -> set[str]:
    """Return the names of the secrets that stand, whole or half, in what was written."""
    found = set()
    for view in _views(raw, depth=3):
        for name, secret in secrets.items():
            value = secret.encode()
            half = (len(value) + 1) // 2
            if value[:half] in view or value[-half:] in view:
                found.add(name)
    return found


def found_under(place: Path, secrets: Mapping[str, str]) -> dict[str, set[str]]:
    """Return by file what stands in it, or in its name."""
    found = {}
    for path in sorted(place.rglob("*")):
        name = str(path.relative_to(place))
        held = found_in(name.encode("utf-8", "surrogateescape"), secrets)
        if path.is_file():
            held |= found_in(path.read_bytes(), secrets)
        if held:
            found[name] = held
    return found


def everything(place: Path) -> bytes:
    """Return what a series holds, unpacked, for a look at what was put in the place of secrets."""
    return b"\n".join(
        view for path in place.rglob("*") if path.is_file() for view in _views(path.read_bytes(), depth=1)
    )


def _views(raw: bytes, depth: int) -> Iterator[bytes]:
    yield raw
    if depth == 0:
        return
    for unpacked in _unpacked(raw):
        yield from _views(unpacked, depth - 1)
    plain = raw
    for _ in range(3):
        if b"\\" not in plain:
            break
        plain = _unescaped(plain)
        yield plain
        yield _joined(plain)
    yield _joined(raw)
    if b"%" in raw:
        yield unquote_to_bytes(raw)
    for run in re.findall(rb"[A-Za-z0-9+/_-]{12,}", raw):
        text = run.replace(b"-", b"+").replace(b"_", b"/")
        for start in range(4):
            part = text[start:]
            yield base64.b64decode(part[: len(part) // 4 * 4])


def _unpacked(raw: bytes) -> Iterator[bytes]:
    if raw.startswith(_ZSTD):
        yield zstandard.ZstdDecompressor().decompressobj().decompress(raw)
    if raw.startswith(_GZIP):
        try:
            yield gzip.decompress(raw)
        except (EOFError, OSError, zlib.error):
            yield zlib.decompressobj(31).decompress(raw)


def _unescaped(raw: bytes) -> bytes:
    def plain(match: re.Match[bytes]) -> bytes:
        if match[1]:
            return chr(int(match[1], 16)).encode("utf-8", "surrogatepass")
        return _ESCAPES.get(match[2], match[2])

    return re.sub(rb"\\(?:u([0-9a-fA-F]{4})|(.))", plain, raw, flags=re.DOTALL)


def _joined(raw: bytes) -> bytes:
    """Put together the texts and pieces of arguments of every event that can be read."""
    said = []
    for line in raw.split(b"data:"):
        for key in (b"content", b"arguments", b"text", b"partial_json", b"delta"):
            said += re.findall(rb'"%s"\s*:\s*"((?:[^"\\]|\\.)*)"' % key, line)
    return b"".join(_unescaped(one) for one in said)
