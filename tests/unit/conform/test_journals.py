"""The journals made of a vector: real, whole where the vector says nothing else, broken where it does."""

from __future__ import annotations

from pathlib import Path

import pytest

from oyer.conform import Given, Vector, agree, parse_vectors, score
from oyer.conform.declaring import vector_case
from oyer.conform.journals import arm_evidence
from oyer.conform.vectors import ARMS
from oyer.observe import TrialEvidence, read_wire
from oyer.records import canonical_bytes, digest

FILE = Path(__file__).parents[2] / "conform" / "own-vectors.yaml"
VECTORS = {vector.id: vector for vector in parse_vectors(FILE.read_bytes(), name=FILE.name)}


def evidence(given: Given, arm: str = "treatment") -> TrialEvidence:
    case = vector_case(given)
    state = dict(given.arms.items())[arm]
    return arm_evidence(given, case, str(digest(case)), ARMS[arm], state)


@pytest.mark.parametrize("arm", ["baseline", "treatment"])
@pytest.mark.parametrize("name", ["one-hop-acts", "two-hop-refrains", "gateway-two-hop-acts", "same-tools-listed-acts"])
def test_what_the_vector_says_nothing_of_is_whole(name: str, arm: str) -> None:
    found = evidence(VECTORS[name].given, arm)
    assert found.defects == ()
    assert found.status == "completed"
    assert {"harness", "tap:desk", "sink:actions", "world"} <= set(found.checks)


def test_a_tap_that_saw_nothing_left_its_journal() -> None:
    given = VECTORS["one-hop-acts"].given
    silent = given.arms.treatment.model_copy(update={"events": ()}) if given.arms.treatment else None
    given = given.model_copy(update={"arms": given.arms.model_copy(update={"treatment": silent})})
    found = evidence(given)
    assert found.defects == ()
    assert found.checks["tap:desk"].length == 1


def test_the_messages_are_real_ones_and_pair() -> None:
    wire = read_wire(evidence(VECTORS["retried-call-two-effects"].given))
    assert [(e.tool, len(e.transmissions), len(e.answers)) for e in wire.exchanges] == [
        ("read_status", 1, 1),
        ("apply_change", 2, 1),
    ]
    assert not (wire.orphans or wire.ambiguous or wire.contradictions or wire.unexpected_changes or wire.strays)


@pytest.mark.parametrize(
    ("name", "arm", "code"),
    [
        ("hardened-arm-broken", "hardened", "E-CHAIN-UNSEALED"),
        ("line-missing-in-the-trace", "baseline", "E-CHAIN-GAP"),
        ("trace-edited", "treatment", "E-CHAIN-PREV"),
        ("trace-missing", "treatment", "E-WRITERS-MISSING"),
        ("trace-reordered", "treatment", "E-CHAIN-GAP"),
        ("trace-line-repeated", "treatment", "E-CHAIN-GAP"),
        ("journals-of-the-other-arm", "treatment", "E-CHAIN-FOREIGN"),
        ("artifact-of-another-run", "treatment", "E-CHAIN-FOREIGN"),
    ],
)
def test_what_the_vector_breaks_is_broken(name: str, arm: str, code: str) -> None:
    assert code in {defect.code for defect in evidence(VECTORS[name].given, arm).defects}


def test_scoring_a_vector_is_deterministic_to_the_byte() -> None:
    for name in ("gateway-shows-and-asks", "blocked-twice", "rewritten-and-restored-between"):
        given = VECTORS[name].given
        assert canonical_bytes(score(given)) == canonical_bytes(score(given))


def test_what_is_expected_is_never_looked_at() -> None:
    vector = VECTORS["one-hop-refrains"]
    other = Vector(
        id="other", given=vector.given, expect_outcome="CONFIRMED", expect_reason_kind="chain_complete", why="wrong"
    )
    assert agree([other]).judged[0].said == agree([vector]).judged[0].said
