"""In which order trials are planned: as written, shuffled, balanced for what comes before, or one kind after the other.

Owns the four orders. A round is one repetition of every case, or one unit of a rule that draws cases; whatever the
order, a rule that stops is asked after whole rounds, so no order may mix two of them then. All seeds go through sha256:
the same seed gives everyone the same order. Must never know how a trial is run, and never look at a result.

Source: the trials design, "Ordering"; E. J. Williams, "Experimental designs balanced for the estimation of residual
effects of treatments", Australian Journal of Scientific Research A 2 (1949) 149-168.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from hashlib import sha256
from typing import Literal, NamedTuple, TypeVar

from oyer.records import CONDITIONS, Condition, LoadedCase, Order, Plan

__all__ = ["Round", "Slot", "Square", "planned_slots", "seeded_order", "squares_of", "williams"]

T = TypeVar("T")
Arm = Condition | Literal["plain", "neutral"]
Round = Sequence[tuple[LoadedCase, int]]
"""Cases with their repetition, all of which belong to one round."""

_ARMS: tuple[str, ...] = (*CONDITIONS, "plain", "neutral")


class Slot(NamedTuple):
    """One place in the order: what runs there."""

    loaded: LoadedCase
    subject: str
    repetition: int
    condition: Arm


class Square(NamedTuple):
    """A Williams design of a plan: over how many things, with how many rows, of which a plan takes so many in turn.

    It is complete where every row is taken equally often: only then does each follow each other equally often.
    """

    about: str
    over: int
    rows: int
    taken: int

    @property
    def complete(self) -> bool:
        """Whether every row is taken equally often."""
        return self.taken % self.rows == 0


def seeded_order(items: Sequence[T], seed: int | str) -> list[T]:
    """Return the items in the order of sha256(seed, index): the same for everyone who knows the seed."""
    keys = {index: sha256(f"{seed}:{index}".encode()).digest() for index in range(len(items))}
    return [items[index] for index in sorted(keys, key=lambda found: keys[found])]


def williams(treatments: int) -> tuple[tuple[int, ...], ...]:
    """Return the rows of a Williams design: each treatment stands at each place, and directly after each other one,
    equally often over all rows. An even number has as many rows, an odd number above 1 twice as many.

    Raises: ValueError for fewer than one treatment.
    """
    if treatments < 1:
        raise ValueError(f"a design has treatments, not {treatments}")
    steps = range(1, treatments)
    first = [0, *((step + 1) // 2 if step % 2 else treatments - step // 2 for step in steps)]
    rows = [tuple((one + shift) % treatments for one in first) for shift in range(treatments)]
    return tuple(rows) if treatments % 2 == 0 or treatments == 1 else (*rows, *(row[::-1] for row in rows))


def planned_slots(
    rounds: Sequence[Round],
    subjects: Sequence[str],
    arms: Callable[[LoadedCase], Sequence[Arm]],
    order: Order,
    *,
    whole_rounds: bool = False,
) -> list[Slot]:
    """Return every place of a plan, in its order. With `whole_rounds` no round begins before the one before is over.

    The arms of one repetition stay together, but where the order groups by condition.
    """
    groups = [[(loaded, subject, n) for loaded, n in one for subject in subjects] for one in rounds]
    if order.kind == "williams":
        return _balanced(rounds, subjects, arms, order.seed)
    if order.kind == "shuffled" and whole_rounds:
        groups = [seeded_order(one, f"{order.seed}:{index}") for index, one in enumerate(groups)]
    flat = [group for one in groups for group in one]
    if order.kind == "shuffled" and not whole_rounds:
        flat = seeded_order(flat, order.seed)
    if order.kind == "grouped" and order.by == "case":
        places = {name: place for place, name in enumerate(dict.fromkeys(group[0].case.id for group in flat))}
        flat.sort(key=lambda group: places[group[0].case.id])
    slots = [Slot(*group, arm) for group in flat for arm in arms(group[0])]
    if order.kind == "grouped" and order.by == "condition":
        slots.sort(key=lambda slot: _ARMS.index(slot.condition))
    return slots


def _balanced(
    rounds: Sequence[Round], subjects: Sequence[str], arms: Callable[[LoadedCase], Sequence[Arm]], seed: int
) -> list[Slot]:
    """Conditions of a case take the rows of their design round by round, and so do the cases of each round."""
    slots: list[Slot] = []
    for index, one in enumerate(rounds):
        for subject in subjects:
            for place in _row(len(one), seed, index):
                loaded, repetition = one[place]
                own = arms(loaded)
                slots += (Slot(loaded, subject, repetition, own[arm]) for arm in _row(len(own), seed, index))
    return slots


def _row(treatments: int, seed: int, index: int) -> tuple[int, ...]:
    rows = williams(treatments)
    turned = int.from_bytes(sha256(f"{seed}:williams:{treatments}".encode()).digest()[:8])
    return rows[(turned + index) % len(rows)]


def squares_of(plan: Plan) -> tuple[Square, ...]:
    """Return the designs of a plan in the order `williams`: of its cases, and of the conditions of its cases.

    Nothing where the order is another one; what has one member alone follows nothing and has no design.
    """
    if plan.order != "williams":
        return ()
    arms: dict[str, set[str]] = {}
    for trial in plan.trials:
        arms.setdefault(trial.case, set()).add(trial.condition)
    drawn = plan.repeat.sequential is not None and plan.repeat.fixed == 1
    cases = 1 if drawn else len(arms)
    taken = len(arms) if drawn else plan.repeat.fixed
    found = [Square("cases", cases, len(williams(cases)), taken)] if cases > 1 else []
    named: Mapping[int, list[str]] = {}
    for case, own in arms.items():
        named = {**named, len(own): [*named.get(len(own), []), case]}
    for number, of in named.items():
        about = "conditions" if len(named) == 1 else f"conditions of {', '.join(of)}"
        found += [Square(about, number, len(williams(number)), taken)] if number > 1 else []
    return tuple(found)
