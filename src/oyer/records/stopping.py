"""Order, repetition and stopping: every rule by which a series decides what runs next, declared before its first trial.

Owns the shapes, which suites and plans share. What a rule decides is `oyer.adjudicate` on `oyer.stats`; carrying it out
is `oyer.engine`. Source: the trials design, "Ordering" and "Repetition and stopping, declared first".
"""

from __future__ import annotations

from typing import Literal, Self

from pydantic import Field, model_validator

from oyer.records.endpoint import micros_of
from oyer.records.model import Flaw, Record, refuse

__all__ = ["Order", "OrderKind", "Sequential", "SeriesBudget"]

OrderKind = Literal["fixed", "shuffled", "williams", "grouped"]


class Order(Record):
    """In which order trials run. The realised order is evidence.

    `fixed`: as written, repetition by repetition. `shuffled`: repetitions of cases in seeded order, the arms of one
    together. `williams`: conditions within a repetition, and cases within a round of repetitions, so that each follows
    each other equally often. `grouped`: all of one case, or all of one condition, before the next.
    """

    kind: OrderKind = "fixed"
    by: Literal["case", "condition"] | None = None
    seed: int = Field(default=0, ge=0)

    @model_validator(mode="after")
    def _grouped_by(self) -> Self:
        if (self.kind == "grouped") != (self.by is not None):
            refuse(Flaw(("by",), "`by: case` or `by: condition` belongs to `kind: grouped`, and to no other"))
        return self


class Sequential(Record):
    """A stopping rule with an anytime-valid test. Everything it decides by stands here, before the first trial.

    `of` is what counts as a success: an operand of gates with a word, as in `verdict(merge, truthful).PASS`
    or `mechanical_outcome(inbox).CONFIRMED`. In the place of the case `*` stands for every case that is planned
    and has it: then each case runs once, in seeded random order, for repeats of cases are not independent. `mcnemar`
    compares pairs: `between` names two subjects, or `[manipulated, hardened]`, or `[plain, neutral]`.
    `a` and `b` are bounded where the evidence can still be worked out: at 1e17 rounding alone would reject anything.
    The rule looks after `min` units, then after every `look_every` more, and at `max`; a unit is one repetition (with
    `*` one case), decided or not.
    """

    test: Literal["bernoulli", "mcnemar", "sprt"]
    of: str = Field(min_length=1)
    between: tuple[str, ...] = ()
    side: Literal["greater", "less", "two"] = "two"
    p0: float | None = Field(default=None, gt=0, lt=1)
    p1: float | None = Field(default=None, gt=0, lt=1)
    a: float = Field(default=1.0, ge=0.001, le=1_000_000)
    b: float = Field(default=1.0, ge=0.001, le=1_000_000)
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
        if self.test == "sprt" and self.alpha + self.beta >= 1:
            flaws.append(
                Flaw(("beta",), "alpha and beta are 1 or more together: both boundaries would be crossed at once")
            )
        if (self.test == "mcnemar") != (len(self.between) == 2):
            flaws.append(Flaw(("between",), "`between` names the two sides of a mcnemar test, and of no other"))
        if flaws:
            refuse(*flaws)
        return self


class SeriesBudget(Record):
    """What a whole series may use. Whatever is reached first stops it before the next repetition, and that is said.

    Intervals after such a stop are those of the trials that ran; what stopped it was declared, and is no result.
    """

    wall_s: int | None = Field(default=None, ge=1)
    tokens: int | None = Field(default=None, ge=1)
    cost_usd: str | None = Field(default=None, pattern=r"^[0-9]+(\.[0-9]+)?$")

    @property
    def micros(self) -> int | None:
        """The budget of cost in millionths of a dollar."""
        return None if self.cost_usd is None else micros_of(self.cost_usd)

    @model_validator(mode="after")
    def _bounds_something(self) -> Self:
        if self.wall_s is None and self.tokens is None and self.cost_usd is None:
            refuse(Flaw((), "a budget names wall_s, tokens or cost_usd"))
        return self
