"""What is read from a whole series beside its outcomes: sets, gates, the exit code, and which cases are unqualified.

Owns the way from a plan and its derived results to `Judged`. Evaluating is `oyer.adjudicate`'s. Must never take a case
for qualified because nothing says that it is not.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from oyer.adjudicate import (
    Course,
    GateInput,
    GateResult,
    LedgerCount,
    SeriesResult,
    count_ledger,
    evaluate_gate,
    gates_exit_code,
    left_repetitions,
    not_run_by,
    parse_gate,
    plan_that_ran,
    planned_claims,
    pressure_of_series,
    sequences_of_series,
    tabulate,
    tallies,
    told_stops,
    with_sequences,
)
from oyer.records import Case, Plan, TrialSuite, plain
from oyer.report import (
    Judged,
    course_value,
    distribution_value,
    distributions,
    gate_value,
    ledger_value,
    pressure_value,
    sequence_value,
    table_value,
    tally_value,
)

__all__ = ["exit_code", "gate_input", "judged_series", "judged_value", "ledger_of"]

AS_PLANNED = Course()


def ledger_of(
    plan: Plan,
    cases: Mapping[str, Case],
    result: SeriesResult,
    suite: TrialSuite | None,
    not_run: Mapping[str, str] | None = None,
) -> LedgerCount:
    """Count a series, with what its claims ask to be judged, and by what each trial did not run."""
    claims = planned_claims(plan, cases)
    exclude = () if suite is None else suite.exclude
    return count_ledger(
        plan, result.outcomes.values(), result.comparisons, claims=claims, exclude=exclude, not_run=not_run or {}
    )


def gate_input(
    plan: Plan,
    cases: Mapping[str, Case],
    result: SeriesResult,
    suite: TrialSuite | None = None,
    *,
    qualified: Collection[str],
    course: Course = AS_PLANNED,
) -> GateInput:
    """Put together what gates and statistics look at; a sequence is qualified where all its cases are."""
    left = not_run_by(plan, cases, course, result.outcomes)
    ledger = ledger_of(plan, cases, result, suite, left)
    known = with_sequences(qualified, cases)
    ran = plan_that_ran(plan, left)
    return GateInput(ran, result.outcomes, result.comparisons, result.sets, ledger, known, course.stopped(plan))


def judged_series(
    plan: Plan,
    cases: Mapping[str, Case],
    result: SeriesResult,
    suite: TrialSuite | None = None,
    *,
    qualified: Collection[str],
    course: Course = AS_PLANNED,
) -> Judged:
    """Evaluate the gates of a plan; `qualified` are the cases that something was found to vouch for."""
    given = gate_input(plan, cases, result, suite, qualified=qualified, course=course)
    gates = tuple(evaluate_gate(parse_gate(text), given) for text in plan.gates)
    unqualified = tuple(case.id for case in plan.cases if case.id not in given.qualified)
    rates = tuple(tallies(given, cases))
    pressure = tuple(pressure_of_series(given.plan, cases, result.outcomes))
    left = left_repetitions(plan, given.plan)
    table = tabulate(plan, cases, result.sets, left)
    told = tuple(told_stops(plan, course))
    read = Judged(given.ledger, result.sets, gates, unqualified, rates, result.errors, pressure, table)
    hit = tuple(sequences_of_series(given.plan, cases, result.outcomes))
    return read._replace(course=course, left=left, stops=told, sequences=hit)


def exit_code(gates: Sequence[GateResult]) -> int:
    """Return 0 where all gates hold or there is none, 1 where one does not hold, else 5."""
    return gates_exit_code(gates)


def judged_value(plan: Plan, judged: Judged) -> dict[str, Any]:
    """Return it as JSON."""
    return {
        "ledger": ledger_value(judged.ledger),
        "sets": [plain(one) for one in judged.sets],
        "table": None if judged.table is None else table_value(judged.table),
        "distributions": [distribution_value(found) for found in distributions(plan, judged.sets, judged.left)],
        "rates": [tally_value(found) for found in judged.tallies],
        "pressure": [pressure_value(found) for found in judged.pressure],
        "sequences": [sequence_value(found) for found in judged.sequences],
        "course": course_value(plan, judged.course, judged.stops),
        "gates": [gate_value(found) for found in judged.gates],
        "unqualified": list(judged.unqualified),
        "evaluator_errors": {trial: list(told) for trial, told in judged.errors.items()},
    }
