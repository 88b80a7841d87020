"""Splices: which byte ranges of an original are replaced by which bytes.

Owns applying and composing them. Splices are always in the coordinates of the original, sorted and disjoint, so that
they prove what an edit touched. Must never hold a range that the edit did not name.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from oyer.errors import ProtocolError

__all__ = ["Splice", "compose", "splice"]


class Splice(NamedTuple):
    """Bytes `start` to `end` (exclusive) of the original become `replacement`."""

    start: int
    end: int
    replacement: bytes


def splice(original: bytes, splices: Iterable[Splice]) -> bytes:
    """Apply sorted, disjoint splices. Raises: ProtocolError (`E-EDIT-OVERLAP`)."""
    pieces: list[bytes] = []
    position = 0
    for start, end, replacement in splices:
        if not position <= start <= end <= len(original):
            raise ProtocolError("E-EDIT-OVERLAP", "splices overlap or leave the message", side="endpoint")
        pieces += (original[position:start], replacement)
        position = end
    return b"".join((*pieces, original[position:]))


def compose(splices: Sequence[Splice], later: Splice) -> tuple[Splice, ...]:
    """Add a splice that is given in the coordinates of the already spliced bytes; what it touches melts into one."""
    before: list[Splice] = []
    touched: list[tuple[int, Splice]] = []
    after: list[Splice] = []
    shift = shift_start = shift_end = 0
    for one in splices:
        current = one.start + shift
        shift += len(one.replacement) - (one.end - one.start)
        if current + len(one.replacement) < later.start:
            before.append(one)
            shift_start = shift_end = shift
        elif current > later.end:
            after.append(one)
        else:
            touched.append((current, one))
            shift_end = shift
    start, end = later.start - shift_start, later.end - shift_end
    head = tail = b""
    if touched:
        first_at, first = touched[0]
        last_at, last = touched[-1]
        if first_at < later.start:
            head, start = first.replacement[: later.start - first_at], first.start
        if last_at + len(last.replacement) > later.end:
            tail, end = last.replacement[max(0, later.end - last_at) :], last.end
    return (*before, Splice(start, end, head + later.replacement + tail), *after)
