"""Criteria, parts, judgements and rubrics of any shape, for tests of verdicts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from oyer.records import (
    BUILT_IN_EVALUATOR,
    Claim,
    Criterion,
    CriterionVerdict,
    Judgement,
    Part,
    PartJudgement,
    Rubric,
    Thresholds,
)

DIGEST = "sha256:" + "1" * 64
CLAIM = Claim(id="claim", text="It is so.", rubric="r")


def part_of(weight: float = 1.0, **fields: Any) -> Part:
    if not {"supports", "refutes", "evaluator"} & set(fields):
        fields["supports"] = ("fact",)
    return Part(weight=weight, **fields)


def criterion_of(weights: Sequence[float] = (1.0,), name: str = "c", **fields: Any) -> Criterion:
    return Criterion(id=name, parts=tuple(part_of(weight) for weight in weights), **fields)


def judged(state: str, part: int = 0, name: str = "c", *, asserted: bool = False, rank: Any = None) -> PartJudgement:
    refs = () if state == "unknown" else (f"tap:s:{part}",)
    told = ("tap:s:9",) if asserted else ()
    return PartJudgement(criterion=name, part=part, state=state, rank=rank, evidence=refs, asserted=told)  # type: ignore[arg-type]


def thresholds_of(needed: float = 1.0, partial: float | None = None) -> Thresholds:
    return Thresholds(pass_=needed, partial=partial)


def rubric_of(*criteria: Criterion, **fields: Any) -> Rubric:
    if fields.get("claim") == "weighted":
        fields.setdefault("partial_value", 0.5)
    return Rubric(oyer="Rubric@1", id="r", criteria=criteria, **fields)


def verdict_of(name: str, verdict: str, *states: str) -> CriterionVerdict:
    parts = tuple(judged(state, index, name) for index, state in enumerate(states))
    return CriterionVerdict(criterion=name, verdict=verdict, parts=parts)  # type: ignore[arg-type]


def judgement_of(
    *parts: PartJudgement, evaluator: str = BUILT_IN_EVALUATOR, error: str | None = None, digest: str = DIGEST
) -> Judgement:
    return Judgement(
        evaluator=evaluator,
        evaluator_digest=DIGEST,
        rubric="r",
        rubric_digest=digest,
        trial="t",
        run="run",
        evidence=DIGEST,
        parts=parts,
        error=error,
    )


__all__ = [
    "CLAIM",
    "DIGEST",
    "criterion_of",
    "judged",
    "judgement_of",
    "part_of",
    "rubric_of",
    "thresholds_of",
    "verdict_of",
]
