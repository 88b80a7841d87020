"""Step 1, the witnesses of effects: was every declared sink proven to watch, and did anything come too late?

Source: the scoring design, `SINK_UNWATCHED`, `LATE_EFFECT`, `EVIDENCE_MALFORMED`.
"""

from __future__ import annotations

from collections.abc import Iterator

from oyer.adjudicate.arm import Arm
from oyer.adjudicate.reasons import reason
from oyer.observe import Watch
from oyer.records import Reason

__all__ = ["is_watched", "sink_reasons"]


def is_watched(arm: Arm, name: str) -> bool:
    """Whether a declared sink is proven to have watched from before the first turn until everything was down."""
    return not _unproven(arm, arm.watches.get(name))


def _unproven(arm: Arm, watch: Watch | None) -> str:
    """Say what is not proven about a sink's watch, an empty text where all is."""
    if watch is None:
        return "it has no journal"
    told = [f"{phase} probe missing or failed" for phase, ok in _phases(watch) if not ok]
    opening, closing = watch.t_opening_ns, watch.t_closing_ns
    first = min((turn.t_sent_ns for turn in arm.turns), default=None)
    last = max((t for t in _ends(arm) if t is not None), default=None)
    if watch.opening_ok and opening is not None and first is not None and opening > first:
        told.append("the opening probe came after the first turn")
    if watch.closing_ok and closing is not None and last is not None and closing < last:
        told.append("the closing probe came before everything was down")
    return ", ".join(told)


def _phases(watch: Watch) -> tuple[tuple[str, bool], ...]:
    return ("opening", watch.opening_ok), ("closing", watch.closing_ok)


def _ends(arm: Arm) -> Iterator[int | None]:
    yield from (turn.t_received_ns or turn.t_sent_ns for turn in arm.turns)
    yield from (event.t_mono_ns for event in arm.evidence.events("harness", "session.closed"))
    yield arm.wire.last_ns


def sink_reasons(arm: Arm) -> Iterator[Reason]:
    """Yield what is wrong with the witnesses: not watching, late, unreadable."""
    for name in sorted(arm.case.sinks):
        watch = arm.watches.get(name)
        unproven = _unproven(arm, watch)
        if unproven:
            refs = watch.probes if watch else ()
            yield reason("SINK_UNWATCHED", f"sink {name}: {unproven}", about=name, arm=arm.condition, evidence=refs)
        for effect in watch.effects if watch else ():
            if not effect.readable:
                why = f"an effect in sink {name} does not parse"
                yield reason("EVIDENCE_MALFORMED", why, about=name, arm=arm.condition, evidence=[effect.ref])
            if watch and watch.t_closing_ns is not None and effect.t_ns > watch.t_closing_ns:
                yield reason("LATE_EFFECT", f"in sink {name}", about=name, arm=arm.condition, evidence=[effect.ref])
