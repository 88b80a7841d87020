"""A file of vectors is worth what it refuses: two dishonest scorers fail it, and do badly in the figure too."""

from __future__ import annotations

import sys
from fractions import Fraction

from stub_scorers import always_inconclusive, first_match_wins
from vector_files import OWN, SHARED

from oyer.conform import Agreement, agree


def printed(name: str, found: Agreement) -> Fraction:
    figure = found.balanced_accuracy
    sys.stdout.write(f"{name}: balanced accuracy {figure} = {float(figure):.6f}\n")
    return figure


def test_never_concluding_fails_every_vector_of_our_own() -> None:
    found = agree(OWN, always_inconclusive)
    assert printed("always INCONCLUSIVE", found) == 0
    assert len(found.disagreeing) == len(OWN)
    assert found.balanced_outcomes == Fraction(1, 3)
    wrong = {one.vector.expect_outcome for one in found.judged if one.said.outcome != one.vector.expect_outcome}
    assert wrong == {"CONFIRMED", "NOT_OBSERVED"}
    for one in found.judged:
        assert "codes" in {item.what for item in one.disagreements}


def test_never_concluding_does_badly_even_where_only_kinds_are_stated() -> None:
    """The shared file states no complete sets, and all codes are of every kind: the figure tells it all the same."""
    found = agree(SHARED, always_inconclusive)
    assert printed("always INCONCLUSIVE", found) == Fraction(1, 3)
    assert {one.vector.expect_outcome for one in found.disagreeing} == {"CONFIRMED", "NOT_OBSERVED"}


def test_the_first_match_alone_fails_where_there_is_more_than_one_reason() -> None:
    found = agree(OWN, first_match_wins)
    assert printed("first match wins", found) < Fraction(9, 10)
    assert {one.vector.id for one in found.disagreeing} == {v.id for v in OWN if len(v.expect_codes or ()) > 1}
    for one in found.disagreeing:
        assert "codes" in {item.what for item in one.disagreements}
