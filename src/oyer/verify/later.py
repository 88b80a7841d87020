"""Judgements that were added to a series after its outcomes were fixed, as they are recorded.

Owns which those are: all whose evaluator the plan does not name by this digest. Must never take one for right: whether
it is what its evaluator makes of the evidence is check 9's to say.
"""

from __future__ import annotations

from typing import NamedTuple

from oyer.adjudicate import LaterJudgement
from oyer.errors import OyerError, Problem
from oyer.evidence import ANNOUNCED, seal_path, unfinished
from oyer.records import Evaluator, Judgement, Plan
from oyer.verify.layout import part_of
from oyer.verify.reading import Reader, parse_record

__all__ = ["Later", "judged_later"]


class Later(NamedTuple):
    """What was judged later, in order of evaluator, rubric and trial of the plan; and what of it cannot be read."""

    judgements: tuple[LaterJudgement, ...]
    problems: tuple[Problem, ...]


def judged_later(reader: Reader, plan: Plan) -> Later:
    """Read every judgement of a series that no outcome rests on."""
    planned = {digest.removeprefix("sha256:") for digest in plan.evaluators.values()}
    order = {trial.trial: number for number, trial in enumerate(plan.trials)}
    found: list[LaterJudgement] = []
    problems: list[Problem] = []
    for path in _paths(reader):
        evaluator = path.split("/")[1]
        if evaluator in planned:
            continue
        try:
            data = reader.read(path)
            judgement = None if data is None else parse_record(data, Judgement, path)
            pin = reader.pin(f"sha256:{evaluator}")
            by = None if pin is None else parse_record(pin, Evaluator, f"pins/{evaluator}.json")
        except OyerError as error:
            problems += error.problems
            continue
        if judgement is not None and judgement.trial in order:
            found.append(LaterJudgement(judgement, by))
    found.sort(key=lambda one: (one.judgement.evaluator, one.judgement.evaluator_digest,
                                one.judgement.rubric, order[one.judgement.trial]))  # fmt: skip
    return Later(tuple(found), tuple(problems))


def _paths(reader: Reader) -> list[str]:
    """The paths at which judgements stand, in order; not those of an act that was never finished."""
    announced = reader.read(ANNOUNCED)
    left = frozenset() if announced is None else unfinished(announced, _seals(reader))
    files = (one.path for one in reader.listing() if one.kind == "file")
    return [path for path in files if part_of(path).kind == "judgement" and path not in left]


def _seals(reader: Reader) -> list[bytes]:
    """The seals in force, in order."""
    found: list[bytes] = []
    while (data := reader.read(seal_path(len(found) + 1))) is not None:
        found.append(data)
    return found
