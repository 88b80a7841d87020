"""Recorded judgements that are not made again: whether each is what its path says, of the evidence that counts.

Owns what can be held against a judgement without its evaluator. Must never take one for right because nothing is
wrong with it: whether its evaluator would say the same is not known here.
"""

from __future__ import annotations

from collections.abc import Iterator

from oyer.adjudicate import TrialInput, judgement_path, uncited
from oyer.errors import OyerError, Problem
from oyer.records import Evaluator, Judgement, Plan, Rubric
from oyer.verify.reading import Reader, parse_record
from oyer.verify.survey import Survey, read_part

__all__ = ["recorded_problem"]


def recorded_problem(survey: Survey, plan: Plan, path: str, trial: TrialInput | None) -> Problem | None:
    """Return what is wrong with one recorded judgement of a planned trial; None where nothing is."""
    problems: dict[str, tuple[Problem, ...]] = {}
    data = read_part(survey.reader.read, path, problems)
    if data is None:
        return problems[path][0]
    try:
        judgement = parse_record(data, Judgement, path)
    except OyerError as error:
        return error.problems[0]
    return next((Problem(code, told, path) for code, told in _wrong(survey.reader, plan, path, judgement, trial)), None)


def _wrong(
    reader: Reader, plan: Plan, path: str, judgement: Judgement, trial: TrialInput | None
) -> Iterator[tuple[str, str]]:
    place = judgement_path(judgement.evaluator_digest, judgement.rubric_digest, judgement.trial)
    if place != path:
        yield "E-JUDGEMENT-PLACE", f"it is the judgement that belongs at {place}"
        return
    if trial is None:
        yield "E-JUDGEMENT-TRIAL", "no attempt of its trial counts: there was nothing to judge"
        return
    if (judgement.run, judgement.evidence) != (trial.evidence.run, trial.stored):
        yield "E-JUDGEMENT-EVIDENCE", "it judged other evidence than that of the attempt that counts"
    missing = uncited(judgement, trial.evidence)
    if missing is not None:
        yield "E-JUDGEMENT-CITES", f"it cites {missing}, which is no event of its trial"
    if judgement.rubric_digest != plan.rubrics.get(judgement.rubric):
        yield "E-JUDGEMENT-RUBRIC", "the plan names no such rubric"
    evaluator = _pinned(reader, judgement.evaluator_digest)
    if evaluator is None or evaluator.id != judgement.evaluator:
        yield "E-JUDGEMENT-EVALUATOR", "the evaluator that it names is not retained"
    rubric = _rubric(reader, judgement.rubric_digest)
    known = {(c.id, index) for c in rubric.criteria for index in range(len(c.parts))} if rubric is not None else set()
    strange = next((part for part in judgement.parts if (part.criterion, part.part) not in known), None)
    if strange is not None:
        yield "E-JUDGEMENT-PART", f"its rubric has no part {strange.part} of {strange.criterion}"


def _pinned(reader: Reader, digest: str) -> Evaluator | None:
    try:
        data = reader.pin(digest)
        return None if data is None else parse_record(data, Evaluator, digest)
    except OyerError:
        return None


def _rubric(reader: Reader, digest: str) -> Rubric | None:
    try:
        data = reader.pin(digest)
        return None if data is None else parse_record(data, Rubric, digest)
    except OyerError:
        return None
