"""What a rate may be said to be after a rule that looked at it decided when to stop.

Owns which limits hold then: the confidence sequence, at whatever time the series stopped, and no interval for a fixed
n. What the rule counts has the rule's own mixture and side; everything else of that series stopped at a time that
depends on what was seen too, and has the two-sided sequence of the uniform mixture at the same alpha.

Source: the trials design, "Repetition and stopping, declared first"; `oyer.stats.sequential`.
"""

from __future__ import annotations

from typing import NamedTuple

from oyer.adjudicate.gate_grammar import parse_gate
from oyer.adjudicate.gate_tree import Operand, comparisons_of
from oyer.errors import RecordError
from oyer.records import Sequential
from oyer.stats import Anytime, Interval, Side, confidence_sequence

__all__ = ["EVERY_CASE", "Limits", "counted_of", "limits_of"]

EVERY_CASE = "*"
_STAND_IN = "x"
AS_IN = "as in verdict(merge, truthful).PASS or mechanical_outcome(inbox).CONFIRMED; * stands for every case"


class Limits(NamedTuple):
    """How the limits of one rate are found: the mixture, the side, and the chance of ever being wrong."""

    alpha: float
    side: Side = "two"
    a: float = 1.0
    b: float = 1.0

    def sequence(self, k: int, decided: int, undecided: int = 0) -> Interval:
        """Return every chance that is not rejected, whatever the undecided trials come to."""
        return confidence_sequence(k, decided, undecided, alpha=self.alpha, side=self.side, a=self.a, b=self.b)

    def anytime(self, k: int, decided: int, undecided: int) -> Anytime:
        """Return the sequence with its alpha, as a rate holds it."""
        return Anytime(self.alpha, self.sequence(k, decided, undecided))


def counted_of(rule: Sequential) -> Operand:
    """Return what a rule counts, with its word; its case is `*` where it draws cases.

    Raises: RecordError `E-GATE-*` for what is no operand with a word.
    """
    drawn = f"({EVERY_CASE}" in rule.of
    text = rule.of.replace(f"({EVERY_CASE}", f"({_STAND_IN}", 1)
    root = parse_gate(f"{text}.rate >= 0").root
    tests = list(comparisons_of(root))
    if len(tests) != 1 or tests[0] is not root or tests[0].operand.measure is None:
        raise RecordError("E-GATE-SYNTAX", f"{rule.of!r} is not one operand with a word", hint=AS_IN)
    operand = tests[0].operand
    return operand._replace(case=EVERY_CASE if drawn else operand.case, measure=None, text=rule.of)


def limits_of(rule: Sequential | None, kind: str, case: str, claim: str, word: str) -> Limits | None:
    """Return how the limits of the rate of a word are found in a series with a rule; None in one without."""
    if rule is None:
        return None
    counted = counted_of(rule)
    own = (counted.kind, counted.case, counted.claim, counted.word) == (kind, case, claim, word)
    if own and rule.test == "bernoulli":
        return Limits(rule.alpha, rule.side, rule.a, rule.b)
    return Limits(rule.alpha)
