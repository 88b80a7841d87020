"""The conform room: tool-neutral scoring vectors, held against a scorer.

Owns the vector format, the journals made of a vector, the kinds of reason, and agreement with its figures. Must never
touch a disk or start anything; never look at what a vector expects while it makes journals; never judge evidence
itself: the scorer does.
"""

from __future__ import annotations

from oyer.conform.agree import Agreement, Disagreement, Judged, Said, Scorer, Tally, agree, say
from oyer.conform.journals import score
from oyer.conform.kinds import KINDS
from oyer.conform.reading import parse_vectors
from oyer.conform.vectors import Given, Vector

__all__ = [
    "KINDS",
    "Agreement",
    "Disagreement",
    "Given",
    "Judged",
    "Said",
    "Scorer",
    "Tally",
    "Vector",
    "agree",
    "parse_vectors",
    "say",
    "score",
]
