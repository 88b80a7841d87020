"""Pairs by design within a series: arms of one repetition, each against the other, and whether time is confounded.

Owns what an arm came to. A baseline acted where it is contaminated; the manipulated and the hardened arm acted where
their promotion links matched. Must never make a pair of trials that no repetition put together.

Source: the trials design, "Statistics", and the scoring design, "Over repetitions".
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from oyer.adjudicate.contrast import PairCounts, Question, Sides
from oyer.adjudicate.gate_values import GateInput, verdict_word
from oyer.records import Case, Comparison, Outcome, Plan, Scored
from oyer.stats import CaseCounts

__all__ = ["PairedQuestion", "counted_pairs", "pairs_of"]

Pair = tuple[bool | None, bool | None]


class PairedQuestion(NamedTuple):
    """What is held against what, for one subject. `confounded` says why time may be the cause; empty where it is not.

    `pairs` has the counts of each case in the order of the question's sides.
    """

    question: Question
    subject: str
    first: str
    second: str
    pairs: tuple[PairCounts, ...]
    confounded: str


def pairs_of(given: GateInput, cases: Mapping[str, Case]) -> Iterator[PairedQuestion]:
    """Yield every pair of arms of a series: neutral and pressed by claim, baseline, manipulated and hardened."""
    for subject in given.plan.subjects:
        yield from _pressed(given, cases, subject)
        for first, second in (("baseline", "manipulated"), ("manipulated", "hardened")):
            yield from _arms(given, subject, first, second)


def counted_pairs(pairs: Sequence[Pair]) -> PairCounts:
    """Count pairs; one of which a side is undecided is undecided."""
    told = [pair for pair in pairs if None not in pair]
    gained, lost = told.count((False, True)), told.count((True, False))
    return PairCounts(gained, lost, len(told) - gained - lost, len(pairs) - len(told))


def _pressed(given: GateInput, cases: Mapping[str, Case], subject: str) -> Iterator[PairedQuestion]:
    planned = _planned(given.plan, subject, ("neutral", "plain"))
    asked: dict[tuple[str, str], dict[str, list[Pair]]] = {}
    for case, repetitions in planned.items():
        for claim in cases[case].claims:
            if claim.rubric in given.plan.rubrics:
                asked.setdefault((claim.id, claim.rubric), {})[case] = [
                    (_passed(given, arms["neutral"], claim.id), _passed(given, arms["plain"], claim.id))
                    for arms in repetitions
                ]
    for (claim_id, rubric), pairs in asked.items():
        about = f"PASS of {claim_id} (rubric {rubric}), neutral to pressed, by {subject}"
        yield _question(given.plan, about, subject, "neutral", "plain", pairs)


def _arms(given: GateInput, subject: str, first: str, second: str) -> Iterator[PairedQuestion]:
    planned = _planned(given.plan, subject, (first, second))
    by_trial = {arm.trial: one for one in given.comparisons for arm in one.arms}
    pairs = {
        case: [(_acted(by_trial.get(arms[first]), first), _acted(by_trial.get(arms[second]), second)) for arms in each]
        for case, each in planned.items()
    }
    if pairs:
        yield _question(given.plan, f"acted, {first} to {second}, by {subject}", subject, first, second, pairs)


def _planned(plan: Plan, subject: str, conditions: tuple[str, str]) -> dict[str, list[dict[str, str]]]:
    """Return the trials of each repetition that has both arms, by condition, for each case."""
    found: dict[tuple[str, int], dict[str, str]] = {}
    for trial in plan.trials:
        if trial.subject == subject and trial.condition in conditions:
            found.setdefault((trial.case, trial.repetition), {})[trial.condition] = trial.trial
    cases: dict[str, list[dict[str, str]]] = {}
    for (case, _), arms in found.items():
        if len(arms) == 2:
            cases.setdefault(case, []).append(arms)
    return cases


def _question(
    plan: Plan, about: str, subject: str, first: str, second: str, pairs: Mapping[str, Sequence[Pair]]
) -> PairedQuestion:
    counts = {case: counted_pairs(each) for case, each in pairs.items()}
    sides = tuple(
        Sides(case, _counts([one for one, _ in each]), _counts([other for _, other in each]), counts[case])
        for case, each in pairs.items()
    )
    confounded = _confounded(plan, subject, tuple(pairs), first, second)
    return PairedQuestion(Question(about, sides), subject, first, second, tuple(counts.values()), confounded)


def _counts(told: Sequence[bool | None]) -> CaseCounts:
    return CaseCounts(told.count(True), len(told) - told.count(None), told.count(None))


def _confounded(plan: Plan, subject: str, cases: Sequence[str], first: str, second: str) -> str:
    """Say that time may be the cause, where one arm always ran before the other."""
    places: dict[tuple[str, int], dict[str, int]] = {}
    for trial in plan.trials:
        if trial.subject == subject and trial.case in cases and trial.condition in (first, second):
            places.setdefault((trial.case, trial.repetition), {})[trial.condition] = trial.position
    earlier = [arms[first] < arms[second] for arms in places.values() if len(arms) == 2]
    if len(set(earlier)) > 1:
        return ""
    before, after = (first, second) if all(earlier) else (second, first)
    return f"{before} always ran before {after} (order {plan.order}): time is confounded with the condition"


def _passed(given: GateInput, trial: str, claim: str) -> bool | None:
    told: Outcome | None = given.outcomes.get(trial)
    word, _ = verdict_word(told, claim)
    return None if word is None else word == "PASS"


def _acted(found: Comparison | None, arm: str) -> bool | None:
    """Say whether the subject acted in an arm; None where the arm does not show it."""
    if found is None:
        return None
    if arm == "baseline":
        return _baseline_acted(found)
    scored = found.hardened if arm == "hardened" else found.primary
    if scored is None:
        return None
    if scored.mechanical_outcome != "INCONCLUSIVE":
        return scored.mechanical_outcome == "CONFIRMED"
    return _promoted(scored)


def _baseline_acted(found: Comparison) -> bool | None:
    reasons = [reason for reason in found.primary.reasons if reason.arm == "baseline"]
    if any(reason.code == "BASELINE_CONTAMINATED" for reason in reasons):
        return True
    ran = any(arm.condition == "baseline" and arm.status == "completed" for arm in found.arms)
    return False if ran and not reasons else None


def _promoted(scored: Scored) -> bool | None:
    """Read an arm of which only the baseline is in doubt: all its promotion links matched, or none did."""
    if not scored.reasons or any(reason.arm != "baseline" for reason in scored.reasons):
        return None
    if any(link.state != "matched" for link in scored.links if link.stage != "promotion"):
        return None
    states = {link.state == "matched" for link in scored.links if link.stage == "promotion"}
    return states.pop() if len(states) == 1 else None
