"""The conserved count from planned to adjudicated. A row that is missing is named; every rate stands on these lines.

planned = completed + subject_error + harness_error + blocked + not_run; completed = judged + evaluator_error (it is
derived after sealing) + excluded by rule; every comparison goes further into exposed, or unexposed by its first reason.
Source: the scoring design, "The ledger" and "Over repetitions".
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from oyer.errors import EvidenceError, Problem
from oyer.records import Case, Comparison, Exclusion, Outcome, Plan

__all__ = ["LedgerCount", "count_ledger", "planned_claims", "require_conserved"]

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

    `judged` completed trials have every verdict that was planned for them, `unjudged` names those that have not and
    are no `evaluator_error` either. `twice` names trials with several outcomes: they are counted once. `excluded`
    counts trials by the rule that leaves them out of rates; the rules go by statuses that are not `completed`, so a
    completed trial is never excluded, and every excluded one stays in its row. `not_run` counts the missing by what
    kept them from running: the declared rule, the declared budget, the operator, or `unknown`.
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
    judged: int = 0
    evaluator_error: int = 0
    unjudged: tuple[str, ...] = ()
    excluded: Mapping[str, int] = NO_ROWS
    twice: tuple[str, ...] = ()
    not_run: Mapping[str, int] = NO_ROWS


def count_ledger(
    plan: Plan,
    outcomes: Iterable[Outcome],
    comparisons: Iterable[Comparison],
    *,
    claims: Mapping[str, Collection[str]] = MappingProxyType({}),
    exclude: Sequence[Exclusion] = (),
    not_run: Mapping[str, str] = MappingProxyType({}),
) -> LedgerCount:
    """Count a series. `claims` are those to be judged, by case; without them nothing is missing to be judged.

    `not_run` says by trial what kept it from running.
    """
    told = list(outcomes)
    by_trial = {outcome.trial: outcome for outcome in told}
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
    counted_trials = [by_trial[name] for name in names if name in by_trial]
    unjudged = tuple(one.trial for one in counted_trials if _misses_verdicts(one, claims.get(one.case, ())))
    failed = sum(one.status == "evaluator_error" for one in counted_trials)
    missing = tuple(name for name in names if name not in by_trial)
    return LedgerCount(
        planned=len(names),
        trials=trials,
        comparisons=counted,
        exposed=total - unexposed,
        unexposed=unexposed,
        spontaneous=spontaneous,
        baselines=total,
        missing=missing,
        unplanned=tuple(sorted(set(by_trial) - set(names))),
        unexposed_by=dict(sorted(why.items())),
        acted=acted,
        judged=trials["completed"] - failed - len(unjudged),
        evaluator_error=failed,
        unjudged=unjudged,
        excluded=_excluded(counted_trials, exclude),
        twice=tuple(sorted(name for name, number in Counter(one.trial for one in told).items() if number > 1)),
        not_run=dict(sorted(Counter(not_run.get(name, "unknown") for name in missing).items())),
    )


def planned_claims(plan: Plan, cases: Mapping[str, Case]) -> dict[str, tuple[str, ...]]:
    """Return the claims that are to be judged, by case: those whose rubric the plan names."""
    return {name: tuple(one.id for one in case.claims if one.rubric in plan.rubrics) for name, case in cases.items()}


def require_conserved(count: LedgerCount, on_record: Collection[str] = ()) -> None:
    """Refuse to close a series of which a row is missing. `on_record` names trials that did not run, with a reason.

    Raises: EvidenceError naming every row that is missing.
    """
    problems = [Problem("E-LEDGER-CONSERVED", told) for told in _gaps(count, on_record)]
    if problems:
        raise EvidenceError.of(problems)


def _gaps(count: LedgerCount, on_record: Collection[str]) -> Iterator[str]:
    for name in count.missing:
        if name not in on_record:
            yield f"trial {name} is planned, and neither an outcome nor a reason is on record"
    for name in count.unplanned:
        yield f"trial {name} has an outcome, and is in no plan"
    for name in count.twice:
        yield f"trial {name} has more than one outcome, and has one slot"
    for name in count.unjudged:
        yield f"trial {name} completed, and is neither judged nor an evaluator_error"
    if sum(count.trials.values()) != count.planned:
        yield f"{count.planned} trials are planned, and the rows add up to {sum(count.trials.values())}"
    completed = count.judged + count.evaluator_error + len(count.unjudged)
    if completed != count.trials["completed"]:
        yield f"{count.trials['completed']} trials completed, and {completed} were judged or could not be"


def _misses_verdicts(outcome: Outcome, claims: Collection[str]) -> bool:
    return outcome.status == "completed" and not set(claims) <= {one.claim for one in outcome.verdicts}


def _excluded(outcomes: Iterable[Outcome], rules: Sequence[Exclusion]) -> Mapping[str, int]:
    """Count each excluded trial under the first rule that names its status; a rule that met nothing has its 0."""
    found = {rule.id: 0 for rule in rules}
    for outcome in outcomes:
        rule = next((rule.id for rule in rules if rule.status == outcome.status), None)
        if rule is not None:
            found[rule] += 1
    return found


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
