"""Payloads: bytes that crossed a wire, kept exactly, inside an event body or as a blob.

Owns the four-key form `{sha256, size, text | base64 | blob}` (plus `redacted` when secrets were replaced).
Must never parse, re-encode or shorten what it keeps. `sha256` and `size` are of the content.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any

import msgspec
from msgspec import UNSET, Meta, UnsetType

from oyer.errors import EvidenceError
from oyer.evidence.canonical import DIGEST_PATTERN, MAX_SAFE_INT, digest_of

__all__ = ["INLINE_LIMIT_BYTES", "PayloadForm", "inline_bytes", "make_payload", "payload_bytes", "proven_bytes"]

INLINE_LIMIT_BYTES = 4096


class PayloadForm(msgspec.Struct, frozen=True, forbid_unknown_fields=True, gc=False):
    """The form every payload object must have; used to check, never to write."""

    sha256: Annotated[str, Meta(pattern=DIGEST_PATTERN)]
    size: Annotated[int, Meta(ge=0, le=MAX_SAFE_INT)]
    text: str | UnsetType = UNSET
    base64: str | UnsetType = UNSET
    blob: bool | UnsetType = UNSET
    redacted: tuple[str, ...] | UnsetType = UNSET

    def __post_init__(self) -> None:
        short = self.size <= INLINE_LIMIT_BYTES and self.redacted is UNSET
        if short and self.base64 is UNSET and self.blob is UNSET and self.text is not UNSET:
            return  # what almost every payload is
        places = (self.text is not UNSET) + (self.base64 is not UNSET) + (self.blob is not UNSET)
        if places != 1 or self.blob is False:
            raise ValueError("a payload has exactly one of text, base64, blob: true")
        if (self.blob is True) != (self.size > INLINE_LIMIT_BYTES):
            raise ValueError(f"a payload is a blob exactly when it is larger than {INLINE_LIMIT_BYTES} bytes")
        if self.redacted is not UNSET and not self.redacted:
            raise ValueError("redacted is absent or names at least one secret")


def make_payload(raw: bytes, redacted: Sequence[str] = ()) -> tuple[dict[str, Any], bytes | None]:
    """Return the payload object for `raw` and, when it is too large to sit inline, the blob to store."""
    payload: dict[str, Any] = {"sha256": digest_of(raw), "size": len(raw)}
    if redacted:
        payload["redacted"] = list(redacted)
    if len(raw) > INLINE_LIMIT_BYTES:
        payload["blob"] = True
        return payload, raw
    text = _as_text(raw)
    if text is None:
        payload["base64"] = base64.b64encode(raw).decode("ascii")
    else:
        payload["text"] = text
    return payload, None


def _as_text(raw: bytes) -> str | None:
    if b"\x00" in raw:  # many readers cut at NUL
        return None
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        return None


def payload_bytes(payload: Mapping[str, Any], fetch: Callable[[str], bytes | None]) -> bytes:
    """Return the content of a payload, proven against its size and digest.

    `fetch` takes a content digest and returns the blob's content, or None when it is not there.
    Raises: EvidenceError `E-PAYLOAD-FORM`, `E-PAYLOAD-DIGEST`, `E-BLOB-MISSING`.
    """
    try:
        form = msgspec.convert(payload, type=PayloadForm)
    except (msgspec.ValidationError, RecursionError) as error:
        raise EvidenceError("E-PAYLOAD-FORM", f"malformed payload: {error}") from error
    return proven_bytes(form, fetch)


def proven_bytes(form: PayloadForm, fetch: Callable[[str], bytes | None]) -> bytes:
    """Return the content of a payload whose form was checked already; as `payload_bytes` otherwise."""
    raw = _content(form, fetch)
    if len(raw) != form.size or digest_of(raw) != form.sha256:
        raise EvidenceError("E-PAYLOAD-DIGEST", "payload content differs from its recorded digest", where=form.sha256)
    return raw


def inline_bytes(payload: Mapping[str, Any]) -> bytes | None:
    """Return the content of a payload that sits in an event, None where it is a blob.

    Only for an event that `check_journal` found good: it has compared size and digest, and they are not asked again.
    """
    text = payload.get("text")
    if isinstance(text, str):
        return text.encode("utf-8", "surrogatepass")
    encoded = payload.get("base64")
    return base64.b64decode(encoded) if isinstance(encoded, str) else None


def _content(form: PayloadForm, fetch: Callable[[str], bytes | None]) -> bytes:
    if isinstance(form.text, str):
        return form.text.encode("utf-8", "surrogatepass")
    if isinstance(form.base64, str):
        try:
            return base64.b64decode(form.base64, validate=True)
        except (binascii.Error, ValueError) as error:
            raise EvidenceError("E-PAYLOAD-FORM", f"payload base64: {error}", where=form.sha256) from error
    found = fetch(form.sha256)
    if found is None:
        raise EvidenceError("E-BLOB-MISSING", "the blob of this payload is not there", where=form.sha256)
    return found
