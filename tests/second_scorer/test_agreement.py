"""Two scorers, written apart from one text, agree on generated evidence states and on every vector."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given

HERE = Path(__file__).resolve().parent
if str(HERE) not in sys.path:
    sys.path.insert(0, str(HERE))

from compare import Tally, compare, differences_of, report  # noqa: E402
from files import vectors  # noqa: E402
from scorer import judge  # noqa: E402
from states import ALL, BASES, RECIPES, Recipe, recipes  # noqa: E402

from oyer.conform import parse_vectors  # noqa: E402

FAST, SLOW = 120, 2_500
VECTORS = vectors()
# What is still read of a broken or foreign journal is the reader's own affair.
BROKEN = {"line-missing-in-the-trace", "trace-edited", "trace-reordered", "trace-line-repeated", "trace-missing"} | {
    "journals-of-the-other-arm",
    "journals-of-another-attempt",
}


def _agree(tally: Tally) -> None:
    assert not tally.apart, report(tally, states=True)
    assert tally.states <= 2 * tally.conclude, "as many states must conclude as must not"


def test_the_scorers_agree() -> None:
    _agree(compare(FAST))


def test_every_generated_state_is_a_vector() -> None:
    """What contradicts itself as a vector, two scorers may well read as two things."""
    told = {"expect_outcome": "INCONCLUSIVE", "expect_reason_kind": "condition_missing", "why": "for this test"}
    states = [{"id": f"state-{n}", "given": one.build(), **told} for n, one in enumerate(recipes(3, FAST))]
    assert len(parse_vectors(json.dumps(states).encode(), name="states.json")) == FAST


def test_a_state_has_the_same_number_in_every_range() -> None:
    assert list(recipes(1, 3, 7)) == list(recipes(1, 10))[7:]


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_the_scorers_agree_on_many_states() -> None:
    _agree(compare(SLOW, seed=2, jobs=2))


@given(RECIPES)
def test_the_scorers_agree_on_whatever_is_found(recipe: Recipe) -> None:
    assert not differences_of(recipe)


@pytest.mark.parametrize("vector", VECTORS, ids=[vector["id"] for vector in VECTORS])
def test_the_second_scorer_agrees_with_the_vectors(vector: dict[str, Any]) -> None:
    given_ = vector["given"]
    judged = judge(given_)
    said = judged.hardened if given_.get("comparison") == "baseline_vs_hardened" else judged
    assert said is not None
    assert said.outcome == vector["expect_outcome"], sorted(said.codes)
    assert judged.outcome == vector.get("expect_primary_outcome", judged.outcome)
    assert judged.contrast == vector.get("expect_contrast", judged.contrast)
    if "expect_codes" in vector and vector["id"] not in BROKEN:
        assert said.codes == {name.partition(":")[0] for name in vector["expect_codes"]}


@pytest.mark.parametrize("name", sorted(ALL))
def test_every_mutation_changes_some_state(name: str) -> None:
    """A mutation that never finds anything to work on would test nothing."""
    tried = ((base, first, seed) for base in BASES for first in ((), (("occurrence_2", 1),)) for seed in range(3))
    assert any(
        Recipe(base, (*first, (name, seed))).build() != Recipe(base, first).build() for base, first, seed in tried
    )
