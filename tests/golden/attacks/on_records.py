"""Attacks on what a series pins and plans: manifest, plan, its signature, pins."""

from __future__ import annotations

import json
from typing import Any

from bundle_kit import flipped, resigned, restated
from golden_script import golden_case

from attacks.ground import Ground, MemoryForger
from attacks.kinds import Attack
from attacks.rows import (
    DEEP,
    Change,
    Edit,
    bit,
    emptied,
    half,
    linked,
    member_twice,
    on,
    record,
    reversed_keys,
    row,
    twice,
    written,
)
from oyer.evidence import (
    PLAN_SIGNATURE,
    digest_of,
    encode_canonical,
    encode_signed,
    make_plan_statement,
    parse_signed,
)

__all__ = ["ROWS"]

M, P, S, N = "series.json", "plan", "plan signature", "pins"
CASE = golden_case().digest
CASE_PATH = f"pins/{CASE[7:]}.json"


def _opened(change: Change, *, manifest_too: bool = False) -> Change:
    """Change manifest or plan, and mend everything that names them."""

    def applied(ground: Ground, forger: MemoryForger) -> None:
        change(ground, forger)
        forger.reopen(edited=manifest_too)

    return applied


def _manifest(change: Any) -> Change:
    return _opened(on("series.json", change))


def _plan(change: Any) -> Change:
    return _opened(on("plan.json", change), manifest_too=True)


def _gone(path: str) -> Change:
    def applied(_ground: Ground, forger: MemoryForger) -> None:
        del forger.files[forger.find(path)]

    return applied


def _foreign(path: str, other: str) -> Change:
    def applied(ground: Ground, forger: MemoryForger) -> None:
        forger.files[path] = getattr(ground.all, other)[path]

    return applied


def _renamed(_ground: Ground, forger: MemoryForger) -> None:
    """Another name for the series, in the manifest and in every line of every journal."""
    forger.edit_json("series.json", lambda manifest: manifest.update(series="renamed"))
    forger.reopen()
    for trial in _trials(forger):
        for name in forger.journals(trial):
            forger.edit_events(trial, name, lambda events: [event.update(series="renamed") for event in events])
    forger.derive()


def _trials(forger: MemoryForger) -> list[str]:
    return [item["trial"] for item in json.loads(forger.files["plan.json"])["trials"]]


def _arm_swap(plan: dict[str, Any]) -> None:
    one, two = plan["trials"][0], plan["trials"][1]
    one["condition"], two["condition"] = two["condition"], one["condition"]


def _drop_hardened(_ground: Ground, forger: MemoryForger) -> None:
    """The hardened arm never existed: out of plan, manifest, ledger and trials, and all derived anew."""
    trial = forger.trial("hardened")
    forger.edit_json("plan.json", lambda plan: plan["trials"].pop())
    forger.edit_json("series.json", lambda manifest: manifest["condition_order"].remove("hardened"))
    forger.reopen()
    forger.edit_ledger(lambda records: records.__setitem__(slice(None), [r for r in records if r["trial"] != trial]))
    del forger.files[forger.find(f"trials/*/{trial}/1.tar.zst")]
    forger.derive()


def _repinned(change: Any, *, trials: bool = False) -> Change:
    """Edit the pinned case and everything that names it; with `trials` the journals too, and all derived anew."""

    def applied(_ground: Ground, forger: MemoryForger) -> None:
        data = change(forger.files.pop(CASE_PATH))
        new, renamed = digest_of(data), {}
        forger.files[f"pins/{new[7:]}.json"] = data
        for path in [p for p in forger.files if p in {"plan.json", "series.json"} or p.startswith("pins/")]:
            changed = forger.files.pop(path).replace(CASE.encode(), new.encode())
            if path.startswith("pins/"):
                now = digest_of(changed)[7:]
                renamed[path[5:-5]] = now
                path = f"pins/{now}.json"  # noqa: PLW2901 - a pin is named by its digest
            forger.files[path] = changed
        for old, now in renamed.items():
            for path in ("plan.json", "series.json"):
                forger.files[path] = forger.files[path].replace(old.encode(), now.encode())
        forger.reopen()
        for trial in _trials(forger) if trials else ():
            forger.edit_events(trial, "harness.jsonl", lambda events: events[0]["body"].update(case=new))
        if trials:
            forger.derive()

    return applied


def _softer(case: dict[str, Any]) -> None:
    case["chain"]["promotion"][0]["arguments"]["action"] = "another_action"


def _two_pins(_ground: Ground, forger: MemoryForger) -> None:
    one, two = forger.find("pins/*"), forger.find("pins/*", 1)
    forger.files[one], forger.files[two] = forger.files[two], forger.files[one]


def _pin_again(_ground: Ground, forger: MemoryForger) -> None:
    forger.files["pins/" + "a" * 64 + ".json"] = forger.files[CASE_PATH]


def _pin_more(_ground: Ground, forger: MemoryForger) -> None:
    data = encode_canonical({"oyer": "PinSet@1", "case": None})
    forger.files[f"pins/{digest_of(data)[7:]}.json"] = data


def _foreign_pin(ground: Ground, forger: MemoryForger) -> None:
    theirs = next(d for p, d in sorted(ground.all.pair.items()) if p.startswith("pins/") and p not in forger.files)
    forger.files[CASE_PATH] = theirs


def _pin_in_two_cases(_ground: Ground, forger: MemoryForger) -> None:
    forger.files[CASE_PATH.replace("pins/", "PINS/")] = forger.files[CASE_PATH]


def _envelope(change: Any) -> Change:
    def applied(ground: Ground, forger: MemoryForger) -> None:
        forger.files[PLAN_SIGNATURE] = change(ground, forger.files[PLAN_SIGNATURE])

    return applied


def _resigned_by(who: str, keyid: str | None = None) -> Any:
    def changed(ground: Ground, data: bytes) -> bytes:
        made = encode_signed(getattr(ground.all, who).private.sign(parse_signed(data).payload))
        return made if keyid is None else resigned(made, keyid=getattr(ground.all, keyid).public.keyid)

    return changed


def _another_plan(ground: Ground, _data: bytes) -> bytes:
    other = make_plan_statement(ground.all.pair["plan.json"], "2025-12-31T00:00:00Z")
    return encode_signed(ground.all.registrar.private.sign(other))


def _younger(ground: Ground, data: bytes) -> bytes:
    said = {**json.loads(parse_signed(data).payload), "predicate": {"signed": "2026-01-02T00:00:00Z"}}
    return encode_signed(ground.all.registrar.private.sign(encode_canonical(said)))


def _two_signatures(_ground: Ground, data: bytes) -> bytes:
    value = json.loads(data)
    return encode_canonical({**value, "signatures": value["signatures"] * 2})


def _signature_more(ground: Ground, data: bytes) -> bytes:
    value, mine = json.loads(data), json.loads(_resigned_by("forger")(ground, data))
    return encode_canonical({**value, "signatures": value["signatures"] + mine["signatures"]})


def _updated(**more: Any) -> Edit:
    return lambda value: value.update(more)


ROWS: tuple[Attack, ...] = (
    # The bit is that of the vocabulary: another one than its trials name.
    row("a bit of the manifest of the series", "flip", M, 5, _manifest(bit)),
    row("manifest cut in half", "cut", M, 4, _manifest(half)),
    row("manifest removed", "remove", M, 4, _gone("series.json")),
    row("a field nobody knows in the manifest", "add", M, 4, _manifest(written(_updated(more=1)))),
    row("manifest replaced by {}", "empty", M, 4, _manifest(emptied)),
    row("keys of the manifest in another order", "reorder", M, 4, _manifest(reversed_keys)),
    row("manifest twice in the archive", "duplicate", M, 1, member_twice("series/series.json"), step="archive"),
    row("series opened earlier", "backdate", M, "not caught",
        _manifest(written(_updated(opened="2020-01-01T00:00:00Z")))),
    row("manifest of another series", "foreign", M, 5, _opened(_foreign("series.json", "foreign"))),
    row("manifest of an older version", "downgrade", M, 4, _manifest(written(_updated(oyer="Series@0")))),
    row("older event vocabulary in the manifest", "downgrade", M, 4, _manifest(written(_updated(vocabulary=0)))),
    row("another seed in the manifest", "edit", M, 4, _manifest(written(_updated(seed=8)))),
    row("a condition left out of the order", "edit", M, 4,
        _manifest(written(lambda value: value["condition_order"].pop()))),
    row("a key twice in the manifest", "form", M, 4, _manifest(twice("seed"))),
    row("a link in the place of the manifest", "name", M, 1, linked("series/series.json"), step="archive"),
    row("a manifest nested without end", "size", M, 4, _manifest(lambda _: DEEP)),
    row("the whole series renamed", "recreate", M, "not caught", _renamed),
    row("a bit of the plan", "flip", P, 4, _plan(bit)),
    row("plan cut in half", "cut", P, 4, _plan(half)),
    row("plan removed", "remove", P, 4, _gone("plan.json")),
    row("a trial added to the plan", "add", P, 6, _plan(written(
        lambda plan: plan["trials"].append({**plan["trials"][-1], "trial": "t00002.more", "position": 2,
                                            "repetition": 2})))),
    row("plan replaced by {}", "empty", P, 4, _plan(emptied)),
    row("trials of the plan in another order", "reorder", P, 4, _plan(written(lambda plan: plan["trials"].reverse()))),
    row("a trial twice in the plan", "duplicate", P, 4,
        _plan(written(lambda plan: plan["trials"].append(plan["trials"][-1])))),
    row("plan of another series", "foreign", P, 6, _opened(_foreign("plan.json", "pair"), manifest_too=True)),
    row("arms swapped in the plan", "swap", P, 5, _plan(written(_arm_swap))),
    row("plan of an older version", "downgrade", P, 4, _plan(written(_updated(oyer="Plan@0")))),
    row("hardened arm dropped from the plan", "edit", P, 6, _plan(written(lambda plan: plan["trials"].pop())),
        ground="hardened"),
    row("plan that only the ledger disowns", "edit", P, 4, record(_updated(seed=8), "plan.json")),
    row("a key twice in the plan", "form", P, 4, _plan(twice("seed"))),
    row("a link in the place of the plan", "name", P, 1, linked("series/plan.json"), step="archive"),
    row("a plan nested without end", "size", P, 4, _plan(lambda _: DEEP)),
    row("hardened arm dropped from everything", "recreate", P, "not caught", _drop_hardened,
        ground="hardened"),
    row("a bit of the plan's envelope", "flip", S, 3, _envelope(lambda _, data: bit(data))),
    row("a bit of the plan's signature itself", "flip", S, "open",
        _envelope(lambda _, data: resigned(data, signature=flipped(parse_signed(data).signature)))),
    row("the plan's envelope cut in half", "cut", S, 3, _envelope(lambda _, data: half(data))),
    row("the plan's signature taken away", "remove", S, "not caught", _gone(PLAN_SIGNATURE)),
    row("a signature beside the plan's", "add", S, 3, _envelope(_signature_more)),
    row("the plan's envelope replaced by {}", "empty", S, 3, _envelope(lambda _, __: b"{}")),
    row("keys of the plan's envelope in another order", "reorder", S, 3, _envelope(lambda _, d: reversed_keys(d))),
    row("the plan's signature twice", "duplicate", S, 3, _envelope(_two_signatures)),
    row("the plan's statement dated earlier", "backdate", S, "open",
        _envelope(lambda _, data: restated(data, predicate={"signed": "2025-01-01T00:00:00Z"}))),
    row("a plan that was signed after the run", "backdate", S, 3, _envelope(_younger)),
    row("a signature over another plan", "foreign", S, 3, _envelope(_another_plan)),
    row("the operator's signature in the registrar's place", "swap", S, "open", _envelope(_resigned_by("operator"))),
    row("the plan's statement of an older kind", "downgrade", S, 3, _envelope(
        lambda _, data: restated(data, predicateType="https://oyer.invalid/predicate/plan/v0"))),
    row("plan changed after it was signed", "edit", S, 3, _plan(written(_updated(seed=8)))),
    row("a key twice in the plan's envelope", "form", S, 3, _envelope(lambda _, data: twice("payloadType")(data))),
    row("a link in the place of the plan's envelope", "name", S, 1, linked(PLAN_SIGNATURE), step="archive"),
    row("a plan's envelope nested without end", "size", S, 3, _envelope(lambda _, __: DEEP)),
    row("the plan signed by the forger", "key", S, "open", _envelope(_resigned_by("forger"))),
    row("the plan signed by the forger under the right id", "key", S, "open",
        _envelope(_resigned_by("forger", "registrar"))),
    row("a bit of a pin", "flip", N, 4, on(CASE_PATH, bit)),
    row("a pin cut in half", "cut", N, 4, on(CASE_PATH, half)),
    row("a pin removed", "remove", N, 4, _gone(CASE_PATH)),
    row("a pin nobody names", "add", N, 4, _pin_more),
    row("a pin replaced by {}", "empty", N, 4, on(CASE_PATH, emptied)),
    row("keys of a pin in another order, its name mended", "reorder", N, 4, _repinned(reversed_keys)),
    row("a pin under a second name", "duplicate", N, 4, _pin_again),
    row("a pin of another series under this name", "foreign", N, 4, _foreign_pin),
    row("two pins swapped", "swap", N, 4, _two_pins),
    row("a pin of an older version, its name mended", "downgrade", N, 4,
        _repinned(written(_updated(oyer="Case@0")))),
    row("a pin edited", "edit", N, 4, on(CASE_PATH, written(_softer))),
    row("a pin edited, and every name of it mended", "edit", N, 5, _repinned(written(_softer))),
    row("a key twice in a pin, its name mended", "form", N, 4, _repinned(twice("id"))),
    row("a pin in two cases of letters", "name", N, 1, _pin_in_two_cases),
    row("a link in the place of a pin", "name", N, 1, linked("series/pins/"), step="archive"),
    row("a pin nested without end", "size", N, 4, _repinned(lambda _: DEEP)),
    row("a rubric edited, and everything derived anew from it", "recreate", N, "not caught",
        _repinned(written(_softer), trials=True)),
)  # fmt: skip
