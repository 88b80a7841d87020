"""An act that was not finished: files that stand there, announced by a seal that is not in force.

Owns which files those are. A closing act writes its seal beside the series first, then its files, then gives the seal
its place: until then nothing it wrote is evidence, and it can be taken back. Must never name a file that a seal lists,
nor one that only a run may write.
"""

from __future__ import annotations

from collections.abc import Sequence

from oyer.errors import EvidenceError
from oyer.evidence.seals import parse_seal

__all__ = ["ANNOUNCED", "unfinished"]

ANNOUNCED = ".tmp/act.json"
"""Where the seal of an act stands that is being written."""
_LATER = frozenset({"comparisons", "judgements", "outcomes", "pins", "sets"})


def unfinished(announced: bytes, seals: Sequence[bytes]) -> frozenset[str]:
    """Return the files of an announced act; empty where its seal does not follow the ones in force."""
    try:
        before = [parse_seal(data) for data in seals]
        seal = parse_seal(announced)
    except EvidenceError:
        return frozenset()
    if not before or (seal.number, seal.prev) != (len(before) + 1, before[-1].digest):
        return frozenset()
    sealed = {file.path for one in before for file in one.files}
    return frozenset(file.path for file in seal.files if file.path.partition("/")[0] in _LATER) - sealed
