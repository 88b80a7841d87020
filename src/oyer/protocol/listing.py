"""The digest of a tool listing as it was observed: over the raw bytes of each page's result, never a re-serialisation.

One listing is every page of `tools/list` from the one without a cursor on. Ids and line ends are no part of it, so a
server that says the same to two clients gives the same digest.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from hashlib import sha256

from oyer.errors import ProtocolError
from oyer.protocol.spans import find_span

__all__ = ["listing_digest"]

_SMALL_BYTES = 1 << 16


def listing_digest(answers: Sequence[bytes]) -> str:
    """Return `raw:<sha256>` over the raw `result` (or `error`) of each page, in order, each preceded by its length.

    A page that is no JSON counts with all its bytes: it differs from every good one.
    """
    digest = sha256()
    for answer in answers:
        page = _result(answer)
        digest.update(len(page).to_bytes(8, "big"))
        digest.update(page)
    return f"raw:{digest.hexdigest()}"


def _result(answer: bytes) -> bytes:
    # A series asks the same servers for the same listing over and over.
    return _known_result(answer) if len(answer) <= _SMALL_BYTES else _read_result(answer)


@lru_cache(maxsize=64)
def _known_result(answer: bytes) -> bytes:
    return _read_result(answer)


def _read_result(answer: bytes) -> bytes:
    try:
        span = find_span(answer, "/result") or find_span(answer, "/error")
    except ProtocolError:
        return answer
    return answer if span is None else answer[span.start : span.end]
