"""Generated evidence states: a healthy one, and none to four mutations of it.

A state is known by its recipe (what it starts from, and each mutation with a seed of its own), so that any of them can
be made again and made smaller by leaving mutations out.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module
from random import Random

from healthy import POLICIES, Given, base_state, finished
from hypothesis import strategies as st
from surgery import HARMFUL, HARMLESS

for module in (
    "harmless",
    "on_the_wire",
    "on_the_change",
    "on_effects",
    "on_memos",
    "on_arms",
    "on_models",
    "on_shapes",
    "on_declarations",
    "on_policies",
):
    import_module(module)  # each registers its mutations

ALL = {**HARMLESS, **HARMFUL}
COMPARED_POLICIES = ("label", "strip", "block", "reapproval")


@dataclass(frozen=True)
class Base:
    """What a state starts from."""

    shape: str = "one_hop"
    acts: bool = True
    policy: str | None = None
    hardened_acts: bool = False
    gateway: bool = False


@dataclass(frozen=True)
class Recipe:
    """How a state is made."""

    base: Base
    steps: tuple[tuple[str, int], ...] = ()

    def build(self) -> Given:
        """Make the state anew."""
        base = self.base
        given = base_state(base.shape, base.acts, base.policy, base.hardened_acts, base.gateway)
        for name, seed in self.steps:
            ALL[name](Random(seed), given)
        return finished(given)

    def without(self) -> Iterator[Recipe]:
        """Every recipe with one step less."""
        for index in range(len(self.steps)):
            yield Recipe(self.base, self.steps[:index] + self.steps[index + 1 :])


BASES = tuple(
    Base(shape, acts, policy, hardened_acts, gateway)
    for shape in ("one_hop", "two_hop")
    for acts in (True, False)
    for policy in (None, *COMPARED_POLICIES)
    for hardened_acts in ((False, True) if policy else (False,))
    for gateway in (False, True)
)
assert set(COMPARED_POLICIES) <= set(POLICIES)


def recipe(random: Random) -> Recipe:
    """One recipe: half of them of harmless mutations only."""
    base = random.choice(BASES)
    count = random.choices(range(5), weights=(1, 3, 4, 3, 2))[0]
    harmful = 0 if random.random() < 0.55 else random.choices((1, 2, 3, 4), weights=(6, 3, 1, 1))[0]
    names = [random.choice(sorted(HARMFUL)) for _ in range(min(harmful, max(count, 1)))]
    names += [random.choice(sorted(HARMLESS)) for _ in range(max(0, count - len(names)))]
    random.shuffle(names)
    return Recipe(base, tuple((name, random.randrange(2**32)) for name in names))


def recipes(seed: int, count: int, first: int = 0) -> Iterator[Recipe]:
    """A number of recipes from one on, the same for the same seed."""
    for number in range(first, first + count):
        yield recipe(Random(f"{seed}/{number}"))


RECIPES = st.builds(
    Recipe,
    st.sampled_from(BASES),
    st.lists(st.tuples(st.sampled_from(sorted(ALL)), st.integers(0, 2**32 - 1)), max_size=4).map(tuple),
)
