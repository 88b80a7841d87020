"""Hold the second scorer and the real one against each other over generated states.

`python tests/second_scorer/compare.py --count 100000 --jobs 2` prints progress and every disagreement as it is found, a
tally of them by kind and a smallest example of each; `--first 46000` leaves the states before that number out. Only the
function `score` of the vector builder is taken from the real side.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Iterable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
for place in (HERE.parents[1] / "src", HERE.parent / "conform", HERE):
    if str(place) not in sys.path:
        sys.path.insert(0, str(place))

from reading import Arm  # noqa: E402
from scorer import Judgement, judge  # noqa: E402
from states import Recipe, recipes  # noqa: E402
from vector_journals import score  # noqa: E402

CHUNK = 250


def differences(given: dict[str, Any]) -> tuple[str, ...]:
    """What the two scorers say differently of one state: empty when they agree."""
    mine, real = judge(given), score(given)
    if damaged(given):
        return tuple(_of_damaged(mine, real))
    found = _apart("primary", mine, real.primary)
    if mine.hardened is not None:
        if real.hardened is None:
            return (*found, "hardened: not judged by the real scorer")
        found += _apart("hardened", mine.hardened, real.hardened)
        if mine.contrast != real.hardened_contrast:
            found.append(f"contrast: {mine.contrast} / {real.hardened_contrast}")
    return tuple(sorted(found))


def damaged(given: dict[str, Any]) -> bool:
    """Whether it is the reader's own affair what is still read of a journal, or an id means two calls."""
    arms = [Arm(state, given) for state in given["arms"].values() if state is not None]
    return any(
        arm.id_reused_while_open
        or arm.state["trace"] not in ("complete", "truncated")
        or arm.sink.get("journal", "complete") != "complete"
        or arm.state.get("recorded")
        for arm in arms
    )


def _of_damaged(mine: Judgement, real: Any) -> list[str]:
    """The outcome, and that the damage is among the reasons."""
    found = []
    for side, one, other in (("primary", mine, real.primary), ("hardened", mine.hardened, real.hardened)):
        if one is None:
            continue
        codes = {reason.code for reason in other.reasons}
        wanted = one.codes & {"EVIDENCE_BROKEN", "FOREIGN_TRACE"}
        found += [f"{side}, damaged: only second {code}" for code in wanted - codes]
        if one.outcome != other.mechanical_outcome and wanted:
            found.append(f"{side}, damaged: outcome {one.outcome} / {other.mechanical_outcome}")
    return found


def _apart(side: str, mine: Judgement, real: Any) -> list[str]:
    codes = {reason.code for reason in real.reasons}
    found = [f"{side}: only second {code}" for code in mine.codes - codes]
    found += [f"{side}: only real {code}" for code in codes - mine.codes]
    if mine.outcome != real.mechanical_outcome:
        found.append(f"{side}: outcome {mine.outcome} / {real.mechanical_outcome}")
    # The law gives one attribution per unmatched *effect* link.
    causes = {item.cause for item in real.attribution if item.link == "effect"}
    own = {mine.attribution} - {None}
    if causes != own:
        found.append(f"{side}: attribution {sorted(map(str, own))} / {sorted(causes)}")
    return found


def smallest(recipe: Recipe, part: str) -> Recipe:
    """Leave out mutations for as long as that part of the disagreement stays."""
    for smaller in recipe.without():
        if part in differences_of(smaller):
            return smallest(smaller, part)
    return recipe


def differences_of(recipe: Recipe) -> tuple[str, ...]:
    """The disagreement of a recipe's state; a state that the builder cannot build is one too."""
    try:
        return differences(recipe.build())
    except Exception as error:  # noqa: BLE001 - whatever it is, it is printed with the recipe that made it
        return (f"error: {type(error).__name__}: {str(error)[:100]}",)


@dataclass
class Tally:
    """What a run found: which states differ and in what, how often each difference, the shortest recipe that shows it."""

    states: int = 0
    conclude: int = 0
    apart: int = 0
    found: list[tuple[int, tuple[str, ...]]] = field(default_factory=list)
    parts: Counter[str] = field(default_factory=Counter)
    examples: dict[str, Recipe] = field(default_factory=dict)

    def note(self, recipe: Recipe, parts: Iterable[str]) -> None:
        for part in parts:
            self.parts[part] += 1
            self.keep(part, recipe)

    def add(self, other: Tally) -> None:
        self.states += other.states
        self.conclude += other.conclude
        self.apart += other.apart
        self.found += other.found
        self.parts += other.parts
        for part, recipe in other.examples.items():
            self.keep(part, recipe)

    def keep(self, part: str, recipe: Recipe) -> None:
        known = self.examples.get(part)
        if known is None or len(recipe.steps) < len(known.steps):
            self.examples[part] = recipe


def run(chunk: Iterable[tuple[int, Recipe]]) -> Tally:
    """Compare some states, each with its number."""
    tally = Tally()
    for number, recipe in chunk:
        tally.states += 1
        tally.conclude += judge(recipe.build()).outcome != "INCONCLUSIVE"
        found = differences_of(recipe)
        if found:
            tally.apart += 1
            tally.found.append((number, found))
            tally.note(recipe, found)
    return tally


def compare(count: int, seed: int = 1, jobs: int = 1, *, first: int = 0, progress: bool = False) -> Tally:
    """Compare the states from a number on, as many as asked for, in one process or several."""
    todo = list(enumerate(recipes(seed, count, first), first))
    chunks = [todo[start : start + CHUNK] for start in range(0, count, CHUNK)]
    total = Tally()
    if jobs == 1:
        results: Iterable[Tally] = map(run, chunks)
        return _collect(total, results, count, progress)
    with ProcessPoolExecutor(jobs) as pool:
        return _collect(total, pool.map(run, chunks), count, progress)


def _collect(total: Tally, results: Iterable[Tally], count: int, progress: bool) -> Tally:
    for part in results:
        total.add(part)
        if not progress:
            continue
        for number, parts in part.found:
            sys.stderr.write(f"state {number}: {'; '.join(parts)}\n")
        if total.states % 2000 < CHUNK:
            sys.stderr.write(f"{total.states} of {count}, {total.apart} disagree\n")
        sys.stderr.flush()
    return total


def report(tally: Tally, *, states: bool) -> str:
    """The tally in words, with a smallest example of each difference."""
    lines = [f"{tally.states} states, {tally.conclude} conclude, {tally.apart} disagree"]
    lines += [f"{times:7d}  {part}" for part, times in tally.parts.most_common()]
    for part, times in tally.parts.most_common():
        small = smallest(tally.examples[part], part)
        lines += ["", f"{times} x {part}", f"   {small.base}", f"   {list(small.steps)}"]
        lines += [f"      also: {other}" for other in differences_of(small) if other != part]
        if states:
            lines.append(json.dumps(small.build()))
    return "\n".join(lines)


def main() -> int:
    """Compare as many states as asked for; exit 1 if any two judgements differ."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=5000)
    parser.add_argument("--first", type=int, default=0, help="the number of the first state (default 0)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--states", action="store_true", help="print the smallest state of each kind as JSON")
    asked = parser.parse_args()
    tally = compare(asked.count, asked.seed, asked.jobs, first=asked.first, progress=True)
    sys.stdout.write(report(tally, states=asked.states) + "\n")
    return 1 if tally.apart else 0


if __name__ == "__main__":
    sys.exit(main())
