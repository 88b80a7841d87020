"""A qualification in words: every double, what it must come to and what it came to, and every change nobody noticed.

Owns that page. Must never call a case qualified whose record does not say so.
"""

from __future__ import annotations

from collections.abc import Iterator

from oyer.records import DoubleResult, MutantResult, Qualification
from oyer.report.page import Line, Look, Page, Segment, counted, entry, fold, line, say

__all__ = ["render_qualification"]

_NAME, _ABOUT = 22, 36


def render_qualification(found: Qualification, look: Look, *, recorded: bool = True) -> Page:
    """Lay out one record: the answer first, then every double, then what survived.

    Of a selection of doubles no record is made, and it answers nothing: it is told as what it came to.
    """
    word = say("qualified", "good") if found.qualified else say("NOT QUALIFIED", "bad")
    word = word if recorded else say("only some doubles were shown: no record was made", "warn")
    missed = sum(not result.passed for result in found.doubles)
    page: Page = (line(say(found.case, "strong"), say("  "), word),)
    told = f"{counted(len(found.doubles), 'result')} of known subjects, {missed} not as they must be"
    page += fold([say(told)], look, indent="  ")
    for result in found.doubles:
        page += _double(result, look)
    for double, why in found.not_applicable.items():
        name, _, member = double.partition(" on ")
        where = f"for {member}" if member else "here"
        page += fold(
            [say(f"{entry(name, _NAME)} makes no sense {where}: {why}", "dim")], look, indent="  ", hanging="    "
        )
    if found.mutated:
        page += tuple(_mutants(found, look))
    return (*page, ())


def _double(result: DoubleResult, look: Look) -> Page:
    mark = say("  ok   ", "good") if result.passed else say("  BAD  ", "bad")
    page: Page = (line(mark, say(entry(result.double, _NAME)), say(entry(result.about, _ABOUT)), say(result.found)),)
    if not result.passed:
        wanted = " or ".join(result.expected) or "nothing that the case declares"
        why = f"it must come to {wanted}" + (f"; {'; '.join(result.reasons[:6])}" if result.reasons else "")
        page += fold([say(why, "bad")], look, indent="      ")
    return page


def _mutants(found: Qualification, look: Look) -> Iterator[Line]:
    killed = [one for one in found.mutants if one.killed_by is not None]
    survived = [one for one in found.mutants if one.killed_by is None]
    told = f"changes to the declarations: {len(found.mutants)}, noticed {len(killed)}, not noticed {len(survived)}"
    yield from fold([say(told)], look, indent="  ")
    for one in survived:
        yield from fold(_survivor(one), look, indent="  ", hanging="      ")


def _survivor(one: MutantResult) -> list[Segment | str]:
    if one.equivalent is not None:
        return [say("same ", "dim"), say(one.mutant), say(f": {one.equivalent}", "dim")]
    return [say("BAD  ", "bad"), say(one.mutant), say(": no known subject tells it from the original", "bad")]
