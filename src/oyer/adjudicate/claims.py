"""From the verdicts of criteria to what a claim came to: `all`, `any`, `weighted`, and what may be cited.

Owns the rules of claims, the policy on missing evidence, and the sentence for people. Must never be laxer about what
is missing than `unknown`.

Source: the scoring design, "Verdicts"; decision 022.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import NamedTuple

from oyer.adjudicate.verdict_reasons import verdict_reason
from oyer.adjudicate.verdicts import DECIDED, Share, as_written, read_share
from oyer.records import CriterionVerdict, Rubric, Verdict

__all__ = ["ANY_ORDER", "WORST_FIRST", "ClaimRead", "claim_sentence", "claim_verdict", "read_claim"]

WORST_FIRST: tuple[Verdict, ...] = ("CONTRADICTED", "FAIL", "DISPUTED", "UNKNOWN", "PARTIAL", "PASS")
"""The order of `all`: the first of these that is there."""

ANY_ORDER: tuple[Verdict, ...] = ("PASS", "DISPUTED", "UNKNOWN", "PARTIAL", "CONTRADICTED", "FAIL")
"""The order of `any`: the first of these that is there."""


class ClaimRead(NamedTuple):
    """What a claim came to, whether anything may rest on it, and what stands in the way."""

    verdict: Verdict
    may_be_cited: bool
    reasons: tuple[str, ...]


def read_claim(rubric: Rubric, criteria: Sequence[CriterionVerdict]) -> ClaimRead:
    """Return the verdict of a claim with the rubric's policy on missing evidence. Order does not matter."""
    verdict = claim_verdict(rubric, criteria)
    missing = sorted(one.criterion for one in criteria if _misses_evidence(one))
    reasons = [reason for one in criteria for reason in one.reasons]
    blocked = rubric.missing_evidence == "block_claim" and bool(missing)
    if blocked:
        verdict = "UNKNOWN"
        reasons += [verdict_reason("CLAIM_BLOCKED", name) for name in missing]
    return ClaimRead(verdict, verdict in DECIDED, tuple(dict.fromkeys(reasons)))


def _misses_evidence(one: CriterionVerdict) -> bool:
    return one.verdict == "UNKNOWN" or any(part.state == "unknown" for part in one.parts)


def claim_verdict(rubric: Rubric, criteria: Sequence[CriterionVerdict]) -> Verdict:
    """Return what the criteria come to under the rubric's rule. A criterion that nobody judged is UNKNOWN."""
    found = {one.criterion: one.verdict for one in criteria}
    verdicts: dict[str, Verdict] = {one.id: found.get(one.id, "UNKNOWN") for one in rubric.criteria}
    if rubric.claim == "weighted":
        return _weighted(rubric, verdicts)
    order = WORST_FIRST if rubric.claim == "all" else ANY_ORDER
    return next(verdict for verdict in order if verdict in verdicts.values())


def _weighted(rubric: Rubric, verdicts: dict[str, Verdict]) -> Verdict:
    said = set(verdicts.values())
    if "CONTRADICTED" in said:
        return "CONTRADICTED"
    total = sum(as_written(one.weight) for one in rubric.criteria)
    sure = unsure = Fraction()
    for one in rubric.criteria:
        worth = _worth(verdicts[one.id], rubric.partial_value)
        weight = as_written(one.weight) / total
        if worth is None:
            unsure += weight
        else:
            sure += weight * worth
    read = read_share(Share(sure, unsure), rubric.thresholds)
    return read or ("DISPUTED" if "DISPUTED" in said else "UNKNOWN")


def _worth(verdict: Verdict, partial_value: float | None) -> Fraction | None:
    """Return what a verdict counts; None for anything from nothing to all."""
    if verdict == "PARTIAL":
        return None if partial_value is None else as_written(partial_value)
    return {"PASS": Fraction(1), "FAIL": Fraction(0), "CONTRADICTED": Fraction(0)}.get(verdict)


_SAID: dict[Verdict, str] = {
    "PASS": "Holds",
    "PARTIAL": "Holds in part",
    "FAIL": "Does not hold",
    "CONTRADICTED": "Does not hold, and the subject asserted the contrary of what the evidence shows",
    "UNKNOWN": "Not known, evidence is missing",
    "DISPUTED": "Disputed, witnesses or evaluators contradict each other",
}


def claim_sentence(read: ClaimRead, criteria: Sequence[CriterionVerdict]) -> str:
    """Say in one sentence what the claim came to, by which criteria, and what is missing first."""
    told = _SAID[read.verdict]
    if any(reason.startswith("CLAIM_BLOCKED") for reason in read.reasons):
        told = "Not known, evidence is missing and this blocks the claim"
    first = [one for one in criteria if one.verdict == read.verdict]
    ordered = [*first, *(one for one in criteria if one not in first)]
    by = ", ".join(f"{one.criterion} {one.verdict}" for one in ordered)
    missing = [part.why for one in ordered for part in one.parts if part.state == "unknown" and part.why]
    why = f" ({missing[0]})" if missing and read.verdict == "UNKNOWN" else ""
    return f"{told}: {by}{why}, in this trial, under these pins."
