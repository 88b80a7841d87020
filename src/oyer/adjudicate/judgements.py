"""All judgements of one trial, and the verdicts on its claims that follow from them.

Owns who judges: the built-in evaluator always, every other one that a rubric plans as it was recorded, or anew where
it was given. Must never let a judgement that nobody planned touch an outcome. Source: the scoring design, "Status".
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple, Protocol

from oyer.adjudicate.judged import ClaimInput, judge_claim
from oyer.adjudicate.judging import judge_trial
from oyer.observe import TrialEvidence, TrialFacts
from oyer.records import BUILT_IN_EVALUATOR, ClaimVerdict, Evaluator, Judgement, Rubric, Status, digest_once

__all__ = [
    "Judge",
    "Judges",
    "LaterJudgement",
    "TrialJudged",
    "judge_claims",
    "judge_pinned",
    "judgement_path",
    "planned_evaluators",
    "uncited",
]


class Judge(Protocol):
    """An evaluator that can be asked here and now. It never raises: what it cannot judge is the judgement's `error`."""

    @property
    def evaluator(self) -> Evaluator:
        """Who judges."""
        ...

    def judge(
        self, facts: TrialFacts, rubric: Rubric, pinned: Evaluator, *, trial: str, case_digest: str, stored: str | None
    ) -> Judgement:
        """Judge one trial under one rubric, as the evaluator that is pinned: its code is this one's."""
        ...


class Judges(NamedTuple):
    """How claims are judged: rubrics and evaluators by id as pinned, those that can be asked, and what is recorded.

    Of those that can be asked, several may have one id: revisions of one evaluator.
    """

    rubrics: Mapping[str, Rubric] = {}
    evaluators: Mapping[str, Evaluator] = {}
    asked: Sequence[Judge] = ()
    recorded: Callable[[str], Judgement | None] = lambda _: None


class TrialJudged(NamedTuple):
    """What became of a trial's claims. `made` are the judgements that were made here and now, in order.

    `relied` are the paths of those that were taken as recorded, whether they are there or not.
    """

    made: tuple[Judgement, ...] = ()
    relied: tuple[str, ...] = ()
    verdicts: tuple[ClaimVerdict, ...] = ()
    errors: tuple[str, ...] = ()


class LaterJudgement(NamedTuple):
    """A judgement that no outcome rests on, and the record of who made it; None where it is not retained."""

    judgement: Judgement
    evaluator: Evaluator | None


def judgement_path(evaluator: str, rubric: str, trial: str) -> str:
    """Return where a judgement stands in a series, by the digests of evaluator and rubric."""
    return f"judgements/{_hex(evaluator)}/{_hex(rubric)}/{trial}.json"


def _hex(name: str) -> str:
    return name.removeprefix("sha256:")


def judge_pinned(asked: Iterable[Judge], pinned: Evaluator) -> Judge | None:
    """Return the evaluator that is the pinned one, by its id and the digest of its code; None where it is not here."""
    if pinned.code is None:
        return None
    named = (pinned.id, pinned.code)
    return next((one for one in asked if (one.evaluator.id, one.evaluator.code) == named), None)


def planned_evaluators(rubric: Rubric) -> tuple[str, ...]:
    """Return every evaluator that a rubric needs besides the built-in one, in order of name."""
    named = {name for criterion in rubric.criteria for name in criterion.evaluators}
    named |= {part.evaluator for criterion in rubric.criteria for part in criterion.parts if part.evaluator}
    return tuple(sorted(named - {BUILT_IN_EVALUATOR}))


def judge_claims(
    judges: Judges, facts: TrialFacts, *, trial: str, case_digest: str, stored: str | None, status: Status
) -> TrialJudged:
    """Judge every claim of a trial's case whose rubric is pinned."""
    made: list[Judgement] = []
    relied: list[str] = []
    verdicts: list[ClaimVerdict] = []
    errors: list[str] = []
    heard: dict[str, Sequence[Judgement]] = {}
    for claim in facts.case.claims:
        rubric = judges.rubrics.get(claim.rubric)
        if rubric is None:
            continue
        if rubric.id not in heard:
            fresh, paths = _hear(judges, facts, rubric, trial, case_digest, stored)
            recorded = (judges.recorded(path) for path in paths)
            heard[rubric.id] = (*fresh, *(one for one in recorded if one is not None))
            made += fresh
            relied += paths
        result = judge_claim(
            ClaimInput(claim, rubric, digest_once(rubric), status, heard[rubric.id], judges.evaluators)
        )
        verdicts.append(result.verdict)
        errors += result.errors
    return TrialJudged(tuple(made), tuple(relied), tuple(verdicts), tuple(dict.fromkeys(errors)))


def _hear(
    judges: Judges, facts: TrialFacts, rubric: Rubric, trial: str, case_digest: str, stored: str | None
) -> tuple[list[Judgement], list[str]]:
    """Return what is judged here and now, and the paths of what the other planned evaluators have on record."""
    made = [judge_trial(facts, rubric, trial=trial, case_digest=case_digest, stored=stored)]
    paths: list[str] = []
    for name in planned_evaluators(rubric):
        pinned = judges.evaluators.get(name)
        if pinned is None:
            continue
        judge = judge_pinned(judges.asked, pinned)
        if judge is not None:
            made.append(judge.judge(facts, rubric, pinned, trial=trial, case_digest=case_digest, stored=stored))
        else:
            paths.append(judgement_path(digest_once(pinned), digest_once(rubric), trial))
    return made, paths


def uncited(judgement: Judgement, evidence: TrialEvidence) -> str | None:
    """Return the first reference of a judgement that names no event of the trial; None where all of them do."""
    refs = (ref for part in judgement.parts for ref in (*part.evidence, *part.asserted))
    return next((ref for ref in refs if not evidence.has(ref)), None)
