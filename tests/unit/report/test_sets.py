"""The matrix of matched sets: every reading with its members, and over repetitions the joint distribution."""

from __future__ import annotations

from typing import Any

import pytest
from set_kit import claim_of, comparison_of, outcome_of, pressed_of

from oyer.adjudicate import ONE_REPETITION
from oyer.records import (
    CriterionVerdict,
    MatchedSet,
    PartJudgement,
    Performed,
    Plan,
    PlannedCase,
    PlannedTrial,
    Repeat,
    SetMember,
    TrialError,
    Triple,
)
from oyer.report import Look, distribution_value, distributions, page_text, render_sets
from oyer.report.brief import brief_sets
from oyer.report.causes import Beside, cause_of

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


def undecided() -> MatchedSet:
    found = one(1, "undecided", "completed", "UNDETERMINED", reasons=("MEMBER_UNDECIDED:trap",))
    lead = found.members[0].model_copy(update={"trials": ("a",), "by": "a word"})
    return found.model_copy(update={"members": (lead, *found.members[1:])})


FAULT = TrialError(where="agent", error_class="AgentCrash", message="exit 3")
LACKING = CriterionVerdict(
    criterion="does",
    verdict="UNKNOWN",
    parts=(PartJudgement(criterion="does", part=0, state="unknown", why="nobody watched"),),
)
OPEN = claim_of("a", "UNKNOWN").model_copy(update={"criteria": (LACKING,)})
CAUSES: list[tuple[dict[str, Any], str]] = [
    ({"status": "subject_error", "error": FAULT}, "subject_error: AgentCrash at agent"),
    ({"status": "harness_error", "faults": (FAULT, FAULT)}, "harness_error: AgentCrash at agent"),
    ({"status": "blocked"}, "blocked"),
    ({"verdicts": (OPEN,)}, "a UNKNOWN, does: nobody watched"),
    ({"verdicts": (claim_of("a", "PASS", cited=False),)}, "a PASS, which may not be cited"),
]


@pytest.mark.parametrize(("trial", "cause"), CAUSES)
def test_an_undecided_member_is_told_with_what_makes_it_so(trial: dict[str, Any], cause: str) -> None:
    found, outcomes = undecided(), {"a": outcome_of("trap").model_copy(update={"trial": "a", **trial})}
    beside = Beside.of(outcomes)
    page = page_text(render_sets(plan(1), [found], (), Look(), beside=beside))
    assert f"trap (a word)\n      {cause}\n" in page
    brief = " ".join(page_text(brief_sets([found], (), Look(), beside)).split())
    assert f"UNDETERMINED trap by s: MEMBER_UNDECIDED:trap ({cause})" in brief
    counted = " ".join(page_text(render_sets(plan(3), [found], (), Look(), beside=beside)).split())
    assert f"1 x trap undecided: {cause}" in counted


def test_an_experiment_is_undecided_by_the_first_reason_of_its_comparison() -> None:
    compared = comparison_of("trap", "INCONCLUSIVE", baseline_trouble=True)
    told = {"a": outcome_of("trap").model_copy(update={"trial": "a"})}
    page = page_text(render_sets(plan(1), [undecided()], (), Look(), beside=Beside.of(told, [compared])))
    assert "      INCONCLUSIVE: ARM_NOT_COMPLETED in the baseline arm\n" in page


def test_a_control_is_undecided_by_its_performance_and_a_missing_trial_is_said_to_be_missing() -> None:
    control = SetMember(role="negative", case="n", case_digest=DIGEST, trials=("n",), state="undecided", by="undecided")
    told = outcome_of("n").model_copy(update={"performed": Performed(state="undecided", why="nobody watched")})
    assert cause_of(control, {"n": told}) == "nobody watched"
    missing = control.model_copy(update={"trials": (), "by": "MEMBER_MISSING"})
    assert cause_of(missing, {"n": told}) == "no trial of it is on record"


BREAKS: dict[str, tuple[tuple[int, int] | None, str]] = {
    "broke": ((1, 1), "broke"),
    "held": (None, "held"),
    "undecided": (None, "undecided"),
}


@pytest.mark.parametrize(
    ("arms", "said"),
    [
        (["broke"], "also broke without the nudges (neutral arm)"),
        (["held"], ""),
        (["undecided"], "whether it breaks without the nudges too is undecided (neutral arm)"),
        ([None], ""),
        (["broke", "held", "undecided"], "also broke without the nudges in 1 of 3, 1 undecided (neutral arm)"),
    ],
)
def test_a_set_that_yields_says_what_its_neutral_arm_did(arms: list[str | None], said: str) -> None:
    sets = [one(at + 1, "not_guarded", "completed", "YIELDS_UNDER_PRESSURE") for at in range(len(arms))]
    outcomes = {}
    for at, arm in enumerate(arms):
        if arm is not None:
            broke, state = BREAKS[arm]
            pressed = pressed_of("held", state, arm="neutral", broke=broke)
            outcome = outcome_of("trap", at + 1, condition="neutral").model_copy(update={"pressure": pressed})
            outcomes[outcome.trial] = outcome
    beside = Beside.of(outcomes)
    told = " ".join(page_text(render_sets(plan(len(arms)), sets, (), Look(), beside=beside)).split())
    assert said in told
    assert ("neutral arm" in told) == bool(said)
    brief = " ".join(page_text(brief_sets(sets[:1], (), Look(), beside)).split())
    assert ("also broke without the nudges" in brief) == (arms[0] == "broke")


def test_a_series_without_sets_has_no_matrix() -> None:
    assert render_sets(plan(1), [], (), Look()) == ()


def test_several_repetitions_are_not_told_that_they_are_one() -> None:
    sets = [one(n, "guarded", "completed", "DISCRIMINATES") for n in (1, 2)]
    sets = [each.model_copy(update={"not_shown": (ONE_REPETITION, "other traps")}) for each in sets]
    assert f"Not shown: {ONE_REPETITION}; other traps." in text(1, sets[:1])
    told = text(2, sets)
    assert "one repetition is one repetition" not in told
    assert "Not shown: how often this happens beyond these 2 repetitions; other traps." in told
