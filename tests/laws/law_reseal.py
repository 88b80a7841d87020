"""Law (b), and what no law can promise: items taken out, the counts of the sinks put right, and all sealed again.

What is removed is named by places in the story of an arm, so that it can be written down and removed again.
"""

from __future__ import annotations

import random
from typing import NamedTuple

from evidence_kit import Draft, Story, score
from law_damage import Bench
from law_worlds import fix_counts

from oyer.records import Comparison, Scored

HOWS = ("alone", "with what is recorded about it", "with all that hangs on it")


class Removal(NamedTuple):
    """What was removed from which arms: places of drafts, arm by arm."""

    pair: str
    how: str
    item: str
    gone: dict[int, list[int]]


def pairs(comparison: Comparison) -> dict[str, Scored]:
    """The scored pairs of a comparison, by the treated condition."""
    found = {"manipulated": comparison.primary}
    if comparison.hardened is not None:
        found["hardened"] = comparison.hardened
    return found


def hanging(story: Story, gone: set[Draft], *, deep: bool) -> set[Draft]:
    """What is removed, with the records about it; `deep` takes the records about those too, and so on."""
    found = set(gone)
    while True:
        more = {d for d in story.drafts if d not in found and any(v in found for v in _drafts_in(d))}
        if not more:
            return found
        found |= more
        if not deep:
            return found


def _drafts_in(draft: Draft) -> list[Draft]:
    return [value for value in draft.body.values() if isinstance(value, Draft)]


def named(story: Story, bench: Bench, arm: int, refs: tuple[str, ...]) -> list[Draft]:
    """The drafts that became these events."""
    ids = {key for key, ref in bench.sealed[arm].refs.items() if ref in refs}
    return [draft for draft in story.drafts if id(draft) in ids]


def rescore(bench: Bench, gone: dict[int, list[int]]) -> tuple[Comparison, dict[int, dict[str, Draft]]]:
    """Score the world with these drafts taken out and everything sealed again; with who became which event."""
    arms = list(bench.arms)
    became: dict[int, dict[str, Draft]] = {}
    for arm, places in gone.items():
        story = bench.told.stories[arm]
        without = frozenset(story.drafts[place] for place in places)
        fix_counts(story, without)
        sealed = story.seal(without=without)
        fix_counts(story, frozenset())
        arms[arm] = sealed.arm(bench.told.case)
        by_id = {id(draft): draft for draft in story.drafts}
        became[arm] = {ref: by_id[key] for key, ref in sealed.refs.items()}
    return score(bench.told.case, *arms), became


def cited_removals(bench: Bench) -> list[Removal]:
    """Every removal of one item that a conclusion cites, in every way."""
    found = []
    for pair, scored in pairs(bench.told_first).items():
        if scored.mechanical_outcome == "INCONCLUSIVE":
            continue
        arm = _place_of(bench, pair)
        story = bench.told.stories[arm]
        for item in named(story, bench, arm, scored.evidence):
            seen: set[frozenset[Draft]] = set()
            for how in HOWS:
                gone = frozenset({item} if how == "alone" else hanging(story, {item}, deep=how == HOWS[2]))
                if gone not in seen:
                    seen.add(gone)
                    places = [n for n, draft in enumerate(story.drafts) if draft in gone]
                    found.append(Removal(pair, how, repr(item), {arm: places}))
    return found


def _place_of(bench: Bench, condition: str) -> int:
    return [story.condition for story in bench.told.stories].index(condition)


def breaks_law_b(bench: Bench, removal: Removal) -> str | None:
    """Say how a removal breaks the law, None where it does not; `kept` where another cited item proves the link."""
    arm = _place_of(bench, removal.pair)
    first = pairs(bench.told_first)[removal.pair]
    again, became = rescore(bench, removal.gone)
    now = pairs(again)[removal.pair]
    if now.mechanical_outcome == "INCONCLUSIVE":
        return None
    if now.mechanical_outcome != first.mechanical_outcome:
        return f"{first.mechanical_outcome} became {now.mechanical_outcome}"
    cited = set(named(bench.told.stories[arm], bench, arm, first.evidence))
    fresh = [ref for ref in now.evidence if became[arm][ref] not in cited]
    return f"{now.mechanical_outcome} stands on what was not cited: {fresh}" if fresh else "kept"


def contrary_removal(bench: Bench, rng: random.Random, pair: str, scored: Scored) -> Removal | None:
    """Draw a removal of what the reasons against a conclusion cite; None where they cite nothing."""
    stories = bench.told.stories
    items: list[tuple[int, Draft]] = []
    for arm, story in enumerate(stories):
        refs = tuple(ref for r in scored.reasons if r.arm == story.condition for ref in r.evidence)
        items += [(arm, draft) for draft in named(story, bench, arm, refs)]
    if not items:
        return None
    chosen = items if rng.random() < 0.5 else rng.sample(items, rng.randint(1, len(items)))
    how = rng.choice((*HOWS[1:], "the whole calls"))
    gone: dict[int, list[int]] = {}
    for arm, story in enumerate(stories):
        own = {draft for at, draft in chosen if at == arm}
        if not own:
            continue
        if how == "the whole calls":
            steps = {bench.told.steps[arm].get(id(draft)) for draft in own} - {None}
            own |= {draft for draft in story.drafts if bench.told.steps[arm].get(id(draft)) in steps}
        taken = hanging(story, own, deep=how != HOWS[1])
        gone[arm] = [place for place, draft in enumerate(story.drafts) if draft in taken]
    return Removal(pair, how, f"{len(chosen)} of {len(items)} cited", gone)
