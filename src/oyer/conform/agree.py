"""Does a scorer say of every vector what an honest one must, and how well does it do where conclusions are rare?

Owns the comparison and its two figures. A vector agrees when everything it states holds: the outcome, the kind of
reason, and where given the complete set of codes, the contrast, the attribution and the primary outcome. The balanced
accuracy is the mean, over the outcomes that the file expects, of the share of its vectors that agree, so that a scorer
that never concludes does badly however rare conclusions are. Must never know which scorer it judges.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from fractions import Fraction
from typing import NamedTuple

from oyer.conform.journals import score
from oyer.conform.kinds import KINDS
from oyer.conform.vectors import Given, Vector
from oyer.records import Comparison

__all__ = ["Agreement", "Disagreement", "Judged", "Said", "Scorer", "Tally", "agree", "say"]

OUTCOMES = ("CONFIRMED", "NOT_OBSERVED", "INCONCLUSIVE")
NONE = "none"


class Said(NamedTuple):
    """What a scorer says of one evidence state: of the arm the vector is about, its primary outcome and contrast apart.

    `codes` are reason codes with what they are about, as printed (`EXPOSURE_INCOMPLETE:memo`).
    """

    outcome: str
    codes: tuple[str, ...]
    attribution: tuple[str, ...]
    primary_outcome: str
    contrast: str | None


Scorer = Callable[[Given], Said]


class Disagreement(NamedTuple):
    """One statement of a vector that a scorer does not share."""

    what: str
    expected: str
    said: str


class Judged(NamedTuple):
    """One vector, what the scorer said of it, and where they disagree."""

    vector: Vector
    said: Said
    disagreements: tuple[Disagreement, ...]


class Tally(NamedTuple):
    """Of the vectors that expect one outcome: how many, how many got that outcome, how many agree in everything."""

    vectors: int
    outcome_right: int
    agree: int


class Agreement(NamedTuple):
    """Every vector of a file, judged."""

    judged: tuple[Judged, ...]

    @property
    def disagreeing(self) -> tuple[Judged, ...]:
        """The vectors that do not agree, in order."""
        return tuple(one for one in self.judged if one.disagreements)

    @property
    def tallies(self) -> Mapping[str, Tally]:
        """The counts for each outcome that some vector expects."""
        found = {}
        for outcome in OUTCOMES:
            own = [one for one in self.judged if one.vector.expect_outcome == outcome]
            if own:
                right = sum(one.said.outcome == outcome for one in own)
                found[outcome] = Tally(len(own), right, sum(not one.disagreements for one in own))
        return found

    @property
    def balanced_accuracy(self) -> Fraction:
        """The mean over the expected outcomes of the share of vectors that agree."""
        shares = [Fraction(tally.agree, tally.vectors) for tally in self.tallies.values()]
        return sum(shares, Fraction(0)) / len(shares)

    @property
    def balanced_outcomes(self) -> Fraction:
        """The same mean for the outcome alone, whatever the reasons."""
        shares = [Fraction(tally.outcome_right, tally.vectors) for tally in self.tallies.values()]
        return sum(shares, Fraction(0)) / len(shares)


def say(given: Given) -> Said:
    """Say what the real scorer finds in an evidence state, by way of real journals."""
    return _said(given, score(given))


def _said(given: Given, comparison: Comparison) -> Said:
    scored = comparison.hardened if given.hardened and comparison.hardened is not None else comparison.primary
    return Said(
        outcome=scored.mechanical_outcome,
        codes=tuple(dict.fromkeys(reason.name for reason in scored.reasons)),
        attribution=tuple(item.cause for item in scored.attribution),
        primary_outcome=comparison.primary.mechanical_outcome,
        contrast=comparison.hardened_contrast,
    )


def agree(vectors: Iterable[Vector], scorer: Scorer = say) -> Agreement:
    """Hold a scorer to vectors. `vectors` holds one at least."""
    judged = []
    for vector in vectors:
        said = scorer(vector.given)
        judged.append(Judged(vector, said, tuple(_disagreements(vector, said))))
    return Agreement(tuple(judged))


def _disagreements(vector: Vector, said: Said) -> Iterator[Disagreement]:
    if said.outcome != vector.expect_outcome:
        yield Disagreement("outcome", vector.expect_outcome, said.outcome)
    kind, codes = KINDS[vector.expect_reason_kind], {name.partition(":")[0] for name in said.codes}
    if not (codes & kind if kind else not codes):
        wanted = f"{vector.expect_reason_kind} ({' or '.join(sorted(kind)) or 'no reason'})"
        yield Disagreement("reason kind", wanted, _listed(said.codes))
    if vector.expect_codes is not None and set(vector.expect_codes) != set(said.codes):
        yield Disagreement("codes", _listed(vector.expect_codes), _listed(said.codes))
    stated = (
        ("primary outcome", vector.expect_primary_outcome, said.primary_outcome),
        ("contrast", vector.expect_contrast, said.contrast),
        ("attribution", vector.expect_attribution, _listed(said.attribution)),
    )
    for what, expected, got in stated:
        if expected is not None and got != expected:
            yield Disagreement(what, expected, got or NONE)


def _listed(names: Iterable[str]) -> str:
    return ", ".join(sorted(set(names))) or NONE
