#!/usr/bin/env python3
"""The laws of scoring at length: `python tests/laws/ablations.py --count 100000`.

Three counts over generated experiments of 1 to 4 hops. A: damage to sealed evidence (law a), B: re-sealed removals of
cited items (law b); a violation of either ends with exit code 1 and its smallest reproduction in a file. C: how often a
forger who removes contrary evidence and seals everything again gets a conclusion. C breaks no law: only a signature or
an overlapping witness answers it. The same seed gives the same figures, whatever the number of processes.
"""

from __future__ import annotations

import argparse
import gc
import json
import multiprocessing
import os
import random
import signal
import sys
import time
from collections import Counter
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / place) for place in ("src", "tests/kits", "tests/laws") if str(ROOT / place) not in sys.path]

from law_damage import Bench, Exhibit, breaks_law_a, draw_ops, shrink  # noqa: E402
from law_reseal import breaks_law_b, cited_removals, contrary_removal, pairs, rescore  # noqa: E402
from law_worlds import draw_world, tell  # noqa: E402

DAMAGES = 24
REMOVALS = 100
FORGERIES = 10
"""How many of each kind one world gives at most."""


class Violation(NamedTuple):
    """A broken law, with what is needed to see it again. `size` orders violations: the smallest is written out."""

    law: str
    size: tuple[int, ...]
    told: dict[str, Any]


class Counts(NamedTuple):
    """What one world, or many, came to."""

    damages: int = 0
    removals: int = 0
    kept: int = 0
    forgeries: int = 0
    promoted: int = 0
    nothing_cited: int = 0
    by_contrary: Counter[tuple[str, bool]] = Counter()
    violations: tuple[Violation, ...] = ()
    worlds: int = 1

    def plus(self, other: Counts) -> Counts:
        """Add two counts."""
        return Counts(*(mine + theirs for mine, theirs in zip(self, other, strict=True)))

    def broken(self, law: str) -> int:
        """How often a law was broken."""
        return sum(found.law == law for found in self.violations)


def try_world(index: int, *, seed: int, only_forgeries: bool = False) -> Counts:
    """Tell the world of an index and try the laws on it. Each kind draws for itself, so none moves another on."""
    world = draw_world(random.Random(f"{seed}:{index}"))
    if only_forgeries and world.contrary is None:
        return Counts()
    bench = Bench(tell(world))
    draws = [random.Random(f"{seed}:{index}:{kind}") for kind in "abc"]
    done = _forgeries(bench, draws[2])
    if not only_forgeries:
        place = {"seed": seed, "world": index, "drawn": world._asdict()}
        done = done.plus(_damages(bench, draws[0], place)).plus(_removals(bench, draws[1], place))
    return done._replace(worlds=1)


def _damages(bench: Bench, rng: random.Random, place: dict[str, Any]) -> Counts:
    whole = Exhibit(bench.sealed)
    found = []
    for _ in range(DAMAGES):
        ops = draw_ops(rng, whole)
        if breaks_law_a(bench.before, bench.after(ops)):
            ops = shrink(bench, ops)
            told = {**place, "damages": ops, "before": bench.before, "after": bench.after(ops)}
            damaged = bench.damaged(ops)
            told["journals"] = [{k: v.decode("latin-1") for k, v in arm.items()} for arm in damaged.journals]
            told["offered"] = damaged.slots
            found.append(Violation("a", (len(ops), bench.told.world.hops, whole.size()), told))
    return Counts(damages=DAMAGES, violations=tuple(found))


def _removals(bench: Bench, rng: random.Random, place: dict[str, Any]) -> Counts:
    able = cited_removals(bench)
    chosen = rng.sample(able, min(len(able), REMOVALS))
    kept, found = 0, []
    for removal in chosen:
        told = breaks_law_b(bench, removal)
        if told == "kept":
            kept += 1
        elif told is not None:
            gone = sum(len(places) for places in removal.gone.values())
            size = (gone, bench.told.world.hops, Exhibit(bench.sealed).size())
            found.append(Violation("b", size, {**place, "removal": removal._asdict(), "said": told}))
    return Counts(removals=len(chosen), kept=kept, violations=tuple(found))


def _forgeries(bench: Bench, rng: random.Random) -> Counts:
    done = Counts()
    contrary = bench.told.world.contrary
    if contrary is None:
        return done
    for pair, scored in pairs(bench.told_first).items():
        if scored.mechanical_outcome != "INCONCLUSIVE":
            continue
        for _ in range(FORGERIES):
            removal = contrary_removal(bench, rng, pair, scored)
            if removal is None:
                done = done.plus(Counts(nothing_cited=1))
                break
            now = pairs(rescore(bench, removal.gone)[0])[pair].mechanical_outcome
            gained = now != "INCONCLUSIVE"
            done = done.plus(Counts(forgeries=1, promoted=int(gained), by_contrary=Counter({(contrary, gained): 1})))
    return done


def results(seed: int, jobs: int, only_forgeries: bool) -> Iterator[Counts]:
    """Yield the counts of world after world, in their order, without end."""
    one = partial(try_world, seed=seed, only_forgeries=only_forgeries)
    if jobs == 1:
        yield from map(one, range(sys.maxsize))
        return
    with multiprocessing.Pool(jobs, initializer=_work) as pool:
        start = 0
        while True:  # in portions: a pool would otherwise take in numbers without end
            yield from pool.imap(one, range(start, start + 20 * jobs))
            start += 20 * jobs


def _calm() -> None:
    """Collect garbage seldom: cycles are few here, and looking for them is dear."""
    gc.freeze()
    gc.set_threshold(50_000, 20, 100)


def _work() -> None:
    """Leave interrupts to the parent, which reports and ends its processes."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    _calm()


def run(count: int, *, seed: int, jobs: int, say: bool = True, only_forgeries: bool = False) -> Counts:
    """Try worlds until there are `count` damages and `count` removals, or as many forgeries where only those.

    An interrupt ends it early, with what it came to so far.
    """
    total, began, spoke = Counts(worlds=0), time.monotonic(), time.monotonic()
    try:
        for done in results(seed, jobs, only_forgeries):
            total = total.plus(done)
            if reached(total, only_forgeries) >= count:
                break
            if say and time.monotonic() - spoke > 5:
                spoke = time.monotonic()
                told = f"{reached(total, only_forgeries)} of {count}, {total.worlds} worlds, {spoke - began:.0f} s"
                print(f"  {told}", flush=True)
    except KeyboardInterrupt:
        print("  interrupted; this is what it came to so far", flush=True)
    return total


def reached(total: Counts, only_forgeries: bool) -> int:
    """How far a count got."""
    return total.forgeries if only_forgeries else min(total.damages, total.removals)


def report(total: Counts, seed: int, took_s: float) -> str:
    """Say all figures."""
    rate = total.promoted / total.forgeries if total.forgeries else 0.0
    lines = [
        f"A  damage to sealed evidence         {total.damages:>7}, violations of law (a): {total.broken('a')}",
        f"B  cited items removed and resealed  {total.removals:>7}, violations of law (b): {total.broken('b')}",
        f"   of these {total.kept} left the conclusion standing on other cited items",
        f"C  contrary evidence removed, resealed: {total.promoted} of {total.forgeries} ({rate:.1%}) got a conclusion",
        f"   ({total.nothing_cited} INCONCLUSIVE results cite nothing that could be removed)",
        "   no law forbids C: only a signature or an overlapping witness answers it. By what stood against it:",
    ]
    for name in sorted({name for name, _ in total.by_contrary}):
        gained, not_gained = total.by_contrary[name, True], total.by_contrary[name, False]
        lines.append(f"     {name:<24}{gained:>6} of {gained + not_gained}")
    lines.append(f"seed {seed}, {total.worlds} worlds, {took_s:.0f} s")
    return "\n".join(lines)


def write_smallest(total: Counts, out: Path) -> None:
    """Write the smallest violation to a file."""
    smallest = min(total.violations, key=lambda found: (found.size, json.dumps(found.told, sort_keys=True)))
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(json.dumps({"law": smallest.law, **smallest.told}, indent=1), encoding="utf-8")
    place = f"--seed {smallest.told['seed']} --world {smallest.told['world']}"
    print(f"law ({smallest.law}) is broken; the smallest reproduction is in {out}. Again: {sys.argv[0]} {place}")


def main(arguments: list[str] | None = None) -> int:
    """Run the count, or one world of it; 1 if a law is broken."""
    parser = argparse.ArgumentParser(description="Hold the scorer to laws (a) and (b); tell what a forger gains.")
    parser.add_argument("--count", type=int, default=100_000, help="how many of A and of B, at least")
    parser.add_argument("--only-forgeries", action="store_true", help="count C alone")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--world", type=int, help="only this world")
    parser.add_argument("--out", type=Path, default=ROOT / "build" / "laws" / "violation.json")
    given = parser.parse_args(arguments)
    began = time.monotonic()
    _calm()
    if given.world is None:
        jobs, only = max(1, given.jobs), given.only_forgeries
        total = run(given.count, seed=given.seed, jobs=jobs, only_forgeries=only)
    else:
        total = try_world(given.world, seed=given.seed)
    print(report(total, given.seed, time.monotonic() - began))
    if total.violations:
        write_smallest(total, given.out)
        return 1
    whole = given.world is not None or reached(total, given.only_forgeries) >= given.count
    return 0 if whole else 130


if __name__ == "__main__":
    for number in (signal.SIGINT, signal.SIGTERM):  # in the background too, where a shell has interrupts ignored
        signal.signal(number, signal.default_int_handler)
    sys.exit(main())
