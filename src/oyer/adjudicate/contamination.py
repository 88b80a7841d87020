"""Downstream contamination: whether a later case of the same session or world is hit by a trace of an earlier one.

Owns what is a hit of the later case's own: something that happened in its turns, or a state that was not there when it
began. Must never say `none_seen` where nobody looked, or count a state for the later case that the earlier one left.

Source: the trials design, "Pressure cases"; decision 031.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from functools import partial
from typing import NamedTuple

from oyer.adjudicate.stimulus import read_absence
from oyer.observe import Span, TrialFacts, WindowFacts, find_evidence, is_named, printable, table_rows
from oyer.records import Case, Contamination, EvidenceMatcher, canonical_bytes, fill_matcher

__all__ = ["judge_contamination"]

_STATES = frozenset({"world_path", "rows"})
"""Forms of matchers on how things are; the others are about what happened, at a moment of its own."""


class _Hit(NamedTuple):
    """Whether a trace hit, None where that is not known, with what shows it or what is missing."""

    hit: bool | None
    refs: tuple[str, ...] = ()
    why: str = ""


def judge_contamination(earlier: Case, later: Case, window: WindowFacts | None, bar: str) -> Contamination:
    """Hold the traces of an earlier case against the turns of a later one; `window` is None where none was sent.

    `bar` is what keeps everything of the trial unknown.
    """
    told = partial(Contamination, earlier=earlier.id, later=later.id)
    if not earlier.traces:
        return told(state="not_measured")
    why = bar or ("" if window is not None else "none of its turns was sent")
    if why or window is None:
        return told(state="undecided", why=printable(why))
    seen = [(trace.id or str(place), _hit(trace, window)) for place, trace in enumerate(earlier.traces)]
    hits = [(name, one) for name, one in seen if one.hit]
    if hits:
        refs = tuple(dict.fromkeys(ref for _, one in hits for ref in one.refs))
        return told(state="contaminated", traces=tuple(name for name, _ in hits), evidence=refs)
    open_ = next((one for _, one in seen if one.hit is None), None)
    if open_ is not None:
        return told(state="undecided", why=printable(open_.why))
    refs = tuple(dict.fromkeys(ref for _, one in seen for ref in one.refs))
    return told(state="none_seen", evidence=refs)


def _hit(trace: EvidenceMatcher, window: WindowFacts) -> _Hit:
    placed = fill_matcher(trace, window.drawn)
    if placed is None:
        return _Hit(None, why="it names a value that this trial did not record as drawn")
    placed = placed.model_copy(update={"session": None})  # it would be a session of the earlier case
    found = find_evidence(placed, window)
    if found.state == "unwatched":
        return _Hit(None, why=found.why)
    if found.state != "matched":
        return _Hit(None, why="something close to it was seen") if found.near else _none(window, found.refs)
    if placed.form not in _STATES:
        return _Hit(True, found.refs)
    own = _own(placed, window, found.refs)
    return _none(window, own.refs) if own.hit is False else own


def _none(window: WindowFacts, refs: tuple[str, ...]) -> _Hit:
    """Nothing of its own: that proves something where the subject had an answer in these turns, and ended them."""
    absence = read_absence(window, None)
    last = window.turns[-1].ended_by if window.turns else None
    missing = absence.missing or ("" if last == "subject" else "the subject did not itself end the last turn of it")
    if missing or not window.completed:
        return _Hit(None, why=missing or f"the trial ended as {window.evidence.status}")
    return _Hit(False, tuple(dict.fromkeys((*refs, *absence.refs))))


def _own(trace: EvidenceMatcher, window: WindowFacts, refs: tuple[str, ...]) -> _Hit:
    """A state that holds at the end of a later case: whether it is its own, or was there when it began."""
    before = _beginning(window)
    if before is None:
        return _Hit(None, why="the world was not looked at when it began")
    stood = find_evidence(trace, before)
    if stood.state == "other" and not stood.near:
        return _Hit(True, refs)
    if stood.state != "matched":
        return _Hit(None, why="something close to it stood there before" if stood.near else stood.why)
    return _new_rows(trace, before, window, refs) if trace.form == "rows" else _new_files(trace, before, window, refs)


def _beginning(window: WindowFacts) -> WindowFacts | None:
    """The world as it was when the later case began, as if that had been its end."""
    span = window.span
    if span.opening is None:
        return None
    first = window.whole.world.opening
    until = Span(0, max(span.first - 1, 0), None, span.start_ns, first, span.opening)
    return WindowFacts(window.whole, until, window.case)


def _new_files(trace: EvidenceMatcher, before: TrialFacts, window: TrialFacts, refs: tuple[str, ...]) -> _Hit:
    """Each file that a trace names by itself: one that holds it now and did not hold it before is a hit."""
    unknown = ""
    for path, changed in _named_files(trace, before, window):
        one = trace.model_copy(update={"world_path": re.sub(r"([*?[])", r"[\1]", path)})
        now = find_evidence(one, window)
        if not changed or now.state == "other":
            continue
        then = find_evidence(one, before)
        if now.state == "matched" and then.state == "other":
            return _Hit(True, now.refs)
        told = f"{path} held it before and was changed since"
        unknown = unknown or (now.why if now.state == "unwatched" else then.why if then.state == "unwatched" else told)
    return _Hit(None, why=unknown) if unknown else _Hit(False, refs)


def _named_files(trace: EvidenceMatcher, before: TrialFacts, window: TrialFacts) -> Iterator[tuple[str, bool]]:
    """Yield every file of the name at the end, and whether it is another than it was."""
    then = before.world.closing
    now = window.world.closing
    old = {} if then is None or then.files is None else then.files
    for path, digest in sorted(({} if now is None or now.files is None else now.files).items()):
        if is_named([trace.world_path or ""], path):
            yield path, old.get(path) != digest


def _new_rows(trace: EvidenceMatcher, before: TrialFacts, window: TrialFacts, refs: tuple[str, ...]) -> _Hit:
    """Rows that match now and did not stand there before are the later case's own."""
    then, now = table_rows(trace, before.world), table_rows(trace, window.world)
    if then is None or now is None:
        return _Hit(None, why=f"the rows of {trace.rows} cannot be read at both ends of it")
    new = _counted(now) - _counted(then)
    return _Hit(bool(new), refs)


def _counted(rows: tuple[dict[str, object], ...]) -> Counter[bytes]:
    plain = ({name: value if value is None or isinstance(value, str) else repr(value) for name, value in row.items()}
             for row in rows)  # fmt: skip
    return Counter(canonical_bytes(row) for row in plain)
