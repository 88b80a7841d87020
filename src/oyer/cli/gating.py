"""What is read from a whole series beside its outcomes: sets, gates, the exit code, and which cases are unqualified.

Owns the way from a plan and its derived results to `Judged`. Evaluating is `oyer.adjudicate`'s. Must never take a case
for qualified because nothing says that it is not.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from oyer.adjudicate import (
    GateInput,
    GateResult,
    LedgerCount,
    SeriesResult,
    count_ledger,
    evaluate_gate,
    gates_exit_code,
    parse_gate,
    planned_claims,
    pressure_of_series,
    tabulate,
    tallies,
    with_sequences,
)
from oyer.records import Case, Plan, TrialSuite, plain
from oyer.report import (
    Judged,
    distribution_value,
    distributions,
    gate_value,
    ledger_value,
    pressure_value,
    table_value,
    tally_value,
)

__all__ = ["exit_code", "gate_input", "judged_series", "judged_value", "ledger_of"]


def ledger_of(plan: Plan, cases: Mapping[str, Case], result: SeriesResult, suite: TrialSuite | None) -> LedgerCount:
    """Count a series, with what its claims ask to be judged."""
    claims = planned_claims(plan, cases)
    exclude = () if suite is None else suite.exclude
    return count_ledger(plan, result.outcomes.values(), result.comparisons, claims=claims, exclude=exclude)


def gate_input(
    plan: Plan,
    cases: Mapping[str, Case],
    result: SeriesResult,
    suite: TrialSuite | None = None,
    *,
    qualified: Collection[str],
) -> GateInput:
    """Put together what gates and statistics look at; a sequence is qualified where all its cases are."""
    ledger = ledger_of(plan, cases, result, suite)
    return GateInput(
        plan, result.outcomes, result.comparisons, result.sets, ledger, with_sequences(qualified, cases)
    )  # fmt: skip


def judged_series(
    plan: Plan,
    cases: Mapping[str, Case],
    result: SeriesResult,
    suite: TrialSuite | None = None,
    *,
    qualified: Collection[str],
) -> Judged:
    """Evaluate the gates of a plan; `qualified` are the cases that something was found to vouch for."""
    given = gate_input(plan, cases, result, suite, qualified=qualified)
    gates = tuple(evaluate_gate(parse_gate(text), given) for text in plan.gates)
    unqualified = tuple(case.id for case in plan.cases if case.id not in given.qualified)
    rates = tuple(tallies(given, cases))
    pressure = tuple(pressure_of_series(plan, cases, result.outcomes))
    table = tabulate(plan, cases, result.sets)
    return Judged(given.ledger, result.sets, gates, unqualified, rates, result.errors, pressure, table)


def exit_code(gates: Sequence[GateResult]) -> int:
    """Return 0 where all gates hold or there is none, 1 where one does not hold, else 5."""
    return gates_exit_code(gates)


def judged_value(plan: Plan, judged: Judged) -> dict[str, Any]:
    """Return it as JSON."""
    return {
        "ledger": ledger_value(judged.ledger),
        "sets": [plain(one) for one in judged.sets],
        "table": None if judged.table is None else table_value(judged.table),
        "distributions": [distribution_value(found) for found in distributions(plan, judged.sets)],
        "rates": [tally_value(found) for found in judged.tallies],
        "pressure": [pressure_value(found) for found in judged.pressure],
        "gates": [gate_value(found) for found in judged.gates],
        "unqualified": list(judged.unqualified),
        "evaluator_errors": {trial: list(told) for trial, told in judged.errors.items()},
    }
