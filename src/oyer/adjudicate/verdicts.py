"""From the states of parts to the verdict of one criterion, as one evaluator found them.

Owns the thresholds on intervals, what a status leaves standing, and when FAIL is CONTRADICTED. Weights and thresholds
are exact fractions of what the author wrote, so that no rounding ever decides. Must never redistribute the weight of
what is unknown, and never let a lower rank step in for the one that decides.

Source: the scoring design, "Status" and "Verdicts".
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from fractions import Fraction
from typing import NamedTuple

from oyer.adjudicate.verdict_reasons import verdict_reason
from oyer.errors import EvaluatorError
from oyer.records import RANKS, VERDICTS, Criterion, Part, PartJudgement, Status, Thresholds, Verdict

__all__ = ["DECIDED", "Share", "as_written", "criterion_verdict", "limit_part", "parts_in_order", "read_share"]

DECIDED: frozenset[Verdict] = frozenset({"PASS", "PARTIAL", "FAIL", "CONTRADICTED"})


def as_written(number: float) -> Fraction:
    """Return a number of a record as the decimal that stands there: 0.1 is one tenth, not its nearest binary."""
    return Fraction(repr(number))


class Share(NamedTuple):
    """What is sure and what is open, as exact shares of the whole weight. The rest is sure to be missing."""

    sure: Fraction
    open: Fraction


def read_share(share: Share, thresholds: Thresholds) -> Verdict | None:
    """Hold an interval against the thresholds; None where what is open could still tip it."""
    best = share.sure + share.open
    needed, least = as_written(thresholds.pass_), as_written(thresholds.lowest)
    if share.sure >= needed:
        return "PASS"
    if best < least:
        return "FAIL"
    if least <= share.sure and best < needed:
        return "PARTIAL"
    return None


def criterion_verdict(
    criterion: Criterion,
    parts: Iterable[PartJudgement],
    thresholds: Thresholds,
    vocabulary: Collection[Verdict] = VERDICTS,
) -> Verdict:
    """Return what the states of the parts come to. A part without a judgement is unknown.

    Raises: EvaluatorError where the judgements are not of these parts, or the verdict is not in the vocabulary.
    """
    given = parts_in_order(criterion, parts)
    states = [part.state for part in given]
    verdict = _verdict(criterion, states, thresholds)
    if verdict == "FAIL" and any(part.state == "refuted" and part.asserted for part in given):
        verdict = "CONTRADICTED"
    require_in_vocabulary(criterion, verdict, vocabulary)
    return verdict


def require_in_vocabulary(criterion: Criterion, verdict: Verdict, vocabulary: Collection[Verdict]) -> None:
    """Refuse a verdict that the rubric does not have. Raises: EvaluatorError."""
    if verdict not in vocabulary:
        told = f"criterion {criterion.id}: {verdict} is not in the vocabulary of its rubric"
        raise EvaluatorError("E-VERDICT-VOCABULARY", told, hint=f"it has {', '.join(vocabulary)}")


def _verdict(criterion: Criterion, states: Sequence[str], thresholds: Thresholds) -> Verdict:
    if "conflict" in states:
        return "DISPUTED"
    weights = [as_written(part.weight) for part in criterion.parts]
    total = sum(weights)
    sure, unsure = (
        sum((weight for weight, state in zip(weights, states, strict=True) if state == wanted), Fraction())
        for wanted in ("supported", "unknown")
    )
    return read_share(Share(sure / total, unsure / total), thresholds) or "UNKNOWN"


def parts_in_order(criterion: Criterion, parts: Iterable[PartJudgement]) -> tuple[PartJudgement, ...]:
    """Return one judgement for each part, in the order of the criterion; unknown where none was made.

    Raises: EvaluatorError for a part that the criterion does not have, or that is judged twice.
    """
    found: dict[int, PartJudgement] = {}
    for judged in parts:
        if judged.criterion != criterion.id or judged.part >= len(criterion.parts):
            told = f"a judgement of part {judged.part} of {judged.criterion}, which criterion {criterion.id} has not"
            raise EvaluatorError("E-JUDGEMENT-PART", told)
        if judged.part in found:
            raise EvaluatorError("E-JUDGEMENT-PART", f"part {judged.part} of {criterion.id} is judged twice")
        found[judged.part] = judged
    return tuple(
        found.get(index) or PartJudgement(criterion=criterion.id, part=index, state="unknown", why="nobody judged it")
        for index in range(len(criterion.parts))
    )


def limit_part(part: Part, judged: PartJudgement, status: Status) -> PartJudgement:
    """Take from a judgement what its rank and the status of the trial do not let it say.

    After a subject's error only evidence that is there and refutes may stand: a supported fact, a conflict, or the
    absence of what a fact needed proves nothing. Where the harness failed or was blocked, nothing stands.
    """
    if judged.state == "unknown":
        return judged
    if status in ("harness_error", "blocked"):
        return _unknown(judged, verdict_reason("TRIAL_NOT_COMPLETED", status))
    if status == "subject_error" and (judged.state != "refuted" or part.supports):
        return _unknown(judged, verdict_reason("TRIAL_NOT_COMPLETED", status))
    # That nothing was asserted is shown by the channel itself, whatever decides where something was.
    silent = part.when_asserted and judged.state == "supported"
    if judged.state != "conflict" and not silent and part.decided_by is not None and _below(judged, part):
        return _unknown(judged, verdict_reason("RANK_TOO_LOW", f"{judged.rank or 'none'} under {part.decided_by}"))
    return judged


def _below(judged: PartJudgement, part: Part) -> bool:
    assert part.decided_by is not None
    return judged.rank is None or RANKS.index(judged.rank) > RANKS.index(part.decided_by)


def _unknown(judged: PartJudgement, why: str) -> PartJudgement:
    # What was found is still named in `why`; as evidence of an unknown fact it would seem to prove something.
    return judged.model_copy(update={"state": "unknown", "evidence": (), "asserted": (), "why": why})
