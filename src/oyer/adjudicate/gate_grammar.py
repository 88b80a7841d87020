"""The language of gates: from a line of a suite to a tree, with the column of whatever is wrong.

::

    gate       = all { "or" all }
    all        = one { "and" one }
    one        = "not" one | "(" gate ")" | comparison
    comparison = [ "every" | "any" ] operand ( "==" | "!=" | "<" | "<=" | ">" | ">=" ) ( WORD | NUMBER )
    operand    = ( "mechanical_outcome" | "set" | "performed" ) "(" CASE ")" [ "." WORD "." MEASURE ]
               | "verdict" "(" CASE "," CLAIM ")" [ "." WORD "." MEASURE ]
               | "pass" "(" CASE "," CLAIM ")" "." MEASURE
               | "status" "." NAME
    MEASURE    = "rate" | "lower" | "upper"

Owns the form. What a gate comes to is `oyer.adjudicate.gates`. Source: the scoring design, "Gates are three-valued".
"""

from __future__ import annotations

import re
from fractions import Fraction
from typing import Literal, NoReturn

from oyer.adjudicate.gate_tree import (
    MEASURES,
    OPERANDS,
    STATUS_NAMES,
    UNDECIDED_WORDS,
    WORDS,
    AllOf,
    AnyOf,
    Gate,
    GateNode,
    GateTest,
    NotGate,
    Operand,
)
from oyer.errors import RecordError
from oyer.records import nearest

__all__ = ["parse_gate"]

MAX_LENGTH = 2000
MAX_DEPTH = 50

_CASE = re.compile(r"[a-z0-9][a-z0-9._-]*(?:/[a-z0-9][a-z0-9._-]*)*")
_CLAIM = re.compile(r"[a-z0-9][a-z0-9._-]*")
_WORD = re.compile(r"[A-Za-z_]+")
_NUMBER = re.compile(r"[+-]?[0-9]+(?:\.[0-9]+)?(?![\w.])")
_OPERATOR = re.compile(r"==|!=|<=|>=|<|>")


def parse_gate(text: str) -> Gate:
    """Parse one gate. Raises: RecordError `E-GATE-SYNTAX`, `-WORD`, `-TYPE` or `-VALUE` with the column."""
    if len(text) > MAX_LENGTH:
        refuse("E-GATE-SYNTAX", MAX_LENGTH, f"a gate has at most {MAX_LENGTH} characters")
    return Gate(text, _Parser(text).whole())


def refuse(code: str, at: int, told: str, hint: str = "") -> NoReturn:
    """Raise what is wrong at a place, counted from 0."""
    raise RecordError(code, told, where=f"column {at + 1}", hint=hint)


def _decimal(value: Fraction) -> str:
    return format(float(value), ".10g")


class _Parser:
    """One pass from left to right. Each method reads one rule of the grammar, and leaves the cursor behind it."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self._depth = 0

    def whole(self) -> GateNode:
        """Read the whole line."""
        node = self._either()
        self._skip()
        if self._at < len(self._text):
            self._unexpected("`and`, `or` or the end")
        return node

    def _either(self) -> GateNode:
        parts = [self._both()]
        while self._take("or"):
            parts.append(self._both())
        return parts[0] if len(parts) == 1 else AnyOf(tuple(parts))

    def _both(self) -> GateNode:
        parts = [self._one()]
        while self._take("and"):
            parts.append(self._one())
        return parts[0] if len(parts) == 1 else AllOf(tuple(parts))

    def _one(self) -> GateNode:
        self._depth += 1
        if self._depth > MAX_DEPTH:
            refuse("E-GATE-SYNTAX", self._at, f"nested deeper than {MAX_DEPTH} levels")
        node: GateNode
        if self._take("not"):
            node = NotGate(self._one())
        elif self._sign("("):
            node = self._either()
            self._need(")")
        else:
            node = self._comparison()
        self._depth -= 1
        return node

    def _comparison(self) -> GateTest:
        self._skip()
        began = self._at
        quantifier: Literal["every", "any"] | None = (
            "every" if self._take("every") else "any" if self._take("any") else None
        )
        operand = self._operand()
        if quantifier is not None and operand.is_number:
            told = (
                f"`{quantifier}` asks each repetition for its word, and {operand.text} is one number over all of them"
            )
            refuse("E-GATE-TYPE", began, told, f"leave out `{quantifier}`")
        self._skip()
        operator = self._match(_OPERATOR, "one of == != < <= > >=")
        if not operand.is_number and operator not in ("==", "!="):
            told = f"{operand.text} is a word, and words have no order"
            refuse("E-GATE-TYPE", self._at - len(operator), told, "compare it with == or !=, or compare a rate")
        value = self._value(operand)
        return GateTest(quantifier, operand, operator, value, began + 1, self._text[began : self._at].strip())

    def _operand(self) -> Operand:
        self._skip()
        began = self._at
        name = self._name(_WORD, OPERANDS, "an operand")
        case = claim = ""
        if name == "status":
            self._need(".")
            return self._operand_of("status", began, word=self._name(_WORD, STATUS_NAMES, "a status"))
        self._need("(")
        case = self._match(_CASE, "the id of a case")
        if name in ("verdict", "pass"):
            self._need(",")
            self._skip()
            claim = self._match(_CLAIM, "the id of a claim")
        self._need(")")
        if name == "pass":
            return self._operand_of("verdict", began, case, claim, "PASS", self._measure())
        if not self._sign("."):
            return self._operand_of(name, began, case, claim)
        at = self._at
        word = self._name(_WORD, WORDS[name], "a word")
        if word in UNDECIDED_WORDS:
            refuse(
                "E-GATE-WORD",
                at,
                f"{word} means undecided: its share is no property of a subject",
            )
        return self._operand_of(name, began, case, claim, word, self._measure())

    def _measure(self) -> str:
        if not self._sign("."):
            self._unexpected(f"a measure ({', '.join('.' + one for one in MEASURES)})")
        return self._name(_WORD, MEASURES, "a measure")

    def _operand_of(
        self, kind: str, began: int, case: str = "", claim: str = "", word: str = "", measure: str | None = None
    ) -> Operand:
        text = self._text[began : self._at].strip()
        return Operand(kind, case, claim, word, measure, began + 1, text)  # type: ignore[arg-type]

    def _value(self, operand: Operand) -> str | Fraction:
        self._skip()
        at = self._at
        number = _NUMBER.match(self._text, at)
        if operand.is_number:
            if number is None:
                refuse("E-GATE-TYPE", at, f"{operand.text} is a number, and is compared with a number", "as in >= 0.8")
            self._at = number.end()
            return self._number(operand, number[0], at)
        if number is not None:
            refuse("E-GATE-TYPE", at, f"{operand.text} is a word, and is compared with a word", "a share ends in .rate")
        return self._name(_WORD, WORDS[operand.kind], "a word")

    def _number(self, operand: Operand, written: str, at: int) -> Fraction:
        value = Fraction(written)
        if self._text.startswith("%", self._at):
            hint = f"write {_decimal(value / 100)}" if operand.measure is not None else "leave out the %"
            refuse("E-GATE-VALUE", at, f"{written}% is a percentage, and a gate has none", hint)
        if operand.measure is not None and not 0 <= value <= 1:
            hint = f"{written} of a hundred is {_decimal(value / 100)}" if 1 < value <= 100 else "as in >= 0.8"
            refuse("E-GATE-VALUE", at, f"{operand.text} lies between 0 and 1, so {written} says nothing", hint)
        if operand.measure is None and (value < 0 or value.denominator != 1):
            hint = "a count is a whole number, 0 or more"
            refuse("E-GATE-VALUE", at, f"{operand.text} is a count of trials, and {written} is none", hint)
        return value

    def _name(self, pattern: re.Pattern[str], known: tuple[str, ...], what: str) -> str:
        self._skip()
        at = self._at
        found = pattern.match(self._text, at)
        if found is None:
            self._unexpected(f"{what}: {', '.join(known)}")
        if found[0] not in known:
            close = nearest(found[0], sorted(known))
            refuse(
                "E-GATE-WORD",
                at,
                f"{found[0]!r} is not {what} that can stand here",
                f"did you mean {close}?" if close else f"there is {', '.join(known)}",
            )
        self._at = found.end()
        return found[0]

    def _match(self, pattern: re.Pattern[str], what: str) -> str:
        self._skip()
        found = pattern.match(self._text, self._at)
        if found is None:
            self._unexpected(what)
        self._at = found.end()
        return found[0]

    def _take(self, word: str) -> bool:
        self._skip()
        found = _WORD.match(self._text, self._at)
        if found is None or found[0] != word:
            return False
        self._at = found.end()
        return True

    def _sign(self, sign: str) -> bool:
        self._skip()
        if not self._text.startswith(sign, self._at):
            return False
        self._at += len(sign)
        return True

    def _need(self, sign: str) -> None:
        if not self._sign(sign):
            self._unexpected(f"`{sign}`")

    def _skip(self) -> None:
        while self._at < len(self._text) and self._text[self._at] in " \t\n":
            self._at += 1

    def _unexpected(self, wanted: str) -> NoReturn:
        rest = self._text[self._at : self._at + 20]
        found = f"{rest!r}" if rest else "the end of the gate"
        refuse("E-GATE-SYNTAX", self._at, f"found {found} where {wanted} was expected")
