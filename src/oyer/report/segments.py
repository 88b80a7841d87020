"""A sequence for a person: which case came when, what each came to, and what the traces of one did to a later one.

Owns that page. Must never leave a pair of cases out, or print "none" where nothing was measured.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from oyer.adjudicate import SequenceRead
from oyer.records import Contamination, Outcome, SegmentOutcome
from oyer.report.page import Look, Page, Segment, Style, fold, line, say
from oyer.report.pressure import render_pressed, render_rounds
from oyer.report.verdicts import PERFORMED_STYLES, VERDICT_STYLES, Errors, number_words, render_claims

__all__ = ["render_segments", "render_sequence", "render_sequences", "sequence_value"]

CONTAMINATED: Mapping[str, tuple[str, Style]] = {
    "contaminated": ("was hit by a trace of it", "bad"),
    "none_seen": ("none of its traces was seen", "good"),
    "undecided": ("undecided", "warn"),
    "not_measured": ("not measured: it declares no traces", "dim"),
}
_REFS_SHOWN = 3
_DEEPER = "   "


def render_sequence(
    outcomes: Sequence[Outcome],
    planned: int,
    unqualified: Collection[str],
    look: Look,
    errors: Errors,
    *,
    whole: bool = False,
) -> Page:
    """Lay out the trials of one sequence by one subject. `planned` is how many there should be.

    `whole`: with all that pressure did to a case that has rounds.
    """
    first = outcomes[0]
    head: list[Segment | str] = [say(first.case, "strong"), say(" by ", "dim"), say(first.subject, "strong")]
    if first.case in unqualified:
        head.append(say("  unqualified", "warn"))
    if planned == 1:
        head.append(say(f"  repetition {first.repetition}{number_words([first.trial])}", "dim"))
        return (line(*head), *render_segments(first, look, errors, whole=whole))
    head.append(say(f"  {len(outcomes)} of {planned} repetitions ran", "dim"))
    page: Page = (line(*head),)
    for pair, counts in _pairs(outcomes).items():
        page += _counted(pair, counts, planned - len(outcomes), planned, look)
    for alike in _alike(outcomes):
        numbers = ", ".join(str(one.repetition) for one in alike[:12]) + (", ..." if len(alike) > 12 else "")
        told = f"{len(alike)} ended like this ({numbers}); shown: repetition {alike[0].repetition}"
        told += number_words([alike[0].trial])
        page += (line("  ", say(told, "dim")), *render_segments(alike[0], look, errors, whole=whole))
    return page


def render_segments(outcome: Outcome, look: Look, errors: Errors, *, whole: bool = False) -> Page:
    """Lay out every case of one trial of a sequence, in order; nothing for a trial of any other case.

    `whole`: with all that pressure did to a case that has rounds.
    """
    page: Page = ()
    inner = look._replace(width=look.width - len(_DEEPER))
    for segment in outcome.segments:
        page += (line("  ", say(f"{segment.order + 1}. "), say(segment.case, "strong"), *_words(segment)),)
        page += _deeper(render_claims(outcome.model_copy(update={"verdicts": segment.verdicts}), inner, errors))
        performed = segment.performed
        if performed is not None and (performed.why or performed.evidence):
            told = [say(f"performed: {performed.state}", PERFORMED_STYLES[performed.state])]
            why = f"  {performed.why}" if performed.why else ""
            page += fold(
                [*told, say(why, "dim"), say(_refs(performed.evidence), "dim")], look, indent="     ", hanging="       "
            )
        if whole and segment.pressure.last_round:
            page += _deeper(render_pressed(segment.pressure, inner, traces=False))
        else:
            page += render_rounds(segment.pressure, look, indent="     ")
        for hit in segment.pressure.downstream_contamination:
            page += _hit(hit, look)
    return page


def _deeper(page: Page) -> Page:
    """Set lines below the case that they belong to."""
    return tuple((Segment(_DEEPER), *one) for one in page)


def _words(segment: SegmentOutcome) -> list[Segment | str]:
    """The words of a case on its own line: verdicts and performance, without what they rest on."""
    words: list[Segment | str] = []
    for verdict in segment.verdicts:
        words += [say(f"  {verdict.claim} ", "dim"), say(verdict.verdict, VERDICT_STYLES[verdict.verdict])]
    if segment.performed is not None:
        words += [say("  performed ", "dim"), say(segment.performed.state, PERFORMED_STYLES[segment.performed.state])]
    return words


def _hit(hit: Contamination, look: Look) -> Page:
    words, style = CONTAMINATED[hit.state]
    told: list[Segment | str] = [say(f"on {hit.later}: ", "dim"), say(words, style)]
    if hit.traces:
        told.append(say(f": {', '.join(hit.traces)}", style))
    if hit.why:
        told.append(say(f": {hit.why}", "dim"))
    return fold([*told, say(_refs(hit.evidence), "dim")], look, indent="     ", hanging="       ")


def _refs(refs: Sequence[str]) -> str:
    if not refs:
        return ""
    more = f" and {len(refs) - _REFS_SHOWN} more" if len(refs) > _REFS_SHOWN else ""
    return f" ({', '.join(refs[:_REFS_SHOWN])}{more})"


def _pairs(outcomes: Sequence[Outcome]) -> dict[tuple[str, str], Counter[str]]:
    """How often a later case was hit by an earlier one's traces, by pair in their order."""
    found: dict[tuple[str, str], Counter[str]] = {}
    for outcome in outcomes:
        for segment in outcome.segments:
            for hit in segment.pressure.downstream_contamination:
                found.setdefault((hit.earlier, hit.later), Counter())[hit.state] += 1
    return found


def _counted(pair: tuple[str, str], counts: Counter[str], missing: int, planned: int, look: Look) -> Page:
    words: list[Segment | str] = [say(f"{pair[0]} on {pair[1]}: {planned} planned = ", "dim")]
    rows = [*counts.items(), *([("not_run", missing)] if missing else [])]
    for index, (word, number) in enumerate(rows):
        style = CONTAMINATED[word][1] if word in CONTAMINATED else "plain"
        words += [*([say(" + ", "dim")] if index else []), say(f"{word} {number}", style)]
    return fold(words, look, indent="  ", hanging="    ")


def render_sequences(reads: Sequence[SequenceRead], look: Look) -> Page:
    """Lay out every later case of every sequence in a line; empty where there is none."""
    if not reads:
        return ()
    page: Page = (
        line(say("In sequence", "strong"), say("  what the traces of earlier cases did to a later one", "dim")),
    )
    for one in reads:
        told: list[Segment | str] = [say(one.later, "strong"), say(" in ", "dim"), say(one.sequence)]
        told += [say(" by ", "dim"), say(f"{one.subject}: ")]
        for index, (word, number) in enumerate(one.words.items()):
            many = f" {number}" if one.planned > 1 else ""
            told += [*([say(", ")] if index else []), say(f"{word}{many}", _word_style(word))]
        if one.unmeasured:
            told.append(say(f"; {', '.join(one.unmeasured)} not measured: no traces declared", "dim"))
        page += fold(told, look, indent="  ", hanging="      ")
    return page


def _word_style(word: str) -> Style:
    return "bad" if word.startswith("contaminated") else "good" if word == "none seen" else "warn"


def sequence_value(read: SequenceRead) -> dict[str, Any]:
    """Return one later case of a sequence as JSON."""
    return {**read._asdict(), "words": dict(read.words), "unmeasured": list(read.unmeasured)}


def _alike(outcomes: Sequence[Outcome]) -> list[list[Outcome]]:
    """Trials that ended alike: the same status, and each case with the same words."""
    found: dict[object, list[Outcome]] = {}
    for outcome in outcomes:
        ended = tuple(
            (
                tuple((verdict.claim, verdict.verdict) for verdict in segment.verdicts),
                None if segment.performed is None else segment.performed.state,
                tuple((round_.state) for round_ in segment.pressure.rounds),
                tuple((hit.later, hit.state, hit.traces) for hit in segment.pressure.downstream_contamination),
            )
            for segment in outcome.segments
        )
        found.setdefault((outcome.status, ended), []).append(outcome)
    return list(found.values())
