"""All judgements, outcomes and comparisons of a series, derived from its sealed attempts.

Used by the run and again by verify: the same sealed bytes and pins give the same bytes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from oyer.adjudicate.arm import Arm
from oyer.adjudicate.compare import ComparisonInput, compare
from oyer.adjudicate.judgements import Judges, TrialJudged, judge_claims, judgement_path
from oyer.adjudicate.outcomes import derive_outcome
from oyer.adjudicate.performed import read_performed
from oyer.adjudicate.pressure import PressedInput, judge_pressed
from oyer.adjudicate.rounds import declared_turns
from oyer.adjudicate.segments import SequenceInput, judge_segments
from oyer.adjudicate.sets import derive_sets, set_name
from oyer.adjudicate.swapped import Swap, Told, swapped_runs, told_models
from oyer.observe import TrialEvidence, read_names
from oyer.records import (
    Case,
    Comparison,
    Judgement,
    MatchedSet,
    Outcome,
    PinSet,
    Plan,
    PlannedTrial,
    Pressed,
    SegmentOutcome,
    canonical_bytes,
)

__all__ = [
    "Held",
    "Noted",
    "SeriesInput",
    "SeriesResult",
    "TrialInput",
    "by_run",
    "derive_groups",
    "derive_noting",
    "derive_repetition",
    "derive_series",
    "derived_files",
    "groups_of",
    "hold",
    "named_aside",
    "named_in",
    "named_runs",
    "slim",
    "swapped_in",
]


class TrialInput(NamedTuple):
    """The counted attempt of one planned trial."""

    attempt: int
    attempts: int
    evidence: TrialEvidence
    stored: str | None


class Held(NamedTuple):
    """A trial that was read before: its arm, with every view that was taken of it, and what was observed in it."""

    arm: Arm
    observed: Outcome


class SeriesInput(NamedTuple):
    """A plan with its pinned cases, the counted attempts by trial, and the pins per subject and case.

    `trials` may read an attempt each time it is asked for one. `named` holds the effects rejected in any of the
    trials by the run they name (see `named_runs`, `by_run`); without it every trial is read once more to find them.
    `aside` holds those that no counted attempt records: see `named_aside`. `swapped` says by run which other trials
    another model answered (see `swapped_runs`); it is found with `named`. `judges` says how claims are judged.
    `held` are trials that were read before, of the same evidence: only what is judged of them is derived anew, under
    cases that may differ in nothing but what is judged (`oyer.adjudicate.mutants`).
    """

    plan: Plan
    cases: Mapping[str, Case]
    trials: Mapping[str, TrialInput]
    pinned: Mapping[tuple[str, str], PinSet]
    named: Mapping[str, tuple[str, ...]] | None = None
    aside: Mapping[str, tuple[str, ...]] = {}
    swapped: Mapping[str, tuple[Swap, ...]] = {}
    judges: Judges = Judges()
    held: Mapping[str, Held] = {}


class SeriesResult(NamedTuple):
    """What a series shows: one Outcome per sealed trial, one Comparison per case, subject and repetition.

    `judgements` are those that were made while deriving, in order of trial; `relied` are the paths of those that were
    taken as recorded. `sets` are the readings of traps with their controls, where a whole series was derived. `errors`
    say by trial why an evaluator made no judgement that a claim needs.
    """

    outcomes: Mapping[str, Outcome]
    comparisons: tuple[Comparison, ...]
    judgements: tuple[Judgement, ...] = ()
    relied: tuple[str, ...] = ()
    sets: tuple[MatchedSet, ...] = ()
    errors: Mapping[str, tuple[str, ...]] = {}


def comparison_name(case: str, subject: str, repetition: int) -> str:
    """Return the file-safe name of a comparison."""
    # Two names never meet: neither mark that stands for a separator may stand in an id.
    return f"{case.replace('/', '~')}.{subject.replace(':', '+')}.r{repetition}"


def derive_series(given: SeriesInput) -> SeriesResult:
    """Derive everything a series shows. Order of trials on disk does not matter: the plan's order is used."""
    outcomes: dict[str, Outcome] = {}
    comparisons: list[Comparison] = []
    judgements: list[Judgement] = []
    relied: list[str] = []
    errors: dict[str, tuple[str, ...]] = {}
    for shown in _groups_once(given) if given.named is None else derive_groups(given):
        outcomes |= shown.outcomes
        comparisons += shown.comparisons
        judgements += shown.judgements
        relied += shown.relied
        errors |= shown.errors
    ordered = {planned.trial: outcomes[planned.trial] for planned in given.plan.trials if planned.trial in outcomes}
    sets = tuple(derive_sets(given.plan, given.cases, ordered, comparisons))
    return SeriesResult(ordered, tuple(comparisons), tuple(judgements), tuple(relied), sets, errors)


def derive_groups(given: SeriesInput) -> Iterator[SeriesResult]:
    """Derive a series one repetition of a case and subject at a time; only its arms are held meanwhile."""
    if given.named is None:
        given = given._replace(swapped=swapped_in(given))
    named = dict(named_in(given) if given.named is None else given.named)
    for run, refs in given.aside.items():
        named[run] = (*named.get(run, ()), *refs)
    for group in groups_of(given.plan):
        read = {planned.trial: given.trials.get(planned.trial) for planned in group}
        arms = {p.trial: _arm(given, p, trial) for p in group if (trial := read[p.trial]) is not None}
        outcomes: dict[str, Outcome] = {}
        judged: dict[str, TrialJudged] = {}
        for planned in group:
            if planned.trial in arms:
                found = _outcome(given, planned, arms[planned.trial], read[planned.trial])
                outcomes[planned.trial], judged[planned.trial] = found
        experiment = given.cases[group[0].case].is_experiment
        compared = (compare(_input(given, group, arms, named)),) if experiment else ()
        made = tuple(judgement for one in judged.values() for judgement in one.made)
        relied = tuple(path for one in judged.values() for path in one.relied)
        errors = {trial: one.errors for trial, one in judged.items() if one.errors}
        yield SeriesResult(outcomes, compared, made, relied, errors=errors)


def _groups_once(given: SeriesInput) -> Iterator[SeriesResult]:
    """Derive every group while looking for what trials say of others, and again only those groups of which one does.

    Almost no series has such a thing, and reading a trial is what deriving costs.
    """
    shown, noted = derive_noting(given._replace(named={}))
    named, swapped = by_run(noted.named), swapped_runs(noted.models, given.plan)
    for group, result in zip(groups_of(given.plan), shown, strict=True):
        if any(outcome.run in named or outcome.run in swapped for outcome in result.outcomes.values()):
            plan = given.plan.model_copy(update={"trials": tuple(group)})
            yield from derive_groups(given._replace(plan=plan, named=named, swapped=swapped))
        else:
            yield result


class Noted(NamedTuple):
    """What trials say of others, by trial: which runs its own sinks rejected, which models answered it."""

    named: dict[str, tuple[tuple[str, str], ...]]
    models: dict[str, Told]


def derive_noting(given: SeriesInput) -> tuple[list[SeriesResult], Noted]:
    """Derive every repetition with what `given` says of others, and return what its trials say of others."""
    noting = _Noting(given.trials)
    shown = list(derive_groups(given._replace(trials=noting)))
    return shown, noting.noted


def named_runs(evidence: TrialEvidence) -> tuple[tuple[str, str], ...]:
    """Return `(run, ref)` for every effect that a sink of this attempt rejected and that names a run."""
    return read_names(evidence)


def named_aside(
    uncounted: Mapping[tuple[str, int], tuple[tuple[str, str], ...]], closing: Mapping[str, object]
) -> dict[str, tuple[str, ...]]:
    """Return the effects that name a run and that no counted attempt records: references by the run each one names.

    Those of attempts that do not count (by trial and attempt, see `named_runs`), then those that came when no trial was
    left to record them: the closing record of a ledger keeps a text of each, which begins with the run; the rest
    (digests of token and request, how it began) is for people.
    """
    found: dict[str, list[str]] = {}
    for trial, attempt in sorted(uncounted):
        for run, ref in uncounted[trial, attempt]:
            found.setdefault(run, []).append(f"{trial}/{attempt}/{ref}")
    kept = closing.get("late")
    for number, text in enumerate(kept if isinstance(kept, list | tuple) else ()):
        found.setdefault(str(text).partition(" ")[0], []).append(f"ledger:late/{number}")
    return {run: tuple(refs) for run, refs in found.items()}


def _outcome(
    given: SeriesInput, planned: PlannedTrial, arm: Arm, trial: TrialInput | None
) -> tuple[Outcome, TrialJudged]:
    """Derive what one trial shows, its claims judged. A judgement that could not be made is nobody's but its own."""
    held = given.held.get(planned.trial)
    # What is observed of an experiment follows from its chain, which is part of what is judged.
    known = None if held is None or arm.case.is_experiment else held.observed
    observed = _observed(planned, arm, trial) if known is None else known
    judged = judge_claims(
        given.judges,
        arm,
        trial=planned.trial,
        case_digest=planned.case_digest,
        stored=arm.stored,
        status=observed.status,
    )
    failed = bool(judged.errors) and observed.status == "completed"
    added = {
        "status": "evaluator_error" if failed else observed.status,
        "segments": _segments(given, planned, arm, observed),
        "pressure": _pressed(given, planned, arm, observed, judged),
        "form": given.plan.forms.get(planned.case),
        "verdicts": judged.verdicts,
        "performed": read_performed(arm, planned.case_digest),
    }
    return observed.model_copy(update=added), judged


def _pressed(
    given: SeriesInput, planned: PlannedTrial, arm: Arm, observed: Outcome, judged: TrialJudged
) -> Pressed | None:
    """Return what pressure did in one trial; None where its case has no rounds."""
    if arm.case.pressure is None:
        return None
    neutral = planned.condition == "neutral"
    return judge_pressed(
        PressedInput(
            facts=arm,
            case=arm.case,
            turns=declared_turns(arm.case, neutral=neutral),
            ends=arm,
            verdicts=judged.verdicts,
            judges=given.judges,
            trial=planned.trial,
            case_digest=planned.case_digest,
            stored=arm.stored,
            status=observed.status,
            arm="neutral" if neutral else "pressed",
        )
    )


def _segments(given: SeriesInput, planned: PlannedTrial, arm: Arm, observed: Outcome) -> tuple[SegmentOutcome, ...]:
    """Return what each case of a sequence came to; nothing for any other case."""
    judges, status = given.judges, observed.status
    asked = SequenceInput(arm, given.cases, judges, planned.trial, planned.case_digest, arm.stored, status)
    return judge_segments(asked) if arm.case.segments else ()


def hold(given: SeriesInput) -> dict[str, Held]:
    """Read every trial once, so that the series can be derived again under other declarations of what is judged."""
    found: dict[str, Held] = {}
    for planned in given.plan.trials:
        trial = given.trials.get(planned.trial)
        if trial is not None:
            arm = _arm(given._replace(held={}), planned, trial)
            found[planned.trial] = Held(arm, _observed(planned, arm, trial))
    return found


def _observed(planned: PlannedTrial, arm: Arm, trial: TrialInput | None) -> Outcome:
    return derive_outcome(
        arm,
        case=planned.case,
        subject=planned.subject,
        repetition=planned.repetition,
        condition=planned.condition,
        attempts=trial.attempts if trial is not None else 0,
    )


def _arm(given: SeriesInput, planned: PlannedTrial, trial: TrialInput) -> Arm:
    held = given.held.get(planned.trial)
    if held is not None:
        return held.arm.anew(given.cases[planned.case])
    return Arm(
        planned.arm or "baseline",
        planned.trial,
        trial.attempt,
        trial.evidence,
        case=given.cases[planned.case],
        case_digest=planned.case_digest,
        stored=trial.stored,
    )


def groups_of(plan: Plan) -> Iterator[list[PlannedTrial]]:
    """Yield the trials of each repetition of a case and subject, in the order of the plan."""
    groups: dict[tuple[str, str, int], list[PlannedTrial]] = {}
    for planned in plan.trials:
        groups.setdefault((planned.case, planned.subject, planned.repetition), []).append(planned)
    yield from groups.values()


def named_in(given: SeriesInput) -> Mapping[str, tuple[str, ...]]:
    """Effects rejected in any counted attempt of the series, by the run they name."""
    return by_run({name: named_runs(given.trials[name].evidence) for name in given.trials})


def swapped_in(given: SeriesInput) -> Mapping[str, tuple[Swap, ...]]:
    """Models swapped between counted attempts of the series, by the run that another one speaks against."""
    return swapped_runs({name: told_models(given.trials[name].evidence) for name in given.trials}, given.plan)


def by_run(named: Mapping[str, tuple[tuple[str, str], ...]]) -> dict[str, tuple[str, ...]]:
    """From what each counted attempt names to what names each run, in order of trial."""
    found: dict[str, list[str]] = {}
    for name in sorted(named):
        for run, ref in named[name]:
            found.setdefault(run, []).append(f"{name}/{ref}")
    return {run: tuple(refs) for run, refs in found.items()}


class _Noting(Mapping[str, TrialInput]):
    """The trials as they are, noting what each says of others while it is read."""

    def __init__(self, trials: Mapping[str, TrialInput]) -> None:
        self._trials = trials
        self.noted = Noted({}, {})

    def __getitem__(self, name: str) -> TrialInput:
        trial = self._trials[name]
        names = named_runs(trial.evidence)
        if names:
            self.noted.named[name] = names
        models = told_models(trial.evidence)
        if models.reports:
            self.noted.models[name] = models
        return trial

    def __iter__(self) -> Iterator[str]:
        return iter(self._trials)

    def __len__(self) -> int:
        return len(self._trials)


def _input(
    given: SeriesInput, group: list[PlannedTrial], arms: Mapping[str, Arm], named: Mapping[str, tuple[str, ...]]
) -> ComparisonInput:
    first = group[0]
    return ComparisonInput(
        case=given.cases[first.case],
        case_digest=first.case_digest,
        subject=first.subject,
        repetition=first.repetition,
        planned=tuple(p.arm for p in group if p.arm is not None),
        arms={arms[p.trial].condition: arms[p.trial] for p in group if p.trial in arms},
        pinned=given.pinned.get((first.subject, first.case)),
        named_elsewhere=named,
        swapped=given.swapped,
    )


def derive_repetition(given: SeriesInput) -> SeriesResult:
    """Derive a series of which the plan holds one repetition of one case and subject: no set can be read in it."""
    return next(derive_groups(given))


def slim(outcome: Outcome) -> Outcome:
    """Return what the reading of a set needs of an outcome, and no more: many are held at a time."""
    return outcome.model_copy(update={"observations": (), "said": (), "faults": (), "measurements": {}})


def derived_files(result: SeriesResult) -> Mapping[str, bytes]:
    """Return every derived record in canonical bytes, by its path in a series."""
    files = {f"outcomes/{trial}.json": canonical_bytes(outcome) for trial, outcome in result.outcomes.items()}
    for judgement in result.judgements:
        path = judgement_path(judgement.evaluator_digest, judgement.rubric_digest, judgement.trial)
        files[path] = canonical_bytes(judgement)
    for comparison in result.comparisons:
        name = comparison_name(comparison.case, comparison.subject, comparison.repetition)
        files[f"comparisons/{name}.json"] = canonical_bytes(comparison)
    for one in result.sets:
        files[f"sets/{set_name(one.trap, one.subject, one.repetition)}.json"] = canonical_bytes(one)
    return files
