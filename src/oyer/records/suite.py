"""`TrialSuite@1`: versioned cases with order, repetition, exclusion, aggregation and gates, declared before any run.

Owns the shape; resolving names to cases and files happens at the doors, planning in `oyer.plan`, reading gates in
`oyer.adjudicate`. Source: the records and trials designs.
"""

from __future__ import annotations

from typing import Literal, Self

from pydantic import Field, model_validator

from oyer.records.case import Condition
from oyer.records.model import Flaw, Record, refuse
from oyer.records.plan import Attempts

__all__ = ["Aggregate", "Exclusion", "Order", "Sequence", "Sequential", "SuiteCase", "SuiteRepeat", "TrialSuite"]


class SuiteCase(Record):
    """One case of a suite by id; with a revision or digest it must be exactly that one."""

    case: str
    revision: int | None = Field(default=None, ge=1)
    digest: str | None = None


class Sequence(Record):
    """Cases one after the other in one session, or in one world with a session each. Their order is evidence.

    It runs beside the cases on their own, as a trial of its own, and measures what an earlier case does to a later one.
    """

    id: str = Field(pattern=r"^[a-z0-9][a-z0-9._-]*(/[a-z0-9][a-z0-9._-]*)*$", max_length=80)
    cases: tuple[str, ...] = Field(min_length=2, max_length=20)
    share: Literal["session", "world"] = "session"


class Order(Record):
    """In which order trials run. The realised order is evidence."""

    kind: Literal["fixed", "shuffled", "williams", "grouped"] = "fixed"
    by: Literal["case", "condition"] | None = None
    seed: int = Field(default=0, ge=0)

    @model_validator(mode="after")
    def _grouped_by(self) -> Self:
        if (self.kind == "grouped") != (self.by is not None):
            refuse(Flaw(("by",), "`by: case` or `by: condition` belongs to `kind: grouped`, and to no other"))
        return self


class Sequential(Record):
    """A stopping rule with an anytime-valid test. Everything it decides by stands here, before the first trial."""

    test: Literal["bernoulli", "mcnemar", "sprt"]
    side: Literal["greater", "less", "two"] = "two"
    p0: float | None = Field(default=None, gt=0, lt=1)
    p1: float | None = Field(default=None, gt=0, lt=1)
    a: float = Field(default=1.0, gt=0)
    b: float = Field(default=1.0, gt=0)
    alpha: float = Field(default=0.05, gt=0, lt=1)
    beta: float = Field(default=0.2, gt=0, lt=1)
    min: int = Field(ge=1)
    max: int = Field(ge=1)
    look_every: int = Field(default=1, ge=1)

    @model_validator(mode="after")
    def _possible(self) -> Self:
        flaws: list[Flaw] = []
        if self.min > self.max:
            flaws.append(Flaw(("min",), "min lies above max"))
        if self.test in ("bernoulli", "sprt") and self.p0 is None:
            flaws.append(Flaw(("p0",), f"the {self.test} test needs p0"))
        if self.test == "sprt" and (self.p1 is None or self.p1 == self.p0):
            flaws.append(Flaw(("p1",), "the sprt needs p1, another than p0"))
        if flaws:
            refuse(*flaws)
        return self


class SuiteRepeat(Record):
    """How often each trial runs: a fixed number, or a rule that stops."""

    fixed: int | None = Field(default=None, ge=1, le=1_000_000)
    sequential: Sequential | None = None

    @model_validator(mode="after")
    def _one_rule(self) -> Self:
        if (self.fixed is None) == (self.sequential is None):
            refuse(Flaw((), "repetition is `fixed: N` or `sequential: {...}`, exactly one"))
        return self


class Exclusion(Record):
    """A rule, declared first, by which a trial is left out of rates. Each exclusion stays in the record and in n."""

    id: str
    status: Literal["harness_error", "blocked"]
    why: str = Field(min_length=1)


class Aggregate(Record):
    """What rates are about, and which cases form a family whose tests are adjusted together."""

    per: Literal["case", "suite"] = "case"
    family: tuple[str, ...] = ()
    adjust: Literal["none", "holm"] = "none"


class TrialSuite(Record):
    """Versioned cases with their matched controls, and every rule by which their results are read."""

    oyer: Literal["TrialSuite@1"]
    id: str = Field(pattern=r"^[a-z0-9][a-z0-9._-]*(/[a-z0-9][a-z0-9._-]*)*$", max_length=80)
    revision: int = Field(default=1, ge=1)
    title: str = ""
    files: tuple[str, ...] = Field(default=(), description="files with cases, rubrics and evaluators, from this one")
    plugins: tuple[str, ...] = Field(default=(), description="one-file extensions, from this file")
    cases: tuple[SuiteCase, ...] = Field(min_length=1)
    sequences: tuple[Sequence, ...] = ()
    conditions: tuple[Condition, ...] = ()
    order: Order = Order()
    repeat: SuiteRepeat = SuiteRepeat(fixed=1)
    attempts: Attempts = Attempts()
    exclude: tuple[Exclusion, ...] = ()
    aggregate: Aggregate = Aggregate()
    gates: tuple[str, ...] = ()

    @model_validator(mode="after")
    def _each_once(self) -> Self:
        flaws: list[Flaw] = []
        listed = {
            "cases": [one.case for one in self.cases],
            "sequences": [one.id for one in self.sequences],
            "exclude": [one.id for one in self.exclude],
        }
        for name, ids in listed.items():
            flaws += [
                Flaw((name, index), f"{each!r} is listed twice")
                for index, each in enumerate(ids)
                if each in ids[:index]
            ]
        if len(set(self.conditions)) != len(self.conditions):
            flaws.append(Flaw(("conditions",), "a condition is listed twice"))
        if flaws:
            refuse(*flaws)
        return self
