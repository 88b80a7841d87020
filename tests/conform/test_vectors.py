"""The tool-neutral vectors and our own, held against the real scorer over real journals."""

from __future__ import annotations

from pathlib import Path

import pytest

from oyer.conform import Vector, agree, parse_vectors

HERE = Path(__file__).parent
FILES = ("mechanical-outcomes.yaml",)
VECTORS = [v for file in FILES for v in parse_vectors((HERE / file).read_bytes(), name=file)]


@pytest.mark.parametrize("vector", VECTORS, ids=[vector.id for vector in VECTORS])
def test_the_scorer_agrees(vector: Vector) -> None:
    judged = agree([vector]).judged[0]
    assert not judged.disagreements, (judged.disagreements, judged.said)
