"""What checks 8, 9 and 10 share: reporting on one kind of derived file.

Owns which difference is a defect and which is only unfinished. Must never excuse a file that differs.
"""

from __future__ import annotations

from typing import Literal

from oyer.verify.comparing import Derivation
from oyer.verify.result import Findings
from oyer.verify.survey import Phase, Survey

__all__ = ["report_derived"]

DerivedKind = Literal["outcome", "comparison", "judgement", "set"]
DIRECTORIES: frozenset[str] = frozenset({"outcomes/", "comparisons/", "judgements/", "sets/"})
"""Where derived files stand; each kind is reported on by one check."""


def report_derived(
    survey: Survey, derivation: Derivation, kind: DerivedKind, found: Findings, spared: frozenset[str] = frozenset()
) -> int:
    """Report on one kind of derived file, `spared` ones apart, and return how many are equal."""
    directory = f"{kind}s/"
    mine = survey.of(kind)
    for path, problem in derivation.differing.items():
        if path.startswith(directory):
            found.failed(problem.code, problem.message, path)
    for path in sorted(set(mine) - derivation.expected - spared):
        if derivation.complete:
            found.failed("E-DERIVED-EXTRA", "nothing in plan and evidence gives it", path, "remove it")
        else:
            found.open("E-DERIVED-EXTRA", "whether the evidence gives it cannot be derived", path, "see checks 4 and 5")
    others = DIRECTORIES - {directory}
    for problem in derivation.undecided:
        if problem.where.startswith(tuple(others)):
            continue  # the other check tells it
        found.open(problem.code, problem.message, problem.where, problem.hint or "see checks 4 and 5")
    missing = sorted(path for path in derivation.missing if path.startswith(directory))
    if survey.phase in {Phase.UNOPENED, Phase.OPEN}:
        found.open(
            "E-SERIES-OPEN",
            "the series was not closed: nothing was derived yet",
            directory,
            "run the plan again, in a new directory",
        )
    elif missing and not survey.judged:
        found.open("E-DERIVED-MISSING", "the series was closed and nothing was derived under a seal yet", directory)
    else:
        for path in missing:
            found.failed("E-DERIVED-MISSING", "the evidence gives it, and it is not recorded", path)
    return sum(path.startswith(directory) for path in derivation.equal)
