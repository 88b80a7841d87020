"""Everything that a series says in numbers, from its outcomes, comparisons and matched sets.

Owns which numbers are given of what. The arithmetic is `oyer.stats`; `FORMULAS` says how each is computed. Must never
give a rate without what is undecided, take repeats of several cases for independent trials, or leave a planned trial
out of a count. Source: the trials design, "Statistics".
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import NamedTuple

from oyer.adjudicate.asked import Asked, asked_of, by_case, counted_words, said_of
from oyer.adjudicate.contrast import Contrast, contrasts
from oyer.adjudicate.gate_values import GateInput, Stopped, ledger_line
from oyer.adjudicate.lives import PressureRead, pressure_of_series
from oyer.adjudicate.pairs import PairedQuestion, pairs_of
from oyer.adjudicate.rates import Tally, ruled_rate, tally_of
from oyer.adjudicate.sequence_reads import SequenceRead, sequences_of_series
from oyer.records import Case, MatchedSet
from oyer.stats import (
    CaseCounts,
    CasesRate,
    Chance,
    Discrimination,
    Interval,
    Rate,
    SetCounts,
    Spread,
    Summary,
    cases_rate,
    clopper_pearson,
    clustered_error,
    discrimination,
    excluded_at_worst,
    pass_at_k,
    pass_hat_k,
    spread,
    standard_error,
    summarise,
)

__all__ = [
    "DRAWS",
    "MEASURED",
    "AtK",
    "Measure",
    "OverCases",
    "Paired",
    "RateOf",
    "SeriesStatistics",
    "SubjectSets",
    "statistics_of",
]

DRAWS = 10_000
LOOKED = "the number of trials depends on what was seen: no test of a fixed number holds"
MOST_TRIES = 20
"""Up to so many tries pass@k and pass^k are given."""
MEASURED = ("wall_ns", "tokens", "cost_usd_micros", "tool_calls", "model_calls")
"""The measurements that are summarised: time, tokens, cost, and calls of tools and models."""


class AtK(NamedTuple):
    """The chance that one of k tries does it, and that all of them do."""

    k: int
    at_least_one: Chance
    all_of_them: Chance


class RateOf(NamedTuple):
    """One thing of one case and subject, over its planned repetitions.

    `error` is None where a trial is undecided. `spontaneous` counts the baselines that acted or may have, of all
    comparisons, where the thing is an outcome.
    """

    asked: Asked
    subject: str
    tally: Tally
    rate: Rate
    error: float | None
    exact: Interval | None
    first_attempt: Rate
    none_seen: float | None
    tries: tuple[AtK, ...]
    spontaneous: tuple[int, int] | None = None


class OverCases(NamedTuple):
    """The same thing over the cases that were asked it; trials of one case are never taken for independent ones."""

    about: str
    subject: str
    cases: tuple[str, ...]
    rate: CasesRate
    error: float | None
    spread: Spread
    tries: tuple[AtK, ...]


class Paired(NamedTuple):
    """Arms of the same repetitions held against each other: what was asked, and what came of it."""

    question: PairedQuestion
    contrasts: tuple[Contrast, ...]


class SubjectSets(NamedTuple):
    """How well a subject tells traps from their controls, over its matched sets."""

    subject: str
    traps: tuple[str, ...]
    found: Discrimination


class Measure(NamedTuple):
    """The distribution of one measurement over the planned trials of a case, a subject and a condition.

    A trial that did not complete is among the missing: how long a crash took says nothing of the subject.
    """

    case: str
    subject: str
    condition: str
    name: str
    planned: int
    not_completed: int
    found: Summary


class SeriesStatistics(NamedTuple):
    """All numbers of a series, with the seed and draws of what is drawn, and the line of the ledger they rest on."""

    seed: int
    draws: int
    ledger: str
    rates: tuple[RateOf, ...]
    over_cases: tuple[OverCases, ...]
    paired: tuple[Paired, ...]
    sets: tuple[SubjectSets, ...]
    measures: tuple[Measure, ...]
    stopped: Stopped = ""
    pressure: tuple[PressureRead, ...] = ()
    sequences: tuple[SequenceRead, ...] = ()


def statistics_of(
    given: GateInput,
    cases: Mapping[str, Case],
    *,
    seed: int | None = None,
    draws: int = DRAWS,
    family: Sequence[str] | None = None,
) -> SeriesStatistics:
    """Return every number of a series. `seed` is the plan's where none is given; `family` are cases tested together."""
    drawn = given.plan.seed if seed is None else seed
    seeded = given.plan.model_copy(update={"seed": drawn})
    rates = tuple(_rates(given, cases))
    asked = tuple(pairs_of(given, cases))
    looked = LOOKED if given.plan.repeat.sequential is not None else ""
    found = contrasts([one.question for one in asked], seed=drawn, draws=draws, family=family, unfixed=looked)
    return SeriesStatistics(
        seed=drawn,
        draws=draws,
        ledger=ledger_line(given.ledger),
        rates=rates,
        over_cases=tuple(_over_cases(rates, ruled=bool(looked))),
        paired=tuple(Paired(one, tuple(c for c in found if c.about == one.question.about)) for one in asked),
        sets=tuple(_ruled_sets(one) if looked else one for one in _sets(given, drawn, draws)),
        measures=tuple(_measures(given)),
        stopped=given.stopped,
        pressure=tuple(pressure_of_series(seeded, cases, given.outcomes)),
        sequences=tuple(sequences_of_series(given.plan, cases, given.outcomes)),
    )


def _rates(given: GateInput, cases: Mapping[str, Case]) -> Iterator[RateOf]:
    alone = by_case(given)
    for asked in asked_of(given, cases):
        for subject in given.plan.subjects:
            said = said_of(alone[asked.case], asked, subject)
            if not said:
                continue
            k, decided, undecided = counted_words(said, asked.word)
            rule, exact = given.plan.repeat.sequential, None
            rate = ruled_rate(rule, asked, asked.word, (k, decided, undecided))
            if decided > 1 and rule is None:
                n = decided + undecided
                exact = Interval(clopper_pearson(k, n).low, clopper_pearson(k + undecided, n).high)
            yield RateOf(
                asked=asked,
                subject=subject,
                tally=tally_of(asked, subject, said, given),
                rate=rate,
                error=None if undecided or rule is not None else standard_error(k, decided),
                exact=exact,
                first_attempt=ruled_rate(rule, asked, asked.word, counted_words(said, asked.word, first=True)),
                none_seen=_none_seen(rate) if k == 0 and decided > 1 else None,
                tries=_tries([CaseCounts(k, decided, undecided)]),
                spontaneous=_spontaneous(alone[asked.case], asked, subject),
            )


def _ruled_sets(found: SubjectSets) -> SubjectSets:
    return found._replace(found=found.found._replace(interval=None, why_not=LOOKED))


def _none_seen(rate: Rate) -> float | None:
    """The rate above which no event would be unlikely: at a fixed n, or whenever a rule stopped."""
    if rate.sequence is not None:
        return rate.sequence.limits.high
    return excluded_at_worst(rate.decided, rate.undecided)


def _spontaneous(given: GateInput, asked: Asked, subject: str) -> tuple[int, int] | None:
    """Count baselines that acted or are undecided; None where no outcome is asked for."""
    if asked.kind != "mechanical_outcome":
        return None
    told = [one for one in given.comparisons if (one.case, one.subject) == (asked.case, subject)]
    return sum(any(reason.arm == "baseline" for reason in one.primary.reasons) for one in told), len(told)


def _over_cases(rates: Sequence[RateOf], *, ruled: bool) -> Iterator[OverCases]:
    groups: dict[tuple[str, str], list[RateOf]] = {}
    for one in rates:
        groups.setdefault((one.asked.together, one.subject), []).append(one)
    for (together, subject), found in groups.items():
        if len(found) > 1:
            counts = [CaseCounts(one.rate.k, one.rate.decided, one.rate.undecided) for one in found]
            cases = tuple(one.asked.case for one in found)
            error, apart = clustered_error(counts) or None, spread(counts)  # 0 where all are alike: no certainty
            rate = cases_rate(counts)
            if ruled:
                rate, error = rate._replace(limits=None, why_not=LOOKED), None
            yield OverCases(together, subject, cases, rate, error, apart, _tries(counts))


def _tries(counts: Sequence[CaseCounts]) -> tuple[AtK, ...]:
    """Return the mean over cases, for every k that each of them has decided trials for; for 1 where one has none."""
    most = max(1, min([MOST_TRIES, *(one.decided for one in counts)]))
    return tuple(
        AtK(k, _mean([pass_at_k(one, k) for one in counts]), _mean([pass_hat_k(one, k) for one in counts]))
        for k in range(1, most + 1)
    )


def _mean(chances: Sequence[Chance]) -> Chance:
    values = [one.value for one in chances if one.value is not None]
    bounds = [one.bounds for one in chances if one.bounds is not None]
    n = len(chances)
    return Chance(
        sum(values, Fraction(0)) / n if len(values) == n else None,
        (sum((low for low, _ in bounds), Fraction(0)) / n, sum((high for _, high in bounds), Fraction(0)) / n)
        if len(bounds) == n
        else None,
    )


def _sets(given: GateInput, seed: int, draws: int) -> Iterator[SubjectSets]:
    for subject in given.plan.subjects:
        groups: dict[str, list[MatchedSet]] = {}
        for one in given.sets:
            if one.subject == subject:
                groups.setdefault(one.trap, []).append(one)
        if groups:
            counts = [_set_counts(group) for group in groups.values()]
            yield SubjectSets(subject, tuple(groups), discrimination(counts, seed=seed, draws=draws))


def _set_counts(group: Sequence[MatchedSet]) -> SetCounts:
    """Count one trap over its repetitions. A set of which any reading is undetermined is one that cannot be read."""
    guarded = traps = refused = negatives = lost = unread = 0
    for one in group:
        if "UNDETERMINED" in (one.reading, *(triple.reading for triple in one.triples)):
            lost += 1
            unread += sum(member.role == "negative" for member in one.members)
            continue
        states = [member.state for member in one.members if member.role == "negative"]
        traps += 1
        guarded += any(member.role == "trap" and member.state == "guarded" for member in one.members)
        negatives += len(states)
        refused += states.count("refused")
    return SetCounts(guarded, traps, refused, negatives, lost, unread)


def _measures(given: GateInput) -> Iterator[Measure]:
    groups: dict[tuple[str, str, str], list[str]] = {}
    for trial in given.plan.trials:
        groups.setdefault((trial.case, trial.subject, trial.condition), []).append(trial.trial)
    for (case, subject, condition), trials in groups.items():
        told = [given.outcomes.get(name) for name in trials]
        ended = [one for one in told if one is not None and one.status in ("completed", "evaluator_error")]
        for name in MEASURED:
            costs = name == "cost_usd_micros"
            values = [one.cost_usd_micros if costs else one.measurements.get(name) for one in ended]
            if any(value is not None for value in values):
                lost = len(trials) - len(ended)
                found = summarise([*values, *([None] * lost)])
                yield Measure(case, subject, condition, name, len(trials), lost, found)
