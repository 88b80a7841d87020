"""`Plan@1` and `Series@1`: the pre-registered ordered list of trials, and the manifest of one run of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, Self

from pydantic import Field, model_validator

from oyer.records.case import Condition
from oyer.records.model import Flaw, Json, Record, refuse

__all__ = ["Attempts", "Plan", "PlannedCase", "PlannedTrial", "Repeat", "Series"]


class PlannedCase(Record):
    """A case of the plan, by id, revision and digest."""

    id: str
    revision: int
    digest: str


class PlannedTrial(Record):
    """One case, one condition, one repetition, at one place in the order. A plain case has no condition."""

    trial: str = Field(pattern=r"^[a-z0-9][a-z0-9._-]*$", max_length=200)
    position: int = Field(ge=0)
    case: str
    case_digest: str
    subject: str
    repetition: int = Field(ge=1)
    condition: Condition | Literal["plain"]


class Repeat(Record):
    """How often each trial is repeated, declared before any result exists."""

    fixed: int = Field(default=1, ge=1, le=1_000_000)


class Attempts(Record):
    """How many attempts a trial may have after an attempt that ended in these statuses."""

    harness_error: int = Field(default=1, ge=1)
    blocked: int = Field(default=1, ge=1)


class Plan(Record):
    """The ordered, seeded list of everything that will run. Written and fsynced before the first trial."""

    oyer: Literal["Plan@1"] = "Plan@1"
    cases: tuple[PlannedCase, ...] = Field(min_length=1)
    subjects: tuple[str, ...] = Field(min_length=1)
    conditions: tuple[Condition, ...] = ()
    order: Literal["fixed", "shuffled"] = "fixed"
    seed: int
    repeat: Repeat = Repeat()
    attempts: Attempts = Attempts()
    exclude: tuple[str, ...] = ()
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
    condition_order: tuple[Condition | Literal["plain"], ...]
    seed: int
    jobs: int = Field(ge=1)
    vocabulary: int
    boot: str
    arguments: tuple[str, ...] = ()
    extensions: Mapping[str, Json] = Field(default_factory=dict)
