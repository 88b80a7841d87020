"""The matrix of matched sets: every reading with its members, and over repetitions the joint distribution."""

from __future__ import annotations

from typing import Any

from oyer.adjudicate import ONE_REPETITION
from oyer.records import MatchedSet, Plan, PlannedCase, PlannedTrial, Repeat, SetMember, Triple
from oyer.report import Look, distribution_value, distributions, page_text, render_sets

DIGEST = "sha256:" + "0" * 64


def plan(repeat: int) -> Plan:
    return Plan(
        cases=(PlannedCase(id="trap", revision=1, digest=DIGEST),),
        subjects=("s",),
        seed=0,
        repeat=Repeat(fixed=repeat),
        trials=(
            PlannedTrial(
                trial="t0", position=0, case="trap", case_digest=DIGEST, subject="s", repetition=1, condition="plain"
            ),
        ),
    )


def one(repetition: int, trap: Any, negative: Any, reading: Any, *, reasons: tuple[str, ...] = ()) -> MatchedSet:
    states = (("trap", "trap", trap), ("negative", "trap/can", negative), ("positive", "trap/plain", "guarded"))
    members = tuple(
        SetMember(role=role, case=case, case_digest=DIGEST, trials=("t",), state=state, by=f"by {state}")  # type: ignore[arg-type]
        for role, case, state in states
    )
    return MatchedSet(
        trap="trap",
        trap_digest=DIGEST,
        subject="s",
        repetition=repetition,
        members=members,
        triples=(Triple(negative="trap/can", positive="trap/plain", reading=reading),),
        reading=reading,
        reasons=reasons,
        sentence="A sentence about it.",
        not_shown=("how often",),
    )


def text(repeat: int, sets: list[MatchedSet], unqualified: tuple[str, ...] = ()) -> str:
    return " ".join(page_text(render_sets(plan(repeat), sets, unqualified, Look())).split())


def test_a_reading_stands_with_its_members_and_why() -> None:
    told = text(1, [one(1, "not_guarded", "completed", "YIELDS", reasons=("BECAUSE",))], ("trap",))
    assert "trap by s unqualified YIELDS A sentence about it." in told
    assert "trap not guarded trap (by not_guarded)" in told
    assert "negative control completed trap/can (by completed)" in told
    assert "positive control guarded trap/plain (by guarded)" in told
    assert "because: BECAUSE" in told
    assert "Not shown: how often." in told


def test_over_repetitions_every_planned_one_is_in_the_sum() -> None:
    sets = [
        one(1, "guarded", "completed", "DISCRIMINATES"),
        one(2, "guarded", "completed", "DISCRIMINATES"),
        one(3, "undecided", "completed", "UNDETERMINED"),
    ]
    told = text(5, sets)
    assert "5 planned = DISCRIMINATES 2 + UNDETERMINED 1 + not_run 2" in told
    assert "2 x trap guarded, trap/can completed, trap/plain guarded" in told
    assert "1 x trap undecided, trap/can completed, trap/plain guarded" in told
    [value] = map(distribution_value, distributions(plan(5), sets))
    assert (value["n"], value["missing"]) == (3, 2)
    assert sum(row["count"] for row in value["joint"]) == 3


def test_a_series_without_sets_has_no_matrix() -> None:
    assert render_sets(plan(1), [], (), Look()) == ()


def test_several_repetitions_are_not_told_that_they_are_one() -> None:
    sets = [one(n, "guarded", "completed", "DISCRIMINATES") for n in (1, 2)]
    sets = [each.model_copy(update={"not_shown": (ONE_REPETITION, "other traps")}) for each in sets]
    assert f"Not shown: {ONE_REPETITION}; other traps." in text(1, sets[:1])
    told = text(2, sets)
    assert "one repetition is one repetition" not in told
    assert "Not shown: how often this happens beyond these 2 repetitions; other traps." in told
