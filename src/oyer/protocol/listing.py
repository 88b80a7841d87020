"""The digest of a tool listing as it was observed: over the raw bytes of each page's result, never a re-serialisation.

One listing is every page of `tools/list` from the one without a cursor on. What counts of a page is the list of tools
in it. Ids, line ends and what only says how the page travels (`resultType`, `ttlMs`, `cacheScope`, `_meta`, a cursor)
are no part of it, so that a server which lists the same to two clients gives the same digest, whatever revision of the
protocol each of them speaks.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from hashlib import sha256

from oyer.errors import ProtocolError
from oyer.protocol.spans import find_span

__all__ = ["listing_digest"]

_SMALL_BYTES = 1 << 16
_PLACES = ("/result/tools", "/result", "/error")


def listing_digest(answers: Sequence[bytes]) -> str:
    """Return `raw:<sha256>` over the raw list of tools of each page, in order, each preceded by its length.

    A result without such a list, and an error, count as they are; a page that is no JSON, or says its list twice,
    counts with all its bytes: it differs from every good one.
    """
    digest = sha256()
    for answer in answers:
        page = _tools(answer)
        digest.update(len(page).to_bytes(8, "big"))
        digest.update(page)
    return f"raw:{digest.hexdigest()}"


def _tools(answer: bytes) -> bytes:
    # A series asks the same servers for the same listing over and over.
    return _known_tools(answer) if len(answer) <= _SMALL_BYTES else _read_tools(answer)


@lru_cache(maxsize=64)
def _known_tools(answer: bytes) -> bytes:
    return _read_tools(answer)


def _read_tools(answer: bytes) -> bytes:
    try:
        span = next(filter(None, (find_span(answer, place) for place in _PLACES)), None)
    except ProtocolError:
        return answer
    return answer if span is None else answer[span.start : span.end]
