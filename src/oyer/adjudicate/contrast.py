"""Two sides of the same cases: series, conditions or subjects, held against each other, and what may be said of it.

Owns which test answers which question, and what is decided whatever the undecided trials came to. Over cases, sign
flips on the differences of case means, from 6 cases on: with fewer, they can never reject at 5 %. Where the sides of a
case have unequal numbers of trials, whose differences are skewed, labels are dealt anew within each case. With fewer
cases each is looked at by itself, this case only: pairs by design by McNemar's exact test, anything else as two
proportions. All tests of a call are one family by Holm, without those that could not reject whatever they found.

A difference is *decided* where it would be rejected however the undecided trials came out; where some of the ways
reject and some do not, it is not decided. Of all these ways the two ends are enough: the one-sided evidence of each
test used here only grows as a side gains successes.

Must never call it no difference where the trials that were decided could not have shown any.

Sources: the trials design, "Statistics"; C. F. Manski (2003) for the ends; R. E. Tarone, "A modified Bonferroni method
for discrete data", Biometrics 46 (1990) 515-522, for leaving out what can never reject.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Literal, NamedTuple

from oyer.stats import (
    MANY_CASES,
    CaseCounts,
    Interval,
    Permutation,
    cluster_bootstrap,
    holm,
    mcnemar,
    mcnemar_worst_case,
    relabelled,
    sign_flip,
    two_proportions,
)

__all__ = [
    "ALPHA",
    "LEAST_CASES",
    "TOO_FEW",
    "Contrast",
    "ContrastWord",
    "Method",
    "PairCounts",
    "Question",
    "Sides",
    "contrasts",
]

ALPHA = 0.05
LEAST_CASES = 6
"""From so many cases on sign flips can reject at 5 %: of 64 flips 2 are as far out as can be."""

TOO_FEW = "fewer than two trials are decided on a side"
"""Why one case has no test: the others without one are tested elsewhere, or not to be tested."""

NOTHING_SEEN = "so few decided trials could not show a difference, whatever they came to"

ContrastWord = Literal["higher", "lower", "no_difference_decided", "not_decided"]
Method = Literal[
    "sign flips over cases",
    "labels dealt anew within cases",
    "exact McNemar, pairs by design",
    "two proportions, exact",
    "none",
]
Bound = tuple[Fraction, Fraction]
Counts = tuple[int, int, int, int]
"""k1 of n1 on the first side, k2 of n2 on the second."""


class PairCounts(NamedTuple):
    """Pairs by design: only the second side succeeded (`gained`), only the first (`lost`), both or none (`alike`)."""

    gained: int
    lost: int
    alike: int
    undecided: int


class Sides(NamedTuple):
    """One case on both sides; `pairs` only where its trials are pairs by design."""

    case: str
    first: CaseCounts
    second: CaseCounts
    pairs: PairCounts | None = None


class Question(NamedTuple):
    """What is asked of some cases: the rate of a word on the second side against that on the first."""

    about: str
    sides: tuple[Sides, ...]


class Contrast(NamedTuple):
    """What came of one test. Differences are second minus first, over the decided trials.

    `bounds` are the differences with every undecided trial against the second side, then for it; `p_ends` the p-values
    there. `limits` hold for both. `p_least` and `p_most` are the least and the most that p, adjusted for the family of
    `tests`, may be. `word` is None where it is not for a test to say; then `why` says so. `least` is given where too
    few were decided to show anything: so many decided `units` (trials on each side, pairs, cases) are the least that
    could, with all tests of the family as able as this one.
    """

    about: str
    cases: tuple[str, ...]
    method: Method
    estimand: str
    difference: Fraction | None
    bounds: Bound
    interval: Interval | None
    limits: Interval | None
    p: float | None
    p_ends: tuple[float, float] | None
    p_least: float | None
    p_most: float | None
    tests: int
    word: ContrastWord
    why: str
    least: int | None = None
    units: Literal["trials", "pairs", "cases"] = "trials"


class _Test(NamedTuple):
    """One test before its family is known: the least p that the planned trials could give, and the decided ones.

    `ends` are its p-values at the two ends, also where too few trials are decided to print them: what is lost makes no
    family smaller.
    """

    contrast: Contrast
    least: float
    least_decided: float
    ends: tuple[float, float]


def contrasts(
    questions: Sequence[Question],
    *,
    seed: int,
    draws: int,
    family: Sequence[str] | None = None,
    unfixed: str = "",
) -> tuple[Contrast, ...]:
    """Answer every question; with `family` only these cases are tested, and the others are counted.

    `unfixed` says why the number of trials was not fixed before the first; then nothing is decided.
    Raises: ValueError where a case has no trial on a side.
    """
    found: list[_Test] = []
    for question in questions:
        tested = [one for one in question.sides if family is None or one.case in family]
        if len(tested) >= LEAST_CASES:
            found.append(_over_cases(question.about, tested, seed, draws))
            found += [_untested(question.about, one, "its cases are tested together") for one in tested]
        else:
            found += [_one_case(question.about, one) for one in tested]
        others = [one for one in question.sides if one not in tested]
        found += [_untested(question.about, one, "it is not in the declared family") for one in others]
    return tuple(_unfixed(one, unfixed) if unfixed else one for one in _decided(found))


def _unfixed(found: Contrast, why: str) -> Contrast:
    """Take back what a test of a fixed number would say; counts and bounds stand."""
    if found.method == "none":
        return found
    return found._replace(interval=None, limits=None, p=None, least=None, p_ends=None, p_least=None, p_most=None,
                          word="not_decided", why=why)  # fmt: skip


def _over_cases(about: str, sides: Sequence[Sides], seed: int, draws: int) -> _Test:
    some = [one for one in sides if one.first.decided and one.second.decided]
    told = [_told(one) for one in some]
    lows, highs = [_low(one) for one in sides], [_high(one) for one in sides]
    method: Method = "labels dealt anew within cases" if _unequal(lows) else "sign flips over cases"
    seen, low, high = (_tested(each, seed, draws) for each in (told, lows, highs))
    interval, limits = None, None
    if len(sides) >= MANY_CASES:
        interval, below, above = (
            cluster_bootstrap([float(_apart(one)) for one in each], seed=seed, draws=draws)
            for each in (told, lows, highs)
        )
        if below is not None and above is not None:
            limits = Interval(below.low, above.high)
    least, left = (_tested([(0, n1, n2, n2) for _, n1, _, n2 in each], seed, draws).p for each in (lows, told))
    made = _contrast(about, [one.case for one in sides], method, "these cases")
    made = made._replace(
        units="cases",
        difference=seen.difference,
        bounds=(_mean([_apart(one) for one in lows]), _mean([_apart(one) for one in highs])),
        interval=interval,
        limits=limits,
        p=seen.p if told else None,
        p_ends=(low.p, high.p),
    )
    return _Test(made, least, left, (low.p, high.p))


def _told(one: Sides) -> Counts:
    return one.first.k, one.first.decided, one.second.k, one.second.decided


def _low(one: Sides) -> Counts:
    """The counts with every undecided trial against the second side."""
    first, second = one.first, one.second
    return (
        first.k + first.undecided,
        first.decided + first.undecided,
        second.k,
        second.decided + second.undecided,
    )


def _high(one: Sides) -> Counts:
    """The counts with every undecided trial for the second side."""
    first, second = one.first, one.second
    return (
        first.k,
        first.decided + first.undecided,
        second.k + second.undecided,
        second.decided + second.undecided,
    )


def _apart(one: Counts) -> Fraction:
    k1, n1, k2, n2 = one
    return Fraction(k2, n2) - Fraction(k1, n1)


def _unequal(counts: Sequence[Counts]) -> bool:
    return any(n1 != n2 for _, n1, _, n2 in counts)


def _tested(counts: Sequence[Counts], seed: int, draws: int) -> Permutation:
    """Flip signs where both sides of every case have as many trials; deal labels anew where they do not."""
    if _unequal(counts):
        return relabelled(counts, seed=seed, draws=draws)
    return sign_flip([_apart(one) for one in counts], seed=seed, draws=draws)


def _one_case(about: str, one: Sides) -> _Test:
    if min(one.first.decided + one.first.undecided, one.second.decided + one.second.undecided) < 2:
        return _untested(about, one, TOO_FEW)
    test = _two_sides(about, one) if one.pairs is None else _paired(about, one, one.pairs)
    if min(one.first.decided, one.second.decided) < 2:
        return test._replace(contrast=_untested(about, one, TOO_FEW).contrast)
    return test


def _two_sides(about: str, one: Sides) -> _Test:
    first, second = one.first, one.second
    n1, n2 = first.decided + first.undecided, second.decided + second.undecided
    some = first.decided and second.decided
    seen = two_proportions(first.k, first.decided, second.k, second.decided) if some else None
    low = two_proportions(first.k + first.undecided, n1, second.k, n2)
    high = two_proportions(first.k, n1, second.k + second.undecided, n2)
    made = _contrast(about, [one.case], "two proportions, exact", "this case only")
    made = made._replace(
        difference=seen.difference if seen is not None else None,
        bounds=(low.difference, high.difference),
        interval=seen.interval if seen is not None else None,
        limits=Interval(low.interval.low, high.interval.high),
        p=seen.p if seen is not None else None,
        p_ends=(low.p, high.p),
    )
    left = two_proportions(0, first.decided, second.decided, second.decided).p if some else 1.0
    return _Test(made, two_proportions(0, n1, n2, n2).p, left, (low.p, high.p))


def _paired(about: str, one: Sides, pairs: PairCounts) -> _Test:
    seen = mcnemar(pairs.gained, pairs.lost, pairs.alike, pairs.undecided)
    low, high = mcnemar_worst_case(pairs.gained, pairs.lost, pairs.alike, pairs.undecided)
    number = pairs.gained + pairs.lost + pairs.alike + pairs.undecided
    made = _contrast(about, [one.case], "exact McNemar, pairs by design", "this case only")
    made = made._replace(
        units="pairs",
        difference=seen.difference,
        bounds=(low.difference or Fraction(0), high.difference or Fraction(0)),
        p=seen.p,
        p_ends=(low.p, high.p),
    )
    return _Test(made, mcnemar(number, 0, 0).p, mcnemar(number - pairs.undecided, 0, 0).p, (low.p, high.p))


def _untested(about: str, one: Sides, why: str) -> _Test:
    """Counts of one case, and no test of them."""
    made = _contrast(about, [one.case], "none", "this case only")
    difference = None
    if one.first.decided and one.second.decided:
        difference = Fraction(one.second.k, one.second.decided) - Fraction(one.first.k, one.first.decided)
    units: Literal["trials", "pairs"] = "trials" if one.pairs is None else "pairs"
    made = made._replace(difference=difference, bounds=_ends(one), why=why, units=units)
    return _Test(made, 1.0, 1.0, (1.0, 1.0))


def _contrast(about: str, cases: Sequence[str], method: Method, estimand: str) -> Contrast:
    nothing = (Fraction(-1), Fraction(1))
    return Contrast(
        about, tuple(cases), method, estimand, None, nothing, None, None, None, None, None, None, 0, "not_decided", ""
    )


def _ends(one: Sides) -> Bound:
    """The difference with every undecided trial against the second side, and with every one for it."""
    return _apart(_low(one)), _apart(_high(one))


def _decided(tests: Sequence[_Test]) -> Iterator[Contrast]:
    """Say of each test what holds however the undecided trials came out, adjusted for all that could reject."""
    able = {index: test for index, test in enumerate(tests) if test.least <= ALPHA}
    least = _adjusted(able, lambda test: test.least_decided)
    lowest = _adjusted(able, lambda test: min(test.ends))
    highest = _adjusted(able, lambda test: max(test.ends) if _one_way(test.contrast.bounds) else 1.0)
    asked = sum(test.contrast.method != "none" or test.contrast.why == TOO_FEW for test in tests)
    for index, test in enumerate(tests):
        made = test.contrast._replace(tests=len(able))
        if made.p_ends is None:
            yield made._replace(least=_least_units(made, asked) if made.why == TOO_FEW else None)
        elif index not in able:
            yield made._replace(why=NOTHING_SEEN, least=_least_units(made, asked))
        else:
            word, why = _word(made.bounds, lowest[index], highest[index])
            if word == "no_difference_decided" and least[index] > ALPHA:
                family = f", in a family of {len(able)}" if len(able) > 1 else ""
                word, why = "not_decided", f"{NOTHING_SEEN}{family}"
                made = made._replace(least=_least_units(made, asked))
            yield made._replace(p_least=lowest[index], p_most=highest[index], word=word, why=why)


def _least_units(found: Contrast, tests: int) -> int | None:
    """Return the least number of decided units with which such a test could reject, in a family of so many: all
    against none, at Holm's first step. None where labels are dealt anew: that depends on how often each case repeats.
    """
    if found.method == "labels dealt anew within cases":
        return None

    def p_of(n: int) -> float:
        if found.units == "cases":
            return 2.0 ** (1 - n)  # two of all flips are as far out as can be
        return mcnemar(n, 0, 0).p if found.units == "pairs" else two_proportions(0, n, n, n).p

    least = LEAST_CASES if found.units == "cases" else 2
    return next(n for n in range(least, 1_000) if p_of(n) * max(1, tests) <= ALPHA)


def _word(bounds: Bound, lowest: float, highest: float) -> tuple[ContrastWord, str]:
    if highest <= ALPHA:
        return ("higher" if bounds[0] > 0 else "lower"), ""
    if lowest <= ALPHA:
        return "not_decided", "it depends on what the undecided trials would have come to"
    return "no_difference_decided", ""


def _one_way(bounds: Bound) -> bool:
    return bounds[0] > 0 or bounds[1] < 0


def _adjusted(tests: Mapping[int, _Test], p_of: Callable[[_Test], float]) -> dict[int, float]:
    found = holm({str(index): p_of(test) for index, test in tests.items()})
    return {int(index): p for index, p in found.items()}


def _mean(values: Sequence[Fraction]) -> Fraction:
    return sum(values, Fraction(0)) / len(values)
