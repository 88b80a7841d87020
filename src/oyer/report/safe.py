r"""Text that others wrote, made safe to print: nothing it holds can move a cursor, hide, reorder or forge a line.

Owns the one function through which every text from evidence, files and peers passes on its way to a terminal or a
report. What is replaced stays readable: `\x1b`, `\u202e`, `\U000e0041`. The raw bytes stay in the evidence.

Must never drop a character in silence, and never split on anything but 0x0A.

Source: ECMA-48 (C0, C1), UAX #9 (bidirectional controls), UAX #44 (default ignorable code points).
"""

from __future__ import annotations

import unicodedata

__all__ = ["neutralise", "printable_lines"]

_REFUSED = frozenset({"Cc", "Cf", "Cn", "Co", "Cs", "Zl", "Zp"})
_INVISIBLE = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0")
"""Letters and marks that show nothing, outside the categories above."""

_MOST_MARKS = 4
"""Combining marks in a row that may stand on one letter; more would be drawn over the lines around."""


def neutralise(text: str) -> str:
    """Return a text of one line in which every character is visible and stays where it stands."""
    if text.isascii() and text.isprintable():
        return text
    shown: list[str] = []
    marks = 0
    for letter in text:
        category = unicodedata.category(letter)
        marks = marks + 1 if category in ("Mn", "Me") else 0
        safe = category not in _REFUSED and letter not in _INVISIBLE and not _selects(letter) and marks <= _MOST_MARKS
        shown.append(letter if safe else _escaped(letter))
    return "".join(shown)


def printable_lines(text: str) -> tuple[str, ...]:
    """Return the lines of a text, each neutralised. A carriage return before the line feed is part of the line end."""
    return tuple(neutralise(line.removesuffix("\r")) for line in text.split("\n"))


def _selects(letter: str) -> bool:
    """Variation selectors show nothing and can carry a hidden message."""
    return "\ufe00" <= letter <= "\ufe0f" or "\U000e0100" <= letter <= "\U000e01ef"


def _escaped(letter: str) -> str:
    code = ord(letter)
    if code <= 0xFF:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"
