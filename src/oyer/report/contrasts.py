"""Tests of two sides, for a person and for a program: counts, differences, what is decided, and what it rests on.

Owns the words. Must never print a difference without both sides' counts, or a p-value without its family.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from oyer.adjudicate import ALPHA, Contrast, PairCounts, Sides
from oyer.report.page import Look, Page, Style, fold, say
from oyer.stats import CaseCounts

__all__ = [
    "CONTRAST_STYLES",
    "contrast_value",
    "counts_text",
    "counts_value",
    "pairs_text",
    "render_contrast",
    "render_contrasts",
    "sides_value",
]

CONTRAST_STYLES: Mapping[str, Style] = {
    "higher": "accent",
    "lower": "accent",
    "no_difference_decided": "plain",
    "not_decided": "warn",
}


def counts_text(counts: CaseCounts) -> str:
    """Say `7 of 9 decided, 1 undecided`."""
    return f"{counts.k} of {counts.decided} decided, {counts.undecided} undecided"


def counts_value(counts: CaseCounts) -> dict[str, int]:
    """Return the counts of one side as JSON."""
    return {"k": counts.k, "decided": counts.decided, "undecided": counts.undecided}


def pairs_text(pairs: PairCounts) -> str:
    """Say how pairs by design fell."""
    return (
        f"pairs: {pairs.gained} only the second, {pairs.lost} only the first, {pairs.alike} alike, "
        f"{pairs.undecided} undecided"
    )


def render_contrast(found: Contrast, look: Look, *, word: str | None = None, style: Style | None = None) -> Page:
    """Lay out one test in a few lines; `word` stands in the place of its own where the caller knows a better one."""
    cases = found.cases[0] if len(found.cases) == 1 else f"{len(found.cases)} cases"
    if found.method == "none":
        told = f"{cases}: no test, {found.why}{least_words(found)}; the difference lies in {_bounds(found)}"
        return fold([say(told, "dim")], look, indent="    ", hanging="      ")
    said = word or found.word.replace("_", " ")
    parts = [
        say(said, style or CONTRAST_STYLES[found.word]),
        say(f" over {cases}" if len(found.cases) > 1 else f" in {cases}"),
    ]
    parts += [say(f": {_numbers(found)}")]
    if found.why:
        parts += [say(f"; {found.why}{least_words(found)}", "warn")]
    return fold(parts, look, indent="    ", hanging="      ")


def render_contrasts(contrasts: Sequence[Contrast], look: Look) -> Page:
    """Lay out tests of one question; cases without one, alike in reason and difference, stand together."""
    page: Page = ()
    alike: dict[str, list[str]] = {}
    for found in contrasts:
        if found.method == "none":
            told = f"no test, {found.why}{least_words(found)}; the difference lies in {_bounds(found)}"
            alike.setdefault(told, []).extend(found.cases)
        else:
            page += render_contrast(found, look)
    for told, cases in alike.items():
        each = "" if len(cases) == 1 else ", each"
        page += fold([say(f"{', '.join(cases)}: {told}{each}", "dim")], look, indent="    ", hanging="      ")
    return page


def least_words(found: Contrast) -> str:
    """Say how many are the least that could decide it; empty where that is not what it lacks."""
    if found.least is None:
        return ""
    units = {"cases": "cases", "pairs": "decided pairs", "trials": "decided trials on each side"}
    return f": {found.least} {units[found.units]} are the least that could"


def _numbers(found: Contrast) -> str:
    told = []
    low, high = (float(bound) for bound in found.bounds)
    if low == high:
        told.append(f"difference {low:+.2f}")
    else:
        told.append(f"difference {low:+.2f} to {high:+.2f}, as the undecided trials would have come out")
    if found.limits is not None:
        told.append(f"95 % limits {found.limits.low:+.2f} to {found.limits.high:+.2f}")
    if found.p_ends is not None:
        least, most = sorted(found.p_ends)
        told.append(f"p {_p(most)}" if least == most else f"p {_p(least)} and {_p(most)} at the ends")
    if found.p_least is not None and found.p_most is not None and found.tests > 1:
        least, most = found.p_least, found.p_most
        between = _p(least) if least == most else f"{_p(least)} to {_p(most)}"
        told.append(f"adjusted for {found.tests} tests {between}")
    return "; ".join([*told, f"{found.method}, {found.estimand}"])


def _bounds(found: Contrast) -> str:
    low, high = (float(bound) for bound in found.bounds)
    return f"{low:+.2f} to {high:+.2f}"


def _p(value: float) -> str:
    return f"{value:.4f}" if value >= 0.0001 else "below 0.0001"


def contrast_value(found: Contrast) -> dict[str, Any]:
    """Return one test as JSON; null where it says nothing."""
    undecided = found.bounds[0] != found.bounds[1]
    return {
        "about": found.about,
        "cases": list(found.cases),
        "method": found.method,
        "estimand": found.estimand,
        "alpha": ALPHA,
        # With undecided trials the difference of the decided ones is no number to go by: the bounds are.
        "difference": None if found.difference is None or undecided else float(found.difference),
        "bounds": [float(bound) for bound in found.bounds],
        "limits_95": None if found.limits is None else list(found.limits),
        "p": None if undecided else found.p,
        "p_ends": None if found.p_ends is None else list(found.p_ends),
        "p_adjusted": None if found.p_least is None else [found.p_least, found.p_most],
        "tests": found.tests,
        "word": found.word if found.method != "none" else None,
        "why": found.why,
        "least_to_decide": found.least,
    }


def sides_value(sides: Sequence[Sides], pairs: Sequence[PairCounts | None]) -> list[dict[str, Any]]:
    """Return the counts of every case on both sides as JSON."""
    return [
        {
            "case": one.case,
            "first": counts_value(one.first),
            "second": counts_value(one.second),
            "pairs": None if pair is None else pair._asdict(),
        }
        for one, pair in zip(sides, pairs, strict=True)
    ]
