"""Plans, outcomes, claims and members of matched sets, for tests of what is read from derived records."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from oyer.library import find_case
from oyer.records import (
    ArmRef,
    Case,
    ClaimVerdict,
    Comparison,
    FirstBreak,
    NonCompletionResult,
    Outcome,
    OverRefusal,
    Performed,
    Plan,
    PlannedCase,
    PlannedTrial,
    Pressed,
    Recovery,
    RoundResult,
    Scored,
    parse_cases,
)

DIGEST = "sha256:" + "0" * 64
BLAME = {
    "dependency_unavailable": "blocked",
    "hidden_validator_unavailable": "harness_error",
    "state_contract_broken": "harness_error",
    "budget_exceeded": "subject_error",
    "timeout": "subject_error",
}


def case_of(name: str, kind: str = "plain", **fields: Any) -> Case:
    return Case.model_validate(
        {
            "oyer": "Case@1",
            "id": name,
            "kind": kind,
            "effect_class": "none",
            "sessions": [{"id": "a", "turns": ["Do it."]}],
            "blame": BLAME,
            **fields,
        }
    )


def plan_of(
    cases: Mapping[str, Iterable[str]] | Iterable[str], repeat: int = 1, subjects: tuple[str, ...] = ("s",)
) -> Plan:
    """Plan every case (with its conditions, if it has any) `repeat` times for every subject."""
    conditions = dict(cases) if isinstance(cases, Mapping) else dict.fromkeys(cases, ("plain",))
    told = [
        (case, subject, rep, condition)
        for subject in subjects
        for rep in range(1, repeat + 1)
        for case, words in conditions.items()
        for condition in words
    ]
    trials = tuple(
        PlannedTrial(
            trial=trial_name(*one),
            position=at,
            case=one[0],
            case_digest=DIGEST,
            subject=one[1],
            repetition=one[2],
            condition=one[3],  # type: ignore[arg-type]
        )
        for at, one in enumerate(told)
    )
    return Plan(
        cases=tuple(PlannedCase(id=name, revision=1, digest=DIGEST) for name in conditions),
        subjects=subjects,
        seed=0,
        trials=trials,
    )


def trial_name(case: str, subject: str = "s", repetition: int = 1, condition: str = "plain") -> str:
    return f"{case.replace('/', '-')}.{subject}.r{repetition}.{condition}"


def outcome_of(
    case: str,
    repetition: int = 1,
    status: str = "completed",
    *,
    subject: str = "s",
    condition: str = "plain",
    performed: str | None = None,
    **claims: str,
) -> Outcome:
    return Outcome(
        trial=trial_name(case, subject, repetition, condition),
        run="run",
        case=case,
        case_digest=DIGEST,
        subject=subject,
        repetition=repetition,
        condition=condition,  # type: ignore[arg-type]
        attempt=1,
        attempts=1,
        status=status,  # type: ignore[arg-type]
        verdicts=tuple(claim_of(name, verdict) for name, verdict in claims.items()),
        performed=None if performed is None else Performed(state=performed, evidence=("tap:s:1",)),  # type: ignore[arg-type]
        evidence=None,
    )


def claim_of(name: str, verdict: str, *, cited: bool | None = None) -> ClaimVerdict:
    return ClaimVerdict(
        claim=name,
        text="It is so.",
        rubric="r",
        rubric_digest=DIGEST,
        verdict=verdict,  # type: ignore[arg-type]
        criteria=(),
        may_be_cited=verdict not in ("UNKNOWN", "DISPUTED") if cited is None else cited,
        sentence="So.",
    )


def comparison_of(
    case: str, outcome: str, repetition: int = 1, *, subject: str = "s", baseline_trouble: bool = False
) -> Comparison:
    reasons: list[dict[str, Any]] = []
    if outcome == "INCONCLUSIVE":
        arm = "baseline" if baseline_trouble else "manipulated"
        reasons.append({"code": "ARM_NOT_COMPLETED", "arm": arm, "sentence": "It broke."})
    scored = Scored.model_validate(
        {
            "pair": "baseline_vs_manipulated",
            "mechanical_outcome": outcome,
            "reasons": reasons,
            "links": [],
            "decision_order": "witnessed",
            "evidence": ["tap:s:1"],
            "sentence": "So.",
        }
    )
    return Comparison(
        case=case, case_digest=DIGEST, subject=subject, repetition=repetition, primary=scored, arms=(), not_shown=()
    )


def pressed_of(
    *states: str,
    broke: tuple[int, int] | None = None,
    arm: str = "pressed",
    recovery: str = "not_measured",
    refusal: str = "not_measured",
    truthful: str = "not_measured",
) -> Pressed:
    """What pressure did: the states of the rounds from 0 on, and the other records."""
    return Pressed(
        arm=arm,  # type: ignore[arg-type]
        last_round=len(states) - 1,
        rounds=tuple(
            RoundResult(
                round=number,
                state="undecided" if state == "idle" else state,  # type: ignore[arg-type]
                by=state,
                evidence=(f"world:{number}",),
                idle=state == "idle",
            )
            for number, state in enumerate(states)
        ),
        first_break=None if broke is None else FirstBreak(earliest=broke[0], latest=broke[1], evidence=("world:9",)),
        survived=False if broke is not None else True if set(states) == {"held"} else None,
        recovery=Recovery(state=recovery),  # type: ignore[arg-type]
        over_refusal=OverRefusal(state=refusal),  # type: ignore[arg-type]
        truthful_non_completion=NonCompletionResult(state=truthful),  # type: ignore[arg-type]
    )


def with_arms(found: Comparison, **statuses: str) -> Comparison:
    """Return a comparison with arms of these statuses."""
    arms = tuple(
        ArmRef(
            condition=name,  # type: ignore[arg-type]
            trial=trial_name(found.case, found.subject, found.repetition, name),
            run="run",
            attempt=1,
            status=status,  # type: ignore[arg-type]
            evidence=None,
        )
        for name, status in statuses.items()
    )
    return found.model_copy(update={"arms": arms})


def experiment_of(name: str) -> Case:
    """Return the packaged experiment under another id."""
    path = find_case("notes-injection")
    cases = parse_cases(path.read_bytes(), name=str(path), world_files=lambda _: ())
    return next(one.case for one in cases if one.case.is_experiment).model_copy(update={"id": name})
