"""One claim of one trial: from the stored judgements of all its evaluators to a `ClaimVerdict`.

Owns whose judgement is read for which part, and what is an evaluator's error. Must never let an error of an evaluator
become a verdict, or touch a criterion that this evaluator does not judge.

Source: the scoring design, "Status" and "Verdicts"; the trials design, "Evaluators and calibration".
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from oyer.adjudicate.claims import claim_sentence, read_claim
from oyer.adjudicate.verdict_reasons import verdict_reason
from oyer.adjudicate.verdicts import criterion_verdict, limit_part, parts_in_order
from oyer.adjudicate.voices import Voice, merge_voices
from oyer.errors import EvaluatorError
from oyer.observe import printable
from oyer.records import (
    BUILT_IN_EVALUATOR,
    Claim,
    ClaimVerdict,
    Criterion,
    CriterionVerdict,
    Evaluator,
    Judgement,
    PartJudgement,
    Rubric,
    Status,
)

__all__ = ["ClaimInput", "JudgedClaimResult", "judge_claim"]


class ClaimInput(NamedTuple):
    """A claim, its pinned rubric, and every stored judgement of one trial under that rubric.

    `evaluators` are the pinned records by id; `calibrated` names those that are no mechanical ones and are admissible
    for this rubric all the same.
    """

    claim: Claim
    rubric: Rubric
    rubric_digest: str
    status: Status
    judgements: Sequence[Judgement]
    evaluators: Mapping[str, Evaluator] = {}
    calibrated: Collection[str] = ()


class JudgedClaimResult(NamedTuple):
    """The verdict, and every error of an evaluator that was required for it, as `evaluator: what is wrong`.

    Where there is an error, a trial that completed has the derived status `evaluator_error`.
    """

    verdict: ClaimVerdict
    errors: tuple[str, ...]


class _Heard(NamedTuple):
    voice: Voice
    parts: tuple[PartJudgement, ...]
    error: str | None


def judge_claim(given: ClaimInput) -> JudgedClaimResult:
    """Return what a claim came to in one trial."""
    results = [_criterion(given, one) for one in given.rubric.criteria]
    criteria = tuple(verdict for verdict, _ in results)
    completed = given.status in ("completed", "evaluator_error")
    errors = [error for _, found in results for error in found] if completed else []
    read = read_claim(given.rubric, criteria)
    reasons = read.reasons if completed else (verdict_reason("TRIAL_NOT_COMPLETED", given.status), *read.reasons)
    verdict = ClaimVerdict(
        claim=given.claim.id,
        text=given.claim.text,
        rubric=given.rubric.id,
        rubric_digest=given.rubric_digest,
        verdict=read.verdict,
        criteria=criteria,
        may_be_cited=read.may_be_cited,
        reasons=tuple(dict.fromkeys(reasons)),
        sentence=claim_sentence(read, criteria),
    )
    return JudgedClaimResult(verdict, tuple(dict.fromkeys(errors)))


def _criterion(given: ClaimInput, criterion: Criterion) -> tuple[CriterionVerdict, list[str]]:
    """Judge one criterion by all its planned evaluators; the second value are their errors."""
    heard = [one for name in criterion.evaluators for one in _hear(given, criterion, name)]
    strangers = sorted({one.evaluator for one in given.judgements} - set(criterion.evaluators))
    spoken = [Voice(name, None, False, "UNKNOWN") for name in strangers if _speaks(given, criterion, name)]
    merged = merge_voices([*(one.voice for one in heard), *spoken], criterion.evaluators, criterion.quorum)
    errors = [one.error for one in heard if one.error is not None]
    silent = [f"{name}: it made no judgement" for name in criterion.evaluators if not _of(given, name)]
    parts = tuple(dict.fromkeys(part for one in heard if one.voice.admissible for part in one.parts))
    reasons = [*merged.reasons, *_told(parts)]
    reasons += [verdict_reason("EVALUATOR_ERROR", error.partition(":")[0]) for error in errors]
    verdict = CriterionVerdict(
        criterion=criterion.id, verdict=merged.verdict, parts=parts, reasons=tuple(dict.fromkeys(reasons))
    )
    return verdict, [*errors, *silent]


def _speaks(given: ClaimInput, criterion: Criterion, name: str) -> bool:
    """Tell whether a judgement of nobody's plan speaks of this criterion, and not only of a part it was named for."""
    named = {part.evaluator for part in criterion.parts}
    return name not in named and any(
        part.criterion == criterion.id for one in _of(given, name) for part in one.parts if one.error is None
    )


def _of(given: ClaimInput, name: str) -> list[Judgement]:
    return [one for one in given.judgements if one.evaluator == name and one.rubric_digest == given.rubric_digest]


def _hear(given: ClaimInput, criterion: Criterion, name: str) -> Iterator[_Heard]:
    """Yield what an evaluator says of a criterion: once where it judged, never where it did not."""
    for judgement in _of(given, name):
        try:
            parts = _parts(given, criterion, judgement)
            verdict = criterion_verdict(criterion, parts, given.rubric.thresholds, given.rubric.vocabulary)
        except EvaluatorError as error:
            voice = Voice(name, _family(given, name), _admissible(given, name), None)
            yield _Heard(voice, (), f"{error.where or name}: {printable(error.problems[0].message)}")
            continue
        yield _Heard(Voice(name, _family(given, name), _admissible(given, name), verdict), parts, None)


def _parts(given: ClaimInput, criterion: Criterion, judgement: Judgement) -> tuple[PartJudgement, ...]:
    """Return the parts as one evaluator judged them, those that name another evaluator as that one did.

    Raises: EvaluatorError where a judgement that is needed could not be made or is none.
    """
    own = parts_in_order(criterion, _about(criterion, judgement))
    parts: list[PartJudgement] = []
    for index, (part, judged) in enumerate(zip(criterion.parts, own, strict=True)):
        told = judged
        if part.evaluator is not None and part.evaluator != judgement.evaluator:
            if judgement.evaluator != BUILT_IN_EVALUATOR and judged.state != "unknown":
                raise EvaluatorError("E-JUDGEMENT-PART", f"part {index} is for {part.evaluator} to judge")
            told = _asked(given, criterion, index, part.evaluator)
        parts.append(limit_part(part, told, given.status))
    return tuple(parts)


def _about(criterion: Criterion, judgement: Judgement) -> Iterable[PartJudgement]:
    if judgement.error is not None:
        raise EvaluatorError("E-JUDGEMENT-NONE", judgement.error, where=judgement.evaluator)
    return [part for part in judgement.parts if part.criterion == criterion.id]


def _asked(given: ClaimInput, criterion: Criterion, index: int, name: str) -> PartJudgement:
    """Return what the evaluator that a part names found. Raises: EvaluatorError where it found nothing usable."""
    found = _of(given, name)
    if len(found) != 1:
        told = "it made no judgement" if not found else "it judged the same trial more than once"
        raise EvaluatorError("E-JUDGEMENT-NONE", told, where=name)
    if not _admissible(given, name):
        why = verdict_reason("EVALUATOR_INADMISSIBLE", name)
        return PartJudgement(criterion=criterion.id, part=index, state="unknown", why=why)
    return parts_in_order(criterion, _about(criterion, found[0]))[index]


def _family(given: ClaimInput, name: str) -> str | None:
    record = given.evaluators.get(name)
    return None if record is None else record.family


def _admissible(given: ClaimInput, name: str) -> bool:
    """A mechanical evaluator is its code; anybody else must have been calibrated for this rubric."""
    if name == BUILT_IN_EVALUATOR or name in given.calibrated:
        return True
    record = given.evaluators.get(name)
    return record is not None and record.kind == "mechanical"


def _told(parts: Iterable[PartJudgement]) -> Iterator[str]:
    for part in parts:
        place = f"{part.criterion}/{part.part}"
        if part.state == "conflict":
            yield verdict_reason("PART_CONFLICT", place)
        elif part.state == "unknown":
            yield verdict_reason("PART_UNKNOWN", place)
        elif part.state == "refuted" and part.asserted:
            yield verdict_reason("ASSERTED_CONTRARY", place)
