"""Many trials for a person: one line each, undecided ones with what they lack, and where the rest is told.

Owns when a series is too large to be told in full at once, and the short forms. Must never leave out a trial, or tell
an undecided one as if it were decided. Everything that is short here stands in full in `oyer show SERIES --long`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence

from oyer.adjudicate import GateResult, compared_words
from oyer.records import MatchedSet, Outcome
from oyer.report.causes import Beside
from oyer.report.gates import GATE_WORDS
from oyer.report.page import Look, Page, Segment, fold, line, say
from oyer.report.sets import READING_STYLES
from oyer.report.verdicts import PERFORMED_STYLES, VERDICT_STYLES, arm_words, number_words

__all__ = ["MANY", "brief_gates", "brief_sets", "brief_trials", "brief_unqualified", "where_the_rest_is"]

MANY = 24
"""So many groups of trials are told in full; from more on each has a line."""
_ALONE = Beside()
_FAMILIAR = frozenset({"PASS", "completed", "refused"})


def brief_trials(
    groups: Sequence[Sequence[Outcome]], planned: int, look: Look, left: Mapping[tuple[str, str], int] | None = None
) -> Page:
    """Tell each case, subject and arm in a line: every verdict or performance with how often, and what was missing."""
    page: Page = (line(say("Trials", "strong")),)
    for group in groups:
        first = group[0]
        words: Counter[tuple[str, str]] = Counter()
        lacking: list[str] = []
        for outcome in group:
            if outcome.status != "completed":
                words["", outcome.status] += 1
                continue
            for claim in outcome.verdicts:
                words[claim.claim if len(outcome.verdicts) > 1 else "", claim.verdict] += 1
                lacking += [one.criterion for one in claim.criteria if one.verdict not in _FAMILIAR]
            if not outcome.verdicts:
                words["", outcome.performed.state if outcome.performed is not None else "recorded"] += 1
        head: list[Segment | str] = []
        for index, ((about, word), number) in enumerate(words.items()):
            style = VERDICT_STYLES.get(word) or PERFORMED_STYLES.get(word, "plain" if word == "recorded" else "warn")
            count = f" {number}" if len(group) > 1 else ""
            head += [*([say(", ")] if index else []), *([say(f"{about} ", "dim")] if about else [])]
            head.append(say(word + count, style))
        missing = planned - (left or {}).get((first.case, first.subject), 0) - len(group)
        if missing:
            head.append(say(f", not_run {missing}", "warn"))
        head += [say(" "), say(first.case, "strong"), say(" by ", "dim"), say(first.subject), *arm_words(first)]
        head.append(say(number_words([outcome.trial for outcome in group]), "dim"))
        if lacking:
            head.append(say(": " + ", ".join(dict.fromkeys(lacking)), "dim"))
        page += fold(head, look, indent="  ", hanging="      ")
    return page


def brief_sets(sets: Sequence[MatchedSet], unqualified: Collection[str], look: Look, beside: Beside = _ALONE) -> Page:
    """Tell each set of each repetition by its reading, and of those that cannot be read why."""
    if not sets:
        return ()
    page: Page = (line(say("Matched sets", "strong")),)
    for one in sets:
        told: list[Segment | str] = [say(one.reading, READING_STYLES[one.reading]), say(" "),
                                     say(one.trap, "strong"), say(" by ", "dim"), say(one.subject)]  # fmt: skip
        if one.trap in unqualified:
            told.append(say(", unqualified", "warn"))
        if one.reasons:
            told.append(say(": " + ", ".join(beside.reasons(one)), "dim"))
        neutral = beside.neutral_words([one])
        told += [say(", "), *neutral] if neutral else []
        page += fold(told, look, indent="  ", hanging="      ")
    return page


def brief_unqualified(cases: Sequence[str], planned: int, look: Look) -> Page:
    """Say how many cases nothing vouches for."""
    told = f"Unqualified: {len(cases)} of {planned} cases"
    why = ": nothing shows yet that these tell known subjects apart, so they satisfy no gate"
    return fold([say(told, "warn"), say(why, "dim")], look, hanging="  ")


def brief_gates(results: Sequence[GateResult], look: Look) -> Page:
    """Tell each gate in a line: its word, and of those that are undecided how often and why."""
    page: Page = (line(say("Gates", "strong")),)
    for found in results:
        word, style = GATE_WORDS[found.result]
        why: Counter[str] = Counter()
        for seen in found.operands:
            why.update(seen.why)
        told: list[Segment | str] = [say(word, style), say(" "), say(found.gate)]
        numbers = [f"{seen.operand}{compared_words(seen)}" for seen in found.operands if compared_words(seen)]
        numbers += [f"{seen.operand} = {seen.number}" for seen in found.operands if not seen.words]
        told += [say("; " + ", ".join(dict.fromkeys(numbers)), "dim")] if numbers else []
        if why:
            told.append(say("; undecided: " + ", ".join(f"{name} {number}" for name, number in why.items()), "dim"))
        page += fold(told, look, indent="  ", hanging="      ")
    return (*page, *fold([say(f"They rest on: {results[0].ledger}", "dim")], look, indent="  ", hanging="    "))


def where_the_rest_is(look: Look) -> Page:
    """Say where everything is told in full."""
    told = (
        "One line each, since there are many: oyer show SERIES TRIAL tells one in full (its number, or words such as "
        "its case and its subject), oyer show SERIES --long all."
    )
    return fold([say(told, "dim")], look)
