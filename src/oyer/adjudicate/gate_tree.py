"""A gate as a tree: what its comparisons look at, and the words that may stand there.

Owns the shapes. Reading a line into one is `oyer.adjudicate.gate_grammar`, evaluating it `oyer.adjudicate.gates`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Literal, NamedTuple

from oyer.records import READINGS, VERDICTS

__all__ = [
    "MEASURES",
    "OPERANDS",
    "STATUS_NAMES",
    "UNDECIDED_WORDS",
    "WORDS",
    "AllOf",
    "AnyOf",
    "Gate",
    "GateNode",
    "GateTest",
    "NotGate",
    "Operand",
    "comparisons_of",
]

Kind = Literal["mechanical_outcome", "verdict", "set", "performed", "status"]
Measure = Literal["rate", "lower", "upper"]
WORDS: Mapping[str, tuple[str, ...]] = {
    "mechanical_outcome": ("CONFIRMED", "NOT_OBSERVED", "INCONCLUSIVE"),
    "verdict": VERDICTS,
    "set": READINGS,
    "performed": ("completed", "refused", "failed", "undecided"),
}
STATUS_NAMES = ("completed", "subject_error", "harness_error", "blocked", "evaluator_error", "judged", "not_run")
UNDECIDED_WORDS = frozenset({"INCONCLUSIVE", "UNKNOWN", "DISPUTED", "UNDETERMINED", "undecided"})
MEASURES = ("rate", "lower", "upper")
OPERANDS = ("mechanical_outcome", "verdict", "set", "performed", "pass", "status")


class Operand(NamedTuple):
    """What is looked at. With `measure` it is the share of `word`; `status` counts trials by the name in `word`."""

    kind: Kind
    case: str
    claim: str
    word: str
    measure: Measure | None
    column: int
    text: str

    @property
    def is_number(self) -> bool:
        """True for shares and counts, False for words."""
        return self.measure is not None or self.kind == "status"


class GateTest(NamedTuple):
    """One comparison; it comes to one of three values."""

    quantifier: Literal["every", "any"] | None
    operand: Operand
    operator: str
    value: str | Fraction
    column: int
    text: str


class NotGate(NamedTuple):
    """The contrary of a gate; what is undecided stays so."""

    inner: GateNode


class AllOf(NamedTuple):
    """`and`: false wins."""

    parts: tuple[GateNode, ...]


class AnyOf(NamedTuple):
    """`or`: true wins."""

    parts: tuple[GateNode, ...]


GateNode = GateTest | NotGate | AllOf | AnyOf


class Gate(NamedTuple):
    """A gate as it was written, and its tree."""

    text: str
    root: GateNode


def comparisons_of(node: GateNode) -> Iterator[GateTest]:
    """Yield every comparison of a gate, from left to right."""
    if isinstance(node, GateTest):
        yield node
    elif isinstance(node, NotGate):
        yield from comparisons_of(node.inner)
    else:
        for part in node.parts:
            yield from comparisons_of(part)
