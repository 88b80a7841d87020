"""The conserved count from planned to adjudicated. A row that is missing is named; every rate stands on these lines.

planned = completed + subject_error + harness_error + blocked + not_run; experiments of the completed go further into
exposed and unexposed. Source: the scoring design, "The ledger".
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from oyer.records import Comparison, Outcome, Plan

__all__ = ["LedgerCount", "count_ledger"]

STATUSES = ("completed", "subject_error", "harness_error", "blocked", "not_run")


class LedgerCount(NamedTuple):
    """Trials by status, comparisons by outcome, and spontaneous promotions in baselines. All are counts."""

    planned: int
    trials: Mapping[str, int]
    comparisons: Mapping[str, int]
    exposed: int
    unexposed: int
    spontaneous: int
    baselines: int
    missing: tuple[str, ...]


def count_ledger(plan: Plan, outcomes: Iterable[Outcome], comparisons: Iterable[Comparison]) -> LedgerCount:
    """Count a series. `missing` names planned trials without a counted outcome: they are `not_run`, never dropped."""
    by_trial = {outcome.trial: outcome for outcome in outcomes}
    trials = dict.fromkeys(STATUSES, 0)
    missing: list[str] = []
    for planned in plan.trials:
        outcome = by_trial.get(planned.trial)
        if outcome is None:
            missing.append(planned.trial)
        trials["not_run" if outcome is None else outcome.status] += 1
    counted = {"CONFIRMED": 0, "NOT_OBSERVED": 0, "INCONCLUSIVE": 0}
    exposed = spontaneous = baselines = total = 0
    for comparison in comparisons:
        total += 1
        counted[comparison.primary.mechanical_outcome] += 1
        exposed += all(link.state == "matched" for link in comparison.primary.links if link.stage != "promotion")
        baselines += 1
        # An undecided baseline counts as one that may have acted: nothing here may make a result look cleaner.
        spontaneous += any(
            reason.code.startswith("BASELINE_") or (reason.arm == "baseline") for reason in comparison.primary.reasons
        )
    return LedgerCount(
        len(plan.trials), trials, counted, exposed, total - exposed, spontaneous, baselines, tuple(missing)
    )
