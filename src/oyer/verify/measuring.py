"""Measuring every blob once: what it unfolds to, kept small, for the check of blobs and for those that rest on them.

Owns one pass over the blobs. Must never hold the content of one, never raise, and never unfold more than blobs of their
size may hold: a few bytes can state any size, and unfolding it would take as long.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import chain
from typing import NamedTuple

from oyer.errors import EvidenceError, Problem
from oyer.evidence import FRAME_HEAD_BYTES, content_size, measure_blob_pieces, most_unfolded
from oyer.verify.survey import Survey, read_part

__all__ = ["Measured", "measure_blobs", "proven_blobs"]


class Measured(NamedTuple):
    """Digest and size of what a blob unfolds to, or why it does not."""

    digest: str = ""
    size: int = 0
    problem: Problem | None = None


def measure_blobs(survey: Survey) -> dict[str, Measured]:
    """Return what every blob is, by its path."""
    paths = survey.of("blob")
    left = most_unfolded(sum(survey.reader.size(path) or 0 for path in paths))
    found: dict[str, Measured] = {}
    for path in paths:
        # By its own size too: another file may claim to be large and hold nothing.
        found[path] = _measure(survey, path, min(left, most_unfolded(survey.reader.size(path) or 0)))
        left -= found[path].size
    return found


def proven_blobs(survey: Survey, measured: Mapping[str, Measured]) -> dict[str, int]:
    """Return the sizes of the blobs that are what their names say, by digest."""
    return {one.digest: one.size for path, one in measured.items() if one.digest == survey.parts[path].name}


def _measure(survey: Survey, path: str, most: int) -> Measured:
    problems: dict[str, tuple[Problem, ...]] = {}
    pieces = read_part(survey.reader.pieces, path, problems)
    if pieces is None:
        return Measured(problem=problems[path][0])
    unread = iter(pieces)
    first = next(unread, b"")
    stated = content_size(first[:FRAME_HEAD_BYTES]) or 0
    if stated > most:
        told = f"it says that it unfolds to {stated} bytes, where at most {most} may be: it was not unfolded"
        return Measured(problem=Problem("E-BLOB-RATIO", told, path))
    try:
        return Measured(*measure_blob_pieces(chain((first,), unread)))
    except EvidenceError as error:
        return Measured(problem=error.problems[0]._replace(where=path))
