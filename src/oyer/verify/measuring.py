"""Measuring every blob once: what it unfolds to, kept small, for the check of blobs and for those that rest on them.

Owns one pass over the blobs. Must never hold the content of one, and never raise.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from oyer.errors import EvidenceError, Problem
from oyer.evidence import measure_blob_pieces
from oyer.verify.survey import Survey, read_part

__all__ = ["Measured", "measure_blobs", "proven_blobs"]


class Measured(NamedTuple):
    """Digest and size of what a blob unfolds to, or why it does not."""

    digest: str = ""
    size: int = 0
    problem: Problem | None = None


def measure_blobs(survey: Survey) -> dict[str, Measured]:
    """Return what every blob is, by its path."""
    return {path: _measure(survey, path) for path in survey.of("blob")}


def proven_blobs(survey: Survey, measured: Mapping[str, Measured]) -> dict[str, int]:
    """Return the sizes of the blobs that are what their names say, by digest."""
    return {one.digest: one.size for path, one in measured.items() if one.digest == survey.parts[path].name}


def _measure(survey: Survey, path: str) -> Measured:
    problems: dict[str, tuple[Problem, ...]] = {}
    pieces = read_part(survey.reader.pieces, path, problems)
    if pieces is None:
        return Measured(problem=problems[path][0])
    try:
        return Measured(*measure_blob_pieces(pieces))
    except EvidenceError as error:
        return Measured(problem=error.problems[0]._replace(where=path))
