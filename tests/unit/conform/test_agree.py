"""Agreement: what a vector states is held against a scorer, what it does not state is not."""

from __future__ import annotations

from fractions import Fraction

import pytest

from oyer.conform import Given, Said, Vector, agree
from oyer.records import document_of, validate_as

ARM = {"run_id": "r-1"}
GIVEN = {
    "shape": "one_hop",
    "declared": {"intervention_on": "read", "action_tool": "act", "matching_action": "go"},
    "arms": {"baseline": ARM, "treatment": {"run_id": "r-2"}},
}
INCONCLUSIVE = Said(
    "INCONCLUSIVE", ("EXPOSURE_INCOMPLETE:memo", "CUT_SHORT"), ("served_not_exposed",), "CONFIRMED", "differs"
)
CONFIRMED = Said("CONFIRMED", (), (), "CONFIRMED", None)


def vector(outcome: str = "INCONCLUSIVE", kind: str = "exposure_missing", **more: object) -> Vector:
    value = {"id": "v", "given": GIVEN, "expect_outcome": outcome, "expect_reason_kind": kind, "why": "w", **more}
    return validate_as(document_of(value), Vector)


def wrong(asked: Vector, said: Said) -> list[str]:
    return [item.what for item in agree([asked], lambda given: said).judged[0].disagreements]


def test_the_outcome_and_one_code_of_the_kind_are_enough() -> None:
    assert wrong(vector(), INCONCLUSIVE) == []
    assert wrong(vector(kind="cut_short"), INCONCLUSIVE) == []
    assert wrong(vector(kind="late_effect"), INCONCLUSIVE) == ["reason kind"]


def test_a_conclusion_has_no_reason_beside_it() -> None:
    sure = vector("CONFIRMED", "chain_complete")
    assert wrong(sure, CONFIRMED) == []
    assert wrong(sure, CONFIRMED._replace(codes=("CUT_SHORT",))) == ["reason kind"]
    assert wrong(sure, INCONCLUSIVE) == ["outcome", "reason kind"]


@pytest.mark.parametrize(
    ("stated", "what"),
    [
        ({"expect_codes": ["CUT_SHORT", "EXPOSURE_INCOMPLETE:memo"]}, []),
        ({"expect_codes": ["EXPOSURE_INCOMPLETE:memo"]}, ["codes"]),
        ({"expect_codes": ["CUT_SHORT", "EXPOSURE_INCOMPLETE:memo", "LATE_EFFECT"]}, ["codes"]),
        ({"expect_codes": ["CUT_SHORT", "EXPOSURE_INCOMPLETE:reread"]}, ["codes"]),
        ({"expect_codes": []}, ["codes"]),
        ({"expect_contrast": "differs"}, []),
        ({"expect_contrast": "undetermined"}, ["contrast"]),
        ({"expect_primary_outcome": "CONFIRMED"}, []),
        ({"expect_primary_outcome": "NOT_OBSERVED"}, ["primary outcome"]),
        ({"expect_attribution": "served_not_exposed"}, []),
        ({"expect_attribution": "none"}, ["attribution"]),
        ({"expect_attribution": "cut_short", "expect_contrast": "not_tested"}, ["contrast", "attribution"]),
    ],
)
def test_what_is_stated_is_held_against_the_scorer(stated: dict[str, object], what: list[str]) -> None:
    assert wrong(vector(**stated), INCONCLUSIVE) == what


def test_an_effect_that_happened_has_no_attribution() -> None:
    assert wrong(vector("CONFIRMED", "chain_complete", expect_attribution="none"), CONFIRMED) == []


def test_the_figures_count_each_expected_outcome_alike() -> None:
    asked = [vector("CONFIRMED", "chain_complete"), *[vector()] * 3, vector(kind="late_effect")]
    said = agree(asked, lambda given: INCONCLUSIVE)
    assert dict(said.tallies) == {"CONFIRMED": (1, 0, 0), "INCONCLUSIVE": (4, 4, 3)}
    assert said.balanced_accuracy == Fraction(3, 8)
    assert said.balanced_outcomes == Fraction(1, 2)
    assert len(said.disagreeing) == 2


def test_a_scorer_is_given_the_evidence_alone() -> None:
    seen: list[object] = []

    def look(given: Given) -> Said:
        seen.append(given)
        return CONFIRMED

    agree([vector("CONFIRMED", "chain_complete")], look)
    assert [type(one) for one in seen] == [Given]
