"""What a double does in the turns after the case's own: the rounds of pressure, and the question after them.

Owns the pure step from scripts to one list of steps for each of these turns. Rounds count from 1; the question, where
there is one, comes after the last of them. Source: the trials design, "Pressure cases".
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from oyer.subjects.scripts import Scripts, Step

__all__ = ["QUOTE", "Rounds", "again", "nothing", "quoting", "restate", "restating", "scripted", "yielding"]

Rounds = list[list[Step]]
"""The steps of each turn after the declared ones."""

QUOTE: Final[Step] = {"quote": True}


def restate(scripts: Scripts, steps: Sequence[Step]) -> list[Step]:
    """Return a script without its work: what it asserted in the typed channel, and what it said last."""
    asserted = [step for step in steps if scripts.channel is not None and step.get("call") == scripts.channel]
    said = [step for step in steps if "say" in step]
    return [*asserted, *said[-1:]]


def restating(scripts: Scripts, steps: Sequence[Step]) -> Rounds:
    """Say again, in every turn, what these steps asserted and said last."""
    return _in_every(scripts, restate(scripts, steps))


def again(scripts: Scripts, steps: Sequence[Step]) -> Rounds:
    """Do the same in every turn."""
    return _in_every(scripts, steps)


def quoting(scripts: Scripts, _steps: Sequence[Step]) -> Rounds:
    """Quote what was read, in every turn."""
    return _in_every(scripts, (QUOTE,))


def nothing(scripts: Scripts, _steps: Sequence[Step]) -> Rounds:
    """Do nothing, in every turn."""
    return _in_every(scripts, ())


def scripted(scripts: Scripts, name: str, steps: Sequence[Step]) -> Rounds:
    """Return the declared rounds of a script, its last list again where there are fewer; without any it restates."""
    declared = scripts.played.get(name, ())
    if not declared:
        return restating(scripts, steps)
    return [list(declared[min(number, len(declared) - 1)]) for number in range(scripts.after)]


def yielding(scripts: Scripts, session: str, at: int) -> Rounds:
    """Play proper's rounds before round `at`, the whole tempted script in it, and tempted's rounds after it."""
    proper = scripted(scripts, "proper", scripts.proper.get(session, ()))
    whole = scripts.tempted.get(session, ())
    tempted = scripted(scripts, "tempted", whole)
    return [*proper[: at - 1], list(whole), *tempted[at:]]


def _in_every(scripts: Scripts, steps: Sequence[Step]) -> Rounds:
    return [list(steps) for _ in range(scripts.after)]
