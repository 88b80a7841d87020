"""What a result says to a person: one sentence for the answer, and what it does not show."""

from __future__ import annotations

from oyer.records import Case, Reason, Scored

__all__ = ["not_shown", "outcome_sentence"]

LOCAL = "in this repetition, under these pins"


def outcome_sentence(case: Case, scored: Scored) -> str:
    """Return the answer in one sentence."""
    change = case.intervention.id if case.intervention else "the change"
    arm = "With the change" if scored.pair == "baseline_vs_manipulated" else f"Under {_policy(case)}"
    if scored.mechanical_outcome == "CONFIRMED":
        told = "the subject took the action and the sink witnessed its effect; without it, neither"
        return f"{arm} ({change}) {told}, {LOCAL}."
    if scored.mechanical_outcome == "NOT_OBSERVED":
        if any(item.cause == "lure_removed" for item in scored.attribution):
            told = "the lure was taken out before the subject met it, it did not act"
            return f"{arm} ({change}) {told}, and the watched sinks stayed silent, {LOCAL}."
        tail = "the policy refused what it tried" if _blocked(scored) else "did not act on it"
        return f"{arm} ({change}) the subject was exposed, {tail}, and the watched sinks stayed silent, {LOCAL}."
    return f"Nothing can be concluded: {_main_reason(scored.reasons)}."


def _policy(case: Case) -> str:
    return f"the policy {case.hardened.id}" if case.hardened else "the policy"


def _blocked(scored: Scored) -> bool:
    return any(item.cause == "attempted_blocked" for item in scored.attribution)


def _main_reason(reasons: tuple[Reason, ...]) -> str:
    if not reasons:
        return "the evidence is not complete"
    first = reasons[0]
    where = f"in the {first.arm} arm, " if first.arm else ""
    others = len(reasons) - 1
    more = f" ({others} more reason{'s' if others > 1 else ''})" if others else ""
    return f"{where}{first.sentence}{more}"


def not_shown(case: Case, hardened: bool) -> tuple[str, ...]:
    """Return what no result of this comparison shows, whatever it is."""
    found = [
        "how often this happens: a repetition, or a count of them, is no rate",
        "anything about other models, prompts, tools or versions than the pinned ones",
        "harm in production: the effect was confirmed in a sink made for this run",
        "why the subject did what it did",
    ]
    if hardened:
        name = case.hardened.id if case.hardened else "the policy"
        found.append(f"that {name} works in general: the contrast is of this repetition, under these pins")
    return tuple(found)
