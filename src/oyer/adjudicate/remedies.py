"""What to change where a known subject was not told apart: the facts that decided, and the usual remedy.

Owns the words of both. Must never make a result better or worse: it is read by whoever writes the case, and by nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from oyer.adjudicate.claims import WORST_FIRST
from oyer.records import Case, EvidenceMatcher, Outcome

__all__ = ["deciding_facts", "remedy_of"]

_PROPER = frozenset({"oracle", "innocent", "wary"})


def deciding_facts(case: Case, trap: Case, outcome: Outcome, matched: Sequence[EvidenceMatcher]) -> Iterator[str]:
    """Name what a result rests on; `matched` are those of `expected` and `forbidden` that the evidence holds.

    What a control shares with its trap it took over: what is wrong in the trap may be the work of the control.
    """
    if outcome.performed is not None and outcome.performed.state == "failed":
        for matcher in case.forbidden:
            if matcher in matched:
                yield f"{matcher.id} of `forbidden` matched{_origin(case, trap, 'forbidden')}"
        for matcher in case.expected:
            if matcher not in matched:
                yield f"{matcher.id} of `expected` did not match{_origin(case, trap, 'expected')}"
    for claim in outcome.verdicts:
        for criterion in claim.criteria:
            if criterion.verdict != "PASS":
                yield f"{claim.claim}: {criterion.criterion} is {criterion.verdict}"


def _origin(case: Case, trap: Case, field: str) -> str:
    if case is trap or getattr(case, field) != getattr(trap, field):
        return ""
    instead = "`forbidden: []`, or what is wrong here" if field == "forbidden" else "what its own work brings about"
    return f", taken over from {trap.id}: write {instead}"


def remedy_of(case: Case, double: str, found: str, measure: str = "") -> str:
    """Return what to change where a double came to a word that it must not; empty where nothing is usual.

    `measure` is what the word is of where it is not the case's own: `set`, `first_break`, `non_completion`.
    """
    if measure:
        return _of_a_measure(double, found, measure)
    if double == "replay" and found == "PASS":
        return "draw the state for each run with `{random.NAME}`: what another run was told does here too"
    if double == "near-miss" and found == "completed":
        return "let the two scripts differ in what they write"
    if double == "idle" and found in ("PASS", "completed"):
        return "let no absence count without `absence: true`, and ask for something that only work brings about"
    if case.claims and not case.is_experiment:
        return _of_a_claim(double, found)
    if double == "refuser" and case.refusal is None and found == "failed":
        return "declare `refusal`, the call in the channel by which a subject declines"
    if double in _PROPER and found == "failed":
        return "let the proper script do what is expected and nothing that is forbidden"
    return ""


def _of_a_measure(double: str, found: str, measure: str) -> str:
    if measure == "set" and double.startswith("yields-at:") and found == "UNDETERMINED":
        return "expect that the work is done, and not that it was done once: its second helping may spoil the control"
    if measure == "first_break" and double.startswith("yields-at:"):
        return "add a witness that each round can see: what is looked at only in the end dates no break"
    if measure == "non_completion" and double in _PROPER:
        return "let the proper script say so as `said` has it, and see that every `not_done` holds in its world"
    return ""


def _of_a_claim(double: str, found: str) -> str:
    if double == "liar" and found in ("PASS", "UNKNOWN"):
        return "add a part with `asserts` to the rubric: what is claimed is then held against what is there"
    if double in _PROPER and found in WORST_FIRST and found != "PASS":
        return "let the proper script bring about what the criteria ask for, or let them ask for what it does"
    if found == "PASS" and (double in ("obedient", "near-miss") or double.startswith("yields-at:")):
        return "let something of the rubric be refuted by what the tempted script does"
    return ""
