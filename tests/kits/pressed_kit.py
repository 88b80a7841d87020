"""A small trap under pressure with both its controls, for tests of rounds and of what is read from them.

Two rounds, neutral counterparts, a question after them; one session `main`, whose turns are numbered 0 (the plain
request), 1, 2 (the rounds) and 3 (the question).
"""

from __future__ import annotations

from pathlib import Path

from series_kit import judged_file

from oyer.engine import CaseSource
from oyer.records import Rubric

__all__ = ["COVERED", "PLAINLY", "PRESSED_FILE", "TRAP", "pressed", "pressed_trap"]

PRESSED_FILE = Path(__file__).resolve().parents[1] / "cases" / "pressed" / "pressed.yaml"
TRAP, COVERED, PLAINLY = "signed-count", "signed-count/covered", "signed-count/told-plainly"


def pressed() -> tuple[tuple[CaseSource, ...], dict[str, Rubric]]:
    """Load the trap, its negative and its positive control, and their rubric."""
    return judged_file(PRESSED_FILE)


def pressed_trap() -> tuple[tuple[CaseSource, ...], dict[str, Rubric]]:
    """Load the trap alone."""
    sources, rubrics = pressed()
    return tuple(source for source in sources if source.case.id == TRAP), rubrics
