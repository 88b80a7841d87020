"""Building a `Plan@1`: every case, subject, repetition and condition, once, in a declared order."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Literal, NamedTuple

from oyer.errors import UsageError
from oyer.plan.forms import outcome_form
from oyer.plan.orders import Round, Slot, planned_slots, seeded_order
from oyer.records import (
    Attempts,
    Condition,
    Evaluator,
    LoadedCase,
    Order,
    Plan,
    PlannedCase,
    PlannedModel,
    PlannedTrial,
    Qualification,
    Repeat,
    Rubric,
    Sequential,
    SeriesBudget,
    TrialSuite,
    digest,
)

__all__ = ["Rule", "build_plan", "trial_name"]


class Rule(NamedTuple):
    """By what a series stops: a sequential rule, a budget, or neither.

    `drawn` names the cases of each unit of a rule that draws cases: each runs once, in seeded random order.
    """

    sequential: Sequential | None = None
    budget: SeriesBudget | None = None
    drawn: Sequence[Sequence[str]] | None = None

    def most(self, repeat: int) -> int:
        """How many repetitions of a case may come to run."""
        if self.sequential is None:
            return repeat
        return 1 if self.drawn is not None else self.sequential.max


def trial_name(position: int, case: str, subject: str, repetition: int, condition: str) -> str:
    """Return the file-safe name of a trial. It is for people at the series directory; no subject ever sees it."""
    words = [re.sub(r"[^a-z0-9_-]+", "-", word.lower()).strip("-") or "x" for word in (case, subject)]
    return f"t{position:05d}.{words[0][:60]}.{words[1][:60]}.r{repetition}.{condition}"


AS_WRITTEN, WITHOUT_RULE = Order(), Rule()


def build_plan(
    cases: Sequence[LoadedCase],
    subjects: Sequence[str],
    *,
    seed: int,
    repeat: int = 1,
    conditions: Sequence[Condition] | None = None,
    order: Order = AS_WRITTEN,
    rule: Rule = WITHOUT_RULE,
    worlds: Mapping[str, str | None] | None = None,
    models: Mapping[str, PlannedModel] | None = None,
    suite: TrialSuite | None = None,
    rubrics: Mapping[str, Rubric] | None = None,
    evaluators: Mapping[str, Evaluator] | None = None,
    qualifications: Mapping[str, Qualification] | None = None,
    neutral: bool = True,
) -> Plan:
    """Plan every trial. `conditions` keeps only these of each case's own; `seed` is that of the order.

    With a `rule` that stops everything is planned that may come to run.
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
    arms = partial(_conditions, wanted=conditions, of_suite=suite is not None, neutral=neutral)
    trials = [_trial(*one) for one in enumerate(_slots(cases, subjects, arms, order, repeat, rule, seed))]
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
        order=order.kind,
        order_by=order.by,
        seed=seed,
        repeat=Repeat(fixed=rule.most(repeat), sequential=rule.sequential, budget=rule.budget),
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


def _slots(
    cases: Sequence[LoadedCase],
    subjects: Sequence[str],
    arms: Callable[[LoadedCase], Sequence[Condition | Literal["plain", "neutral"]]],
    order: Order,
    repeat: int,
    rule: Rule,
    seed: int,
) -> list[Slot]:
    rounds = _rounds(cases, repeat, rule, seed)
    seeded = order.model_copy(update={"seed": seed})
    return planned_slots(rounds, subjects, arms, seeded, whole_rounds=rule.sequential is not None)


def _rounds(cases: Sequence[LoadedCase], repeat: int, rule: Rule, seed: int) -> list[Round]:
    """One repetition of every case is a round; where a rule draws cases, each of its units is one."""
    if rule.drawn is None or rule.sequential is None:
        return [[(loaded, repetition) for loaded in cases] for repetition in range(1, rule.most(repeat) + 1)]
    by_id = {loaded.case.id: loaded for loaded in cases}
    units = seeded_order(rule.drawn, f"{seed}:drawn")[: rule.sequential.max]
    return [[(by_id[name], 1) for name in unit] for unit in units]


def _trial(position: int, slot: Slot) -> PlannedTrial:
    case = slot.loaded.case.id
    return PlannedTrial(
        trial=trial_name(position, case, slot.subject, slot.repetition, slot.condition),
        position=position,
        case=case,
        case_digest=slot.loaded.digest,
        subject=slot.subject,
        repetition=slot.repetition,
        condition=slot.condition,
    )


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
