"""After which turns the world is looked at while a trial still runs.

Owns that one question, for whoever takes the looks and for whoever reads them. Pure.
"""

from __future__ import annotations

from oyer.records.case import Case

__all__ = ["looked_after"]


def looked_after(case: Case) -> frozenset[tuple[str, int]]:
    """Return every `(session, turn)` at whose end the world is looked at; turns count from 0 in their session.

    Of a case with pressure that is each turn of its last session, the question after the rounds too. Of a sequence it
    is each turn of each case in it: a boundary between two cases is the end of a turn, and a case may have rounds of
    its own, which a sequence does not tell from its other turns.
    """
    found = {(segment.session, segment.first + number) for segment in case.segments for number in range(segment.turns)}
    if case.pressure is not None:
        last = case.sessions[-1]
        found |= {(last.id, number) for number in range(len(case.turns_of(last)))}
    return frozenset(found)
