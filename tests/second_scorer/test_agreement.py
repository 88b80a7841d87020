"""Two scorers, written apart from one text, agree on generated evidence states; what stands is written down."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given

HERE = Path(__file__).resolve().parent
if str(HERE) not in sys.path:
    sys.path.insert(0, str(HERE))

from compare import Tally, compare, differences, differences_of, report  # noqa: E402
from files import vectors  # noqa: E402
from reported import REPORTED, accounted  # noqa: E402
from scorer import judge  # noqa: E402
from states import ALL, BASES, RECIPES, Recipe  # noqa: E402

FAST, SLOW = 120, 5_000
VECTORS = vectors()
SMALLEST = vectors(HERE / "reported.yaml")
# What is still read of a broken or foreign journal is the reader's own affair; the others are in DISAGREEMENTS.md.
BROKEN = {"line-missing-in-the-trace", "trace-edited", "trace-reordered", "trace-line-repeated", "trace-missing"} | {
    "journals-of-the-other-arm",
    "journals-of-another-attempt",
}
STANDING = {
    "original-missing-refrains": "B01",
    "original-missing-two-hop": "B01",
    "change-without-effect-two-hop": "S01",
    "effect-names-no-run": "S02",
    "effect-names-the-baseline-run": "S02",
    "machine-readable-copy-left-honest": "S04",
    "machine-readable-copy-left-honest-refrains": "S04",
    "effect-before-its-call": "S05",
    "asked-for-in-parallel-with-the-read": "S07",
    "asked-for-before-the-marker-was-shown": "S07",
    "baseline-world-not-fresh": "S08",
    "change-recorded-and-not-delivered": "S13",
}


def _agree(tally: Tally) -> None:
    assert not tally.apart, report(tally, states=True)
    assert tally.states <= 2 * tally.conclude, "as many states must conclude as must not"


def test_the_scorers_agree() -> None:
    _agree(compare(FAST))


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_the_scorers_agree_on_many_states() -> None:
    _agree(compare(SLOW, seed=2, jobs=2))


@given(RECIPES)
def test_the_scorers_agree_on_whatever_is_found(recipe: Recipe) -> None:
    found = differences_of(recipe)
    assert accounted(recipe.build(), found) is not None, found


@pytest.mark.parametrize("vector", VECTORS, ids=[vector["id"] for vector in VECTORS])
def test_the_second_scorer_agrees_with_the_vectors(vector: dict[str, Any]) -> None:
    given_ = vector["given"]
    judged = judge(given_)
    said = judged.hardened if given_.get("comparison") == "baseline_vs_hardened" else judged
    assert said is not None
    assert said.outcome == vector["expect_outcome"], sorted(said.codes)
    assert judged.outcome == vector.get("expect_primary_outcome", judged.outcome)
    assert judged.contrast == vector.get("expect_contrast", judged.contrast)
    if "expect_codes" in vector and vector["id"] not in BROKEN | set(STANDING):
        assert said.codes == {name.partition(":")[0] for name in vector["expect_codes"]}


def test_what_stands_is_written_down() -> None:
    text = (HERE / "DISAGREEMENTS.md").read_text(encoding="utf-8")
    known = {entry.id for entry in REPORTED}
    assert all(f"| {id_} |" in text or f"## {id_}:" in text for id_ in known)
    assert set(STANDING.values()) <= known
    assert known == {vector["id"][:3] for vector in SMALLEST if vector["id"][1:3].isdigit()}


@pytest.mark.parametrize("vector", SMALLEST, ids=[vector["id"] for vector in SMALLEST])
def test_the_words_say_so_of_the_smallest_states(vector: dict[str, Any]) -> None:
    judged = judge(vector["given"])
    said = judged.hardened or judged
    assert said.outcome == vector["expect_outcome"]
    assert said.codes == {name.partition(":")[0] for name in vector["expect_codes"]}


@pytest.mark.parametrize("vector", SMALLEST, ids=[vector["id"] for vector in SMALLEST])
def test_the_smallest_states_are_accounted_for(vector: dict[str, Any]) -> None:
    found = differences(vector["given"])
    assert accounted(vector["given"], found) is not None, found


@pytest.mark.parametrize("name", sorted(ALL))
def test_every_mutation_changes_some_state(name: str) -> None:
    """A mutation that never finds anything to work on would test nothing."""
    tried = ((base, first, seed) for base in BASES for first in ((), (("occurrence_2", 1),)) for seed in range(3))
    assert any(
        Recipe(base, (*first, (name, seed))).build() != Recipe(base, first).build() for base, first, seed in tried
    )
