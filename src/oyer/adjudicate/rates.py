"""What a series shows of each outcome, claim, performance and set over its repetitions: counts first, then rates.

Owns the numbers that reports print of verdicts. Must never give a rate without its denominator, what is undecided and
why, and the bounds that this leaves: trials that crashed stay in the count. Whether a case is qualified bars gates, and
changes no count.

Source: the trials design, "Statistics".
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from oyer.adjudicate.anytime import limits_of
from oyer.adjudicate.asked import Asked, Said, asked_of, by_case, said_of
from oyer.adjudicate.gate_values import PLANNED, GateInput, Stopped
from oyer.records import Case, Sequential
from oyer.stats import Anytime, Rate, excluded_at_worst, rate_of

__all__ = ["RULED", "Tally", "rate_sentence", "ruled_rate", "tallies", "tally_of"]

RULED = "a rule that looked at the trials decided their number"
"""Why nothing that needs a fixed number of trials is said of a series that stopped by a rule."""


class Tally(NamedTuple):
    """The distribution of one thing over the planned repetitions of one subject.

    `words` counts the decided repetitions, `why` the undecided ones by what they were; together they are `planned`:
    all that a declared rule or budget, which `stopped` names, did not leave out.
    """

    about: str
    case: str
    subject: str
    planned: int
    words: Mapping[str, int]
    why: Mapping[str, int]
    line: str
    rule: Sequential | None = None
    asked: Asked | None = None
    stopped: Stopped = ""

    @property
    def undecided(self) -> int:
        """How many planned repetitions came to no word."""
        return sum(self.why.values())

    def rate(self, word: str) -> Rate:
        """Return the rate of one word among the decided, with its bounds."""
        counts = self.words.get(word, 0), self.planned - self.undecided, self.undecided
        return ruled_rate(self.rule, self.asked, word, counts)


def tallies(given: GateInput, cases: Mapping[str, Case]) -> Iterator[Tally]:
    """Yield every tally of a series: by case and subject in the order of the plan."""
    alone = by_case(given)
    for asked in asked_of(given, cases):
        for subject in given.plan.subjects:
            said = said_of(alone[asked.case], asked, subject)
            if said:
                yield tally_of(asked, subject, said, given)


def ruled_rate(rule: Sequential | None, asked: Asked | None, word: str, counts: tuple[int, int, int]) -> Rate:
    """Return a rate of counts; in a series with a rule without any interval that needs a fixed number of trials."""
    rate = rate_of(*counts)
    if rule is None or asked is None:
        return rate
    limits = limits_of(rule, asked.kind, asked.case, asked.claim, word)
    sequence = None if limits is None or rate.decided < 2 else limits.anytime(*counts)
    why = rate.why_not or RULED
    return rate._replace(interval=None, limits=None, why_not=why, sequence=sequence)


def tally_of(asked: Asked, subject: str, said: Sequence[Said], given: GateInput) -> Tally:
    """Count what the repetitions of one subject came to."""
    words = Counter(one.word for one in said if one.word is not None)
    why = dict(sorted(Counter(one.why for one in said if one.word is None).items()))
    undecided = sum(why.values())
    parts = [*(f"{word} {number}" for word, number in sorted(words.items())), f"undecided {undecided}"]
    told = ", ".join(f"{reason} {number}" for reason, number in why.items())
    line = f"{len(said)} {PLANNED[given.stopped]} = {' + '.join(parts)}" + (f" ({told})" if told else "")
    tally = Tally(asked.about, asked.case, subject, len(said), dict(sorted(words.items())), why, line)
    return tally._replace(rule=given.plan.repeat.sequential, asked=asked, stopped=given.stopped)


def rate_sentence(word: str, rate: Rate) -> str:
    """Say a rate with all that belongs to it."""
    told = f"{word} {rate.k} of {rate.decided} decided, {rate.undecided} undecided"
    if rate.undecided and rate.bounds is not None:
        low, high = (float(bound) for bound in rate.bounds)
        told += f": {low:.2f} of all if each of these had failed, {high:.2f} if each had succeeded"
    elif rate.value is not None:
        told += f": {float(rate.value):.2f}"
    if rate.sequence is not None:
        return f"{told}; {_sequence_words(rate, rate.sequence)}"
    if rate.limits is None:
        return f"{told}; no interval, {rate.why_not}"
    told += f"; 95 % limits {rate.limits.low:.2f} to {rate.limits.high:.2f} (exact, worst case)"
    excluded = excluded_at_worst(rate.decided, rate.undecided) if rate.k == 0 else None
    if excluded is None:
        return told
    return f"{told}; none seen excludes rates above {excluded:.3f} (one-sided 95 %, independent trials, n fixed)"


def _sequence_words(rate: Rate, found: Anytime) -> str:
    """Say the limits that hold whenever a rule stops, and where nothing was seen what that excludes."""
    share = f"{100 * (1 - found.alpha):g} %"
    told = f"{share} confidence sequence {found.limits.low:.2f} to {found.limits.high:.2f} (whenever the rule stopped)"
    fixed = excluded_at_worst(rate.decided, rate.undecided, 1 - found.alpha) if rate.k == 0 else None
    if fixed is None:
        return told
    return f"{told}; none seen excludes rates above {found.limits.high:.3f} ({fixed:.3f} had n been fixed)"
