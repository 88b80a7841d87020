"""Rates over repetitions, for a person and for a program: counts first, then the rate with what is undecided.

Owns the layout. Must never print a rate without its denominator, or compute one: the numbers are `adjudicate`'s.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from oyer.adjudicate import Tally, rate_sentence
from oyer.report.page import Look, Page, fold, line, say
from oyer.stats import Anytime, Rate

__all__ = ["rate_value", "render_tallies", "tally_value"]

_ASKED: Mapping[str, str] = {
    "mechanical_outcome": "CONFIRMED",
    "verdict": "PASS",
    "performed": "completed",
    "set": "DISCRIMINATES",
}
"""The word whose rate is told, by what is counted. The others are in the counts, and in the JSON with their rates."""


def render_tallies(tallies: Sequence[Tally], look: Look) -> Page:
    """Lay out what repeats; empty where nothing does, since one repetition is no rate."""
    repeated = [one for one in tallies if one.planned > 1]
    if not repeated:
        return ()
    page: Page = (line(say("Over repetitions", "strong")),)
    for one in repeated:
        page += (line("  ", say(one.about, "accent"), say(" by ", "dim"), say(one.subject)),)
        page += fold([say(one.line)], look, indent="    ", hanging="      ")
        word = _ASKED[one.about.partition("(")[0]]
        page += fold([say(rate_sentence(word, one.rate(word)))], look, indent="    ", hanging="      ")
    return page


def tally_value(tally: Tally) -> dict[str, Any]:
    """Return one tally as JSON; what cannot be estimated is null, with the reason."""
    asked = _ASKED[tally.about.partition("(")[0]]
    return {
        "about": tally.about,
        "case": tally.case,
        "subject": tally.subject,
        "planned": tally.planned,
        "stopped": tally.stopped or None,
        "words": dict(tally.words),
        "undecided": dict(tally.why),
        "rates": {word: rate_value(tally.rate(word)) for word in sorted({asked, *tally.words})},
    }


def rate_value(rate: Rate) -> dict[str, Any]:
    """Return one rate as JSON."""
    return {
        "k": rate.k,
        "decided": rate.decided,
        "undecided": rate.undecided,
        # With undecided trials the share of the decided ones would look better the more of them crash.
        "value": None if rate.value is None or rate.undecided else float(rate.value),
        "bounds": None if rate.bounds is None else [float(bound) for bound in rate.bounds],
        "wilson_95": None if rate.interval is None or rate.undecided else list(rate.interval),
        "limits_95": None if rate.limits is None else list(rate.limits),
        "sequence": None if rate.sequence is None else sequence_value(rate.sequence),
        "why_not": rate.why_not,
    }


def sequence_value(found: Anytime) -> dict[str, Any]:
    """Return limits that hold whenever a rule stopped as JSON."""
    return {"alpha": found.alpha, "low": found.limits.low, "high": found.limits.high}
