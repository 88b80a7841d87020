"""Two series on the same cases: what may be compared, each side's counts, and what is decided for the worse or better.

Owns what makes a comparison meaningless. A case is the same where id, digest and fixture world are equal; what was
asked of it is the same where its rubric, the evaluators of its criteria and the form of its outcomes are equal. Must
never compare what was not asked alike, pair trials that no design put together, or read a loss of trials as a result.

Source: the trials design, "Statistics"; `oyer.adjudicate.contrast` for the tests.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Literal, NamedTuple, get_args

from oyer.adjudicate.asked import Asked, Pressing, Said, asked_of, by_case, counted_words, said_of
from oyer.adjudicate.asked_pressure import COUNTED_ALONE, pressure_asked, pressure_said
from oyer.adjudicate.contrast import TOO_FEW, Contrast, Question, Sides, contrasts
from oyer.adjudicate.gate_values import GateInput, ledger_line
from oyer.adjudicate.pairs import counted_pairs
from oyer.adjudicate.rates import Tally, tally_of
from oyer.errors import Problem
from oyer.records import Case, Rubric, TrialSuite
from oyer.stats import CaseCounts

__all__ = ["Compared", "DiffRow", "DiffTest", "DiffWord", "Difference", "SeriesSide", "compare_series", "incomparable"]

DiffWord = Literal["worse", "better", "no_difference_decided", "not_decided"]


class SeriesSide(NamedTuple):
    """One side: a series with its pinned cases and rubrics, and the subject that is looked at.

    `series` is what makes two readings one series: trials of one repetition there are pairs by design.
    """

    given: GateInput
    cases: Mapping[str, Case]
    rubrics: Mapping[str, Rubric]
    subject: str
    series: str
    suite: TrialSuite | None = None


class Compared(NamedTuple):
    """What both sides were asked alike, and what was left out with the reason."""

    asked: tuple[Asked, ...]
    left_out: tuple[tuple[str, str], ...]


class DiffRow(NamedTuple):
    """One thing of one case: the counts of either side. `pairs` only where its trials are pairs by design."""

    asked: Asked
    first: Tally
    second: Tally
    sides: Sides


class DiffTest(NamedTuple):
    """One test, and what its word says of the second side: for the worse or the better."""

    contrast: Contrast
    word: DiffWord
    decides: bool


class Difference(NamedTuple):
    """Two series side by side. `family` are the cases that are tested together, None where all are.

    `unfixed` says why no test of a fixed number of trials holds here; empty where it does. `budget` says which of them
    a budget stopped.
    """

    subjects: tuple[tuple[str, str], ...]
    ledgers: tuple[str, str]
    cases: tuple[str, ...]
    left_out: tuple[tuple[str, str], ...]
    rows: tuple[DiffRow, ...]
    tests: tuple[DiffTest, ...]
    family: tuple[str, ...] | None
    unfixed: str
    budget: str
    seed: int
    draws: int

    @property
    def exit_code(self) -> Literal[0, 1, 5]:
        """1: a difference for the worse is decided. 5: something is not decided. 0: neither."""
        words = {test.word for test in self.tests if test.decides}
        return 1 if "worse" in words else 5 if "not_decided" in words or not words else 0


def incomparable(first: SeriesSide, second: SeriesSide, only: Collection[str] = ()) -> tuple[Problem, ...]:
    """Say everything that makes comparing these two meaningless; with `only` of these cases alone."""
    common = _common(first, second, only)
    if not common:
        named = f" named {', '.join(only)}" if only else ""
        told = f"no case{named} is the same in both: id, digest and fixture world"
        return (
            Problem("E-DIFF-CASES", told, "", "compare series of the same cases; what changed is told by `oyer pin`"),
        )
    problems = list(dict.fromkeys(_judged_otherwise(first, second, common)))
    forms = first.given.plan.forms, second.given.plan.forms
    if not problems:
        hint = "what the outcomes hold was fixed otherwise: run both with one version of Oyer and one suite"
        problems = [
            Problem("E-DIFF-FORM", f"the outcomes of {case} have another form in each series", case, hint)
            for case in common
            if forms[0].get(case) != forms[1].get(case)
        ]
    if not problems and not _alike(first, second, common).asked:
        problems = [Problem("E-DIFF-NOTHING", "nothing was asked of the common cases in both", ", ".join(common))]
    return tuple(problems)


def compare_series(
    sides: Sequence[tuple[SeriesSide, SeriesSide]], *, seed: int, draws: int, only: Collection[str] = ()
) -> Difference:
    """Compare two series, by one pair of subjects or several, for which nothing is `incomparable`.

    All tests of all pairs of subjects are one family, but what is asked of pressure: that is a family of its own, so
    that a trap with many rounds takes nothing from what its verdicts can show.
    """
    rows: list[DiffRow] = []
    left: dict[tuple[str, str], None] = {}
    cases: dict[str, None] = {}
    for first, second in sides:
        alone = by_case(first.given), by_case(second.given)
        common = _common(first, second, only)
        cases |= dict.fromkeys(common)
        compared = _alike(first, second, common)
        left |= dict.fromkeys(compared.left_out)
        for asked in compared.asked:
            given = [each[asked.case] for each in alone]
            rows.append(_row(first._replace(given=given[0]), second._replace(given=given[1]), asked))
    one, other = sides[0]
    family, unfixed = _family(one, other), _unfixed(one, other)
    groups = _groups(rows, several=len(sides) > 1)
    questions = [
        [
            Question(about, tuple(row.sides for row in found))
            for about, found in groups.items()
            if _presses(found) is which
        ]
        for which in (False, True)
    ]
    tests = tuple(
        _test(found, more_is_better=groups[found.about][0].asked.more_is_better)
        for each in questions
        for found in contrasts(each, seed=seed, draws=draws, family=family, unfixed=unfixed)
    )
    return Difference(
        subjects=tuple((first.subject, second.subject) for first, second in sides),
        ledgers=(ledger_line(one.given.ledger), ledger_line(other.given.ledger)),
        cases=tuple(cases),
        left_out=tuple(left),
        rows=tuple(rows),
        tests=tests,
        family=family,
        unfixed=unfixed,
        budget=_budget(one, other),
        seed=seed,
        draws=draws,
    )


def _presses(rows: Sequence[DiffRow]) -> bool:
    return rows[0].asked.kind in get_args(Pressing)


def _common(first: SeriesSide, second: SeriesSide, only: Collection[str]) -> tuple[str, ...]:
    """The cases that are the same on both sides and planned for both subjects, in the order of the first plan."""
    planned = []
    for side in (first, second):
        ran = {trial.case for trial in side.given.plan.trials if trial.subject == side.subject}
        planned.append({case.id: (case.digest, case.world) for case in side.given.plan.cases if case.id in ran})
    return tuple(name for name, pin in planned[0].items() if planned[1].get(name) == pin and (not only or name in only))


def _judged_otherwise(first: SeriesSide, second: SeriesSide, common: Collection[str]) -> Iterator[Problem]:
    plans = first.given.plan, second.given.plan
    for case in common:
        for claim in first.cases[case].claims:
            pins = [plan.rubrics.get(claim.rubric) for plan in plans]
            if None in pins:
                continue
            if pins[0] != pins[1]:
                told = f"claim {claim.id} is judged by another revision of rubric {claim.rubric} in each series"
                hint = "judge both by one rubric: run the older cases again; verdicts of two rubrics are two quantities"
                yield Problem("E-DIFF-RUBRIC", told, case, hint)
                continue
            rubric = first.rubrics.get(claim.rubric)
            for name in rubric.evaluator_ids if rubric is not None else ():
                digests = [plan.evaluators.get(name) for plan in plans]
                if digests[0] != digests[1]:
                    told = f"claim {claim.id} is judged by another revision of evaluator {name} in each series"
                    yield Problem("E-DIFF-EVALUATOR", told, case, "judge both with one revision of the evaluator")


def _alike(first: SeriesSide, second: SeriesSide, common: Collection[str]) -> Compared:
    asked = [
        {
            one.about: one
            for one in (*asked_of(side.given, side.cases), *pressure_asked(side.given, side.cases))
            if one.case in common
        }
        for side in (first, second)
    ]
    same = frozenset(_common(first, second, ()))
    found: list[Asked] = []
    left: list[tuple[str, str]] = []
    for about in dict.fromkeys((*asked[0], *asked[1])):
        one = asked[0].get(about)
        if one is None or about not in asked[1]:
            left.append((about, f"only the {'second' if one is None else 'first'} series was asked that"))
            continue
        moved = _moved_control(first, one, same)
        if moved:
            left.append((about, moved))
        else:
            found.append(one)
    return Compared(tuple(found), tuple(left))


def _moved_control(first: SeriesSide, asked: Asked, same: Collection[str]) -> str:
    """A set is the same set only with the same controls."""
    if asked.kind != "set":
        return ""
    controls = first.cases[asked.case].controls
    moved = [name for name in (*controls.negative, *controls.positive) if name not in same]
    return f"its control {moved[0]} is not the same case in both" if moved else ""


def _row(first: SeriesSide, second: SeriesSide, asked: Asked) -> DiffRow:
    read = pressure_said if asked.kind in get_args(Pressing) else said_of
    said = [read(side.given, asked, side.subject) for side in (first, second)]
    pairs = None
    paired = first.series == second.series and first.subject != second.subject
    if paired and asked.kind not in COUNTED_ALONE:
        pairs = counted_pairs(_paired(said[0], said[1], asked.word))
    counts = [CaseCounts(*counted_words(each, asked.word)) for each in said]
    return DiffRow(
        asked,
        tally_of(asked, first.subject, said[0], first.given),
        tally_of(asked, second.subject, said[1], second.given),
        Sides(asked.case, counts[0], counts[1], pairs),
    )


def _paired(first: Sequence[Said], second: Sequence[Said], word: str) -> list[tuple[bool | None, bool | None]]:
    """Two subjects of one series, by repetition: one plan put these trials together."""
    others = {one.repetition: one.word for one in second}

    def came_to(told: str | None) -> bool | None:
        return None if told is None else told == word

    return [(came_to(one.word), came_to(others.get(one.repetition))) for one in first]


def _groups(rows: Sequence[DiffRow], *, several: bool) -> dict[str, list[DiffRow]]:
    """What is asked together, by its words; with several pairs of subjects each pair by itself."""
    groups: dict[str, list[DiffRow]] = {}
    for row in rows:
        if row.asked.kind in COUNTED_ALONE:
            continue
        whose = f", {row.first.subject} to {row.second.subject}" if several else ""
        groups.setdefault(f"{row.asked.together}{whose}", []).append(row)
    return groups


def _family(first: SeriesSide, second: SeriesSide) -> tuple[str, ...] | None:
    """The family that both suites declare; None where they declare none, or not the same one."""
    declared = [side.suite.aggregate.family if side.suite is not None else () for side in (first, second)]
    return declared[0] if declared[0] and set(declared[0]) == set(declared[1]) else None


def _unfixed(first: SeriesSide, second: SeriesSide) -> str:
    which = [
        name for name, side in (("first", first), ("second", second)) if side.given.plan.repeat.sequential is not None
    ]
    if not which:
        return ""
    told = f"the number of trials of the {' and the '.join(which)} series followed what they showed"
    return f"{told}: no test of a fixed number holds"


def _budget(first: SeriesSide, second: SeriesSide) -> str:
    which = [name for name, side in (("first", first), ("second", second)) if side.given.stopped == "budget"]
    told = " and the ".join(which)
    return (
        f"a budget stopped the {told} series: these are the trials that ran, whose number nothing fixed"
        if which
        else ""
    )


def _test(found: Contrast, *, more_is_better: bool) -> DiffTest:
    counted = found.method == "none" and found.why != TOO_FEW
    word: DiffWord = "not_decided"
    if found.word == "no_difference_decided":
        word = "no_difference_decided"
    elif found.word in ("higher", "lower"):
        word = "better" if (found.word == "higher") == more_is_better else "worse"
    return DiffTest(found, word, decides=not counted)
