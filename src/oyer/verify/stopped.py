"""Stops of a stored series: what a declared rule or budget stopped, decided again from the retained evidence.

Owns two questions. Does the ledger keep to the plan: no stop that nothing declared, no trial after its stop, none
beyond a look before that look's units had ended (check 6)? And does each look decide what the ledger says it decided:
no stop that was not due, none that was passed over, no other count (check 10)? Must never believe a written count.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from oyer.adjudicate import (
    Course,
    Judge,
    Judges,
    RuleLook,
    RuleStop,
    course_of,
    looks_of,
    not_run_by,
    sides_of,
    stop_body,
    take_look,
    units_of,
)
from oyer.errors import OyerError
from oyer.records import Case, Evaluator, PinSet, Plan, PlannedTrial, Rubric, Sequential, Series, SeriesBudget, digest
from oyer.verify.comparing import Derivation
from oyer.verify.growing import Growing
from oyer.verify.reading import pinned_record, recorded_in
from oyer.verify.result import Findings
from oyer.verify.spending import COUNTED, spent_in, used_by
from oyer.verify.survey import Phase, Survey

__all__ = ["kept_to_plan", "left_out", "redecide"]

LEDGER = "ledger.jsonl"
_CLOSE = 2e-6
"""How far a logarithm may lie from the one that was written: the last digit, and the last bits of two machines."""


def kept_to_plan(survey: Survey, found: Findings) -> str:
    """Hold what the ledger says of stops to the plan; return in words what they left out, empty where nothing."""
    plan = survey.plan
    if plan is None or survey.phase is Phase.BROKEN:
        return ""
    course = course_of(survey.ledger)
    for code, told in (*_undeclared(plan, course), *_budget(survey, plan, course)):
        found.failed(code, told, LEDGER)
    if plan.repeat.sequential is None:
        return _left(survey)
    try:
        units = units_of(plan, _cases(survey, plan))
    except (OyerError, LookupError):
        found.open("E-VERIFY-UNREAD", "a pinned case cannot be read: units are not known", LEDGER, "see check 4")
        return ""
    for trial, told in _out_of_turn(survey, plan, plan.repeat.sequential, units, course):
        found.failed("E-STOP-AFTER", told, f"{LEDGER} {trial}")
    return _left(survey)


def left_out(survey: Survey) -> dict[str, str]:
    """Return the trials that a declared rule or budget left out, and which of the two; none where it is not known."""
    if survey.plan is None:
        return {}
    try:
        cases = _cases(survey, survey.plan)
        told = not_run_by(survey.plan, cases, course_of(survey.ledger), survey.ledger.attempts)
    except (OyerError, LookupError):
        return {}
    return {trial: why for trial, why in told.items() if why in ("rule", "budget")}


def _left(survey: Survey) -> str:
    told = Counter(left_out(survey).values())
    return "".join(f", {number} not run by the declared {why}" for why, number in sorted(told.items()))


def _undeclared(plan: Plan, course: Course) -> Iterator[tuple[str, str]]:
    """Yield stops that no declared rule and no declared budget has, and those that stand twice."""
    rule = plan.repeat.sequential
    sides = () if rule is None else sides_of(rule, plan.subjects)
    for stop in course.stops:
        whom = stop.subject or "both subjects"
        if rule is None or stop.rule != digest(rule):
            yield "E-STOP-UNDECLARED", f"a rule stopped {whom} that the plan does not declare"
        elif stop.subject not in sides:
            yield "E-STOP-UNDECLARED", f"the rule stopped {whom}, for whom the plan declares none"
    seen = [stop.subject for stop in course.stops]
    for subject in sorted({one for one in seen if seen.count(one) > 1}, key=str):
        yield "E-STOP-UNDECLARED", f"the rule stopped {subject or 'both subjects'} twice"


def _limits(budget: SeriesBudget) -> dict[str, int | None]:
    return {"wall_s": budget.wall_s, "tokens": budget.tokens, "cost_usd_micros": budget.micros}


def _budget(survey: Survey, plan: Plan, course: Course) -> Iterator[tuple[str, str]]:
    stop, budget = course.budget, plan.repeat.budget
    if stop is None:
        return
    limit = None if budget is None else _limits(budget).get(stop.what)
    if limit is None or limit != stop.limit:
        yield (
            "E-STOP-UNDECLARED",
            f"a budget of {stop.limit} {stop.what} stopped the series, and the plan declares none",
        )
    elif stop.seen < limit and stop.unknown < 1:
        yield "E-STOP-NOT-DUE", f"a budget of {limit} {stop.what} stopped the series at {stop.seen}"
    if len([one for one in survey.ledger.stops if one.why == "budget"]) > 1:
        yield "E-STOP-UNDECLARED", "a budget stopped the series twice"
    late = sorted(trial for trial, seq in survey.ledger.began.items() if seq > stop.seq)
    for trial in late:
        yield "E-STOP-AFTER", f"trial {trial} began after the budget had stopped the series"


def _out_of_turn(
    survey: Survey, plan: Plan, rule: Sequential, units: Mapping[str, int], course: Course
) -> Iterator[tuple[str, str]]:
    """Yield trials that began after the stop of their side, or beyond a look whose trials had not ended."""
    began, ended = survey.ledger.began, survey.ledger.ended
    for side in sides_of(rule, plan.subjects):
        own = [trial.trial for trial in plan.trials if side in (None, trial.subject)]
        for stop in (one for one in course.stops if one.subject == side):
            for trial in own:
                if trial in began and (units[trial] > stop.units or began[trial] > stop.seq):
                    yield trial, f"trial {trial} ran after the rule had stopped at {stop.units} units"
    for look in looks_of(rule):
        last = max((ended.get(trial, 0) for trial in began if units.get(trial, 0) <= look), default=0)
        for trial, seq in began.items():
            if units.get(trial, 0) > look and seq < last:
                yield trial, f"trial {trial} began before the look after {look} units could be taken"


def redecide(survey: Survey, derivation: Derivation, asked: Sequence[Judge], found: Findings) -> int:
    """Take every look again; return how many decisions were compared with the ledger's."""
    plan, manifest = survey.plan, survey.manifest
    if plan is not None and manifest is not None:
        _recount(survey, plan, manifest, derivation, found)
    if plan is None or manifest is None or plan.repeat.sequential is None:
        return 0
    if survey.phase in (Phase.BROKEN, Phase.UNOPENED):
        return 0
    if not derivation.complete:
        why = "not every trial can be derived: what the rule decided is not known"
        found.open("E-VERIFY-UNREAD", why, LEDGER, "see what could not be derived")
        return 0
    try:
        cases = _cases(survey, plan)
        growing = Growing(manifest, plan, cases, _pinned(survey), _judges(survey, plan, asked))
        return _Again(survey, plan, plan.repeat.sequential, units_of(plan, cases), growing, found).looks()
    except (OyerError, LookupError, ValueError) as error:
        found.open("E-VERIFY-UNREAD", f"looks cannot be taken again: {error}", LEDGER, "see check 4")
        return 0


def _recount(survey: Survey, plan: Plan, manifest: Series, derivation: Derivation, found: Findings) -> None:
    """Add up again what the trials used that had ended when a budget of tokens or money stopped the series.

    Of how many of them that is not known is counted too.
    """
    stop = course_of(survey.ledger).budget
    if stop is None or stop.what not in COUNTED:
        return
    if not derivation.complete:
        why = f"not every trial can be derived: {stop.what} cannot be added up"
        found.open("E-VERIFY-UNREAD", why, LEDGER, "see what could not be derived")
        return
    try:
        cases, ledger = _cases(survey, plan), survey.ledger
        spent = spent_in(
            used_by(survey.reader, manifest, plan, one, cases[one.case], ledger.attempts[one.trial])[stop.what]
            for one in plan.trials
            if ledger.ended.get(one.trial, stop.seq) < stop.seq
        )
    except (OyerError, LookupError):
        why = f"a pinned case cannot be read: {stop.what} cannot be added up"
        found.open("E-VERIFY-UNREAD", why, LEDGER, "see check 4")
        return
    if spent != (stop.seen, stop.unknown):
        told = f"a budget stopped the series at {_spent_words(stop.seen, stop.unknown, stop.what)}"
        found.failed("E-STOP-COUNTS", f"{told}, and its trials used {_spent_words(*spent, stop.what)}", LEDGER)


def _spent_words(seen: int, unknown: int, what: str) -> str:
    return f"{seen} {what}" if not unknown else f"{seen} {what} and what is not known of {unknown} trials"


class _Again:
    """Every look of one series, taken again in order."""

    def __init__(
        self,
        survey: Survey,
        plan: Plan,
        rule: Sequential,
        units: Mapping[str, int],
        growing: Growing,
        found: Findings,
    ) -> None:
        self._survey = survey
        self._plan = plan
        self._rule = rule
        self._units = units
        self._growing = growing
        self._found = found
        self._course = course_of(survey.ledger)
        self._stops = {stop.subject: stop for stop in self._course.stops}
        self._open = list(sides_of(rule, plan.subjects))
        self._compared = 0

    def looks(self) -> int:
        """Take every look that could be taken, and compare; return how many stops were compared."""
        for stop in self._stops.values():
            if stop.units not in looks_of(self._rule):
                self._failed("E-STOP-NOT-DUE", f"{_whom(stop.subject)} was stopped after {stop.units} units: no look")
        before = 0
        for look in looks_of(self._rule):
            batch = [
                trial for trial in self._plan.trials if before < self._units[trial.trial] <= look and self._runs(trial)
            ]
            if not self._open or any(self._survey.ledger.counted(trial.trial) is None for trial in batch):
                break
            self._growing.take(batch, self._survey.ledger, self._survey.reader)
            given = self._growing.given()
            for side in tuple(self._open):
                self._one(take_look(given, side, look))
            before = look
        for side in self._open:
            if side in self._stops:
                self._failed("E-STOP-NOT-DUE", f"{_whom(side)} was stopped before every trial of that look had ended")
        return self._compared

    def _runs(self, trial: PlannedTrial) -> bool:
        return None in self._open or trial.subject in self._open

    def _one(self, look: RuleLook) -> None:
        stop = self._stops.get(look.subject)
        if stop is not None and stop.units == look.units:
            self._open.remove(look.subject)
            self._compared += 1
            self._same(look, stop)
        elif look.word != "go_on":
            self._open.remove(look.subject)
            told = f"{_whom(look.subject)} was {look.word} after {look.units} units"
            if stop is not None or self._went_on(look):
                self._failed("E-STOP-PASSED", f"{told}, and the series went on")
            elif self._survey.phase is Phase.CLOSED and not self._course.interrupted:
                self._failed("E-STOP-MISSING", f"{told}, and the ledger has no line of it")

    def _same(self, look: RuleLook, stop: RuleStop) -> None:
        if look.word == "go_on":
            told = f"{_whom(look.subject)} was {stop.word} after {look.units} units, where nothing was decided"
            self._failed("E-STOP-NOT-DUE", told)
            return
        due = stop_body(self._rule, look)
        said = stop._asdict()
        names = [name for name, value in due.items() if name != "log_e" and said[name] != value]
        if not _close(stop.log_e, str(due["log_e"])):
            names.append("log_e")
        if names:
            told = ", ".join(f"{name} {said[name]} and not {due[name]}" for name in names)
            self._failed("E-STOP-COUNTS", f"after {look.units} units of {_whom(look.subject)} the ledger says {told}")

    def _went_on(self, look: RuleLook) -> bool:
        began = self._survey.ledger.began
        return any(
            trial.trial in began and self._units[trial.trial] > look.units and look.subject in (None, trial.subject)
            for trial in self._plan.trials
        )

    def _failed(self, code: str, told: str) -> None:
        self._found.failed(code, told, LEDGER)


def _whom(subject: str | None) -> str:
    return "the comparison" if subject is None else subject


def _close(one: str, other: str) -> bool:
    try:
        return one == other or abs(float(one) - float(other)) <= _CLOSE
    except ValueError:
        return False


def _cases(survey: Survey, plan: Plan) -> dict[str, Case]:
    return {case.id: pinned_record(survey.reader, case.digest, Case) for case in plan.cases}


def _pinned(survey: Survey) -> dict[tuple[str, str], PinSet]:
    sets = {} if survey.manifest is None else survey.manifest.pinsets
    return {
        (subject, case): pinned_record(survey.reader, name, PinSet)
        for subject, by_case in sets.items()
        for case, name in by_case.items()
    }


def _judges(survey: Survey, plan: Plan, asked: Sequence[Judge]) -> Judges:
    return Judges(
        rubrics={name: pinned_record(survey.reader, one, Rubric) for name, one in plan.rubrics.items()},
        evaluators={name: pinned_record(survey.reader, one, Evaluator) for name, one in plan.evaluators.items()},
        asked=asked,
        recorded=recorded_in(survey.reader),
    )
