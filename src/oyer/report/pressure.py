"""Pressure for a person and for a program: rounds of one trial, traps by subject, survival by round, the effect.

Owns the layout. Must never print a hazard without how many were at risk and how many are open, or compute a number:
they are `adjudicate`'s.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any

from oyer.adjudicate import PressedCase, PressureRead
from oyer.records import Pressed
from oyer.report.page import Look, Page, Segment, Style, counted, fold, line, say
from oyer.stats import RESAMPLES, Effect, Hazard, Interval

__all__ = ["pressure_value", "render_pressed", "render_pressure", "render_rounds"]

_STYLES: Mapping[str, Style] = {
    "held": "good",
    "broke": "bad",
    "undecided": "warn",
    "not_reached": "dim",
    "survived": "good",
    "unprompted": "good",
    "when_asked": "accent",
    "never": "bad",
    "never_unasked": "bad",
    "refused": "bad",
    "not_refused": "good",
    "PASS": "good",
    "FAIL": "bad",
    "UNKNOWN": "warn",
    "contaminated": "bad",
    "none_seen": "good",
}
_REFS_SHOWN = 3


def render_rounds(pressed: Pressed, look: Look, *, indent: str = "  ") -> Page:
    """Lay out the rounds of one trial in a line, each with its word; nothing for one that has none but the request."""
    if not pressed.last_round:
        return ()
    told: list[Segment | str] = [say("rounds:", "dim")]
    for one in pressed.rounds:
        told += [say(f" {one.round} ", "dim"), say(one.state.replace("_", " "), _STYLES[one.state])]
    return fold(told, look, indent=indent, hanging=indent + "  ")


def render_pressed(pressed: Pressed, look: Look, *, traces: bool = True) -> Page:
    """Lay out what pressure did in one trial, round by round, and every other record of it.

    Without `traces` what it did to later cases is left to the caller.
    """
    arm = "neutral arm: as many rounds with nothing in them" if pressed.arm == "neutral" else ""
    page: Page = (line("  ", say("under pressure", "strong"), say(f"  {arm}" if arm else "", "accent")),)
    for one in pressed.rounds:
        told = [say(f"round {one.round} ", "dim"), say(one.state, _STYLES[one.state]), say(f": {one.by}", "dim")]
        page += fold([*told, say(_refs(one.evidence), "dim")], look, indent="    ", hanging="      ")
    first = pressed.first_break
    if first is not None:
        span = f"{first.earliest}" if first.earliest == first.latest else f"{first.earliest} to {first.latest}"
        after = "" if first.latest <= pressed.last_round else f" ({pressed.last_round + 1} is after the last round)"
        told = [say("first break: round ", "dim"), say(span, "bad"), say(f"{after}{_refs(first.evidence)}", "dim")]
        page += fold(told, look, indent="    ", hanging="      ")
    elif pressed.survived:
        page += (line("    ", say("survived every round", "good")),)
    for what, state, why, refs in _records(pressed, traces=traces):
        if state != "not_measured":
            told = [say(f"{what}: ", "dim"), say(state, _STYLES.get(state, "plain"))]
            page += fold([*told, say(_why(why) + _refs(refs), "dim")], look, indent="    ", hanging="      ")
    return page


def _records(pressed: Pressed, *, traces: bool) -> Iterator[tuple[str, str, str, Sequence[str]]]:
    recovery, refusal, truthful = pressed.recovery, pressed.over_refusal, pressed.truthful_non_completion
    yield "recovery", recovery.state, recovery.why, recovery.evidence
    yield "over-refusal", refusal.state, refusal.why, refusal.evidence
    told = f"said so {truthful.said_so}, claimed nothing {truthful.claimed_nothing}, world {truthful.world_not_done}"
    why = f"{told}: {truthful.why}" if truthful.why else told
    yield "truthful non-completion", truthful.state, why, truthful.evidence
    for one in pressed.downstream_contamination if traces else ():
        hit = f" by {', '.join(one.traces)}" if one.traces else ""
        yield f"traces in {one.later}{hit}", one.state, one.why, one.evidence


def _why(why: str) -> str:
    return f": {why}" if why else ""


def _refs(refs: Sequence[str]) -> str:
    if not refs:
        return ""
    more = f" and {len(refs) - _REFS_SHOWN} more" if len(refs) > _REFS_SHOWN else ""
    return f" ({', '.join(refs[:_REFS_SHOWN])}{more})"


def render_pressure(reads: Sequence[PressureRead], look: Look) -> Page:
    """Lay out what pressure did to every subject of a series; empty where there was none."""
    if not reads:
        return ()
    page: Page = (line(say("Under pressure", "strong")),)
    for read in reads:
        page += (line("  ", say("by ", "dim"), say(read.subject, "strong")),)
        for one in read.cases:
            page += _case(one, look)
        page += _survival(read, look)
        if read.effect is not None:
            page += _effect(read.effect, read.first, look)
    return page


def _case(one: PressedCase, look: Look) -> Page:
    words: list[Segment | str] = [say(one.case, "accent"), say(f", {counted(one.last_round, 'round')}: ", "dim")]
    words += _counted(one.rounds, one.planned)
    for what, counts in (
        ("recovery", one.recovery),
        ("over-refusal", one.over_refusal),
        ("truthful non-completion", one.non_completion),
    ):
        shown = {word: number for word, number in counts.items() if word not in ("not_measured", "nothing_to_recover")}
        if shown:
            words += [say(f"; {what} ", "dim"), *_counted(shown, one.planned)]
    if one.ran < one.planned:
        words.append(say(f"; {one.planned - one.ran} not run", "warn"))
    return fold(words, look, indent="    ", hanging="      ")


def _counted(counts: Mapping[str, int], planned: int) -> list[Segment | str]:
    told: list[Segment | str] = []
    for index, (word, number) in enumerate(counts.items()):
        style = _STYLES.get(word.partition(" ")[0], "plain")
        many = f"{number} " if planned > 1 else ""
        told += [*([say(", ", "dim")] if index else []), say(f"{many}{word}", style)]
    return told


def _survival(read: PressureRead, look: Look) -> Page:
    found = read.survival
    told = f"survival, {counted(found.trials, 'trial')} of {counted(found.cases, 'trap')}"
    if read.not_run:
        told += f" ({read.not_run} not run)"
    told += f"; round 0, before any pressure: broke {found.in_round_0}"
    if found.undecided_in_round_0:
        told += f", undecided {found.undecided_in_round_0}"
    page: Page = fold([say(told)], look, indent="    ", hanging="      ")
    for one in found.hazards:
        page += fold([say(hazard_sentence(one))], look, indent="      ", hanging="        ")
    for formula in dict.fromkeys(one.formula for one in found.hazards if one.formula is not None):
        page += fold([say(f"limits by {formula}", "dim")], look, indent="      ", hanging="        ")
    if found.through is not None:
        low, high = found.through
        told = f"held in every round: {found.held_throughout} of {found.trials}"
        told += "" if low == high else f", {float(low):.2f} to {float(high):.2f} of all whatever the open ones did"
        page += fold([say(told)], look, indent="      ", hanging="        ")
    return page


def hazard_sentence(one: Hazard) -> str:
    """Say one row of the table with all that belongs to it; by which formula stands under the table."""
    told = f"round {one.round}: broke {one.broke} of {one.at_risk} at risk"
    if one.undecided:
        low, high = one.bounds
        told += f", {one.undecided} undecided: between {float(low):.2f} and {float(high):.2f}"
    elif one.value is not None:
        told += f": {float(one.value):.2f}"
    if one.limits is None:
        return f"{told}; no limits, {one.why_not}"
    return f"{told}; 95 % limits {one.limits.low:.2f} to {one.limits.high:.2f}"


def _effect(found: Effect, first: str | None, look: Look) -> Page:
    told = f"effect of pressure over {counted(found.pairs, 'pair')} with the neutral arm: both broke {found.both}, "
    told += f"pressed only {found.pressed_only}, neutral only {found.neutral_only}, neither {found.neither}, "
    told += f"undecided {found.undecided}"
    if found.difference is not None:
        told += f"; difference {float(found.difference):+.2f}"
    if found.bounds is not None and found.undecided:
        told += f", between {float(found.bounds[0]):+.2f} and {float(found.bounds[1]):+.2f}"
    if found.limits is not None:
        told += f"; 95 % limits {found.limits.low:+.2f} to {found.limits.high:+.2f}"
    else:
        told += f"; no limits, {found.why_not}"
    if found.p is not None:
        worst = "" if found.p_worst is None else f" (at worst {found.p_worst:.3f})" if found.undecided else ""
        told += f"; {found.test} p = {found.p:.3f}{worst}"
    if first is not None:
        told += f"; the {first} arm was planned first in every pair, so time is confounded with the arm"
    return fold([say(told)], look, indent="    ", hanging="      ")


def pressure_value(read: PressureRead) -> dict[str, Any]:
    """Return what pressure did to one subject as JSON; what cannot be estimated is null, with the reason."""
    found = read.survival
    return {
        "subject": read.subject,
        "cases": [one._asdict() for one in read.cases],
        "survival": {
            "trials": found.trials,
            "cases": found.cases,
            "not_run": read.not_run,
            "round_0": {"broke": found.in_round_0, "undecided": found.undecided_in_round_0},
            "rounds": [_hazard_value(one) for one in found.hazards],
            "held_throughout": found.held_throughout,
            "through": _pair(found.through),
            "resamples": RESAMPLES,
            "seed": read.seed,
        },
        "effect": None if read.effect is None else {**_effect_value(read.effect), "first": read.first},
    }


def _hazard_value(one: Hazard) -> dict[str, Any]:
    return {
        "round": one.round,
        "broke": one.broke,
        "at_risk": one.at_risk,
        "undecided": one.undecided,
        "hazard": None if one.value is None else float(one.value),
        "bounds": _pair(one.bounds),
        "limits_95": _pair(one.limits),
        "formula": one.formula,
        "why_not": one.why_not,
    }


def _effect_value(found: Effect) -> dict[str, Any]:
    return {
        **found._asdict(),
        "difference": None if found.difference is None else float(found.difference),
        "bounds": _pair(found.bounds),
        "limits": _pair(found.limits),
    }


def _pair(pair: tuple[Fraction, Fraction] | Interval | None) -> list[float] | None:
    return None if pair is None else [float(one) for one in pair]
