"""Attacks on sequences: whose turns are whose, in which order, and what the traces of one case did to a later one."""

from __future__ import annotations

from typing import Any

from golden_sequence import BOTH, sequence_records

from attacks.ground import Ground, MemoryForger
from attacks.kinds import Attack
from attacks.rows import record, row, written
from oyer.evidence import digest_of

__all__ = ["ROWS"]

_CASES, _, _ = sequence_records()
FIRST, SEQUENCE = _CASES[0].digest, _CASES[-1].digest
OUTCOME = f"outcomes/*{BOTH}*.json"
SEGMENTS = f"pins/{SEQUENCE[7:]}.json"


def _reversed(value: dict[str, Any]) -> None:
    """The cases of the outcome change places, and say so."""
    value["segments"].reverse()
    for order, segment in enumerate(value["segments"]):
        segment["order"] = segment["pressure"]["order"] = order


def _seen_nothing(value: dict[str, Any]) -> None:
    (hit,) = value["segments"][0]["pressure"]["downstream_contamination"]
    hit.update(state="none_seen", traces=[])


def _other_way_round(value: dict[str, Any]) -> None:
    (hit,) = value["segments"][0]["pressure"]["downstream_contamination"]
    hit["earlier"], hit["later"] = hit["later"], hit["earlier"]


def _swapped(value: dict[str, Any]) -> None:
    """Each case gets the turns of the other."""
    one, two = value["segments"]
    for name in ("case", "digest"):
        one[name], two[name] = two[name], one[name]


def _swapped_everywhere(_ground: Ground, forger: MemoryForger) -> None:
    """The same, and every name of the sequence is mended: in pins, plan, manifest and journal; all is derived anew."""
    names = {SEQUENCE: ""}
    while True:
        old = next((name for name, new in names.items() if not new), None)
        if old is None:
            break
        data = forger.files.pop(f"pins/{old[7:]}.json")
        data = written(_swapped)(data) if old == SEQUENCE else _named(data, names)
        names[old] = digest_of(data)
        forger.files[f"pins/{names[old][7:]}.json"] = data
        stale = [path for path in forger.paths() if path.startswith("pins/") and old.encode() in forger.files[path]]
        names |= {f"sha256:{path[5:-5]}": "" for path in stale if f"sha256:{path[5:-5]}" not in names}
    for path in ("plan.json", "series.json"):
        forger.files[path] = _named(forger.files[path], names)
    trial = forger.find(OUTCOME).removeprefix("outcomes/").removesuffix(".json")
    forger.edit_events(trial, "harness.jsonl", lambda events: events[0]["body"].update(case=names[SEQUENCE]))
    forger.reopen()
    forger.derive()


def _named(data: bytes, names: dict[str, str]) -> bytes:
    for old, new in names.items():
        data = data.replace(old.encode(), new.encode()) if new else data
    return data


def _without_the_boundary(_ground: Ground, forger: MemoryForger) -> None:
    """The look at the end of the first case's turn is taken out, and the chain mended."""
    trial = forger.find(OUTCOME).removeprefix("outcomes/").removesuffix(".json")

    def edit(events: list[dict[str, Any]]) -> None:
        look = next(event for event in events if event["body"].get("turn") == 0)
        events.remove(look)

    forger.edit_events(trial, "world.jsonl", edit)


ROWS: tuple[Attack, ...] = (
    row("cases of a sequence swapped in the outcome", "reorder", "outcomes", 8, record(_reversed, OUTCOME),
        ground="sequence"),
    row("a trace that hit told as not seen", "edit", "outcomes", 8, record(_seen_nothing, OUTCOME),
        ground="sequence"),
    row("the later case told as the earlier", "edit", "outcomes", 8, record(_other_way_round, OUTCOME),
        ground="sequence"),
    row("a case of a sequence left out of the outcome", "remove", "outcomes", 8,
        record(lambda v: v["segments"].pop(), OUTCOME), ground="sequence"),
    row("turns of two cases swapped in the pinned sequence", "edit", "pins", 4, record(_swapped, SEGMENTS),
        ground="sequence"),
    row("turns of two cases swapped everywhere, all derived anew", "recreate", "pins", 4,
        _swapped_everywhere, ground="sequence"),
    row("the look between two cases of a sequence taken out", "remove", "journal: world", 8, _without_the_boundary,
        ground="sequence"),
)  # fmt: skip
