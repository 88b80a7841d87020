"""Canonical bytes and digests: the one form in which a record is pinned.

Owns RFC 8785 (JCS) over plain values and records. Object keys are ordered by UTF-16 code units, as the RFC says, not
by code points. Whole numbers stay within 2^53-1 on both sides; floats are finite, and one that the RFC would write as a
bare whole number beyond that range is refused too, since no strict reader would take it back. A record is encoded
with all its fields.

Must never canonicalise foreign bytes: a tool schema or a payload is pinned as it came, with `raw_digest`.

Source: RFC 8785, sections 3.2.2 and 3.2.3.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from hashlib import sha256
from typing import Any

import rfc8785

from oyer.errors import Problem, RecordError
from oyer.records.model import Digest, RawDigest, Record
from oyer.records.source_text import MAX_DEPTH, MAX_SAFE_INTEGER, Path, is_safe_number, path_text
from oyer.records.strict_json import parse_json

__all__ = ["canonical_bytes", "digest", "digest_bytes", "digest_once", "parse_canonical", "plain", "raw_digest"]


_ENCODER = json.JSONEncoder(ensure_ascii=False, check_circular=False, sort_keys=True, separators=(",", ":"))
# Order by code points and by UTF-16 units differ only where such a letter takes part.
_BEYOND_BASIC_PLANE = re.compile(rb"[\xf0-\xf4]")


def plain(record: Record) -> dict[str, Any]:
    """Return a record as plain JSON values: every field, under the names a document uses."""
    return record.model_dump(mode="json", by_alias=True)


def canonical_bytes(value: Any) -> bytes:
    """Encode a plain value or a record by RFC 8785. Raises `RecordError` (`E-CANONICAL`) for what it cannot hold."""
    value = plain(value) if isinstance(value, Record) else value
    quick = _quick(value)
    if quick is not None:
        return quick
    problems = [
        Problem("E-CANONICAL", message, path_text(path), "a canonical value is JSON within the safe number range")
        for path, message in _refused(value, ())
    ]
    if problems:
        raise RecordError.of(problems)
    return rfc8785.dumps(value)


def digest(value: Any) -> Digest:
    """Return `sha256:<hex>` over the canonical bytes of a plain value or a record."""
    return digest_bytes(canonical_bytes(value))


_KNOWN: dict[int, tuple[Record, Digest]] = {}
_MOST_KNOWN = 1024


def digest_once(record: Record) -> Digest:
    """Return the digest of a record that is asked for again and again: it is frozen, so it is worked out once.

    Kept by which record it is, never by equality: to Python `1` equals `true`, and to a digest it does not.
    """
    held = _KNOWN.get(id(record))
    if held is not None and held[0] is record:
        return held[1]
    while len(_KNOWN) >= _MOST_KNOWN:
        _KNOWN.pop(next(iter(_KNOWN)), None)
    found = digest(record)
    _KNOWN[id(record)] = (record, found)
    return found


def digest_bytes(data: bytes) -> Digest:
    """Return `sha256:<hex>` over the bytes as they are."""
    return Digest("sha256:" + sha256(data).hexdigest())


def raw_digest(data: bytes) -> RawDigest:
    """Return `raw:<hex>` (SHA-256) over foreign JSON that is pinned by its bytes and never re-encoded."""
    return RawDigest("raw:" + sha256(data).hexdigest())


def parse_canonical(data: bytes, *, name: str = "<canonical>") -> Any:
    """Parse canonical bytes. Raises `RecordError` unless encoding the value again gives exactly the same bytes."""
    value = parse_json(data, name=name).value
    again = canonical_bytes(value)
    if again != data:
        offset = next(
            (i for i, (a, b) in enumerate(zip(data, again, strict=False)) if a != b), min(map(len, (data, again)))
        )
        raise RecordError(
            "E-CANONICAL-FORM",
            f"not in canonical form: the first difference is at byte {offset}",
            where=name,
            hint="canonical JSON has no spaces, sorted keys and the shortest numbers (RFC 8785)",
        )
    return value


def _quick(value: Any) -> bytes | None:
    """Encode what almost every record is, without floats and in letters of the basic plane; None for all else.

    Over such values the encoder of the standard library has one form, and it is that of the RFC.
    """
    if not _is_common(value, 0):
        return None
    try:
        encoded = _ENCODER.encode(value).encode()
    except UnicodeEncodeError:  # half of a surrogate pair
        return None
    return encoded if encoded.isascii() or _BEYOND_BASIC_PLANE.search(encoded) is None else None


def _is_common(value: Any, depth: int) -> bool:
    kind = type(value)
    if kind is str or kind is bool or value is None:
        return True
    if kind is int:
        return abs(value) <= MAX_SAFE_INTEGER  # type: ignore[no-any-return]
    if depth >= MAX_DEPTH:
        return False
    if kind is dict:
        return all(type(key) is str for key in value) and all(_is_common(v, depth + 1) for v in value.values())
    return (kind is list or kind is tuple) and all(_is_common(item, depth + 1) for item in value)


def _refused(value: Any, path: Path) -> Iterator[tuple[Path, str]]:
    """Find everything in `value` that has no canonical form."""
    if value is None or isinstance(value, bool):
        return
    if isinstance(value, str):
        if not value.isascii() and any("\ud800" <= letter <= "\udfff" for letter in value):
            yield path, "half of a surrogate pair"
    elif isinstance(value, int | float):
        if not is_safe_number(value):
            yield path, "a number that is not finite or beyond 2^53-1; write it as text"
    elif len(path) >= MAX_DEPTH:
        yield path, f"nested deeper than {MAX_DEPTH} levels"
    elif isinstance(value, list | tuple):
        for index, item in enumerate(value):
            yield from _refused(item, (*path, index))
    elif isinstance(value, Mapping) and isinstance(value, dict):
        for key, item in value.items():
            if not isinstance(key, str):
                yield path, f"the key {key!r} is not text"
                continue
            yield from _refused(key, (*path, "?"))
            yield from _refused(item, (*path, key))
    else:
        yield path, f"a {type(value).__name__} is not a plain value"
