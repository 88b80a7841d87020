"""`Plan@1`, `PlanFile@1` and `Series@1`: the pre-registered ordered list of trials, a file that carries it until it
runs, and the manifest of one run of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, Self

from pydantic import Field, model_validator

from oyer.records.canonical import digest
from oyer.records.case import CONDITIONS, Case, Condition
from oyer.records.endpoint import ModelApiName, ModelFaultText, Price
from oyer.records.model import Flaw, Json, Record, refuse
from oyer.records.pins import Delimiters
from oyer.records.stopping import OrderKind, Sequential, SeriesBudget

__all__ = ["Attempts", "Plan", "PlanFile", "PlannedCase", "PlannedModel", "PlannedTrial", "Repeat", "Series"]


class PlannedCase(Record):
    """A case of the plan, by id, revision and digest, with the directory digest of its fixture world."""

    id: str
    revision: int
    digest: str
    world: str | None = Field(default=None, description="null where the case has no world, or it was not looked at")


class PlannedModel(Record):
    """Which model a subject asks, at which endpoint, with which parameters and system prompt. Never its key."""

    name: str
    base_url: str
    parameters: Mapping[str, Json] = Field(default_factory=dict)
    system: str | None = None
    reports: Mapping[str, str] = Field(
        default_factory=dict, description="by the name that is asked for, the name under which an answer has to come"
    )
    api: ModelApiName = "chat"
    reasoning_delimiters: Delimiters = ()
    faults: tuple[ModelFaultText, ...] = ()
    prices: Mapping[str, Price] = Field(default_factory=dict, description="by the name of a model")


class PlannedTrial(Record):
    """One case, one condition, one repetition, at one place in the order. A plain case has no condition.

    `neutral` is the second arm of a trap under pressure: as many rounds, with nothing in them.
    """

    trial: str = Field(pattern=r"^[a-z0-9][a-z0-9._-]*$", max_length=200)
    position: int = Field(ge=0)
    case: str
    case_digest: str
    subject: str
    repetition: int = Field(ge=1)
    condition: Condition | Literal["plain", "neutral"]

    @property
    def arm(self) -> Condition | None:
        """The condition of an experiment's arm; None for a trial that is compared with no other."""
        return next((condition for condition in CONDITIONS if condition == self.condition), None)


class Repeat(Record):
    """How often each trial is repeated, declared before any result exists.

    With a `sequential` rule `fixed` is the most that may run; with a `budget` the series may stop before that too.
    """

    fixed: int = Field(default=1, ge=1, le=1_000_000)
    sequential: Sequential | None = None
    budget: SeriesBudget | None = None


class Attempts(Record):
    """How many attempts a trial may have after an attempt that ended in these statuses."""

    harness_error: int = Field(default=1, ge=1, le=100)
    blocked: int = Field(default=1, ge=1, le=100)


class Plan(Record):
    """The ordered, seeded list of everything that will run. Written and fsynced before the first trial."""

    oyer: Literal["Plan@1"] = "Plan@1"
    cases: tuple[PlannedCase, ...] = Field(min_length=1)
    subjects: tuple[str, ...] = Field(min_length=1)
    models: Mapping[str, PlannedModel] = Field(default_factory=dict, description="by subject, of those that have one")
    conditions: tuple[Condition, ...] = ()
    order: OrderKind = "fixed"
    order_by: Literal["case", "condition"] | None = Field(default=None, description="what a grouped order groups by")
    seed: int
    repeat: Repeat = Repeat()
    attempts: Attempts = Attempts()
    exclude: tuple[str, ...] = ()
    suite: str | None = Field(default=None, description="digest of the TrialSuite that is planned")
    rubrics: Mapping[str, str] = Field(default_factory=dict, description="rubric id to digest")
    evaluators: Mapping[str, str] = Field(default_factory=dict, description="evaluator id to digest of its record")
    qualifications: Mapping[str, str] = Field(
        default_factory=dict, description="case id to the digest of the Qualification that vouches for it"
    )
    forms: Mapping[str, str] = Field(default_factory=dict, description="case id to the digest of its OutcomeForm")
    gates: tuple[str, ...] = ()
    trials: tuple[PlannedTrial, ...] = Field(min_length=1)

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        digests = {case.id: case.digest for case in self.cases}
        seen: set[str] = set()
        flaws: list[Flaw] = []
        for index, trial in enumerate(self.trials):
            if trial.trial in seen:
                flaws.append(Flaw(("trials", index, "trial"), f"trial {trial.trial} is planned twice"))
            seen.add(trial.trial)
            if trial.position != index:
                flaws.append(Flaw(("trials", index, "position"), "positions count up from 0 in the order of the list"))
            if digests.get(trial.case) != trial.case_digest:
                flaws.append(Flaw(("trials", index, "case_digest"), "the plan lists no case with this id and digest"))
            if trial.subject not in self.subjects:
                flaws.append(Flaw(("trials", index, "subject"), f"the plan lists no subject {trial.subject!r}"))
        flaws += [
            Flaw(("models", subject), f"the plan lists no subject {subject!r}")
            for subject in self.models
            if subject not in self.subjects
        ]
        if flaws:
            refuse(*flaws)
        return self


class PlanFile(Record):
    """A plan before it runs: the plan itself, its cases in full, where each was found, and a signature over the plan.

    `signature` is a DSSE envelope over a statement about the canonical bytes of `plan`; nothing else here is signed
    (the plan names each case by its digest).
    """

    oyer: Literal["PlanFile@1"] = "PlanFile@1"
    plan: Plan
    cases: Mapping[str, Case] = Field(description="case id to the record that the plan names by its digest")
    sources: Mapping[str, str | None] = Field(
        description="case id to the path of its file, starting from this file; null for a packaged case"
    )
    suite: str | None = Field(
        default=None, description="path of the suite's file, starting from this file, or the name of a packaged suite"
    )
    signature: Json = None

    @model_validator(mode="after")
    def _whole(self) -> Self:
        planned = {case.id: case.digest for case in self.plan.cases}
        flaws = [
            Flaw((name,), "there is exactly one entry for each case of the plan")
            for name in ("cases", "sources")
            if set(getattr(self, name)) != set(planned)
        ]
        flaws += [
            Flaw(("cases", name), "not the case that the plan names by its digest")
            for name, case in self.cases.items()
            if planned.get(name, digest(case)) != digest(case)
        ]
        flaws += [
            Flaw(("cases", name), f"it is made of another {segment.case} than the plan names")
            for name, case in self.cases.items()
            for segment in case.segments
            if planned.get(segment.case) != segment.digest
        ]
        if flaws:
            refuse(*flaws)
        return self


class Series(Record):
    """The manifest of one run of a plan: written once when the series opens, and never again."""

    oyer: Literal["Series@1"] = "Series@1"
    series: str
    opened: str = Field(description="UTC, RFC 3339 with Z")
    plan: str = Field(description="digest of the plan")
    cases: Mapping[str, str] = Field(description="case id to the digest of its record under pins/")
    environments: Mapping[str, Mapping[str, str]] = Field(
        description="subject to case id to Environment digest under pins/"
    )
    pinsets: Mapping[str, Mapping[str, str]] = Field(description="subject to case id to PinSet digest under pins/")
    condition_order: tuple[Condition | Literal["plain", "neutral"], ...]
    seed: int
    jobs: int = Field(ge=1)
    vocabulary: int
    boot: str
    arguments: tuple[str, ...] = ()
    extensions: Mapping[str, Json] = Field(default_factory=dict)
