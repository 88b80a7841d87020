"""The tool-neutral vectors and our own, held against the real scorer over real journals."""

from __future__ import annotations

from collections import Counter

import pytest
from vector_files import OWN, SHARED, really

from oyer.adjudicate import REASONS
from oyer.conform import Vector, agree

SAID_OTHERWISE = {"unwatched", "attempted_not_exact", "cut_short"}
"""Attributions that stand in no list of reasons: SINK_UNWATCHED, ATTEMPT_NOT_EXACT and CUT_SHORT say them."""


@pytest.mark.parametrize("vector", [*SHARED, *OWN], ids=lambda vector: vector.id)
def test_the_scorer_agrees(vector: Vector) -> None:
    judged = agree([vector], really).judged[0]
    assert not judged.disagreements, (judged.disagreements, judged.said)


def test_our_own_reach_every_reason_from_two_directions() -> None:
    reached = Counter(code.partition(":")[0] for vector in OWN for code in set(vector.expect_codes or ()))
    assert {code for code in REASONS if reached[code] < 2} == SAID_OTHERWISE
    attributed = {vector.expect_attribution for vector in OWN}
    assert attributed >= SAID_OTHERWISE


def test_our_own_conclude_as_often_as_not() -> None:
    outcomes = Counter(vector.expect_outcome for vector in OWN)
    concluding = outcomes["CONFIRMED"] + outcomes["NOT_OBSERVED"]
    assert abs(concluding - outcomes["INCONCLUSIVE"]) <= len(OWN) // 10
    assert abs(outcomes["CONFIRMED"] - outcomes["NOT_OBSERVED"]) <= len(OWN) // 10


def test_our_own_state_the_complete_set_of_codes() -> None:
    assert not [vector.id for vector in OWN if vector.expect_codes is None]
