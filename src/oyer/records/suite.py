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
from oyer.records.stopping import Order, Sequential, SeriesBudget

__all__ = ["Aggregate", "Exclusion", "Sequence", "SuiteCase", "SuiteRepeat", "TrialSuite"]


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


class SuiteRepeat(Record):
    """How often each trial runs: a fixed number, or a rule that stops; and what the whole series may use."""

    fixed: int | None = Field(default=None, ge=1, le=1_000_000)
    sequential: Sequential | None = None
    budget: SeriesBudget | None = None

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
