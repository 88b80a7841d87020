"""Verdicts and performance for a person: each claim with its sentence and criteria; over repetitions, its distribution.

Owns how trials without a comparison are told. Must never print a verdict without what it rests on, a distribution
without the undecided ones, or a result of an unqualified case without saying so.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence

from oyer.adjudicate import VERDICT_REASONS
from oyer.records import ClaimVerdict, CriterionVerdict, Outcome, PartJudgement
from oyer.report.page import Look, Page, Segment, Style, fold, line, say
from oyer.report.pressure import render_pressed, render_rounds

__all__ = [
    "PERFORMED_STYLES",
    "VERDICT_STYLES",
    "Errors",
    "arm_words",
    "number_words",
    "part_words",
    "render_claims",
    "render_trials",
]

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
_NUMBERS_SHOWN = 12
_TOLD_BY_PARTS = frozenset({"PART_UNKNOWN", "PART_CONFLICT", "ASSERTED_CONTRARY"})

Errors = Mapping[str, Sequence[str]]
"""By trial, why an evaluator made no judgement that a claim needs, as `evaluator: what is wrong`."""


def render_trials(
    outcomes: Sequence[Outcome],
    planned: int,
    unqualified: Collection[str],
    look: Look,
    errors: Errors,
    *,
    whole: bool = False,
) -> Page:
    """Lay out the trials of one case, subject and arm that no comparison holds; `planned` are those there should be.

    `whole`: with all that pressure did to one that has rounds, and not the words of its rounds alone.
    """
    first = outcomes[0]
    head: list[Segment | str] = [say(first.case, "strong"), say(" by ", "dim"), say(first.subject, "strong")]
    head += arm_words(first)
    if first.case in unqualified:
        head.append(say("  unqualified", "warn"))
    if planned == 1:
        head.append(say(f"  repetition {first.repetition}{number_words([first.trial])}", "dim"))
        return (line(*head), *_trial(first, look, errors, whole=whole))
    head.append(say(f"  {len(outcomes)} of {planned} repetitions ran", "dim"))
    return (line(*head), *_distributions(outcomes, planned, look), *_examples(outcomes, look, errors, whole=whole))


def arm_words(outcome: Outcome) -> list[Segment | str]:
    """Mark a neutral arm: what it came to is no answer to what the case asks under pressure."""
    return [say("  neutral arm", "accent")] if outcome.condition == "neutral" else []


def number_words(trials: Sequence[str]) -> str:
    """Say the numbers of trials in the plan, by which `oyer show SERIES NUMBER` tells one in full; empty without any.

    The name of a trial begins with its number.
    """
    numbers = [str(int(found[1])) for trial in trials if (found := re.match(r"t([0-9]+)\.", trial)) is not None]
    if not numbers:
        return ""
    more = ", ..." if len(numbers) > _NUMBERS_SHOWN else ""
    return f"  trial{'s' if len(numbers) > 1 else ''} {', '.join(numbers[:_NUMBERS_SHOWN])}{more}"


def _trial(outcome: Outcome, look: Look, errors: Errors, *, whole: bool) -> Page:
    page = render_claims(outcome, look, errors)
    if outcome.performed is not None:
        performed = outcome.performed
        why = f"  {performed.why}" if performed.why else ""
        told = [say("performed: ", "dim"), say(performed.state, PERFORMED_STYLES[performed.state]), say(why, "dim")]
        page += fold([*told, say(_refs(performed.evidence), "dim")], look, indent="  ", hanging="    ")
    if outcome.pressure is not None:
        page += render_pressed(outcome.pressure, look) if whole else render_rounds(outcome.pressure, look)
    return page


def render_claims(outcome: Outcome, look: Look, errors: Errors) -> Page:
    """Lay out the verdict of every claim about one trial, with what each criterion rests on and what it wants for."""
    page: Page = ()
    for claim in outcome.verdicts:
        barred = "" if claim.may_be_cited else "  may not be cited"
        told = [say(claim.verdict, VERDICT_STYLES[claim.verdict]), say(f" {claim.claim}: ", "dim"), say(claim.text)]
        page += fold([*told, say(barred, "dim")], look, indent="  ", hanging="    ")
        page += fold([say(claim.sentence)], look, indent="    ")
        for criterion in claim.criteria:
            page += _criterion(criterion, look, errors.get(outcome.trial, ()))
    return page


def _criterion(criterion: CriterionVerdict, look: Look, errors: Sequence[str]) -> Page:
    page: Page = (
        line("    ", say(criterion.verdict, VERDICT_STYLES[criterion.verdict]), say(f"  {criterion.criterion}", "dim")),
    )
    for part in criterion.parts:
        page += fold(part_words(part), look, indent="      ", hanging="        ")
    for reason in _untold(criterion, errors):
        page += _reason(reason, look, errors)
    return page


def _untold(criterion: CriterionVerdict, errors: Sequence[str]) -> Iterator[str]:
    """Yield the reasons that no part tells. A voice that is missing because another made an error is told by that."""
    failed = any(reason.startswith("EVALUATOR_ERROR") for reason in criterion.reasons)
    named = {error.partition(":")[0] for error in errors}
    for reason in criterion.reasons:
        code, _, about = reason.partition(":")
        follows = code == "EVALUATOR_MISSING" and failed and about not in named
        if code not in _TOLD_BY_PARTS and not follows:
            yield reason


def _reason(reason: str, look: Look, errors: Sequence[str]) -> Page:
    """Say why a criterion came to what it did, where its parts do not; of an evaluator's error, what went wrong."""
    code, _, about = reason.partition(":")
    own = [error for error in errors if error.partition(":")[0] == about] if code == "EVALUATOR_ERROR" else []
    told = "; ".join(own) or ": ".join(word for word in (about, VERDICT_REASONS.get(code, "")) if word)
    return fold([say(code, "warn"), say(f": {told}", "dim")], look, indent="      ", hanging="        ")


def part_words(part: PartJudgement) -> list[Segment | str]:
    """Say what one part came to, why where that is not known, and what it rests on."""
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


def _examples(outcomes: Sequence[Outcome], look: Look, errors: Errors, *, whole: bool) -> Page:
    """Show one trial of every way in which they ended, with how many ended so."""
    alike: dict[object, list[Outcome]] = {}
    for outcome in outcomes:
        state = outcome.performed.state if outcome.performed is not None else None
        ended = tuple((found.claim, found.verdict, found.reasons) for found in outcome.verdicts)
        rounds = tuple(one.state for one in outcome.pressure.rounds) if outcome.pressure is not None else ()
        key = (outcome.status, state, ended, rounds, tuple(errors.get(outcome.trial, ())))
        alike.setdefault(key, []).append(outcome)
    page: Page = ()
    for found in alike.values():
        if not found[0].verdicts and found[0].performed is None:
            continue
        numbers = ", ".join(str(outcome.repetition) for outcome in found[:12]) + (", ..." if len(found) > 12 else "")
        told = f"{len(found)} ended like this ({numbers}); shown: repetition {found[0].repetition}"
        told += number_words([found[0].trial])
        page += (line("  ", say(told, "dim")), *_trial(found[0], look, errors, whole=whole))
    return page
