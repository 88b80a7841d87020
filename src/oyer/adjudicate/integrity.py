"""Step 1, the arms themselves: are they there, whole, their own, and fresh?

Each function yields every reason it finds; none stops at the first. Source: the scoring design, table of step 1.
"""

from __future__ import annotations

from collections.abc import Iterator

from oyer.adjudicate.arm import Arm
from oyer.adjudicate.reasons import reason
from oyer.observe import read_breaks
from oyer.records import Reason, directory_digest

__all__ = ["arm_reasons", "foreign_reasons"]

FOREIGN = "E-CHAIN-FOREIGN"
TOKEN_LENGTH = 8
"""A run token this long or longer is not met by chance."""


def arm_reasons(arm: Arm, repetition: int) -> Iterator[Reason]:
    """Yield what is wrong with one arm's evidence, status, run and state."""
    yield from _broken(arm)
    if not arm.completed:
        yield reason("ARM_NOT_COMPLETED", _status_words(arm), arm=arm.condition, evidence=_fault_refs(arm))
    yield from _foreign(arm, repetition)
    yield from _effect_runs(arm)
    yield from _world_state(arm)
    for watch in arm.watches.values():
        if watch.held:
            yield reason(
                "STATE_LEAK",
                f"sink {watch.sink} held something when it opened",
                arm=arm.condition,
                evidence=[watch.opened] if watch.opened else [],
            )


def _broken(arm: Arm) -> Iterator[Reason]:
    for found in read_breaks(arm, but=FOREIGN):
        yield reason(found.code, found.sentence, about=found.about, arm=arm.condition, evidence=found.refs)


def _status_words(arm: Arm) -> str:
    closed = arm.evidence.closed
    if closed is None:
        return "the trial was never closed"
    error = closed.get("error")
    said = f", {error['where']}: {error['class']}: {error['message']}" if error else ""
    return f"{closed['status']}{said}"


def _fault_refs(arm: Arm) -> tuple[str, ...]:
    return tuple(event.ref for event in arm.evidence.everything() if event.kind == "fault")


def _foreign(arm: Arm, repetition: int) -> Iterator[Reason]:
    """A journal that names another run, arm, trial, case or repetition than the one it is offered for."""
    foreign = [d for d in arm.evidence.defects if d.code == FOREIGN]
    if foreign:
        yield reason("FOREIGN_TRACE", str(foreign[0]), arm=arm.condition)
    envelope, opened = arm.evidence.envelope, arm.evidence.opened
    told: list[tuple[str, object, object]] = []
    if envelope is not None:
        told += [
            ("condition", envelope.condition, arm.condition),
            ("trial", envelope.trial, arm.trial),
            ("attempt", envelope.attempt, arm.attempt),
        ]
    if opened is not None:
        told += [
            ("case digest", opened["case"], arm.case_digest),
            ("case", opened["case_id"], arm.case.id),
            ("repetition", opened["repetition"], repetition),
        ]
    for what, said, offered in told:
        if said != offered:
            yield reason("FOREIGN_TRACE", f"its journals are of another {what}: {said}", arm=arm.condition)


def _effect_runs(arm: Arm) -> Iterator[Reason]:
    """Every effect carries this run's token; only a world sink, whose place is the run's own, may have none."""
    for watch in arm.watches.values():
        for effect in watch.effects:
            why = arm.foreign(effect)
            if why:
                yield reason("RUN_ID_MISMATCH", why, about=watch.sink, arm=arm.condition, evidence=[effect.ref])


def _world_state(arm: Arm) -> Iterator[Reason]:
    """The world opened on the fixture's own files, and was looked at before the first turn."""
    look, opened = arm.world.opening, arm.evidence.opened
    fixture = opened.get("fixture_digest") if opened else None
    if fixture is None and arm.case.world is None:
        fixture = directory_digest(())
    first = min((turn.t_sent_ns for turn in arm.turns), default=None)
    if look is None:
        why = "the world was not looked at before it was used"
    elif fixture is None:
        why = "what the world should have opened on is not on record"
    elif look.digest != fixture:
        why = "the world did not open on the fixture's own files"
    elif first is not None and look.t_ns > first:
        why = "the world was first looked at after the first turn"
    else:
        return
    yield reason("STATE_LEAK", why, arm=arm.condition, evidence=[look.ref] if look else [])


def foreign_reasons(one: Arm, other: Arm) -> Iterator[Reason]:
    """Yield every sign that two arms are not two runs: one run id for both, or one's tokens in what the other left."""
    if one.evidence.run is not None and one.evidence.run == other.evidence.run:
        yield reason("RUN_ID_MISMATCH", f"the arms {one.condition} and {other.condition} carry one run id")
    for arm, theirs in ((one, other), (other, one)):
        tokens = sorted(t for t in set(theirs.evidence.masks) - set(arm.evidence.masks) if len(t) >= TOKEN_LENGTH)
        left = [(e.ref, e.raw) for watch in arm.watches.values() for e in watch.effects]
        left += [(write.ref, write.content) for write in arm.world.writes]
        met = [ref for ref, raw in left if raw is not None and any(token.encode() in raw for token in tokens)]
        if met:
            yield reason(
                "RUN_ID_MISMATCH",
                f"an artifact or effect holds a token of the {theirs.condition} run",
                arm=arm.condition,
                evidence=met,
            )
