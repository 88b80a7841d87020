"""What a stopping rule counts, whether a suite can be run by it, and after how many units it looks.

Owns the reading of `repeat.sequential`, everything that must be refused about it before a first trial, and the units:
which trials belong to which. What a look decides is `oyer.adjudicate.stopping`.

Source: the trials design, "Repetition and stopping, declared first": one case, or each case once in seeded random
order, for repeats of several cases are not independent.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import NamedTuple

from oyer.adjudicate.anytime import AS_IN, EVERY_CASE, counted_of
from oyer.adjudicate.gate_grammar import parse_gate
from oyer.adjudicate.gate_tree import Operand
from oyer.adjudicate.gates import check_gate
from oyer.errors import RecordError
from oyer.records import Case, Order, Plan, Sequential, controls_of

__all__ = [
    "RuleFlaw",
    "UnitOf",
    "check_rule",
    "drawn_units",
    "least_trials",
    "looks_of",
    "sides_of",
    "units_of",
]

ARM_PAIRS = (frozenset({"manipulated", "hardened"}), frozenset({"plain", "neutral"}))

UnitOf = Mapping[str, int]
"""The number of the unit of each trial, from 1."""


class RuleFlaw(NamedTuple):
    """Why a rule cannot be run: the field of the rule it is about, empty for the rule itself, and what to do."""

    field: str
    message: str
    hint: str = ""


def looks_of(rule: Sequential) -> tuple[int, ...]:
    """Return after how many units a rule looks."""
    return (*range(rule.min, rule.max, rule.look_every), rule.max)


def sides_of(rule: Sequential, subjects: Sequence[str]) -> tuple[str | None, ...]:
    """Return for whom a rule decides: each subject by itself; None where it decides between two subjects at once."""
    return (None,) if rule.between and frozenset(rule.between) not in ARM_PAIRS else tuple(subjects)


def drawn_units(rule: Sequential | None, cases: Sequence[Case]) -> tuple[tuple[str, ...], ...] | None:
    """Return the cases of each unit of a rule that draws cases, in the order of the suite; None of any other."""
    if rule is None:
        return None
    counted = counted_of(rule)
    if counted.case != EVERY_CASE:
        return None
    return tuple(_unit(counted, case) for case in cases if _has(counted, case))


def units_of(plan: Plan, cases: Mapping[str, Case]) -> UnitOf:
    """Return the unit of every trial: its repetition, or where cases are drawn the place of its case among them.

    Without a rule that stops, units are the repetitions of a case by a subject in the order of the plan.
    """
    rule = plan.repeat.sequential
    if rule is None:
        places: dict[tuple[str, str, int], int] = {}
        for trial in plan.trials:
            places.setdefault((trial.case, trial.subject, trial.repetition), len(places) + 1)
        return {trial.trial: places[trial.case, trial.subject, trial.repetition] for trial in plan.trials}
    counted = counted_of(rule)
    if counted.case != EVERY_CASE:
        return {trial.trial: trial.repetition for trial in plan.trials}
    planned = dict.fromkeys(trial.case for trial in plan.trials)
    owner = {name: case for case in planned if _has(counted, cases[case]) for name in _unit(counted, cases[case])}
    places = {}
    found: dict[str, int] = {}
    for case in planned:
        found[case] = places.setdefault((owner.get(case, case), "", 0), len(places) + 1)
    return {trial.trial: found[trial.case] for trial in plan.trials}


def check_rule(
    rule: Sequential,
    cases: Mapping[str, Case],
    order: Order,
    conditions: Collection[str] = (),
    *,
    sequences: bool = False,
) -> Iterator[RuleFlaw]:
    """Yield everything for which a suite cannot be run by its rule. `cases` are those of the suite with controls."""
    try:
        counted = counted_of(rule)
    except RecordError as error:
        yield RuleFlaw("of", f"{rule.of!r} cannot be counted: {error.problems[0].message}", AS_IN)
        return
    if sequences:
        yield RuleFlaw("", "a rule that stops has no place for sequences of cases", "run them in a suite of their own")
    if order.kind == "grouped":
        told = "a rule looks after whole units, and a grouped order does not run one unit after the other"
        yield RuleFlaw("", told, "order: fixed, shuffled or williams")
    yield from _drawn(rule, counted, cases) if counted.case == EVERY_CASE else _single(rule, counted, cases, conditions)
    yield from _between(rule, counted, cases, conditions)


def _single(
    rule: Sequential, counted: Operand, cases: Mapping[str, Case], conditions: Collection[str]
) -> Iterator[RuleFlaw]:
    flaws = list(check_gate(parse_gate(f"{rule.of}.rate >= 0"), cases, rule.max, conditions))
    yield from (RuleFlaw("of", flaw.message, flaw.hint) for flaw in flaws)
    if flaws:
        return
    own = {counted.case, *(name for _, name in controls_of(cases[counted.case]))}
    others = [name for name in cases if name not in own]
    if others:
        told = f"the rule is about {counted.case}, and repeats of {', '.join(others)} would have no rule"
        hint = f"leave them out, or write {EVERY_CASE} for the case: then each case runs once"
        yield RuleFlaw("of", told, hint)


def _drawn(rule: Sequential, counted: Operand, cases: Mapping[str, Case]) -> Iterator[RuleFlaw]:
    having = [case for case in cases.values() if _has(counted, case)]
    units = [_unit(counted, case) for case in having]
    placed = [name for unit in units for name in unit]
    strangers = [name for name in cases if name not in placed]
    if strangers:
        told = f"{', '.join(strangers)} cannot be counted by {rule.of}, and would belong to no unit"
        yield RuleFlaw("of", told, "leave these cases out")
    twice = sorted({name for name in placed if placed.count(name) > 1})
    if twice:
        told = f"{', '.join(twice)} would belong to several units, and each case runs once"
        yield RuleFlaw("of", told, "give each trap controls of its own")
    if 0 < len(units) < rule.max:
        told = f"max is {rule.max}, and there are {len(units)} cases to draw from: each runs once"
        yield RuleFlaw("max", told, f"max: {len(units)} or less")


def _between(
    rule: Sequential, counted: Operand, cases: Mapping[str, Case], conditions: Collection[str]
) -> Iterator[RuleFlaw]:
    if not rule.between:
        return
    if len(set(rule.between)) != 2:
        yield RuleFlaw("between", "a comparison is between two")
        return
    sides = frozenset(rule.between)
    about = [case for case in cases.values() if _has(counted, case) and counted.case in (EVERY_CASE, case.id)]
    if sides == ARM_PAIRS[0]:
        lacking = [case.id for case in about if "hardened" not in case.conditions]
        left_out = [name for name in sides if conditions and name not in conditions]
        if counted.kind != "mechanical_outcome":
            yield RuleFlaw(
                "between", f"{rule.of} is not read of manipulated and hardened arms apart", "mechanical_outcome"
            )
        elif lacking or left_out:
            yield RuleFlaw("between", f"there is no hardened arm beside the manipulated one of {rule.of}")
    elif sides == ARM_PAIRS[1]:
        if counted.kind not in ("verdict", "performed"):
            told = f"{rule.of} is not read of plain and neutral arms apart"
            yield RuleFlaw("between", told, "count a verdict, or performed")
        elif any(not case.has_neutral_arm for case in about):
            yield RuleFlaw("between", f"there is no neutral arm beside the plain one of {rule.of}")
    elif sides & {name for pair in ARM_PAIRS for name in pair}:
        told = f"{' and '.join(rule.between)} are no pair"
        yield RuleFlaw("between", told, "two subjects, or manipulated and hardened, or plain and neutral")


def _unit(counted: Operand, case: Case) -> tuple[str, ...]:
    controls = (name for _, name in controls_of(case)) if counted.kind == "set" else ()
    return tuple(dict.fromkeys((case.id, *controls)))


def _has(counted: Operand, case: Case) -> bool:
    """Whether a case has what is counted."""
    if counted.kind == "mechanical_outcome":
        return case.is_experiment
    if counted.kind == "verdict":
        return any(claim.id == counted.claim for claim in case.claims)
    if counted.kind == "set":
        return bool(case.controls.negative or case.controls.positive)
    return bool(case.expected)


def least_trials(plan: Plan, cases: Mapping[str, Case]) -> int:
    """Return how many trials run before anything that was declared may stop the series: all where nothing is.

    A rule stops at its first look at the earliest; a budget before the second repetition, or unit of a rule.
    """
    units = units_of(plan, cases)
    least = len(plan.trials)
    if plan.repeat.sequential is not None:
        first_look = looks_of(plan.repeat.sequential)[0]
        least = sum(unit <= first_look for unit in units.values())
    if plan.repeat.budget is not None and plan.trials:
        own = [units[trial.trial] for trial in plan.trials]
        least = min(least, next((at for at, unit in enumerate(own) if unit != own[0]), len(own)))
    return least
