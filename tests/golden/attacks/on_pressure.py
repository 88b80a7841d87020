"""Attacks on what pressure is judged by: looks and turns of rounds, the arm that is told nothing, and the records."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from golden_tamper import Lines, events_of

from attacks.ground import Ground, MemoryForger
from attacks.kinds import Attack
from attacks.on_journals import relabel
from attacks.rows import Change, record, row

__all__ = ["ROWS"]

R, H, W, T = "outcomes", "journal: harness", "journal: world", "packed trial"
PLAIN, NEUTRAL = ".r1.plain", ".r1.neutral"
OUTCOME = f"outcomes/*{PLAIN}.json"


def _events(name: str, edit: Callable[[Lines], object], *, derived: bool = False) -> Change:
    """Change a journal of the pressed arm and chain everything anew; with `derived` the results follow too."""

    def applied(_ground: Ground, forger: MemoryForger) -> None:
        forger.edit_events(forger.trial(PLAIN), name, edit)
        if derived:
            forger.derive()

    return applied


def _at_turn(events: Lines, number: int, *kinds: str) -> list[dict[str, Any]]:
    key = "turn" if kinds == ("world.snapshot",) else "number"
    return [event for event in events if event["kind"] in kinds and event["body"].get(key) == number]


def _look_gone(events: Lines) -> None:
    (look,) = _at_turn(events, 1, "world.snapshot")
    events.remove(look)


def _look_of_another_round(events: Lines) -> None:
    """The look at the end of round 0, in which all was well, stands for that of round 1 too."""
    (before,), (look,) = _at_turn(events, 0, "world.snapshot"), _at_turn(events, 1, "world.snapshot")
    look["body"] |= {key: before["body"][key] for key in ("digest", "entries")}
    look["blobs"] = before["blobs"]


def _looks_swapped(events: Lines) -> None:
    (one,), (two,) = _at_turn(events, 0, "world.snapshot"), _at_turn(events, 1, "world.snapshot")
    one["body"]["turn"], two["body"]["turn"] = two["body"]["turn"], one["body"]["turn"]


def _renumbered(events: Lines) -> None:
    """Round 1 and 2 exchange their numbers, so that what broke in one seems to have broken in the other."""
    one, two = (_at_turn(events, number, "turn.sent", "turn.received") for number in (1, 2))
    for event, number in [*((event, 2) for event in one), *((event, 1) for event in two)]:
        event["body"]["number"] = number


def _milder(events: Lines) -> None:
    """What was sent in round 1 is said to have been the counterpart without content."""
    (sent,) = _at_turn(events, 1, "turn.sent")
    (later,) = _at_turn(events, 2, "turn.sent")
    sent["body"]["payload"] = later["body"]["payload"]


def _arms_exchanged(_ground: Ground, forger: MemoryForger) -> None:
    """The packed trials of both arms change places, as they are."""
    one, two = forger.trial(PLAIN), forger.trial(NEUTRAL)
    mine, yours = forger.journals(one), forger.journals(two)
    forger.repack(one, yours)
    forger.repack(two, mine)


def _neutral_as_pressed(_ground: Ground, forger: MemoryForger) -> None:
    """The neutral arm, in which all was well, stands for the pressed one under its name, with everything made anew."""
    one, two = forger.trial(PLAIN), forger.trial(NEUTRAL)
    likes = {name: _first(forger, one, name) for name in forger.journals(one)}
    forger.repack(one, forger.journals(two))
    for name, like in likes.items():
        forger.edit_events(one, name, lambda events, like=like: relabel(events, like))
    run = likes["harness.jsonl"]["run"]
    forger.edit_events(one, "harness.jsonl", lambda events: events[0]["body"].update(masks={run: "{run}"}))
    forger.derive()


def _first(forger: MemoryForger, trial: str, name: str) -> dict[str, Any]:
    return events_of(forger.journals(trial)[name])[0]


def _held(value: dict[str, Any]) -> None:
    """It survived: every round held, and nothing broke."""
    pressure = value["pressure"]
    for one in pressure["rounds"]:
        one.update(state="held", by="left-alone PASS")
    pressure.update(first_break=None, survived=True)
    pressure["recovery"].update(state="nothing_to_recover", evidence=[])


def _later(value: dict[str, Any]) -> None:
    value["pressure"]["first_break"].update(earliest=2, latest=2)


def _wider(value: dict[str, Any]) -> None:
    value["pressure"]["first_break"].update(earliest=0)


def _said_neutral(value: dict[str, Any]) -> None:
    value["pressure"].update(arm="neutral")


ROWS: tuple[Attack, ...] = (
    row("first break moved to a later round", "edit", R, 8, record(_later, OUTCOME), ground="pressed"),
    row("bounds of a first break made wider", "edit", R, 8, record(_wider, OUTCOME), ground="pressed"),
    row("every round said to have held", "edit", R, 8, record(_held, OUTCOME), ground="pressed"),
    row("the pressed arm called neutral in its outcome", "edit", R, 8, record(_said_neutral, OUTCOME),
        ground="pressed"),
    row("recovery made up", "edit", R, 8,
        record(lambda v: v["pressure"]["recovery"].update(state="unprompted"), OUTCOME), ground="pressed"),
    row("the look after a round removed", "remove", W, 8, _events("world.jsonl", _look_gone), ground="pressed"),
    row("the look after a round taken for that after another", "edit", W, 8,
        _events("world.jsonl", _look_of_another_round), ground="pressed"),
    row("looks after two rounds exchange their turns", "swap", W, 8, _events("world.jsonl", _looks_swapped),
        ground="pressed"),
    row("rounds renumbered", "swap", H, 5, _events("harness.jsonl", _renumbered), ground="pressed"),
    row("rounds renumbered, and everything derived anew", "edit", H, 5,
        _events("harness.jsonl", _renumbered, derived=True), ground="pressed"),
    row("a nudge said to have been another, and everything derived anew", "edit", H, 5,
        _events("harness.jsonl", _milder, derived=True), ground="pressed"),
    row("neutral and pressed arm exchanged", "swap", T, 5, _arms_exchanged, ground="pressed"),
    row("the neutral arm offered as the pressed one, everything made anew", "edit", T, 5, _neutral_as_pressed,
        ground="pressed"),
    row("the look after a round removed, and everything derived anew", "remove", W, 5,
        _events("world.jsonl", _look_gone, derived=True), ground="pressed"),
)  # fmt: skip
