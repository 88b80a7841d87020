"""Matched sets for a person: the matrix of traps with their controls, and over repetitions their joint distribution.

Owns the layout of that matrix. Must never print a reading without the members it was read from, or leave out a set
that could not be read.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from oyer.adjudicate import ONE_REPETITION, SetDistribution, distribution_of
from oyer.records import MatchedSet, Plan, SetMember
from oyer.report.causes import Beside
from oyer.report.page import Look, Page, Segment, Style, fold, line, say

__all__ = ["READING_STYLES", "distribution_value", "distributions", "render_sets"]

READING_STYLES: Mapping[str, Style] = {
    "DISCRIMINATES": "good",
    "BLANKET_REFUSAL": "bad",
    "YIELDS": "bad",
    "YIELDS_UNDER_PRESSURE": "bad",
    "BLANKET_COMPLIANCE": "bad",
    "INCOHERENT": "bad",
    "UNDETERMINED": "warn",
    "MIXED": "warn",
}
_STATES: Mapping[str, tuple[str, Style]] = {
    "guarded": ("guarded", "good"),
    "not_guarded": ("not guarded", "bad"),
    "undecided": ("undecided", "warn"),
    "completed": ("completed", "good"),
    "refused": ("refused", "accent"),
    "failed": ("failed", "bad"),
}

_ALONE = Beside()

Left = Mapping[tuple[str, str], int]
NOTHING_LEFT: Left = MappingProxyType({})


def distributions(plan: Plan, sets: Sequence[MatchedSet], left: Left = NOTHING_LEFT) -> tuple[SetDistribution, ...]:
    """Count every trap and subject over its repetitions, in the order of the plan.

    `left` holds those that a declared rule or budget left out.
    """
    groups: dict[tuple[str, str], list[MatchedSet]] = {}
    for one in sets:
        groups.setdefault((one.trap, one.subject), []).append(one)
    return tuple(distribution_of(group, plan.repeat.fixed - left.get(key, 0)) for key, group in groups.items())


def distribution_value(found: SetDistribution) -> dict[str, Any]:
    """Return a distribution as JSON: every joint state of the members with how often it was seen."""
    return {
        "trap": found.trap,
        "subject": found.subject,
        "members": list(found.members),
        "joint": [{"states": list(states), "count": count} for states, count in found.joint.items()],
        "readings": dict(found.readings),
        "n": found.n,
        "missing": found.missing,
    }


def render_sets(
    plan: Plan,
    sets: Sequence[MatchedSet],
    unqualified: Collection[str],
    look: Look,
    left: Left = NOTHING_LEFT,
    beside: Beside = _ALONE,
) -> Page:
    """Lay out all matched sets of a series; empty where there is none. `beside` is what their trials say of them."""
    if not sets:
        return ()
    page: Page = (line(say("Matched sets", "strong")),)
    for found in distributions(plan, sets, left):
        group = [one for one in sets if (one.trap, one.subject) == (found.trap, found.subject)]
        planned = plan.repeat.fixed - left.get((found.trap, found.subject), 0)
        page += _set(found, group, planned, found.trap in unqualified, look, beside)
    most = max(plan.repeat.fixed - left.get((one.trap, one.subject), 0) for one in sets)
    several = f"how often this happens beyond these {most} repetitions"
    alone = plan.repeat.fixed == 1
    told = dict.fromkeys(item if alone or item != ONE_REPETITION else several for one in sets for item in one.not_shown)
    page += fold([say("Not shown: " + "; ".join(told) + ".", "dim")], look, indent="  ", hanging="    ")
    return page


def _set(
    found: SetDistribution,
    group: Sequence[MatchedSet],
    planned: int,
    unqualified: bool,
    look: Look,
    beside: Beside,
) -> Page:
    first = group[0]
    neutral = beside.neutral_words(group)
    also = fold(neutral, look, indent="    ", hanging="      ") if neutral else ()
    head: list[Segment | str] = [say("  "), say(found.trap, "strong"), say(" by ", "dim"), say(found.subject, "strong")]
    if unqualified:
        head.append(say("  unqualified", "warn"))
    if planned == 1:
        page: Page = (line(*head, say("  "), say(first.reading, READING_STYLES[first.reading])),)
        page += (*fold([say(first.sentence)], look, indent="    "), *also)
        for member in first.members:
            page += _member(first, member, look, beside)
        if first.reasons:
            page += fold([say("because: " + ", ".join(first.reasons), "dim")], look, indent="    ", hanging="      ")
        return (*page, ())
    words: list[Segment | str] = [say(f"{planned} planned = ", "dim")]
    rows = [*found.readings.items(), *([("not_run", found.missing)] if found.missing else [])]
    for index, (word, number) in enumerate(rows):
        style = READING_STYLES.get(word, "plain")
        words += [*([say(" + ", "dim")] if index else []), say(f"{word} {number}", style)]
    page = (line(*head), *fold(words, look, indent="    ", hanging="      "), *also)
    for states, count in found.joint.items():
        told = ", ".join(f"{name} {_STATES[state][0]}" for name, state in zip(found.members, states, strict=True))
        page += fold([say(f"{count} x "), say(told, "dim")], look, indent="    ", hanging="      ")
    causes = Counter(f"{member.case} undecided: {beside.cause(one, member)}"
                     for one in group for member in one.members if member.state == "undecided")  # fmt: skip
    for cause, count in causes.items():
        page += fold([say(f"{count} x "), say(cause, "dim")], look, indent="    ", hanging="      ")
    return (*page, ())


def _member(found: MatchedSet, member: SetMember, look: Look, beside: Beside) -> Page:
    word, style = _STATES[member.state]
    role = {"trap": "trap", "negative": "negative control", "positive": "positive control"}[member.role]
    page: Page = (
        line("    ", say(f"{role:17} "), say(f"{word:12} ", style), say(f"{member.case} ({member.by})", "dim")),
    )
    if member.state == "undecided" and (cause := beside.cause(found, member)) != member.by:
        page += fold([say(cause, "dim")], look, indent="      ", hanging="        ")
    return page
