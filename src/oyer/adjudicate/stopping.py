"""What a stopping rule decides at a look, from the outcomes of the units that ran, and what its ledger says it decided.

Owns the counts, the decision and its one written form. A look is given the trials of whole units alone, so that the
answer does not depend on which trial happened to finish first; undecided units are carried, and a rule stops only where
it would stop whatever they come to. Reaching the last look without a decision is `undecided`, never rounded.

Source: the trials design, "Repetition and stopping, declared first"; the arithmetic is `oyer.stats.sequential`'s.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from math import exp, inf, isfinite, log
from typing import Any, Literal, NamedTuple

from oyer.adjudicate.anytime import EVERY_CASE, Limits, counted_of
from oyer.adjudicate.asked import Asked, said_of
from oyer.adjudicate.gate_tree import Operand
from oyer.adjudicate.gate_values import GateInput, Stopped, arm_words
from oyer.adjudicate.rules import ARM_PAIRS, looks_of, sides_of, units_of
from oyer.evidence import LedgerCheck
from oyer.records import Case, Plan, PlannedTrial, Sequential, digest
from oyer.stats import Interval, Look, bernoulli_look, excluded_at_worst, mcnemar_look, sprt_look

__all__ = [
    "NOT_RUN_BY",
    "BudgetStop",
    "Course",
    "RuleLook",
    "RuleStop",
    "ToldStop",
    "course_of",
    "left_repetitions",
    "not_run_by",
    "plan_that_ran",
    "stop_body",
    "take_look",
    "told_stops",
]

Word = Literal["go_on", "rejected", "accepted", "undecided"]
NOT_RUN_BY = ("rule", "budget", "operator", "unknown")
"""Why a planned trial did not run; `unknown` where nothing on record says it."""
_LOG_E_DIGITS = 6
_LARGEST_LOG = 700.0


class RuleLook(NamedTuple):
    """What a rule says of one side after so many units. `subject` is None where two subjects are compared.

    `k` units came to the counted word. Between two, `k` pairs came to it on the first side alone, `other` on the second
    alone. `log_e` is the natural logarithm of the evidence in the worst case of the undecided.
    """

    subject: str | None
    units: int
    k: int
    other: int | None
    decided: int
    undecided: int
    log_e: float
    word: Word


class RuleStop(NamedTuple):
    """One line of the ledger by which a rule stopped a side. `log_e` is as it was written."""

    subject: str | None
    rule: str
    units: int
    k: int
    other: int | None
    decided: int
    undecided: int
    log_e: str
    word: str
    seq: int = 0


class BudgetStop(NamedTuple):
    """The line by which a budget stopped a series: what was used up, how much was allowed, and how much was seen.

    Of `unknown` trials it is not known what they used: a budget cannot be held beside them, however little was seen.
    """

    what: str
    limit: int
    seen: int
    seq: int = 0
    unknown: int = 0


class Course(NamedTuple):
    """How a series went, by its ledger: what stopped it, in which order trials were opened, and how it ended."""

    stops: tuple[RuleStop, ...] = ()
    budget: BudgetStop | None = None
    opened: tuple[str, ...] = ()
    closed: bool = False
    interrupted: bool = False

    def stopped(self, plan: Plan) -> Stopped:
        """Say what that was declared decided how much ran; empty where everything planned was to run."""
        if plan.repeat.sequential is not None:
            return "rule"
        return "budget" if self.budget is not None else ""


def course_of(ledger: LedgerCheck) -> Course:
    """Return how a series went, as far as its ledger is good."""
    rules = (line for line in ledger.stops if line.why == "rule")
    budgets = [BudgetStop(**line.body, seq=line.seq) for line in ledger.stops if line.why == "budget"]
    return Course(
        stops=tuple(RuleStop(**line.body, seq=line.seq) for line in rules),
        budget=budgets[0] if budgets else None,
        opened=tuple(sorted(ledger.opened, key=lambda trial: ledger.opened[trial])),
        closed=ledger.closed,
        interrupted=ledger.closing.get("interrupted") is True,
    )


def not_run_by(plan: Plan, cases: Mapping[str, Case], course: Course, ran: Collection[str]) -> dict[str, str]:
    """Return why each planned trial that did not run did not, in the order of the plan."""
    rule = plan.repeat.sequential
    units = units_of(plan, cases) if rule is not None else {}
    until = {stop.subject: stop.units for stop in course.stops}
    together = rule is not None and sides_of(rule, plan.subjects) == (None,)

    def why(trial: PlannedTrial) -> str:
        last = until.get(None if together else trial.subject)
        if rule is not None and last is not None and units[trial.trial] > last:
            return "rule"
        if course.budget is not None and plan.repeat.budget is not None:
            return "budget"
        return "operator" if course.interrupted else "unknown"

    return {trial.trial: why(trial) for trial in plan.trials if trial.trial not in ran}


def plan_that_ran(plan: Plan, left: Mapping[str, str]) -> Plan:
    """Return the plan without the trials that what was declared before left out: nothing is missing where they are."""
    gone = {trial for trial, why in left.items() if why in ("rule", "budget")}
    if not gone:
        return plan
    return plan.model_copy(update={"trials": tuple(one for one in plan.trials if one.trial not in gone)})


def left_repetitions(plan: Plan, ran: Plan) -> dict[tuple[str, str], int]:
    """Return how many repetitions of a case by a subject a declared rule or budget left out whole, where it did."""
    kept = {(one.case, one.subject, one.repetition) for one in ran.trials}
    every = {(one.case, one.subject, one.repetition) for one in plan.trials}
    return dict(Counter((case, subject) for case, subject, _ in every - kept))


def take_look(given: GateInput, side: str | None, units: int) -> RuleLook:
    """Say what the rule of a plan decides of one side. `given` holds the trials of the first `units` units alone."""
    rule = given.plan.repeat.sequential
    if rule is None:
        raise ValueError("the plan has no rule that stops")
    if rule.between:
        found = _paired(rule, given, side)
    else:
        words = _words(rule, given, side or "")
        k, undecided = words.count(counted_of(rule).word), words.count(None)
        told = _single(rule, k, len(words) - undecided, undecided)
        found = RuleLook(side, units, k, None, len(words) - undecided, undecided, told.log_e, told.word)
    last = units == looks_of(rule)[-1]
    return found._replace(units=units, word="undecided" if found.word == "go_on" and last else found.word)


def _single(rule: Sequential, k: int, decided: int, undecided: int) -> Look:
    p0 = rule.p0 if rule.p0 is not None else 0.5
    if rule.test == "sprt" and rule.p1 is not None:
        return sprt_look(k, decided, undecided, p0, rule.p1, alpha=rule.alpha, beta=rule.beta)
    return bernoulli_look(k, decided, undecided, p0, alpha=rule.alpha, side=rule.side, a=rule.a, b=rule.b)


def _paired(rule: Sequential, given: GateInput, side: str | None) -> RuleLook:
    word = counted_of(rule).word
    first, second = (_side_words(rule, given, name, side) for name in rule.between)
    pairs = list(zip(first, second, strict=True))
    undecided = sum(None in pair for pair in pairs)
    split = Counter((one == word, other == word) for one, other in pairs if None not in (one, other))
    b, c = split[True, False], split[False, True]
    told = mcnemar_look(b, c, undecided, alpha=rule.alpha)
    return RuleLook(side, 0, b, c, len(pairs) - undecided, undecided, told.log_e, told.word)


def _side_words(rule: Sequential, given: GateInput, name: str, side: str | None) -> list[str | None]:
    if frozenset(rule.between) not in ARM_PAIRS:
        return _words(rule, given, name)
    return [word for one in _operands(rule, given) for word in arm_words(given, one, side or "", name)]


def _words(rule: Sequential, given: GateInput, subject: str) -> list[str | None]:
    asked = (Asked(one.kind, one.case, one.claim, one.word, rule.of, "") for one in _operands(rule, given))
    return [said.word for one in asked for said in said_of(given, one, subject)]


def _operands(rule: Sequential, given: GateInput) -> Iterator[Operand]:
    """What is counted; where cases are drawn, of each of them that ran. Controls of a trap are no units."""
    counted = counted_of(rule)
    if counted.case != EVERY_CASE:
        yield counted
        return
    sets = {one.trap for one in given.sets}
    for case in dict.fromkeys(trial.case for trial in given.plan.trials):
        if counted.kind != "set" or case in sets:
            yield counted._replace(case=case)


def stop_body(rule: Sequential, found: RuleLook) -> dict[str, Any]:
    """Return what the ledger says of a look that stopped."""
    told = found._asdict()
    return {**told, "rule": digest(rule), "log_e": written(found.log_e)}


def written(log_e: float) -> str:
    """Write a logarithm as the ledger keeps it; two machines may differ in the last bits of a float."""
    return f"{log_e:.{_LOG_E_DIGITS}f}" if isfinite(log_e) else "-inf" if log_e == -inf else "inf"


class ToldStop(NamedTuple):
    """What a rule came to for one side, as it is told: e-value, confidence sequence, what no event excludes.

    `e` is None for Wald's test, whose number is a likelihood ratio, and where it is too large to write. `sequence` is
    None between two sides. `excluded` holds at whatever time the rule stopped, `excluded_fixed` had n been fixed.
    """

    stop: RuleStop
    whom: str
    word: str
    told: str
    e: float | None
    sequence: Interval | None
    excluded: float | None
    excluded_fixed: float | None


def told_stops(plan: Plan, course: Course) -> Iterator[ToldStop]:
    """Yield what the rule of a plan came to, in the order of the ledger."""
    rule = plan.repeat.sequential
    if rule is not None:
        yield from (_told(rule, stop) for stop in course.stops)


def _told(rule: Sequential, stop: RuleStop) -> ToldStop:
    whom = stop.subject or " against ".join(rule.between)
    log_e = float(stop.log_e)
    e = exp(log_e) if rule.test != "sprt" and log_e < _LARGEST_LOG else None
    parts = [f"after {stop.units} of at most {rule.max} units"]
    sequence = excluded = fixed = None
    if rule.between:
        one, other = rule.between
        parts.append(f"{stop.k} pairs {one} alone, {stop.other} {other} alone, of {stop.decided} decided")
    else:
        parts.append(f"{counted_of(rule).word} in {stop.k} of {stop.decided} decided")
    parts.append(f"{stop.undecided} undecided, carried either way" if stop.undecided else "0 undecided")
    if rule.test == "sprt":
        parts.append(f"log likelihood ratio {log_e:.2f}")
    else:
        parts.append(f"E {_number(log_e)} ({1 / rule.alpha:g} or more rejects)")
    if not rule.between:
        limits = Limits(rule.alpha, rule.side, rule.a, rule.b) if rule.test == "bernoulli" else Limits(rule.alpha)
        sequence = limits.sequence(stop.k, stop.decided, stop.undecided)
        share = f"{100 * (1 - rule.alpha):g} %"
        parts.append(f"{share} confidence sequence {sequence.low:.3f} to {sequence.high:.3f}")
        if stop.k == 0 and stop.decided:
            excluded, fixed = sequence.high, excluded_at_worst(stop.decided, stop.undecided, 1 - rule.alpha)
            told = "" if fixed is None else f" ({fixed:.3f} had n been fixed)"
            parts.append(f"none seen excludes rates above {excluded:.3f}{told}")
    return ToldStop(stop, whom, stop.word, "; ".join(parts) + ".", e, sequence, excluded, fixed)


def _number(log_e: float) -> str:
    return f"{exp(log_e):.4g}" if log_e < _LARGEST_LOG else f"10^{log_e / log(10):.1f}"
