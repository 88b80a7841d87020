"""`Evaluator@1` and `Judgement@1`: who judges, and what one evaluator found in one trial.

Owns the shapes. A judgement is made after the evidence is sealed and never touches it; it may be made again, and is
never overwritten. Source: the trials design, "Evaluators and calibration".
"""

from __future__ import annotations

from typing import Literal, Self

from pydantic import Field, model_validator

from oyer.records.matchers import Rank
from oyer.records.model import Flaw, Record, refuse

__all__ = [
    "BUILT_IN_EVALUATOR",
    "PART_STATES",
    "Evaluator",
    "EvaluatorKind",
    "Independence",
    "Judgement",
    "PartJudgement",
    "PartState",
]

EvaluatorKind = Literal["mechanical", "model", "human", "panel"]
PartState = Literal["supported", "refuted", "conflict", "unknown"]
PART_STATES: tuple[PartState, ...] = ("supported", "refuted", "conflict", "unknown")
BUILT_IN_EVALUATOR = "oyer.parts"
"""The evaluator that reads the declared parts of a rubric against evidence. It has no code but Oyer's own."""


class Independence(Record):
    """What an evaluator shares with the subject; `null` is not known, and is never taken for independence."""

    shared_vendor: bool | None = None
    shared_model_family: bool | None = None
    shared_operator: bool | None = None


class Evaluator(Record):
    """Who judges. `family` joins dependent evaluators: they are one voice.

    `code` is the digest of a mechanical evaluator's source, `model` and `prompt` identify a model judge.
    """

    oyer: Literal["Evaluator@1"] = "Evaluator@1"
    id: str = Field(pattern=r"^[a-z0-9][a-z0-9._-]*$", max_length=80)
    revision: int = Field(default=1, ge=1)
    kind: EvaluatorKind
    family: str | None = None
    needs: Rank | None = None
    code: str | None = None
    model: str | None = None
    prompt: str | None = None
    independence: Independence = Independence()
    calibration: str | None = None
    limits: tuple[str, ...] = ()

    @model_validator(mode="after")
    def _identified(self) -> Self:
        flaws: list[Flaw] = []
        if self.kind == "mechanical" and self.code is None:
            flaws.append(Flaw(("code",), "a mechanical evaluator is identified by the digest of its code"))
        if self.kind == "model" and (self.model is None or self.prompt is None):
            flaws.append(Flaw((), "a model judge is identified by its model and the digest of its prompt"))
        if flaws:
            refuse(*flaws)
        return self


class PartJudgement(Record):
    """One fact as one evaluator found it, with the sealed events that show it.

    `asserted` are the events in which the subject claimed the contrary. `why` says what is missing where the state is
    unknown.
    """

    criterion: str
    part: int = Field(ge=0)
    state: PartState
    rank: Rank | None = None
    evidence: tuple[str, ...] = ()
    asserted: tuple[str, ...] = ()
    why: str = ""

    @model_validator(mode="after")
    def _with_evidence(self) -> Self:
        if self.state in ("supported", "refuted", "conflict") and not self.evidence:
            refuse(Flaw(("evidence",), f"a part is {self.state} by evidence, and none is cited"))
        return self


class Judgement(Record):
    """What one evaluator found in one trial under one rubric. `error` says why it could make no judgement."""

    oyer: Literal["Judgement@1"] = "Judgement@1"
    evaluator: str = Field(description="id")
    evaluator_digest: str
    rubric: str = Field(description="id")
    rubric_digest: str
    trial: str
    run: str | None
    evidence: str | None = Field(description="digest of the stored bytes of the journals that were judged")
    parts: tuple[PartJudgement, ...] = ()
    error: str | None = None
