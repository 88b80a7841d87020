"""No blind way through the library: who does the same in all three members of a set is never read as one that can tell.

Each strategy is one script, played whatever the member says: what the trap has to be told, the work of the control, and
both in either order. Whoever earns DISCRIMINATES by one has found a set that measures nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from series_kit import judged_file, run, source_of

import oyer.library
from oyer.engine import CaseSource
from oyer.records import Case, LoadedCase, Step, digest

SPHINX = Path(oyer.library.__file__).parent / "suites" / "sphinx"
FAMILIES = sorted(place.name for place in SPHINX.iterdir() if place.is_dir())
WORDS = ("done", "answer", "partly_done", "cannot_complete", "needs_input", "correction")


def steps_of(case: Case, script: str) -> tuple[Step, ...]:
    """All that a script does, in its turns and in the rounds after them."""
    assert case.doubles is not None
    played = getattr(case.doubles, script)
    rounds = case.doubles.rounds.get(script, ())
    return tuple(step for steps in (*played.values(), *rounds) for step in steps)


def told(case: Case, steps: tuple[Step, ...]) -> tuple[Step, ...]:
    assert case.channel is not None
    channel = f"{case.channel.server}.{case.channel.tool}"
    return tuple(step for step in steps if step.call == channel)


def worked(case: Case, steps: tuple[Step, ...]) -> tuple[Step, ...]:
    return tuple(step for step in steps if step.call is not None and step not in told(case, steps))


def blind(trap: Case, control: Case) -> Iterator[tuple[str, tuple[Step, ...]]]:
    """Yield every strategy by name."""
    assert trap.channel is not None
    channel = f"{trap.channel.server}.{trap.channel.tool}"
    proper, solved, hasty = steps_of(trap, "proper"), steps_of(control, "proper"), steps_of(control, "tempted")
    says, works = told(trap, proper), worked(control, solved)
    yield "says", says
    yield "works", works
    yield "works-then-says", works + says
    yield "says-then-works", says + works
    yield "hasty-then-says", worked(control, hasty) + says
    yield "solves-then-guards", solved + proper
    yield "guards-then-solves", proper + solved
    yield "says-both", says + told(control, solved)
    for word in WORDS:
        yield f"works-{word}", (*works, Step(call=channel, arguments={"state": word}))


def members(path: Path) -> tuple[list[CaseSource], Mapping[str, object]]:
    shared = path.with_name("rubric.yaml")
    rubrics = dict(judged_file(shared)[1]) if shared.exists() else {}
    sources, own = judged_file(path)
    return list(sources), {**rubrics, **own}


def known_tools(case: Case) -> set[str]:
    return {step.call for script in ("proper", "tempted") for step in steps_of(case, script) if step.call is not None}


def playing(source: CaseSource, strategies: Mapping[str, tuple[Step, ...]]) -> CaseSource:
    case = source.case
    assert case.doubles is not None
    tools = known_tools(case)
    variants = {
        name: {case.sessions[0].id: (*(step for step in steps if step.call in tools), Step(say="There it is."))}
        for name, steps in strategies.items()
    }
    doubles = case.doubles.model_copy(update={"variants": variants, "rounds": {}})
    changed = case.model_copy(update={"doubles": doubles})
    return source_of(LoadedCase(changed, digest(changed), *source.loaded[2:]), source.base)


@pytest.mark.heavy
@pytest.mark.parametrize("family", FAMILIES)
def test_no_blind_strategy_is_read_as_one_that_can_tell(family: str, tmp_path: Path) -> None:
    found: dict[str, int] = {}
    for path in sorted((SPHINX / family).glob("*.yaml")):
        if path.stem in (family, "rubric"):
            continue
        sources, rubrics = members(path)
        trap = next(one.case for one in sources if one.case.kind == "trap")
        control = next(one.case for one in sources if one.case.id == trap.controls.negative[0])
        strategies = dict(blind(trap, control))
        shown = run(
            [playing(one, strategies) for one in sources],
            [f"scripted:variant:{name}" for name in strategies],
            tmp_path / path.stem,
            rubrics=rubrics,
            jobs=2,
            neutral=False,
        )
        ended = shown.result.outcomes.values()
        assert [(one.trial, one.status, one.error) for one in ended if one.status != "completed"] == []
        for one in shown.result.sets:
            assert one.reading != "DISCRIMINATES", (one.trap, one.subject)
            found[one.reading] = found.get(one.reading, 0) + 1
    assert sum(found.values()) == 4 * len(strategies)
    assert found.get("BLANKET_COMPLIANCE", 0) + found.get("BLANKET_REFUSAL", 0) > 0, "the strategies do nothing"
