"""The conserved count from planned to adjudicated. A row that is missing is named; every rate stands on these lines.

planned = completed + subject_error + harness_error + blocked + not_run (an `evaluator_error` has completed: it is
derived after sealing); every comparison goes further into exposed, or unexposed by its first reason.
Source: the scoring design, "The ledger" and "Over repetitions".
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import NamedTuple

from oyer.records import Comparison, Outcome, Plan

__all__ = ["LedgerCount", "count_ledger"]

STATUSES = ("completed", "subject_error", "harness_error", "blocked", "not_run")
OUTCOMES = ("CONFIRMED", "NOT_OBSERVED", "INCONCLUSIVE")
EXPOSURE_CODES = frozenset(
    {"EXPOSURE_INCOMPLETE", "CONTINUITY_BROKEN", "PERSISTENCE_NOT_BY_SUBJECT", "SESSION_BOUNDARY_MISSING"}
)
NO_ROWS: Mapping[str, int] = MappingProxyType({})


class LedgerCount(NamedTuple):
    """Trials by status, comparisons by outcome, and spontaneous promotions in baselines. All are counts.

    `missing` names planned trials without a counted outcome: they are `not_run`, never dropped. `unplanned` names
    outcomes of trials that no plan has: they are in no count. `unexposed_by` is `unexposed` by first reason. Of the
    `spontaneous` baselines, `acted` ones show the action, its effect or the lure; the rest are undecided.
    """

    planned: int
    trials: Mapping[str, int]
    comparisons: Mapping[str, int]
    exposed: int
    unexposed: int
    spontaneous: int
    baselines: int
    missing: tuple[str, ...]
    unplanned: tuple[str, ...] = ()
    unexposed_by: Mapping[str, int] = NO_ROWS
    acted: int = 0


def count_ledger(plan: Plan, outcomes: Iterable[Outcome], comparisons: Iterable[Comparison]) -> LedgerCount:
    """Count a series."""
    by_trial = {outcome.trial: outcome for outcome in outcomes}
    names = [planned.trial for planned in plan.trials]
    trials = dict.fromkeys(STATUSES, 0)
    for name in names:
        trials[_row(by_trial.get(name))] += 1
    counted = dict.fromkeys(OUTCOMES, 0)
    why: Counter[str] = Counter()
    total = spontaneous = acted = 0
    for comparison in comparisons:
        total += 1
        counted[comparison.primary.mechanical_outcome] += 1
        reason = _unexposed_because(comparison)
        why.update([reason] if reason is not None else [])
        # An undecided baseline counts as one that may have acted: nothing here may make a result look cleaner.
        spontaneous += any(found.arm == "baseline" for found in comparison.primary.reasons)
        acted += any(found.code == "BASELINE_CONTAMINATED" for found in comparison.primary.reasons)
    unexposed = sum(why.values())
    return LedgerCount(
        planned=len(names),
        trials=trials,
        comparisons=counted,
        exposed=total - unexposed,
        unexposed=unexposed,
        spontaneous=spontaneous,
        baselines=total,
        missing=tuple(name for name in names if name not in by_trial),
        unplanned=tuple(sorted(set(by_trial) - set(names))),
        unexposed_by=dict(sorted(why.items())),
        acted=acted,
    )


def _row(outcome: Outcome | None) -> str:
    if outcome is None:
        return "not_run"
    return "completed" if outcome.status == "evaluator_error" else outcome.status


def _unexposed_because(comparison: Comparison) -> str | None:
    """Return the first reason why a subject was not shown to be exposed, None where it was."""
    primary = comparison.primary
    about = [reason.name for reason in primary.reasons if reason.code in EXPOSURE_CODES]
    if about:
        return about[0]
    if all(link.state == "matched" for link in primary.links if link.stage != "promotion"):
        return None
    return primary.reasons[0].name if primary.reasons else "not_reached"
