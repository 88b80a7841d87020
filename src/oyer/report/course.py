"""How a series went, for a person and for a program: what its rule or budget decided, and the order that was realised.

Owns the layout. Must never print an interval for a fixed number of trials of what a rule counted, nor round a rule that
did not decide.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from oyer.adjudicate import Course, ToldStop, looks_of
from oyer.records import Plan, PlannedTrial, Sequential, plain
from oyer.report.page import Look, Page, Style, counted, fold, line, say

__all__ = ["course_value", "render_course", "rule_words"]

_STYLES: Mapping[str, Style] = {"rejected": "accent", "accepted": "accent", "undecided": "warn"}
_SIDES: Mapping[str, str] = {"two": "two-sided", "greater": "for more", "less": "for less"}
_MOST_MOVED = 5


def render_course(plan: Plan, course: Course, stops: Sequence[ToldStop], look: Look, *, whole: bool = False) -> Page:
    """Lay out how a series went; empty where it ran as planned, by no rule.

    That trials began in another order is told where a pair changed places or the order is to balance; all of it, with
    the names of the trials, if `whole`.
    """
    rule = plan.repeat.sequential
    page: Page = ()
    if rule is not None:
        page += (line(say("Stopping rule", "strong")),)
        page += fold([say(rule_words(rule), "dim")], look, indent="  ", hanging="    ")
        for stop in stops:
            head = [say(f"{stop.whom}: "), say(stop.word, _STYLES.get(stop.word, "plain")), say(f" {stop.told}")]
            page += fold(head, look, indent="  ", hanging="    ")
        if not stops:
            page += (line("  ", say("no look decided anything: the series ended before", "warn")),)
    if course.budget is not None:
        page += fold([say(budget_words(course), "warn")], look, hanging="  ")
    for told in _order_words(plan, course, whole=whole):
        page += fold([say(told, "warn")], look, hanging="  ")
    if plan.order != "fixed" and course.opened and not moved_trials(plan, course):
        by = f" by {plan.order_by}" if plan.order_by is not None else ""
        page += (line(say(f"Order {plan.order}{by}: trials began as planned.", "dim")),)
    return page


def rule_words(rule: Sequential) -> str:
    """Say a rule as it was declared."""
    if rule.test == "mcnemar":
        about = f"paired e-McNemar of {rule.of} between {' and '.join(rule.between)}"
    elif rule.test == "sprt":
        about = f"Wald's ratio test of {rule.of}, p0 {rule.p0:g} against p1 {rule.p1:g}, beta {rule.beta:g}"
    else:
        about = f"Bernoulli e-value of {rule.of} against p0 {rule.p0:g}, {_SIDES[rule.side]}"
    steps = f"then after every {rule.look_every} more, " if rule.look_every > 1 else "then after each, "
    return f"{about}, alpha {rule.alpha:g}; looks after {counted(rule.min, 'unit')}, {steps}at most {rule.max}."


def budget_words(course: Course) -> str:
    """Say what was used up."""
    stop = course.budget
    if stop is None:
        return ""
    known = f" are known, and what {counted(stop.unknown, 'trial')} used is not, so that the budget cannot be held"
    known = known if stop.unknown else ""
    return (
        f"Stopped by the declared budget: {stop.what} {stop.seen} of {stop.limit}{known}. Intervals are those of the "
        "trials that ran, whose number nothing fixed."
    )


def _order_words(plan: Plan, course: Course, *, whole: bool) -> Iterator[str]:
    moved = moved_trials(plan, course)
    if not moved:
        return
    turned = _turned_pairs(plan, course)
    if plan.order == "williams" or turned:
        why = [f"in {counted(turned, 'pair')} another side came first"] if turned else []
        why += ["the order does not balance as planned"] if plan.order == "williams" else []
        yield f"{counted(len(moved), 'trial')} began before one that is planned earlier: {' and '.join(why)}."
    if whole:
        named = ", ".join(moved[:_MOST_MOVED]) + (" and others" if len(moved) > _MOST_MOVED else "")
        told = f"The realised order is not the planned one ({plan.order}): {counted(len(moved), 'trial')} began before"
        yield f"{told} one that is planned earlier, side by side with it: {named}."


def _turned_pairs(plan: Plan, course: Course) -> int:
    """Count the pairs by design, arms of one repetition or subjects that a rule compares, whose order was another."""
    rule = plan.repeat.sequential
    subjects = rule is not None and set(rule.between) == set(plan.subjects)
    began = {trial: at for at, trial in enumerate(course.opened)}
    groups: dict[tuple[str, str, int], list[PlannedTrial]] = {}
    for one in plan.trials:
        if one.trial in began:
            groups.setdefault((one.case, "" if subjects else one.subject, one.repetition), []).append(one)
    return sum(
        [one.trial for one in sorted(own, key=lambda one: began[one.trial])]
        != [one.trial for one in sorted(own, key=lambda one: one.position)]
        for own in groups.values()
    )


def moved_trials(plan: Plan, course: Course) -> tuple[str, ...]:
    """Return the trials that were opened before one that the plan has before them, in realised order."""
    places = {trial.trial: trial.position for trial in plan.trials}
    found: list[str] = []
    least = len(places)
    for trial in reversed([one for one in course.opened if one in places]):
        if places[trial] > least:
            found.append(trial)
        least = min(least, places[trial])
    return tuple(reversed(found))


def course_value(plan: Plan, course: Course, stops: Sequence[ToldStop]) -> dict[str, Any]:
    """Return how a series went as JSON."""
    rule, budget = plan.repeat.sequential, plan.repeat.budget
    return {
        "order": plan.order,
        "order_by": plan.order_by,
        "as_planned": not moved_trials(plan, course),
        "realised": list(course.opened),
        "rule": None if rule is None else {**plain(rule), "looks": list(looks_of(rule))},
        "stops": [stop_value(one) for one in stops],
        "budget": None if budget is None else plain(budget),
        "budget_stop": None
        if course.budget is None
        else {name: getattr(course.budget, name) for name in ("what", "limit", "seen", "unknown")},
    }


def stop_value(told: ToldStop) -> dict[str, Any]:
    """Return what a rule came to for one side as JSON."""
    stop = told.stop
    return {
        "subject": stop.subject,
        "word": stop.word,
        "units": stop.units,
        "k": stop.k,
        "other": stop.other,
        "decided": stop.decided,
        "undecided": stop.undecided,
        "log_e": stop.log_e,
        "e": told.e,
        "sequence": None if told.sequence is None else list(told.sequence),
        "none_seen_excludes": told.excluded,
        "none_seen_excludes_fixed": told.excluded_fixed,
    }
