"""Gates: whether a series holds what its suite demands. Three-valued, and closed where nothing is known.

Owns evaluation and exit codes. A comparison holds only if it holds whatever the undecided trials would have come to,
and fails only if it fails whatever they would have come to; otherwise it is undecided, whatever the operator. With
several subjects each must hold it.

Source: the scoring design, "Gates are three-valued"; the trials design, "Statistics"; decision 022.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any, Literal, NamedTuple

from oyer.adjudicate.gate_tree import AllOf, Gate, GateNode, GateTest, NotGate, Operand, comparisons_of
from oyer.adjudicate.gate_values import GateInput, Seen, ledger_line, look
from oyer.records import Case, nearest
from oyer.stats import clopper_pearson

__all__ = ["GateFlaw", "GateResult", "check_gate", "compared_words", "evaluate_gate", "gates_exit_code"]

GateWord = Literal["holds", "does_not_hold", "undecided", "not_asked"]

_COMPARE: Mapping[str, Callable[[Any, Any], bool]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


class GateResult(NamedTuple):
    """What a gate came to, and the counts and the ledger line it rests on."""

    gate: str
    result: GateWord
    sentence: str
    operands: tuple[Seen, ...]
    ledger: str


class GateFlaw(NamedTuple):
    """Something a gate asks that its suite cannot answer, with its column."""

    code: str
    column: int
    message: str
    hint: str


def evaluate_gate(gate: Gate, given: GateInput) -> GateResult:
    """Say whether a gate holds. One that is only about cases that the plan leaves out is not asked at all."""
    if _left_out(gate, given):
        told = f"{_TOLD['not_asked']}: {gate.text}. No case that it is about was planned."
        return GateResult(gate.text, "not_asked", told, (), ledger_line(given.ledger))
    found: dict[tuple[str, str], Seen] = {}
    for one in comparisons_of(gate.root):
        for subject in given.plan.subjects:
            key = _key(one.operand, subject)
            if key not in found:
                counted = look(given, one.operand, key[1])
                found[key] = counted._replace(compared=_compared(one.operand, counted))
    results = {subject: _node(gate.root, subject, found) for subject in given.plan.subjects}
    result = _both(results.values())
    seen = tuple(found.values())
    return GateResult(gate.text, result, _sentence(gate, result, results, seen), seen, ledger_line(given.ledger))


def _left_out(gate: Gate, given: GateInput) -> bool:
    """Whether everything that a gate names was left out of the plan; the ledger is about whatever was planned."""
    planned = {case.id for case in given.plan.cases}
    operands = [one.operand for one in comparisons_of(gate.root)]
    return all(operand.kind != "status" and operand.case not in planned for operand in operands)


def _key(operand: Operand, subject: str) -> tuple[str, str]:
    """The ledger is the series', not one subject's."""
    return operand.text, "" if operand.kind == "status" else subject


def gates_exit_code(results: Iterable[GateResult]) -> Literal[0, 1, 5]:
    """Return 1 where any gate does not hold, else 5 where any is undecided, else 0; one not asked says nothing."""
    words = {one.result for one in results}
    return 1 if "does_not_hold" in words else 5 if "undecided" in words else 0


def _node(node: GateNode, subject: str, found: Mapping[tuple[str, str], Seen]) -> GateWord:
    if isinstance(node, GateTest):
        return _compare(node, found[_key(node.operand, subject)])
    if isinstance(node, NotGate):
        return _not(_node(node.inner, subject, found))
    parts = [_node(part, subject, found) for part in node.parts]
    return _both(parts) if isinstance(node, AllOf) else _either(parts)


def _not(word: GateWord) -> GateWord:
    return {"holds": "does_not_hold", "does_not_hold": "holds"}.get(word, "undecided")  # type: ignore[return-value]


def _both(words: Iterable[GateWord]) -> GateWord:
    said = set(words)
    return "does_not_hold" if "does_not_hold" in said else "holds" if said == {"holds"} else "undecided"


def _either(words: Iterable[GateWord]) -> GateWord:
    said = set(words)
    return "holds" if "holds" in said else "does_not_hold" if said == {"does_not_hold"} else "undecided"


def _compare(node: GateTest, seen: Seen) -> GateWord:
    test = _COMPARE[node.operator]
    if node.operand.is_number:
        if not _is_known(node.operand, seen):
            return "undecided"
        if node.operand.kind != "status" and node.operator in ("==", "!=") and seen.undecided:
            # One more crash could make a share that no count reaches: a crash must settle nothing.
            return "undecided"
        # Every measure rises with each success, so for an order the two ends say what all between them say.
        ends = (0, seen.undecided) if node.operator not in ("==", "!=") else range(seen.undecided + 1)
        return _settled(test(_value(node.operand, seen, lucky), node.value) for lucky in ends)
    words = [_settled([test(word, node.value)]) if word is not None else "undecided" for word in seen.words]
    if node.quantifier is None:
        return words[0] if len(words) == 1 else "undecided"
    return _both(words) if node.quantifier == "every" else _either(words)


def _settled(tries: Iterable[bool]) -> GateWord:
    """All tries agree, or nothing is settled."""
    said = set(tries)
    return "undecided" if len(said) != 1 else "holds" if said == {True} else "does_not_hold"


def _is_known(operand: Operand, seen: Seen) -> bool:
    """Whether there is a number to compare at all: of a share one trial is decided, of a limit two are."""
    return seen.decided >= (2 if operand.measure in ("lower", "upper") else 1)


def _value(operand: Operand, seen: Seen, lucky: int) -> Fraction | float | int:
    """Return what a number would be if `lucky` of the undecided trials came out as what is counted."""
    if operand.kind == "status":
        return seen.number + lucky
    k, n = seen.words.count(operand.word) + lucky, seen.decided + seen.undecided
    if operand.measure == "rate":
        return Fraction(k, n)
    limits = clopper_pearson(k, n) if seen.limits is None else seen.limits.sequence(k, n)
    return limits.low if operand.measure == "lower" else limits.high


def _compared(operand: Operand, seen: Seen) -> tuple[float, float] | None:
    if not operand.is_number or not _is_known(operand, seen):
        return None
    return float(_value(operand, seen, 0)), float(_value(operand, seen, seen.undecided))


_TOLD: Mapping[GateWord, str] = {
    "holds": "Holds",
    "does_not_hold": "Does not hold",
    "undecided": "Undecided",
    "not_asked": "Not asked",
}


def _sentence(gate: Gate, result: GateWord, results: Mapping[str, GateWord], seen: Sequence[Seen]) -> str:
    several = len(results) > 1
    lines = [
        f"{one.operand}{f' for {one.subject}' if several and one.subject else ''}{compared_words(one)}: {one.line}"
        for one in seen
    ]
    by = f" ({', '.join(f'{name} {word}' for name, word in results.items())})" if several else ""
    return f"{_TOLD[result]}{by}: {gate.text}. It rests on {'; '.join(lines)}."


def compared_words(seen: Seen) -> str:
    """Say the share or limit that was compared, both ends of it where trials are undecided; a count says it itself."""
    if seen.compared is None or not seen.words:
        return ""
    least, most = (f"{end:.4f}".rstrip("0").rstrip(".") for end in seen.compared)
    return f" = {least}" if least == most else f" = {least} to {most}, whatever the undecided come to"


def check_gate(
    gate: Gate, cases: Mapping[str, Case], repetitions: int = 1, conditions: Collection[str] = ()
) -> Iterator[GateFlaw]:
    """Yield what a gate asks of cases that they cannot answer. `cases` are those of the suite, controls with them.

    `conditions` are the only ones that run of an experiment; none named means all of them.
    """
    for one in comparisons_of(gate.root):
        operand = one.operand
        if operand.kind == "status":
            continue
        case = cases.get(operand.case)
        if case is None:
            told = f"no case {operand.case!r} is in this suite"
            yield GateFlaw("E-GATE-NAME", operand.column, told, _meant(operand.case, sorted(cases)))
            continue
        missing = _unanswerable(operand, case, cases, conditions)
        if missing:
            hint = _meant(operand.claim, [one.id for one in case.claims]) if operand.kind == "verdict" else ""
            yield GateFlaw("E-GATE-NAME", operand.column, f"{operand.text} asks for nothing: {missing}", hint)
        if one.quantifier is None and not operand.is_number and repetitions > 1:
            told = f"{repetitions} repetitions have {repetitions} words, and {one.text} does not say of which it speaks"
            yield GateFlaw("E-GATE-QUANTIFIER", one.column, told, f"write every {one.text}, any {one.text}, or a rate")


def _meant(written: str, known: Sequence[str]) -> str:
    close = nearest(written, known)
    return (f"did you mean {close}? " if close else "") + (f"it has {', '.join(known)}" if known else "it has none")


def _unanswerable(operand: Operand, case: Case, cases: Mapping[str, Case], conditions: Collection[str]) -> str:
    """Say why an operand would be undecided whatever anybody does; empty where it would not."""
    if operand.kind == "mechanical_outcome":
        return _incomparable(case, conditions)
    if operand.kind == "verdict" and operand.claim not in [one.id for one in case.claims]:
        return f"{case.id} has no claim {operand.claim!r}"
    if operand.kind == "set":
        return _unreadable(case, cases, conditions)
    return _unperformable(case) if operand.kind == "performed" else ""


def _incomparable(case: Case, conditions: Collection[str]) -> str:
    if not case.is_experiment:
        return f"{case.id} is no experiment"
    missing = [name for name in ("baseline", "manipulated") if conditions and name not in conditions]
    return f"{case.id} is compared by its {missing[0]} arm, and the suite leaves that out" if missing else ""


def _unperformable(case: Case) -> str:
    return "" if case.expected else f"nothing is expected in {case.id}"


def _unreadable(case: Case, cases: Mapping[str, Case], conditions: Collection[str]) -> str:
    """A set is read from its trap with a control of each kind, and from none of them if one comes to nothing."""
    negative, positive = case.controls.negative, case.controls.positive
    if not (negative or positive):
        return f"{case.id} has no controls"
    if case.kind not in ("trap", "experiment"):
        return f"{case.id} is no trap"
    if not (negative and positive):
        lacking = "positive" if negative else "negative"
        return f"{case.id} has no {lacking} control, so its set can only be UNDETERMINED"
    guards = (_unguarded(cases[name], conditions) for name in (case.id, *positive) if name in cases)
    performers = (_unperformable(cases[name]) for name in negative if name in cases)
    why = next((told for told in (*guards, *performers) if told), "")
    return f"{why}, so its set can only be UNDETERMINED" if why else ""


def _unguarded(case: Case, conditions: Collection[str]) -> str:
    """A trap or a positive control is guarded by its claims, or by the outcome of its comparison."""
    if case.claims:
        return ""
    return _incomparable(case, conditions) if case.is_experiment else f"nothing is judged of {case.id}"
