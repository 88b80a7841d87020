"""Judging a finished series again: judgements of more evaluators beside those that are there, under their own seal.

Owns the order: the series is verified first, so that nothing unsealed is sealed along; then every trial is judged from
its sealed evidence. Must never touch evidence, an outcome or a judgement that exists.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from oyer.adjudicate import Judge, judgement_path, planned_evaluators
from oyer.errors import EvidenceError, Problem, UsageError
from oyer.evidence import parse_seal
from oyer.host import reach, stamp
from oyer.observe import TrialFacts
from oyer.records import Case, Judgement, Rubric, canonical_bytes, digest
from oyer.store import SeriesReader, SeriesStore
from oyer.verify import Reading, parse_record, read_series, verify_series

__all__ = ["Rejudged", "judge_series"]


class Rejudged(NamedTuple):
    """What came of judging again: judgements that were made, and those of the same evaluators that were there."""

    made: tuple[Judgement, ...]
    there: tuple[Judgement, ...]

    @property
    def failed(self) -> tuple[Judgement, ...]:
        """Every one of them, made now or before, by which its trial could not be judged."""
        return tuple(one for one in (*self.made, *self.there) if one.error is not None)


def judge_series(path: Path, judges: Sequence[Judge]) -> Rejudged:
    """Add the judgements of evaluators to a finished series. Several of them may be revisions of one evaluator.

    Raises: EvidenceError `E-JUDGE-BROKEN` where the series does not verify, UsageError `E-JUDGE-UNNAMED` for an
    evaluator that no rubric of the plan names, HarnessError where nothing can be written.
    """
    with SeriesReader(path) as reader:
        _require_sound(reader, path)
        reading = read_series(reader)
        _require_named(reading, judges)
        with SeriesStore.open(path, clock=stamp, fault_point=reach) as store:
            return _judge(store, reader, reading, judges)


def _require_sound(reader: SeriesReader, path: Path) -> None:
    found = verify_series(reader)
    judged = any(parse_seal(data).act == "judge" for data in reader.seals()) if found.head is not None else False
    wrong = [check for check in found.checks if check.status == "failed"]
    if wrong or not judged:
        told = "it was never sealed" if found.head is None else "its run ended before it was judged"
        told = f"check {wrong[0].number} ({wrong[0].name}) failed" if wrong else told
        hint = "oyer verify says what is wrong"
        raise EvidenceError("E-JUDGE-BROKEN", f"nothing is added to this series: {told}", where=str(path), hint=hint)


def _require_named(reading: Reading, judges: Sequence[Judge]) -> None:
    named = {name for rubric in reading.given.judges.rubrics.values() for name in planned_evaluators(rubric)}
    problems = [
        Problem("E-JUDGE-UNNAMED", f"no rubric of the plan names an evaluator {name}", hint=_hint(named))
        for name in dict.fromkeys(judge.evaluator.id for judge in judges)
        if name not in named
    ]
    if problems:
        raise UsageError.of(problems)


def _hint(named: set[str]) -> str:
    return f"they name {', '.join(sorted(named))}" if named else "they name the built-in one alone"


def _judge(store: SeriesStore, reader: SeriesReader, reading: Reading, judges: Sequence[Judge]) -> Rejudged:
    files: dict[str, bytes] = {}  # written together once all is judged: a plug-in may fail in any way until then
    made: list[Judgement] = []
    there: list[Judgement] = []
    for judge in judges:
        pin = canonical_bytes(judge.evaluator)
        pinned = f"pins/{digest(judge.evaluator).removeprefix('sha256:')}.json"
        for trial, rubric, facts, case_digest, stored in _trials(reading):
            place = judgement_path(digest(judge.evaluator), digest(rubric), trial)
            if judge.evaluator.id not in planned_evaluators(rubric):
                continue
            kept = reader.read(place)
            if kept is not None:
                there.append(parse_record(kept, Judgement, place))
                continue
            one = judge.judge(facts, rubric, judge.evaluator, trial=trial, case_digest=case_digest, stored=stored)
            files[place] = canonical_bytes(one)
            files.update({} if reader.file(pinned) is not None else {pinned: pin})
            made.append(one)
    if made:
        store.close_act("judge", files)
    return Rejudged(tuple(made), tuple(there))


def _trials(reading: Reading) -> Iterator[tuple[str, Rubric, TrialFacts, str, str | None]]:
    """Yield every counted trial with each rubric that its claims name, once; one trial is held at a time."""
    for planned in reading.plan.trials:
        given = reading.given.trials.get(planned.trial)
        if given is None:
            continue
        case: Case = reading.given.cases[planned.case]
        facts = TrialFacts(case, given.evidence)
        for name in dict.fromkeys(claim.rubric for claim in case.claims):
            rubric = reading.given.judges.rubrics.get(name)
            if rubric is not None:
                yield planned.trial, rubric, facts, planned.case_digest, given.stored
