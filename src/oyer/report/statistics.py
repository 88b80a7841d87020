"""All numbers of a series on one page, and as JSON: each with its counts, its estimand and how it is computed.

Owns the layout. Must never print a rate without what is undecided, or compute one: the numbers are `adjudicate`'s.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from oyer.adjudicate import (
    FORMULAS,
    AtK,
    Measure,
    OverCases,
    Paired,
    RateOf,
    SeriesStatistics,
    SubjectSets,
    rate_sentence,
)
from oyer.report.contrasts import contrast_value, counts_text, pairs_text, render_contrasts, sides_value
from oyer.report.page import Look, Page, counted, fold, line, say
from oyer.report.pressure import pressure_value, render_pressure
from oyer.report.questions import render_questions
from oyer.report.rates import rate_value, tally_value
from oyer.report.segments import render_sequences, sequence_value
from oyer.stats import Chance, Interval

__all__ = ["render_statistics", "statistics_value"]

_METHODS = {
    "sign flips over cases": "sign_flips",
    "labels dealt anew within cases": "relabelled",
    "exact McNemar, pairs by design": "mcnemar",
    "two proportions, exact": "two_proportions",
}
_MEASURES: Mapping[str, tuple[str, float, str]] = {
    "wall_ns": ("time", 1e9, " s"),
    "tokens": ("tokens", 1, ""),
    "cost_usd_micros": ("cost", 1e6, " USD"),
    "tool_calls": ("tool calls", 1, ""),
    "model_calls": ("model calls", 1, ""),
}
CAVEATS: Mapping[str, str] = {
    "rule": "A rule that looks at the trials was to say how many there are: tests of pairs decide nothing below, "
    "sets have no limits, and pass@k and pass^k only describe. Rates have their confidence sequence.",
    "budget": "A budget stopped this series: intervals are those of the trials that ran, whose number nothing fixed.",
}
_TRIES_TOLD = (1, 2, 3, 5, 10, 20)


def render_statistics(found: SeriesStatistics, look: Look) -> Page:
    """Lay out every number of a series, and last how each is computed."""
    page: Page = (line(say("Statistics", "strong"), say(f"  seed {found.seed}, {found.draws} draws", "dim")),)
    page += fold([say(f"They rest on: {found.ledger}", "dim")], look, indent="  ", hanging="    ")
    if found.stopped:
        page += fold([say(CAVEATS[found.stopped], "warn")], look, indent="  ", hanging="    ")
    questions = render_questions(found.rates, look)
    page += ((), *questions) if questions else ()
    for block in (render_pressure(found.pressure, look), render_sequences(found.sequences, look)):
        page += ((), *block) if block else ()
    for title, part in (
        ("Rates, each of one case", [_rate(one, look) for one in found.rates if _says_more(one)]),
        ("Over cases", [_over_cases(one, look) for one in found.over_cases]),
        ("Pairs of arms, by design", [_paired(one, look) for one in found.paired]),
        ("Telling traps from their controls", [_sets(one, look) for one in found.sets]),
        ("Measurements", list(_measures(found.measures, look))),
    ):
        if part:
            page += ((), line(say(title, "strong")), *(each for one in part for each in one))
    page += ((), line(say("How these are computed", "strong")))
    for name in formulas_used(found):
        told = FORMULAS[name]
        parts = [say(f"{name.replace('_', ' ')}: ", "accent"), say(told.formula),
                 say(f". {told.source}. About: {told.estimand}. Offered: {told.offered}.", "dim")]  # fmt: skip
        page += fold(parts, look, indent="  ", hanging="    ")
    return page


def _says_more(one: RateOf) -> bool:
    """Whether there is more to a rate than the word in the table: one trial is no rate."""
    return one.tally.planned > 1 or one.spontaneous is not None or one.first_attempt != one.rate


def _rate(one: RateOf, look: Look) -> Page:
    page: Page = (line("  ", say(one.asked.about, "accent"), say(" by ", "dim"), say(one.subject)),)
    told = [one.tally.line, rate_sentence(one.asked.word, one.rate)]
    if one.error is not None:
        told.append(f"standard error {one.error:.3f}")
    if one.first_attempt != one.rate:
        told.append(f"first attempts alone: {rate_sentence(one.asked.word, one.first_attempt)}")
    if one.rate.decided > 1:
        told += list(_tries(one.tries))
    if one.spontaneous is not None:
        k, n = one.spontaneous
        told.append(f"spontaneous: {k} of {n} baselines")
    for text in told:
        page += fold([say(text)], look, indent="    ", hanging="      ")
    return page


def _tries(tries: tuple[AtK, ...]) -> Iterator[str]:
    shown = [one for one in tries if one.k in _TRIES_TOLD]
    if len(shown) > 1:
        yield ", ".join(f"pass@{one.k} {_chance(one.at_least_one)}" for one in shown)
        yield ", ".join(f"pass^{one.k} {_chance(one.all_of_them)}" for one in shown)


def _chance(found: Chance) -> str:
    if found.bounds is not None and found.bounds[0] != found.bounds[1]:
        low, high = (float(bound) for bound in found.bounds)
        return f"{low:.2f} to {high:.2f}"
    return "unknown" if found.value is None else f"{float(found.value):.2f}"


def _over_cases(one: OverCases, look: Look) -> Page:
    rate = one.rate
    page: Page = fold([say(one.about, "accent"), say(" by ", "dim"), say(one.subject)], look, indent="  ")
    told = f"{counted(rate.cases, 'case')}, {rate.decided} trials decided, {rate.undecided} undecided"
    if rate.bounds is not None and rate.undecided:
        low, high = (float(bound) for bound in rate.bounds)
        told += f"; mean of case means {low:.2f} if every undecided one had failed, {high:.2f} if each had succeeded"
    elif rate.mean is not None:
        told += f"; mean of case means {float(rate.mean):.2f}"
    limits = f"95 % limits {_span(rate.limits)}" if rate.limits is not None else f"no interval, {rate.why_not}"
    about = f"{told}; {limits}; about {rate.estimand}"
    apart = [
        f"{name} {value:.2f}"
        for name, value in (
            ("clustered standard error", one.error),
            ("spread between cases", one.spread.between),
            ("within a case", one.spread.within),
        )
        if value is not None
    ]
    about += f"; {', '.join(apart)} (of decided trials)" if apart else ""
    for text in (about, *_tries(one.tries)):
        page += fold([say(text)], look, indent="    ", hanging="      ")
    return page


def _paired(one: Paired, look: Look) -> Page:
    asked = one.question
    page: Page = fold([say(asked.question.about, "accent")], look, indent="  ", hanging="    ")
    alike: dict[str, list[str]] = {}
    for sides, pairs in zip(asked.question.sides, asked.pairs, strict=True):
        told = f"{asked.first} {counts_text(sides.first)}; {asked.second} {counts_text(sides.second)}"
        alike.setdefault(f"{told}; {pairs_text(pairs)}", []).append(sides.case)
    for told, cases in alike.items():
        each = "" if len(cases) == 1 else "each "
        page += fold([say(f"{', '.join(cases)}: {each}{told}")], look, indent="    ", hanging="      ")
    page += render_contrasts(one.contrasts, look)
    if asked.confounded:
        page += fold([say(asked.confounded, "warn")], look, indent="    ", hanging="      ")
    return page


def _sets(one: SubjectSets, look: Look) -> Page:
    found = one.found
    told = f"{counted(found.sets, 'trap')}, {counted(found.undetermined, 'set')} undetermined"
    if found.j is not None and found.sensitivity is not None and found.specificity is not None:
        told += f"; guarded {float(found.sensitivity):.2f} of traps"
        told += f", did not refuse {float(found.specificity):.2f} of negative controls"
        told += f"; J {float(found.j):+.2f}" if not found.undetermined else ""
        told += f"; d' {found.d_prime:.2f}" if found.d_prime is not None else ""
        told += ", of the sets that could be read" if found.undetermined else ""
    if found.bounds is not None and found.undetermined:
        low, high = (float(bound) for bound in found.bounds)
        told += f"; J {low:+.2f} to {high:+.2f} over all of them"
    told += f"; 95 % limits of J {_span(found.interval)}" if found.interval is not None else f"; {found.why_not}"
    return (line("  ", say(one.subject, "accent")), *fold([say(told)], look, indent="    ", hanging="      "))


def _measures(found: Sequence[Measure], look: Look) -> Iterator[Page]:
    """Lay out the measurements of each case, subject and condition under one line."""
    groups: dict[tuple[str, str, str], list[Measure]] = {}
    for one in found:
        groups.setdefault((one.case, one.subject, one.condition), []).append(one)
    for (case, subject, condition), own in groups.items():
        first = own[0]
        head = [say(f"{case} {condition}", "accent"), say(f" by {subject}, {counted(first.planned, 'trial')}")]
        head += [say(f", {first.not_completed} did not complete", "warn")] if first.not_completed else []
        told = [_measure(one) for one in own]
        if all(one.found.n < 2 for one in own):
            yield fold([*head, say(": " + ", ".join(told))], look, indent="  ", hanging="    ")
            continue
        page = fold(head, look, indent="  ", hanging="    ")
        for text in told:
            page += fold([say(text)], look, indent="    ", hanging="      ")
        yield page


def _measure(one: Measure) -> str:
    name, unit, suffix = _MEASURES[one.name]
    found = one.found

    def told(value: float | None) -> str:
        return "" if value is None else f"{value / unit:.3g}{suffix}" if unit != 1 else f"{value:g}"

    quartiles = ", ".join(told(value) for value in (found.lower_quartile, found.median, found.upper_quartile))
    missing = f", {found.missing} missing" if found.missing else ""
    if found.n and found.least == found.most:
        return f"{name} {told(found.least)}" + (f" in each of {found.n}" if found.n > 1 else "") + missing
    parts = [f"least {told(found.least)}", f"quartiles {quartiles}"]
    parts += [f"95 % below {told(found.p95)}"] if found.p95 is not None else []
    parts += [f"most {told(found.most)}"]
    return f"{name} of {found.n}: {', '.join(parts)}{missing}"


def _span(interval: Interval | None) -> str:
    return "" if interval is None else f"{interval.low:.2f} to {interval.high:.2f}"


def formulas_used(found: SeriesStatistics) -> tuple[str, ...]:
    """Name the formulas of the numbers that a series has, in the order of the table."""
    used: set[str] = set()
    for one in found.rates:
        used |= {"rate" if one.rate.sequence is None else "sequence", "first_attempt"}
        used |= {"standard_error"} if one.error is not None else set()
        used |= {"exact"} if one.exact is not None else set()
        used |= {"none_seen"} if one.none_seen is not None else set()
        used |= {"pass_at_k", "pass_hat_k"} if one.tries else set()
    used |= {"cases_rate", "clustered_error", "spread"} if found.over_cases else set()
    tests = [each for one in found.paired for each in one.contrasts if each.method in _METHODS]
    used |= {_METHODS[each.method] for each in tests} | ({"holm"} if tests else set())
    used |= {"bootstrap"} if any(len(each.cases) > 1 and each.limits is not None for each in tests) else set()
    used |= {"discrimination"} if found.sets else set()
    used |= {"summary"} if found.measures else set()
    used |= {"survival"} if found.pressure else set()
    used |= {"effect_of_pressure"} if any(one.effect is not None for one in found.pressure) else set()
    return tuple(name for name in FORMULAS if name in used)


def statistics_value(found: SeriesStatistics) -> dict[str, Any]:
    """Return every number as JSON; null where it cannot be given."""
    return {
        "seed": found.seed,
        "draws": found.draws,
        "ledger": found.ledger,
        "stopped": found.stopped or None,
        "pressure": [pressure_value(one) for one in found.pressure],
        "sequences": [sequence_value(one) for one in found.sequences],
        "rates": [_rate_value(one) for one in found.rates],
        "over_cases": [_over_cases_value(one) for one in found.over_cases],
        "pairs": [_paired_value(one) for one in found.paired],
        "discrimination": [_sets_value(one) for one in found.sets],
        "measurements": [
            {**{name: value for name, value in one._asdict().items() if name != "found"}, **one.found._asdict()}
            for one in found.measures
        ],
        "formulas": {name: FORMULAS[name]._asdict() for name in formulas_used(found)},
    }


def _rate_value(one: RateOf) -> dict[str, Any]:
    tally = tally_value(one.tally)
    return {
        **{name: value for name, value in tally.items() if name != "rates"},
        "line": one.tally.line,
        "word": one.asked.word,
        "rate": rate_value(one.rate),
        "standard_error": one.error,
        "exact_95": None if one.exact is None else list(one.exact),
        "first_attempt": rate_value(one.first_attempt),
        "none_seen_excludes": one.none_seen,
        "tries": [_at_k_value(each) for each in one.tries],
        "spontaneous": None if one.spontaneous is None else {"k": one.spontaneous[0], "baselines": one.spontaneous[1]},
    }


def _at_k_value(one: AtK) -> dict[str, Any]:
    return {"k": one.k, "pass_at_k": _chance_value(one.at_least_one), "pass_hat_k": _chance_value(one.all_of_them)}


def _chance_value(found: Chance) -> dict[str, Any]:
    undecided = found.bounds is not None and found.bounds[0] != found.bounds[1]
    return {
        "value": None if found.value is None or undecided else float(found.value),
        "bounds": None if found.bounds is None else [float(bound) for bound in found.bounds],
    }


def _over_cases_value(one: OverCases) -> dict[str, Any]:
    rate = one.rate
    return {
        "about": one.about,
        "subject": one.subject,
        "cases": list(one.cases),
        "estimand": rate.estimand,
        "decided": rate.decided,
        "undecided": rate.undecided,
        "mean": None if rate.mean is None or rate.undecided else float(rate.mean),
        "bounds": None if rate.bounds is None else [float(bound) for bound in rate.bounds],
        "limits_95": None if rate.limits is None else list(rate.limits),
        "formula": rate.formula,
        "why_not": rate.why_not,
        "clustered_error": one.error,
        "spread": one.spread._asdict(),
        "tries": [_at_k_value(each) for each in one.tries],
    }


def _paired_value(one: Paired) -> dict[str, Any]:
    asked = one.question
    return {
        "about": asked.question.about,
        "subject": asked.subject,
        "first": asked.first,
        "second": asked.second,
        "confounded": asked.confounded or None,
        "cases": sides_value(asked.question.sides, asked.pairs),
        "tests": [contrast_value(found) for found in one.contrasts],
    }


def _sets_value(one: SubjectSets) -> dict[str, Any]:
    found = one.found
    numbers = {
        name: None if value is None else float(value)
        for name, value in (("sensitivity", found.sensitivity), ("specificity", found.specificity), ("j", found.j))
    }
    return {
        "subject": one.subject,
        "traps": list(one.traps),
        "undetermined": found.undetermined,
        **numbers,
        "j_bounds": None if found.bounds is None else [float(bound) for bound in found.bounds],
        "j_limits_95": None if found.interval is None else list(found.interval),
        "d_prime": found.d_prime,
        "why_not": found.why_not,
    }
