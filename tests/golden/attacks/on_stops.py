"""Attacks on what a rule or a budget decided: stops that were not due, passed over, made up, or told otherwise."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from golden_stopped import RULE, UNITS, stop_of
from golden_tamper import Lines

from attacks.ground import Ground, MemoryForger
from attacks.kinds import Attack
from attacks.rows import Change, row
from oyer.evidence import digest_of, packed_path
from oyer.records import Sequential, digest

__all__ = ["ROWS"]

L = "ledger"


def _stop(records: Lines) -> dict[str, Any]:
    return next(record for record in records if record["kind"] == "stopped")


def _told(**fields: Any) -> Change:
    """Change what the stop says, and derive everything anew."""

    def applied(_ground: Ground, forger: MemoryForger) -> None:
        forger.edit_ledger(lambda records: _stop(records)["body"].update(fields))
        forger.derive()

    return applied


def _units(forger: MemoryForger, beyond: int) -> list[str]:
    plan = json.loads(forger.files["plan.json"])
    return [one["trial"] for one in plan["trials"] if one["repetition"] > beyond]


def _stopped_early(_ground: Ground, forger: MemoryForger) -> None:
    """The second unit is taken out whole, and the stop put after the first."""
    gone = set(_units(forger, UNITS - 1))

    def edit(records: Lines) -> None:
        records[:] = [record for record in records if record["trial"] not in gone]
        _stop(records)["body"].update(stop_of(UNITS - 1, UNITS - 1))

    forger.edit_ledger(edit)
    for trial in gone:
        forger.files.pop(packed_path(trial, 1), None)
    forger.derive()


def _went_on(_ground: Ground, forger: MemoryForger) -> None:
    """The stop is told to have come after one unit; the second ran all the same."""
    forger.edit_ledger(lambda records: _stop(records)["body"].update(stop_of(UNITS - 1, UNITS - 1)))


def _moved_up(_ground: Ground, forger: MemoryForger) -> None:
    """The stop stands before the last unit that it counts."""

    def edit(records: Lines) -> None:
        stop = _stop(records)
        records.remove(stop)
        later = next(at for at, one in enumerate(records) if one["trial"] in _units(forger, UNITS - 1))
        records.insert(later, stop)

    forger.edit_ledger(edit)


def _begun_early(_ground: Ground, forger: MemoryForger) -> None:
    """A trial of the second unit is claimed before the first unit, which a look divides from it, has ended."""

    def edit(records: Lines) -> None:
        later = next(one for one in records if one["trial"] in _units(forger, UNITS - 1))
        records.remove(later)
        records.insert(1, later)

    forger.edit_ledger(edit)


def _without_the_stop(_ground: Ground, forger: MemoryForger) -> None:
    forger.edit_ledger(lambda records: records.remove(_stop(records)))


def _stop_gone_and_all_told_as_run(_ground: Ground, forger: MemoryForger) -> None:
    """The rule is taken out of the plan, and what ran is told as a fixed number that was planned."""
    gone = set(_units(forger, UNITS))

    def edit(plan: dict[str, Any]) -> None:
        plan["repeat"] = {"fixed": UNITS, "sequential": None, "budget": None}
        plan["trials"] = [trial for trial in plan["trials"] if trial["trial"] not in gone]

    forger.edit_json("plan.json", edit)
    _without_the_stop(_ground, forger)
    forger.reopen()
    forger.derive()


def _other_rule(**changed: Any) -> Change:
    """The rule itself is changed after the fact, in the plan and in the stop, and everything re-hashed."""

    def applied(_ground: Ground, forger: MemoryForger) -> None:
        other = Sequential.model_validate({**RULE.model_dump(), **changed})
        forger.edit_json("plan.json", lambda plan: plan["repeat"]["sequential"].update(changed))
        forger.edit_ledger(lambda records: _stop(records)["body"].update(rule=digest(other)))
        forger.reopen()
        forger.derive()

    return applied


def _made_up(why: str, body: Callable[[], dict[str, Any]], *, version: int = 2, drop: bool = True) -> Change:
    """A series that declares neither is told to have been stopped, so that a trial may be left out."""

    def applied(_ground: Ground, forger: MemoryForger) -> None:
        last = json.loads(forger.files["plan.json"])["trials"][-1]["trial"]
        none = dict.fromkeys(("attempt", "digest", "run", "status", "trial"))

        def edit(records: Lines) -> None:
            records[0]["body"].update({"ledger": version} if version > 1 else {})
            if drop:
                records[:] = [record for record in records if record["trial"] != last]
            stop = {**none, "body": body(), "kind": "stopped", "t_wall": records[-1]["t_wall"], "why": why}
            records.insert(-1, stop)

        forger.edit_ledger(edit)
        if drop:
            del forger.files[packed_path(last, 1)]
            forger.derive()

    return applied


def _budget(limit: int = 1, seen: int = 2) -> Callable[[], dict[str, Any]]:
    return lambda: {"what": "wall_s", "limit": limit, "seen": seen}


def _twice(records: Lines) -> None:
    records.insert(-1, dict(_stop(records)))


def _edited(edit: Callable[[Lines], object]) -> Change:
    return lambda _ground, forger: forger.edit_ledger(edit)


def _declared_budget(_ground: Ground, forger: MemoryForger) -> None:
    """The plan is given a budget after the fact, and the ledger a stop by it before it was used up."""
    forger.edit_json("plan.json", lambda plan: plan["repeat"].update(budget={"wall_s": 9}))
    plan = json.loads(forger.files["plan.json"])
    plan["repeat"]["budget"] = {"cost_usd": None, "tokens": None, "wall_s": 9}
    forger.edit_json("plan.json", lambda value: value.update(plan))
    _made_up("budget", _budget(9, 3))(_ground, forger)
    forger.reopen()
    forger.derive()


def _newer(records: Lines) -> None:
    records[0]["body"]["ledger"] = 99


ROWS: tuple[Attack, ...] = (
    row("a stop that was not due", "edit", L, 10, _stopped_early, ground="stopped"),
    row("a stop told before the unit that brought it", "edit", L, 6, _went_on, ground="stopped"),
    row("a stop moved before the trials that it counts", "reorder", L, 6, _moved_up, ground="stopped"),
    row("a trial begun before the look before it", "reorder", L, 6, _begun_early, ground="stopped"),
    row("a stop without its line", "remove", L, 6, _without_the_stop, ground="stopped"),
    row("a stop with another count", "edit", L, 10, _told(k=UNITS - 1), ground="stopped"),
    row("a stop with an undecided unit that was decided", "edit", L, 10, _told(decided=1, undecided=1),
        ground="stopped"),
    row("a stop with more evidence than there is", "edit", L, 10, _told(log_e="9.900000"), ground="stopped"),
    row("a rejection told as accepted", "edit", L, 10, _told(word="accepted"), ground="stopped"),
    row("a rejection told as undecided", "edit", L, 10, _told(word="undecided"), ground="stopped"),
    row("a stop of somebody else", "edit", L, 6, _told(subject="wary"), ground="stopped"),
    row("a stop by another rule", "edit", L, 6, _told(rule=digest_of(b"")), ground="stopped"),
    row("a stop twice", "duplicate", L, 6, _edited(_twice), ground="stopped"),
    row("a stop in a ledger of version 1", "downgrade", L, 5,
        _edited(lambda records: records[0]["body"].pop("ledger")), ground="stopped"),
    row("a ledger newer than its reader", "downgrade", L, 5, _edited(_newer), ground="stopped"),
    row("a stop by a rule that nobody declared", "add", L, 6, _made_up("rule", lambda: stop_of(1, 1))),
    row("a stop by a budget that nobody declared", "add", L, 6, _made_up("budget", _budget())),
    row("a stop in a series of the old form", "add", L, 5,
        _made_up("rule", lambda: stop_of(1, 1), version=1, drop=False)),
    row("a budget declared after the fact, not used up", "edit", "plan", 6, _declared_budget),
    row("alpha lowered after the stop", "edit", "plan", 10, _other_rule(alpha=0.01), ground="stopped"),
    row("looks put where the stop would have been earlier", "edit", "plan", 10, _other_rule(p0=0.1),
        ground="stopped"),
    row("the look of the stop taken out of the plan", "edit", "plan", 10, _other_rule(min=3), ground="stopped"),
    row("a rule taken out of the plan, what ran told as a fixed number", "recreate", "plan", "not caught",
        _stop_gone_and_all_told_as_run, ground="stopped"),
)  # fmt: skip
