"""The conserved count of a series, in words: what was planned and what became of each.

Owns the ledger lines of text reports. Must never print a sum that does not hold as if it did.
"""

from __future__ import annotations

from collections.abc import Mapping

from oyer.adjudicate import LedgerCount
from oyer.report.page import Look, Page, Segment, Style, fold, say

__all__ = ["OUTCOME_STYLES", "render_ledger", "told_spontaneous"]

OUTCOME_STYLES: Mapping[str, Style] = {"CONFIRMED": "bad", "NOT_OBSERVED": "good", "INCONCLUSIVE": "warn"}

DECLARED = frozenset({"rule", "budget"})
"""What may keep a trial from running without anything being amiss."""

_MOST_MISSING = 12
"""Trials that did not run and are named; an interrupted series may have thousands."""


def render_ledger(count: LedgerCount, look: Look) -> Page:
    """Print the ledger: trials, comparisons, exposure, spontaneous promotions in baselines."""
    comparisons = sum(count.comparisons.values())
    page = _sum("planned trials", count.planned, count.trials, look)
    if count.judged or count.evaluator_error or count.unjudged:
        parts = {"judged": count.judged, "evaluator_error": count.evaluator_error}
        parts |= {"not judged": len(count.unjudged)} if count.unjudged else {}
        page += _sum("completed", count.trials["completed"], parts, look)
    for rule, number in count.excluded.items():
        page += fold([say(f"left out of rates by the rule {rule}: {number}", "warn")], look, indent="  ")
    if comparisons:
        page += _sum("comparisons", comparisons, count.comparisons, look)
        exposure = {"exposed": count.exposed, "unexposed": count.unexposed}
        page += _sum("of these", comparisons, exposure, look)
        page += fold([say(told_spontaneous(count))], look, indent="  ")
    if count.missing:
        page += _sum("not run", len(count.missing), count.not_run, look)
    if set(count.not_run) - DECLARED:
        shown, more = count.missing[:_MOST_MISSING], len(count.missing) - _MOST_MISSING
        told = "not run: " + ", ".join(shown) + (f" and {more} more (all of them: --json)" if more > 0 else "")
        page += fold([say(told, "warn")], look, indent="  ", hanging="    ")
    return page


def told_spontaneous(count: LedgerCount) -> str:
    """Say in how many baselines the effect may have come unprompted, and how many of them did nothing that is known."""
    told = f"spontaneous: {count.spontaneous} of {count.baselines} baselines"
    if not count.spontaneous:
        return told
    undecided = count.spontaneous - count.acted
    return told + f" ({count.acted} acted, {undecided} undecided" + (", counted as if they had)" if undecided else ")")


def _sum(name: str, total: int, parts: Mapping[str, int], look: Look) -> Page:
    words: list[Segment | str] = [say(f"{name} "), say(str(total), "strong"), say(" = ")]
    for index, (part, number) in enumerate(parts.items()):
        style = OUTCOME_STYLES.get(part, "plain") if number else "dim"
        words += [*([say(" + ", "dim")] if index else []), say(f"{part} {number}", style)]
    if sum(parts.values()) != total:
        words.append(say(" THIS DOES NOT ADD UP: the series is not accounted for", "bad"))
    return fold(words, look, indent="  ", hanging="    ")
