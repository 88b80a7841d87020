"""From what an observer saw to what may be kept: the single point where secrets are replaced.

Owns the step between a fact and its event body: redaction of every string, payload objects for raw bytes, the list
of blobs. Must never write anything itself; every journal, on disk or in memory, goes through here.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple, TypeAlias

from oyer.errors import HarnessError
from oyer.evidence import Redactor, body_payloads, make_payload

__all__ = ["Draft", "Payloads", "draft_body", "draft_one"]

# One payload, or a map of payloads (`subject.given` holds one per file).
Payloads: TypeAlias = Mapping[str, bytes | Mapping[str, bytes]]


class Draft(NamedTuple):
    """A body ready for the chain, and the contents (by digest, sorted) that must be kept before it."""

    body: dict[str, Any]
    blobs: dict[str, bytes]


def draft_body(kind: str, body: Mapping[str, Any], payloads: Payloads, redactor: Redactor) -> Draft:
    """Redact a body and fill in its payloads.

    Raises: HarnessError `E-EVENT-PAYLOAD` when the body brings a payload object of its own: it could hold a secret,
    and redacting it would break its digest.
    """
    if next(body_payloads(kind, body), None) is not None:
        raise HarnessError("E-EVENT-PAYLOAD", f"{kind}: give raw bytes in `payloads`, not payload objects in the body")
    drafted: dict[str, Any] = redactor.apply_value(body) if redactor.active else dict(body)
    blobs: dict[str, bytes] = {}
    for key, raw in payloads.items():
        if isinstance(raw, bytes):
            drafted[key] = _payload(raw, redactor, blobs)
        else:
            names = redactor.apply_value(list(raw)) if redactor.active else list(raw)
            drafted[key] = {
                name: _payload(content, redactor, blobs) for name, content in zip(names, raw.values(), strict=True)
            }
    return Draft(drafted, dict(sorted(blobs.items())) if len(blobs) > 1 else blobs)


def draft_one(body: dict[str, Any], raw: bytes | None, redactor: Redactor) -> Draft:
    """Redact a body of a kind with at most one payload, and fill that in; the body is changed, not copied.

    It must bring no payload of its own.
    """
    if redactor.active:
        body = redactor.apply_value(body)
    blobs: dict[str, bytes] = {}
    if raw is not None:
        body["payload"] = _payload(raw, redactor, blobs)
    return Draft(body, blobs)


def _payload(raw: bytes, redactor: Redactor, blobs: dict[str, bytes]) -> dict[str, Any]:
    kept, names = redactor.keep(raw)
    payload, blob = make_payload(kept, names)
    if blob is not None:
        blobs[payload["sha256"]] = blob
    return payload
