"""Holding two series against each other from the command line: verified first, then read, compared, and told.

Owns which series may be compared at all, and which subject of one goes with which of the other; shared by `diff` and
`run --against`. Must never compare what does not verify.
"""

from __future__ import annotations

import contextlib
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from oyer.adjudicate import Difference, SeriesSide, compare_series, count_ledger, incomparable
from oyer.adjudicate import GateInput as Given
from oyer.cli.retained import Retained, read_retained
from oyer.cli.verify import verify_path
from oyer.errors import EvidenceError, Problem, RecordError, UsageError
from oyer.records import Case, Plan, Rubric, TrialSuite
from oyer.report import FixedSide, LockDifference, pin_words
from oyer.verify import Verification

__all__ = ["DiffResult", "compared", "planned_side", "read_verified", "require_comparable", "side_of", "subject_pairs"]

_LOST = "E-LEDGER-ROW"
"""What check 6 says of planned trials that never ran: they are undecided, and counted as such."""


class DiffResult(NamedTuple):
    """A comparison, with what was fixed otherwise."""

    found: Difference
    pins: tuple[LockDifference, ...]


@contextlib.contextmanager
def read_verified(path: Path, plugins: Sequence[Path] = ()) -> Iterator[Retained]:
    """Verify a series or a bundle, then read it and derive what it shows.

    A series that was interrupted may be read: what did not run is undecided. Raises: UsageError where there is none,
    EvidenceError E-DIFF-UNVERIFIED where a check fails, or could not be made.
    """
    found = verify_path(path, plugins=plugins)
    if not _sound(found):
        problems = [
            Problem("E-DIFF-UNVERIFIED", f"check {check.number} ({check.name}): {check.status.replace('_', ' ')}: "
                    f"{check.detail}", str(path), "see `oyer verify`; nothing is compared that does not verify")
            for check in found.checks
            if check.status in ("failed", "not_run")
        ]  # fmt: skip
        raise EvidenceError.of(problems)
    with read_retained(path) as retained:
        yield retained


def _sound(found: Verification) -> bool:
    """Whether everything holds, but for planned trials that the operator's interruption left."""
    undone = [check for check in found.checks if check.status == "not_run"]
    lost = all(check.number == 6 and {one.code for one in check.findings} == {_LOST} for check in undone)
    return all(check.status != "failed" for check in found.checks) and lost


def subject_pairs(first: Plan, second: Plan, named: Sequence[str] = ()) -> tuple[tuple[str, str], ...]:
    """Say which subject of one series goes with which of the other: those named, else those of one name, else the only
    ones. Raises: UsageError E-DIFF-SUBJECT.
    """
    if named:
        pairs = []
        for text in named:
            one, _, other = text.partition("=")
            pairs.append((one, other or one))
    else:
        pairs = [(name, name) for name in first.subjects if name in second.subjects]
        if not pairs and len(first.subjects) == len(second.subjects) == 1:
            pairs = [(first.subjects[0], second.subjects[0])]
    problems = [
        Problem("E-DIFF-SUBJECT", f"the {which} series has no subject {name!r}", "--subject",
                f"it has {', '.join(plan.subjects)}")
        for pair in pairs
        for which, plan, name in zip(("first", "second"), (first, second), pair, strict=True)
        if name not in plan.subjects
    ]  # fmt: skip
    if not pairs:
        told = f"{', '.join(first.subjects)} and {', '.join(second.subjects)}: which goes with which?"
        problems.append(Problem("E-DIFF-SUBJECT", told, "--subject", "name them: --subject NAME_IN_A=NAME_IN_B"))
    if problems:
        raise UsageError.of(dict.fromkeys(problems))
    return tuple(dict.fromkeys(pairs))


def side_of(retained: Retained, subject: str) -> SeriesSide:
    """Return one series as a side of a comparison."""
    reading = retained.reading
    head = f"{reading.manifest.series} {reading.manifest.opened}"
    return SeriesSide(
        retained.given, reading.given.cases, reading.given.judges.rubrics, subject, head, retained.suite
    )  # fmt: skip


def planned_side(
    plan: Plan, cases: Mapping[str, Case], rubrics: Mapping[str, Rubric], subject: str, suite: TrialSuite | None
) -> SeriesSide:
    """Return a series that has not run yet as a side: enough to say whether it can be compared."""
    given = Given(plan, {}, (), (), count_ledger(plan, (), ()), frozenset())
    return SeriesSide(given, cases, rubrics, subject, "", suite)


def require_comparable(sides: Sequence[tuple[SeriesSide, SeriesSide]], only: Collection[str] = ()) -> None:
    """Refuse a comparison that would mean nothing. Raises: RecordError E-DIFF-..., with everything."""
    problems = [
        Problem("E-DIFF-SAME", f"both sides are {first.subject} in the same series: trials held against themselves "
                "differ in nothing", "", "name another series, or two subjects of this one: --subject ONE=OTHER")
        for first, second in sides
        if first.series and (first.series, first.subject) == (second.series, second.subject)
    ] or [problem for first, second in sides for problem in incomparable(first, second, only)]  # fmt: skip
    if problems:
        raise RecordError.of(dict.fromkeys(problems))


def compared(
    first: Retained,
    second: Retained,
    named: Sequence[str] = (),
    *,
    seed: int | None,
    draws: int,
    only: Collection[str] = (),
) -> DiffResult:
    """Compare two series that verify. Raises: UsageError, RecordError E-DIFF-..."""
    pairs = subject_pairs(first.reading.plan, second.reading.plan, named)
    sides = [(side_of(first, one), side_of(second, other)) for one, other in pairs]
    require_comparable(sides, only)
    drawn = second.reading.plan.seed if seed is None else seed
    found = compare_series(sides, seed=drawn, draws=draws, only=only)
    pins: dict[str, LockDifference] = {}
    for one, other in pairs:
        for told in pin_words(_fixed(first, one), _fixed(second, other)):
            pins.setdefault(told.sentence, told)
    return DiffResult(found, tuple(pins.values()))


def _fixed(retained: Retained, subject: str) -> FixedSide:
    given = retained.reading.given
    pinned = {case: pins for (whose, case), pins in given.pinned.items() if whose == subject}
    environments = retained.environments.get(subject, {})
    judges = given.judges
    return FixedSide(
        retained.reading.plan, given.cases, judges.rubrics, judges.evaluators, environments, pinned, retained.suite
    )  # fmt: skip
