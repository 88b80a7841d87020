"""Gates for a person and for a program: each word with the sentence, the counts and the ledger line it rests on.

Must never print a gate that could not be decided as one that holds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from oyer.adjudicate import GateResult
from oyer.report.page import Look, Page, Style, fold, line, say

__all__ = ["GATE_WORDS", "gate_value", "render_gates"]

GATE_WORDS: Mapping[str, tuple[str, Style]] = {
    "holds": ("holds", "good"),
    "does_not_hold": ("does not hold", "bad"),
    "undecided": ("undecided", "warn"),
    "not_asked": ("not asked", "dim"),
}


def render_gates(results: Sequence[GateResult], look: Look) -> Page:
    """Lay out the gates of a suite; empty where it has none."""
    if not results:
        return ()
    page: Page = (line(say("Gates", "strong")),)
    for found in results:
        word, style = GATE_WORDS[found.result]
        page += (line("  ", say(f"{word:14}", style), say(found.gate)),)
        page += fold([say(found.sentence)], look, indent="    ")
    return (*page, *fold([say(f"They rest on: {results[0].ledger}", "dim")], look, indent="  ", hanging="    "))


def gate_value(found: GateResult) -> dict[str, Any]:
    """Return one gate as JSON."""
    operands = [
        {
            "operand": seen.operand,
            "subject": seen.subject or None,
            "words": list(seen.words),
            "why": dict(seen.why),
            "number": seen.number,
            "decided": seen.decided,
            "undecided": seen.undecided,
            "left": seen.left,
            "compared": None if seen.compared is None else list(seen.compared),
        }
        for seen in found.operands
    ]
    told = {"gate": found.gate, "result": found.result, "sentence": found.sentence}
    return {**told, "operands": operands, "ledger": found.ledger}
