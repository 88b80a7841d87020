"""Building a `Plan@1`: every case, subject, repetition and condition, once, in a declared order."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import Literal, TypeVar

from oyer.errors import UsageError
from oyer.plan.forms import outcome_form
from oyer.records import (
    Attempts,
    Condition,
    Evaluator,
    LoadedCase,
    OrderKind,
    Plan,
    PlannedCase,
    PlannedModel,
    PlannedTrial,
    Qualification,
    Repeat,
    Rubric,
    TrialSuite,
    digest,
)

__all__ = ["build_plan", "seeded_order", "trial_name"]

T = TypeVar("T")


def seeded_order(items: Sequence[T], seed: int) -> list[T]:
    """Return the items in the order of sha256(seed, index): the same for everyone who knows the seed."""
    keys = {index: sha256(f"{seed}:{index}".encode()).digest() for index in range(len(items))}
    return [items[index] for index in sorted(keys, key=lambda found: keys[found])]


def trial_name(position: int, case: str, subject: str, repetition: int, condition: str) -> str:
    """Return the file-safe name of a trial. It is for people at the series directory; no subject ever sees it."""
    words = [re.sub(r"[^a-z0-9_-]+", "-", word.lower()).strip("-") or "x" for word in (case, subject)]
    return f"t{position:05d}.{words[0][:60]}.{words[1][:60]}.r{repetition}.{condition}"


def build_plan(
    cases: Sequence[LoadedCase],
    subjects: Sequence[str],
    *,
    seed: int,
    repeat: int = 1,
    conditions: Sequence[Condition] | None = None,
    order: OrderKind = "fixed",
    worlds: Mapping[str, str | None] | None = None,
    models: Mapping[str, PlannedModel] | None = None,
    suite: TrialSuite | None = None,
    rubrics: Mapping[str, Rubric] | None = None,
    evaluators: Mapping[str, Evaluator] | None = None,
    qualifications: Mapping[str, Qualification] | None = None,
    neutral: bool = True,
) -> Plan:
    """Plan every trial. `conditions` keeps only these of each case's own; the arms of one repetition stay together.

    A trap with neutral rounds is planned twice, pressed (`plain`) and `neutral`; without `neutral` only pressed.

    `worlds` maps case ids to the digests of their fixture worlds, `models` subjects to what they ask, `qualifications`
    case ids to what vouches for them. With a `suite` its attempts, exclusions and gates are part of the plan, and each
    case keeps those of the conditions that it has.

    Raises: UsageError `E-CONDITION-UNKNOWN` where a case does not have a named condition, `E-PLAN-TWICE` for a case or
    subject named twice (two trials would then stand for one), `E-PLAN-EMPTY` where nothing would run,
    `E-SEQUENCE-MEMBER` for a sequence whose cases are not there.
    """
    _refuse_twice("case", [loaded.case.id for loaded in cases])
    _refuse_twice("subject", subjects)
    records = {loaded.case.id: loaded.case for loaded in cases}
    _require_members(cases)
    groups = [
        (loaded, subject, repetition) for repetition in range(1, repeat + 1) for loaded in cases for subject in subjects
    ]
    trials = _trials(seeded_order(groups, seed) if order == "shuffled" else groups, conditions, suite, neutral)
    if not trials:
        raise UsageError("E-PLAN-EMPTY", "no trial is planned", hint="name a case, a subject, a condition; repeat >= 1")
    return Plan(
        cases=tuple(
            PlannedCase(id=c.case.id, revision=c.case.revision, digest=c.digest, world=(worlds or {}).get(c.case.id))
            for c in cases
        ),
        subjects=tuple(subjects),
        models=dict(models or {}),
        conditions=tuple(conditions or ()),
        order=order,
        seed=seed,
        repeat=Repeat(fixed=repeat),
        attempts=suite.attempts if suite is not None else Attempts(),
        exclude=tuple(rule.id for rule in suite.exclude) if suite is not None else (),
        suite=digest(suite) if suite is not None else None,
        rubrics={name: digest(rubric) for name, rubric in (rubrics or {}).items()},
        evaluators={name: digest(evaluator) for name, evaluator in (evaluators or {}).items()},
        qualifications={name: digest(one) for name, one in (qualifications or {}).items()},
        forms={c.case.id: digest(outcome_form(c.case, rubrics or {}, records)) for c in cases},
        gates=suite.gates if suite is not None else (),
        trials=tuple(trials),
    )


def _trials(
    groups: Sequence[tuple[LoadedCase, str, int]],
    conditions: Sequence[Condition] | None,
    suite: TrialSuite | None,
    neutral: bool,
) -> list[PlannedTrial]:
    trials: list[PlannedTrial] = []
    for loaded, subject, repetition in groups:
        for condition in _conditions(loaded, conditions, of_suite=suite is not None, neutral=neutral):
            position = len(trials)
            trials.append(
                PlannedTrial(
                    trial=trial_name(position, loaded.case.id, subject, repetition, condition),
                    position=position,
                    case=loaded.case.id,
                    case_digest=loaded.digest,
                    subject=subject,
                    repetition=repetition,
                    condition=condition,
                )
            )
    return trials


def _require_members(cases: Sequence[LoadedCase]) -> None:
    """Refuse a sequence without exactly the cases that it is made of: its results would be read by nothing."""
    digests = {loaded.case.id: loaded.digest for loaded in cases}
    for loaded in cases:
        for segment in loaded.case.segments:
            if digests.get(segment.case) != segment.digest:
                told = (
                    f"the sequence {loaded.case.id} is made of {segment.case} ({segment.digest}), which is not planned"
                )
                raise UsageError("E-SEQUENCE-MEMBER", told, hint="plan it with its suite")


def _refuse_twice(what: str, names: Sequence[str]) -> None:
    twice = sorted({name for name in names if list(names).count(name) > 1})
    if twice:
        raise UsageError("E-PLAN-TWICE", f"{what} {', '.join(twice)} is named twice", hint="use repeat for repetitions")


def _conditions(
    loaded: LoadedCase, wanted: Sequence[Condition] | None, *, of_suite: bool, neutral: bool
) -> tuple[Condition | Literal["plain", "neutral"], ...]:
    own = loaded.case.conditions
    if not own:
        return ("plain", "neutral") if neutral and loaded.case.has_neutral_arm else ("plain",)
    unknown = [name for name in wanted or () if name not in own]
    if unknown and not (of_suite and set(unknown) < set(wanted or ())):
        raise UsageError(
            "E-CONDITION-UNKNOWN",
            f"case {loaded.case.id} has no condition {', '.join(unknown)}",
            hint=f"it has {', '.join(own)}",
        )
    return tuple(name for name in own if wanted is None or name in wanted)
