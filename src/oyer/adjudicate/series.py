"""All outcomes and comparisons of a series, derived from its sealed attempts. Used by the run and again by verify."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from oyer.adjudicate.arm import Arm
from oyer.adjudicate.compare import ComparisonInput, compare
from oyer.adjudicate.outcomes import derive_outcome
from oyer.observe import TrialEvidence, read_watches
from oyer.records import Case, Comparison, Condition, Outcome, PinSet, Plan, PlannedTrial, canonical_bytes

__all__ = ["SeriesInput", "SeriesResult", "TrialInput", "derive_series", "derived_files"]


class TrialInput(NamedTuple):
    """The counted attempt of one planned trial."""

    attempt: int
    attempts: int
    evidence: TrialEvidence
    stored: str | None


class SeriesInput(NamedTuple):
    """A plan with its pinned cases, the counted attempts by trial, and the pins per subject and case."""

    plan: Plan
    cases: Mapping[str, Case]
    trials: Mapping[str, TrialInput]
    pinned: Mapping[tuple[str, str], PinSet]


class SeriesResult(NamedTuple):
    """What a series shows: one Outcome per sealed trial, one Comparison per case, subject and repetition."""

    outcomes: Mapping[str, Outcome]
    comparisons: tuple[Comparison, ...]


def comparison_name(case: str, subject: str, repetition: int) -> str:
    """Return the file-safe name of a comparison."""
    return f"{case}.{subject}.r{repetition}".replace("/", "-").replace(":", "-")


def derive_series(given: SeriesInput) -> SeriesResult:
    """Derive everything a series shows. Order of trials on disk does not matter: the plan's order is used."""
    outcomes: dict[str, Outcome] = {}
    arms: dict[str, Arm] = {}
    for planned in given.plan.trials:
        trial = given.trials.get(planned.trial)
        if trial is None:
            continue
        arm = _arm(given, planned, trial)
        arms[planned.trial] = arm
        outcomes[planned.trial] = derive_outcome(
            arm,
            case=planned.case,
            subject=planned.subject,
            repetition=planned.repetition,
            condition=planned.condition,
            attempts=trial.attempts,
        )
    named = _named(given)
    comparisons = tuple(
        compare(_input(given, group, arms, named))
        for group in _groups(given.plan)
        if given.cases[group[0].case].is_experiment
    )
    return SeriesResult(outcomes, comparisons)


def _arm(given: SeriesInput, planned: PlannedTrial, trial: TrialInput) -> Arm:
    condition: Condition = "baseline" if planned.condition == "plain" else planned.condition
    return Arm(
        condition,
        planned.trial,
        trial.attempt,
        trial.evidence,
        case=given.cases[planned.case],
        case_digest=planned.case_digest,
        stored=trial.stored,
    )


def _groups(plan: Plan) -> Iterator[list[PlannedTrial]]:
    groups: dict[tuple[str, str, int], list[PlannedTrial]] = {}
    for planned in plan.trials:
        groups.setdefault((planned.case, planned.subject, planned.repetition), []).append(planned)
    for key in sorted(groups):
        yield groups[key]


def _named(given: SeriesInput) -> Mapping[str, tuple[str, ...]]:
    """Effects rejected anywhere in the series, by the run they name."""
    found: dict[str, list[str]] = {}
    for name in sorted(given.trials):
        for watch in read_watches(given.trials[name].evidence).values():
            for run, ref in watch.names:
                found.setdefault(run, []).append(f"{name}/{ref}")
    return {run: tuple(refs) for run, refs in found.items()}


def _input(
    given: SeriesInput, group: list[PlannedTrial], arms: Mapping[str, Arm], named: Mapping[str, tuple[str, ...]]
) -> ComparisonInput:
    first = group[0]
    return ComparisonInput(
        case=given.cases[first.case],
        case_digest=first.case_digest,
        subject=first.subject,
        repetition=first.repetition,
        planned=tuple(p.condition for p in group if p.condition != "plain"),
        arms={arms[p.trial].condition: arms[p.trial] for p in group if p.trial in arms},
        pinned=given.pinned.get((first.subject, first.case)),
        named_elsewhere=named,
    )


def derived_files(result: SeriesResult) -> Mapping[str, bytes]:
    """Return every derived record in canonical bytes, by its path in a series."""
    files = {f"outcomes/{trial}.json": canonical_bytes(outcome) for trial, outcome in result.outcomes.items()}
    for comparison in result.comparisons:
        name = comparison_name(comparison.case, comparison.subject, comparison.repetition)
        files[f"comparisons/{name}.json"] = canonical_bytes(comparison)
    return files
