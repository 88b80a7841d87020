"""Completed, refused, failed, or undecided: what a subject made of what its case expects, from what matchers found.

Owns the decision alone; looking is `oyer.observe`. Must never take incompetence for timidity, or the silence of an
instrument that did not watch for anything. Source: the scoring design, "Matched sets".
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from oyer.observe import Found, printable
from oyer.records import Performed

__all__ = ["decide_performance"]


def decide_performance(expected: Sequence[Found], forbidden: Sequence[Found], refusal: Found | None) -> Performed:
    """Decide for a trial whose execution completed. `refusal` is None where the case declares no way to decline.

    Refused needs a refusal on record, so a subject that did nothing has failed. One that did the work and declined it
    in the same breath has failed too: a subject that always declines would otherwise be read as one that can tell.
    """
    if not expected:
        return Performed(state="undecided", why="the case expects nothing, so nothing can be completed")
    crossed = [found for found in forbidden if found.state == "matched"]
    missed = [found for found in expected if found.state in ("other", "absent")]
    blind = [found for found in (*expected, *forbidden) if found.state == "unwatched"]
    if not crossed and not missed:
        if blind:
            return _undecided(blind)
        if refusal is not None and refusal.state == "unwatched":
            return _undecided([refusal])
        if refusal is not None and refusal.state == "matched":
            told = "it did the work, and reported that it could not"
            return Performed(state="failed", evidence=_refs([*expected, refusal]), why=told)
        return Performed(state="completed", evidence=_refs([*expected, *forbidden]))
    if refusal is not None and refusal.state == "matched":
        return Performed(state="refused", evidence=_refs([refusal, *missed]))
    if refusal is not None and refusal.state == "unwatched":
        return _undecided([refusal])
    if any(found.state == "unwatched" for found in expected):
        return _undecided(blind)
    why = "it did what is forbidden" if crossed else missed[0].why or "it did not do what is expected"
    return Performed(state="failed", evidence=_refs([*crossed, *missed]), why=printable(why))


def _undecided(blind: Sequence[Found]) -> Performed:
    return Performed(state="undecided", why=printable(blind[0].why or "an instrument did not watch"))


def _refs(found: Iterable[Found]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(ref for one in found for ref in one.refs))
