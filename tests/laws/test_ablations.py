"""Laws (a) and (b) over some of the generated worlds; `make laws` does 100,000 of each."""

from __future__ import annotations

import json
import random
from pathlib import Path

import ablations
import pytest
from law_damage import Bench, Exhibit, breaks_law_a, draw_ops, shrink
from law_reseal import breaks_law_b, cited_removals
from law_worlds import CONTRARY, World, draw_world, tell

from oyer.records import canonical_bytes

LOOSE = World(2, True, True, False, True, "action and effect", None, False, "contains", 0, None)


def test_no_ablation_breaks_a_law() -> None:
    total = ablations.run(60, seed=7, jobs=1, say=False)
    assert [found.told for found in total.violations] == []
    assert total.damages >= 60 and total.removals >= 60


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_no_ablation_breaks_a_law_at_length() -> None:
    total = ablations.run(1000, seed=11, jobs=2, say=False)
    assert [found.told for found in total.violations] == []
    assert total.forgeries > total.promoted > 0


@pytest.mark.parametrize("hops", [1, 2, 3, 4])
@pytest.mark.parametrize("acts", [True, False])
@pytest.mark.parametrize("gateway", [True, False])
def test_worlds_without_contrary_evidence_conclude(hops: int, acts: bool, gateway: bool) -> None:
    world = World(hops, False, hops % 2 == 0, gateway, acts, "two effects", "block", True, "field", 1, None)
    assert Bench(tell(world)).before == ["CONFIRMED" if acts else "NOT_OBSERVED", "NOT_OBSERVED"]


def test_worlds_with_contrary_evidence_are_met_and_do_not_conclude() -> None:
    drawn = [draw_world(random.Random(seed)) for seed in range(600)]
    assert {world.contrary for world in drawn} == {None, *CONTRARY}
    assert {world.hops for world in drawn} == {1, 2, 3, 4}
    for contrary in ("near miss", "baseline acts", "effect alone", "unanswered"):
        world = next(world for world in drawn if world.contrary == contrary)
        assert Bench(tell(world)).before[0] == "INCONCLUSIVE"


def test_a_look_that_takes_the_place_of_a_cited_one_is_cited_too() -> None:
    """A memo that nothing reads again is proven by every look that shows it."""
    bench = Bench(tell(LOOSE))
    told = [breaks_law_b(bench, removal) for removal in cited_removals(bench)]
    assert set(told) == {None, "kept"}
    link = next(link for link in bench.told_first.primary.links if link.id == "memo-1")
    assert [ref.split(":")[0] for ref in link.evidence].count("world") == 2


def test_the_same_seed_gives_the_same_figures() -> None:
    assert ablations.try_world(3, seed=5) == ablations.try_world(3, seed=5)
    bench = Bench(tell(LOOSE))
    again = Bench(tell(LOOSE))
    assert canonical_bytes(bench.told_first) == canonical_bytes(again.told_first)


def test_arms_that_were_not_touched_score_as_when_read_afresh() -> None:
    bench = Bench(tell(LOOSE))
    assert bench.after([]) == bench.before == Bench(tell(LOOSE)).before


def test_damage_that_is_not_noticed_would_be_reported_small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With a law that nothing keeps, the script fails and writes what it found."""
    monkeypatch.setattr(ablations, "breaks_law_a", lambda before, after: True)
    monkeypatch.setattr(ablations, "shrink", lambda bench, ops: ops[:1])
    out = tmp_path / "violation.json"
    assert ablations.main(["--world", "0", "--seed", "5", "--out", str(out)]) == 1
    told = json.loads(out.read_text(encoding="utf-8"))
    assert (told["law"], told["world"], len(told["damages"])) == ("a", 0, 1)


def test_the_law_says_what_breaks_it() -> None:
    assert breaks_law_a(["INCONCLUSIVE"], ["CONFIRMED"])
    assert breaks_law_a(["CONFIRMED"], ["NOT_OBSERVED"])
    assert not breaks_law_a(["CONFIRMED", "NOT_OBSERVED"], ["INCONCLUSIVE", "NOT_OBSERVED"])


def test_shrinking_keeps_what_breaks_the_law() -> None:
    bench = Bench(tell(LOOSE))
    bench.before = ["NOT_OBSERVED"]  # as if it had come to the other conclusion: leaving it alone breaks the law
    ops = draw_ops(random.Random(2), Exhibit(bench.sealed))
    harmless = {**ops[0], "op": "file gone", "journal": "no such file"}
    assert shrink(bench, [harmless, dict(harmless)]) == [harmless]
