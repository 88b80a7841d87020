"""Evidence states that the count of the laws came upon, with the right value."""

from __future__ import annotations

import pytest
from law_damage import Bench
from law_worlds import World, tell


@pytest.mark.parametrize(
    ("shape", "contrary", "code"),
    [("two actions", "effect twice", "DUPLICATE_EFFECT"), ("action", "effect refused", "CONTRADICTORY")],
)
def test_a_chain_of_another_shape_is_held_to_the_same_rule(shape: str, contrary: str, code: str) -> None:
    world = World(1, False, True, False, True, shape, None, False, "contains", 0, contrary)
    scored = Bench(tell(world)).told_first.primary
    assert scored.mechanical_outcome == "INCONCLUSIVE"
    assert code in {reason.code for reason in scored.reasons}
