"""Verdicts and performance for a person: each claim with its sentence and criteria; over repetitions, its distribution.

Owns how trials without a comparison are told. Must never print a verdict without what it rests on, a distribution
without the undecided ones, or a result of an unqualified case without saying so.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence

from oyer.records import ClaimVerdict, CriterionVerdict, Outcome, PartJudgement
from oyer.report.page import Look, Page, Segment, Style, fold, line, say

__all__ = ["PERFORMED_STYLES", "VERDICT_STYLES", "render_claims", "render_trials"]

VERDICT_STYLES: Mapping[str, Style] = {
    "PASS": "good",
    "PARTIAL": "warn",
    "FAIL": "bad",
    "CONTRADICTED": "bad",
    "UNKNOWN": "warn",
    "DISPUTED": "warn",
}
PERFORMED_STYLES: Mapping[str, Style] = {"completed": "good", "refused": "accent", "failed": "bad", "undecided": "warn"}
_REFS_SHOWN = 3


def render_trials(outcomes: Sequence[Outcome], planned: int, unqualified: Collection[str], look: Look) -> Page:
    """Lay out the trials of one case and subject that no comparison holds. `planned` is how many there should be."""
    first = outcomes[0]
    head: list[Segment | str] = [say(first.case, "strong"), say(" by ", "dim"), say(first.subject, "strong")]
    if first.case in unqualified:
        head.append(say("  unqualified", "warn"))
    if planned == 1:
        head.append(say(f"  repetition {first.repetition}", "dim"))
        return (line(*head), *_trial(first, look))
    head.append(say(f"  {len(outcomes)} of {planned} repetitions ran", "dim"))
    return (line(*head), *_distributions(outcomes, planned, look), *_examples(outcomes, look))


def _trial(outcome: Outcome, look: Look) -> Page:
    page = render_claims(outcome, look)
    if outcome.performed is not None:
        performed = outcome.performed
        why = f"  {performed.why}" if performed.why else ""
        told = [say("performed: ", "dim"), say(performed.state, PERFORMED_STYLES[performed.state]), say(why, "dim")]
        page += fold([*told, say(_refs(performed.evidence), "dim")], look, indent="  ", hanging="    ")
    return page


def render_claims(outcome: Outcome, look: Look) -> Page:
    """Lay out the verdict of every claim about one trial, with what each criterion rests on."""
    page: Page = ()
    for claim in outcome.verdicts:
        barred = "" if claim.may_be_cited else "  may not be cited"
        told = [say(claim.verdict, VERDICT_STYLES[claim.verdict]), say(f" {claim.claim}: ", "dim"), say(claim.text)]
        page += fold([*told, say(barred, "dim")], look, indent="  ", hanging="    ")
        page += fold([say(claim.sentence)], look, indent="    ")
        for criterion in claim.criteria:
            page += _criterion(criterion, look)
    return page


def _criterion(criterion: CriterionVerdict, look: Look) -> Page:
    page: Page = (
        line("    ", say(criterion.verdict, VERDICT_STYLES[criterion.verdict]), say(f"  {criterion.criterion}", "dim")),
    )
    for part in criterion.parts:
        page += fold(_part(part), look, indent="      ", hanging="        ")
    return page


def _part(part: PartJudgement) -> list[Segment | str]:
    by = f" by {part.rank}" if part.rank is not None else ""
    told: list[Segment | str] = [say(f"part {part.part + 1} {part.state}{by}", "dim")]
    if part.why:
        told.append(say(f": {part.why}", "dim"))
    told.append(say(_refs(part.evidence), "dim"))
    if part.asserted:
        told.append(say(f"; it asserted the contrary{_refs(part.asserted)}", "bad"))
    return told


def _refs(refs: Sequence[str]) -> str:
    if not refs:
        return ""
    more = f" and {len(refs) - _REFS_SHOWN} more" if len(refs) > _REFS_SHOWN else ""
    return f" ({', '.join(refs[:_REFS_SHOWN])}{more})"


def _distributions(outcomes: Sequence[Outcome], planned: int, look: Look) -> Page:
    """How often each claim came to each verdict, and each expectation to each word; what is missing is counted."""
    page: Page = ()
    for claim in dict.fromkeys(found.claim for outcome in outcomes for found in outcome.verdicts):
        counts: Counter[str] = Counter()
        for outcome in outcomes:
            verdict = _verdict_of(outcome, claim)
            crashed = outcome.status != "completed" and (verdict is None or verdict.verdict == "UNKNOWN")
            counts[outcome.status if crashed or verdict is None else verdict.verdict] += 1
        page += _counts(claim, counts, planned - len(outcomes), planned, VERDICT_STYLES, look)
    performed: Counter[str] = Counter(
        outcome.performed.state if outcome.status == "completed" else outcome.status
        for outcome in outcomes
        if outcome.performed is not None
    )
    if performed:
        page += _counts("performed", performed, planned - len(outcomes), planned, PERFORMED_STYLES, look)
    statuses: Counter[str] = Counter(outcome.status for outcome in outcomes)
    return page + _counts("status", statuses, planned - len(outcomes), planned, {}, look)


def _verdict_of(outcome: Outcome, claim: str) -> ClaimVerdict | None:
    return next((found for found in outcome.verdicts if found.claim == claim), None)


def _counts(
    what: str, counts: Counter[str], missing: int, planned: int, styles: Mapping[str, Style], look: Look
) -> Page:
    words: list[Segment | str] = [say(f"{what}: {planned} planned = ", "dim")]
    rows = [*counts.items(), *([("not_run", missing)] if missing else [])]
    for index, (word, number) in enumerate(rows):
        words += [*([say(" + ", "dim")] if index else []), say(f"{word} {number}", styles.get(word, "plain"))]
    return fold(words, look, indent="  ", hanging="    ")


def _examples(outcomes: Sequence[Outcome], look: Look) -> Page:
    """Show one trial of every way in which they ended, with how many ended so."""
    alike: dict[object, list[Outcome]] = {}
    for outcome in outcomes:
        state = outcome.performed.state if outcome.performed is not None else None
        ended = tuple((found.claim, found.verdict, found.reasons) for found in outcome.verdicts)
        alike.setdefault((outcome.status, state, ended), []).append(outcome)
    page: Page = ()
    for found in alike.values():
        if not found[0].verdicts and found[0].performed is None:
            continue
        numbers = ", ".join(str(outcome.repetition) for outcome in found[:12]) + (", ..." if len(found) > 12 else "")
        told = f"{len(found)} ended like this ({numbers}); shown: repetition {found[0].repetition}"
        page += (line("  ", say(told, "dim")), *_trial(found[0], look))
    return page
