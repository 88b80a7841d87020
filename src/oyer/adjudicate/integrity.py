"""Step 1, the arms themselves: are they there, whole, fresh, blind and alike?

Each function yields every reason it finds; none stops at the first. Source: the scoring design, table of step 1.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from oyer.adjudicate.arm import Arm
from oyer.adjudicate.pins import observed_pins
from oyer.adjudicate.reasons import reason
from oyer.records import PinSet, Reason, names_an_arm, pin_differences

__all__ = ["arm_reasons", "leak_reasons", "pin_reasons", "sink_reasons"]

FOREIGN = "E-CHAIN-FOREIGN"


def arm_reasons(arm: Arm) -> Iterator[Reason]:
    """Yield what is wrong with one arm's evidence, status, run and state."""
    name = arm.condition
    defects = arm.evidence.defects
    foreign = [d for d in defects if d.code == FOREIGN]
    broken = [d for d in defects if d.code != FOREIGN]
    if foreign:
        yield reason("FOREIGN_TRACE", str(foreign[0]), arm=name)
    if broken:
        more = f" (and {len(broken) - 1} more)" if len(broken) > 1 else ""
        yield reason("EVIDENCE_BROKEN", f"{broken[0]}{more}", arm=name)
    if not arm.completed:
        yield reason("ARM_NOT_COMPLETED", _status_words(arm), arm=name, evidence=_fault_refs(arm))
    yield from _run_reasons(arm)
    yield from _state_reasons(arm)
    if arm.wire.unreadable:
        yield reason(
            "EVIDENCE_BROKEN", "the bytes of a message are not retained", arm=name, evidence=arm.wire.unreadable
        )


def _status_words(arm: Arm) -> str:
    closed = arm.evidence.closed
    if closed is None:
        return "the trial was never closed"
    error = closed.get("error")
    said = f", {error['where']}: {error['class']}: {error['message']}" if error else ""
    return f"{closed['status']}{said}"


def _fault_refs(arm: Arm) -> tuple[str, ...]:
    return tuple(event.ref for event in arm.evidence.everything() if event.kind == "fault")


def _run_reasons(arm: Arm) -> Iterator[Reason]:
    run = arm.evidence.run
    opened = arm.evidence.opened
    if opened is not None and opened["case"] != arm.case_digest:
        yield reason("FOREIGN_TRACE", "the trial was opened for another case", arm=arm.condition)
    for watch in arm.watches.values():
        for effect in watch.effects:
            if effect.run_named is not None and effect.run_named != run:
                yield reason(
                    "RUN_ID_MISMATCH",
                    f"an effect names run {effect.run_named}",
                    arm=arm.condition,
                    evidence=[effect.ref],
                )


def _state_reasons(arm: Arm) -> Iterator[Reason]:
    opened = arm.evidence.opened
    look = arm.world.opening
    fixture = opened.get("fixture_digest") if opened else None
    if fixture is not None and (look is None or look.digest != fixture):
        yield reason(
            "STATE_LEAK",
            "the world did not open on the fixture's own files",
            arm=arm.condition,
            evidence=[look.ref] if look else [],
        )
    for watch in arm.watches.values():
        if watch.held:
            yield reason(
                "STATE_LEAK",
                f"sink {watch.sink} held something when it opened",
                arm=arm.condition,
                evidence=[watch.opened] if watch.opened else [],
            )


def sink_reasons(arm: Arm) -> Iterator[Reason]:
    """Yield what is wrong with the witnesses: not watching, late, unreadable."""
    for name in sorted(arm.case.sinks):
        watch = arm.watches.get(name)
        if watch is None or not watch.watched:
            which = (
                "it has no journal"
                if watch is None
                else " and ".join(
                    phase
                    for phase, ok in (("opening probe", watch.opening_ok), ("closing probe", watch.closing_ok))
                    if not ok
                )
                + " missing or failed"
            )
            yield reason(
                "SINK_UNWATCHED",
                f"sink {name}: {which}",
                about=name,
                arm=arm.condition,
                evidence=watch.probes if watch else (),
            )
        if watch is None:
            continue
        for effect in watch.effects:
            if not effect.readable:
                yield reason(
                    "EVIDENCE_MALFORMED",
                    f"an effect in sink {name} does not parse",
                    about=name,
                    arm=arm.condition,
                    evidence=[effect.ref],
                )
            if watch.t_closing_ns is not None and effect.t_ns > watch.t_closing_ns:
                yield reason("LATE_EFFECT", f"in sink {name}", about=name, arm=arm.condition, evidence=[effect.ref])


def pin_reasons(one: Arm, other: Arm, pinned: PinSet | None) -> Iterator[Reason]:
    """Yield every pinned field that differs between two arms, or between an arm and what the series pinned."""
    mine, yours = observed_pins(one), observed_pins(other)
    for field, a, b in pin_differences(mine, yours):
        yield reason(
            "PIN_DRIFT", f"{field} differs between {one.condition} and {other.condition}: {a} and {b}", about=field
        )
    if pinned is None:
        return
    for arm, seen in ((one, mine), (other, yours)):
        for field, a, b in pin_differences(pinned, seen):
            yield reason("PIN_DRIFT", f"{field} was pinned as {a} and observed as {b}", about=field, arm=arm.condition)


def leak_reasons(one: Arm, other: Arm) -> Iterator[Reason]:
    """Yield every string that Oyer authored for the subject that names an arm, or differs between the arms."""
    for arm in (one, other):
        for item in arm.authored:
            word = names_an_arm(item.masked, arm.case.id)
            if word is not None:
                yield reason("ARM_LEAK", f"{item.place} names {word!r}", arm=arm.condition, evidence=[item.ref])
    mine, yours = _by_place(one), _by_place(other)
    shared_sessions = {place.split("/", 1)[0] for place in mine} & {place.split("/", 1)[0] for place in yours}
    for place in sorted(set(mine) | set(yours)):
        if place.split("/", 1)[0] not in shared_sessions:
            continue  # a session one arm never reached is no leak: that arm did not complete, or was cut short
        if mine.get(place) != yours.get(place) and (place in mine) == (place in yours):
            yield reason("ARM_LEAK", f"{place} differs between {one.condition} and {other.condition}", about=place)
        elif (place in mine) != (place in yours) and "/turn/" not in place:
            yield reason("ARM_LEAK", f"{place} was given in one arm only", about=place)


def _by_place(arm: Arm) -> Mapping[str, str]:
    return {item.place: item.masked for item in arm.authored}
