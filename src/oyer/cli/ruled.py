"""Suites that stop by a rule or a budget: everything for which one cannot be run as it says, with its place.

Owns the way from `oyer.adjudicate`'s words about a rule to lines of a suite's file.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from oyer.adjudicate import check_rule, sides_of
from oyer.errors import Problem, RecordError
from oyer.records import Case, Condition, Document, TrialSuite

if TYPE_CHECKING:
    from oyer.cli.scopes import PlacedSuite

__all__ = ["require_rule", "rule_problems"]


def require_rule(
    placed: PlacedSuite, subjects: Sequence[str], conditions: Sequence[Condition] = (), *, priced: bool = False
) -> None:
    """Refuse a stopping rule that does not fit what was chosen of its suite. Raises: RecordError `E-SUITE-REPEAT`."""
    suite, document = placed.suite, placed.document
    rule = suite.repeat.sequential
    cases = {p.loaded.case.id: p.loaded.case for p in placed.cases}
    problems = list(rule_problems(suite, document, cases, conditions, priced=priced))
    if rule is not None and sides_of(rule, subjects) == (None,) and set(subjects) != set(rule.between):
        told = f"the rule compares {' and '.join(rule.between)}, and it is run with {', '.join(subjects)}"
        at = ("repeat", "sequential", "between")
        problems.append(document.problem("E-SUITE-REPEAT", at, told, "name exactly these two with --subject"))
    if problems:
        raise RecordError.of(problems)


def rule_problems(
    suite: TrialSuite,
    document: Document,
    cases: Mapping[str, Case],
    conditions: Sequence[Condition],
    *,
    priced: bool = False,
) -> Iterator[Problem]:
    """Everything for which cases cannot be repeated as their suite says; `priced` where every model has its prices."""
    rule, budget = suite.repeat.sequential, suite.repeat.budget
    if budget is not None and budget.cost_usd is not None and not priced:
        told = "no prices are given, so what a trial costs is not known and nothing could stop at it"
        at = ("repeat", "budget", "cost_usd")
        yield document.problem("E-SUITE-REPEAT", at, told, "give --prices FILE, or write tokens or wall_s")
    alone = {name: case for name, case in cases.items() if not case.segments}
    sequences = bool(suite.sequences) and len(alone) < len(cases)
    for flaw in () if rule is None else check_rule(rule, alone, suite.order, conditions, sequences=sequences):
        place = ("repeat", "sequential", *((flaw.field,) if flaw.field else ()))
        yield document.problem("E-SUITE-REPEAT", place, flaw.message, flaw.hint)
