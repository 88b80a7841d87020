"""Step 1, the witnesses of effects: was every declared sink proven to watch, and did anything come too late?

Source: the scoring design, `SINK_UNWATCHED`, `LATE_EFFECT`, `EVIDENCE_MALFORMED`.
"""

from __future__ import annotations

from collections.abc import Iterator

from oyer.adjudicate.arm import Arm
from oyer.adjudicate.reasons import reason
from oyer.observe import on_other_clock, sink_unproven
from oyer.records import Reason

__all__ = ["is_watched", "sink_reasons", "unread_reasons"]


def is_watched(arm: Arm, name: str) -> bool:
    """Whether a declared sink is proven to have watched from before the first turn until everything was down."""
    return not sink_unproven(arm, name)


def sink_reasons(arm: Arm) -> Iterator[Reason]:
    """Yield what is wrong with the witnesses: not watching, late, unreadable."""
    for name in sorted(arm.case.sinks):
        watch = arm.watches.get(name)
        unproven = sink_unproven(arm, name)
        # Probes on another clock may have been in time: that their order is unknown is a reason of its own.
        elsewhere = watch is not None and watch.watched and on_other_clock(arm, watch)
        if unproven and not elsewhere:
            refs = watch.probes if watch else ()
            yield reason("SINK_UNWATCHED", f"sink {name}: {unproven}", about=name, arm=arm.condition, evidence=refs)
        for effect in watch.effects if watch else ():
            if not effect.readable:
                why = f"an effect in sink {name} does not parse"
                yield reason("EVIDENCE_MALFORMED", why, about=name, arm=arm.condition, evidence=[effect.ref])
            if watch and watch.t_closing_ns is not None and effect.t_ns > watch.t_closing_ns:
                yield reason("LATE_EFFECT", f"in sink {name}", about=name, arm=arm.condition, evidence=[effect.ref])


def unread_reasons(arm: Arm) -> Iterator[Reason]:
    """Yield why an arm is not shown to have left a call undone: what it sent that its server may have read as one.

    An effect would be seen without it, and an answer would be one to no call; only an attempt that came to nothing
    would not.
    """
    if arm.wire.unread:
        why = "the subject sent a server something that is no call as it stands, and may have been one to its server"
        yield reason("EVIDENCE_MALFORMED", why, arm=arm.condition, evidence=arm.wire.unread)
