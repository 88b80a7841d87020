"""Gates over a few repetitions, told by their words."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from set_kit import outcome_of, plan_of

from oyer.adjudicate import GateInput, GateResult, count_ledger, evaluate_gate, parse_gate
from oyer.records import Comparison, MatchedSet, Outcome, Plan


def series(
    plan: Plan,
    outcomes: Sequence[Outcome] = (),
    comparisons: Sequence[Comparison] = (),
    sets: Sequence[MatchedSet] = (),
    *,
    qualified: Collection[str] | None = None,
) -> GateInput:
    names = {one.id for one in plan.cases} if qualified is None else qualified
    ledger = count_ledger(plan, outcomes, comparisons)
    return GateInput(plan, {one.trial: one for one in outcomes}, comparisons, sets, ledger, names)


def performances(told: Mapping[str, Sequence[str | None]]) -> GateInput:
    """Build a series in which each case performed as told; None is a repetition whose trial crashed."""
    repeat = max(map(len, told.values()))
    outcomes = [
        outcome_of(case, at + 1, "completed" if word else "subject_error", performed=word)
        for case, words in told.items()
        for at, word in enumerate(words)
    ]
    return series(plan_of(list(told), repeat), outcomes)


def gate(text: str, given: GateInput) -> GateResult:
    return evaluate_gate(parse_gate(text), given)
