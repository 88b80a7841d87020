"""What a series shows of each claim, performance and matched set over its repetitions: counts first, then rates.

Owns the numbers that reports print of verdicts. Must never give a rate without its denominator, what is undecided and
why, and the bounds that this leaves: trials that crashed stay in the count. Whether a case is qualified bars gates, and
changes no count.

Source: the trials design, "Statistics".
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from oyer.adjudicate.gate_tree import Kind, Operand
from oyer.adjudicate.gate_values import GateInput, look
from oyer.records import Case
from oyer.stats import Rate, rate_of

__all__ = ["Tally", "rate_sentence", "tallies"]


class Tally(NamedTuple):
    """The distribution of one thing over the planned repetitions of one subject.

    `words` counts the decided repetitions, `why` the undecided ones by what they were; together they are `planned`.
    """

    about: str
    case: str
    subject: str
    planned: int
    words: Mapping[str, int]
    why: Mapping[str, int]
    line: str

    @property
    def undecided(self) -> int:
        """How many planned repetitions came to no word."""
        return sum(self.why.values())

    def rate(self, word: str) -> Rate:
        """Return the rate of one word among the decided, with its bounds."""
        return rate_of(self.words.get(word, 0), self.planned - self.undecided, self.undecided)


def tallies(given: GateInput, cases: Mapping[str, Case]) -> Iterator[Tally]:
    """Yield every tally of a series: by case and subject in the order of the plan."""
    everyone = given._replace(qualified={one.id for one in given.plan.cases})
    for planned in given.plan.cases:
        for kind, claim, about in _asked(cases[planned.id], given):
            for subject in given.plan.subjects:
                seen = look(everyone, Operand(kind, planned.id, claim, "", None, 1, about), subject)
                words = Counter(word for word in seen.words if word is not None)
                if seen.words:
                    yield Tally(
                        about, planned.id, subject, len(seen.words), dict(sorted(words.items())), seen.why, seen.line
                    )


def _asked(case: Case, given: GateInput) -> Iterator[tuple[Kind, str, str]]:
    for claim in case.claims:
        if claim.rubric in given.plan.rubrics:
            yield "verdict", claim.id, f"verdict({case.id}, {claim.id})"
    if case.expected:
        yield "performed", "", f"performed({case.id})"
    if any(one.trap == case.id for one in given.sets):
        yield "set", "", f"set({case.id})"


def rate_sentence(word: str, rate: Rate) -> str:
    """Say a rate with all that belongs to it."""
    told = f"{word} {rate.k} of {rate.decided} decided, {rate.undecided} undecided"
    if rate.undecided and rate.bounds is not None:
        low, high = (float(bound) for bound in rate.bounds)
        told += f": {low:.2f} of all if each of these had failed, {high:.2f} if each had succeeded"
    elif rate.value is not None:
        told += f": {float(rate.value):.2f}"
    if rate.limits is None:
        return f"{told}; no interval, {rate.why_not}"
    return f"{told}; 95 % limits {rate.limits.low:.2f} to {rate.limits.high:.2f} (Wilson, worst case)"
