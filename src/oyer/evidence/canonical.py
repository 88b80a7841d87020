"""One byte form per value: the canonical JSON of every line and file this room writes.

Owns the form (RFC 8785: no white space, keys in UTF-16 order, shortest escapes) and the digest spelling.
Must never canonicalise bytes that crossed a wire: those are hashed as they are (the numbers in them are not ours).
Floats and integers beyond 2^53-1 are refused by the types of each record, so that number forms never differ; the one
exception is `t_mono_ns`, a signed 64-bit integer written in full.

Source: RFC 8785 sections 3.2.2 and 3.2.3.
"""

from __future__ import annotations

import hashlib
import json
import re
from typing import Any

import msgspec

from oyer.errors import EvidenceError

__all__ = [
    "ABSENT_DIGEST",
    "DIGEST_PATTERN",
    "MAX_MONO_NS",
    "MAX_SAFE_INT",
    "digest_of",
    "encode_canonical",
    "explain_form",
]

MAX_SAFE_INT = 2**53 - 1
# The one wider integer: a monotonic clock in nanoseconds passes 2^53 after 104 days of uptime. It is written exactly.
MAX_MONO_NS = 2**63 - 1
DIGEST_PATTERN = r"^sha256:[0-9a-f]{64}\Z"
ABSENT_DIGEST = "sha256:" + "0" * 64

_ENCODER = msgspec.json.Encoder(order="sorted")
_PLAIN_ENCODER = msgspec.json.Encoder()
# Code-point order and UTF-16 order differ only when a character beyond the BMP takes part.
_BEYOND_BMP = re.compile(rb"[\xf0-\xf4]")


def digest_of(content: bytes) -> str:
    """Return `sha256:<hex>` of bytes."""
    return "sha256:" + hashlib.sha256(content).hexdigest()


def encode_canonical(value: object) -> bytes:
    """Encode a value of dicts, structs, lists, strings, integers, booleans and null as RFC 8785 JSON.

    Raises: EvidenceError `E-CANONICAL` for what has no canonical form (a lone surrogate, an unknown type).
    """
    try:
        encoded = _ENCODER.encode(value)
        if not encoded.isascii() and _BEYOND_BMP.search(encoded) is not None:
            encoded = _PLAIN_ENCODER.encode(_in_utf16_order(msgspec.to_builtins(value)))
    except (msgspec.MsgspecError, TypeError, ValueError, RecursionError) as error:
        raise EvidenceError("E-CANONICAL", f"value has no canonical form: {error}") from error
    return encoded


def _in_utf16_order(value: Any) -> Any:
    if isinstance(value, dict):
        ordered = sorted(value.items(), key=lambda item: item[0].encode("utf-16-be"))
        return {key: _in_utf16_order(inner) for key, inner in ordered}
    if isinstance(value, list | tuple):
        return [_in_utf16_order(inner) for inner in value]
    return value


def explain_form(line: bytes) -> str:
    """Say why a line that parses is not in canonical form: name the duplicate key, else the general reason."""
    duplicates: list[str] = []

    def note(pairs: list[tuple[str, Any]]) -> None:
        seen: set[str] = set()
        for key, _ in pairs:
            if key in seen:
                duplicates.append(key)
            seen.add(key)

    try:
        json.loads(line, object_pairs_hook=note)
    except (ValueError, RecursionError):
        return "not canonical JSON"
    if duplicates:
        return f"duplicate key {duplicates[0]!r}"
    return "not canonical JSON (white space, key order, escapes or number form)"
