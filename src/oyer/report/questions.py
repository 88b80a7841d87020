"""Every question of a series by subject in one small table: what each came to, or how often of the decided.

Owns that table. Must never leave out a question that was asked, or a repetition that came to nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from oyer.adjudicate import Asked, RateOf
from oyer.report.page import Look, Page, Segment, Style, fold, line, say
from oyer.report.sets import READING_STYLES
from oyer.report.table import SHORT_READINGS, laid_out, rows_of, shortened
from oyer.report.verdicts import PERFORMED_STYLES, VERDICT_STYLES

__all__ = ["render_questions"]

_STYLES: Mapping[str, Style] = {**VERDICT_STYLES, **PERFORMED_STYLES, **READING_STYLES}


def render_questions(rates: Sequence[RateOf], look: Look) -> Page:
    """Lay out what each question came to for each subject; empty where nothing was asked."""
    if not rates:
        return ()
    subjects = list(dict.fromkeys(one.subject for one in rates))
    found: dict[str, dict[str, RateOf]] = {}
    for one in rates:
        found.setdefault(one.asked.about, {})[one.subject] = one
    asked = [next(iter(own.values())).asked for own in found.values()]
    cases = dict(zip([one.case for one in asked], shortened([one.case for one in asked], "/"), strict=True))
    several = any(one.tally.planned > 1 for one in rates)
    labels = [_label(one, cases[one.case], several=several) for one in asked]
    cells = [[_cell(own.get(subject)) for subject in subjects] for own in found.values()]
    heads = shortened(subjects, ":")
    lay = laid_out(labels, heads, [part.text for row in cells for cell in row for part in cell], look.width)
    told = "how often the word, of the decided; ? undecided" if several else "each tried once"
    page: Page = (line(say("Questions by subject", "strong"), say(f"  {told}", "dim")),)
    for start in range(0, len(heads), lay.block):
        chosen = range(start, min(start + lay.block, len(heads)))
        page += ((),) if start else ()
        page += tuple(rows_of("", [[say(heads[index], "strong")] for index in chosen], lay))
        for row, name in enumerate(labels):
            page += tuple(rows_of(name, [cells[row][index] for index in chosen], lay))
    used = {word for one in rates if one.asked.kind == "set" for word in one.tally.words}
    short = "; ".join(f"{SHORT_READINGS[word]} = {word}" for word in SHORT_READINGS if word in used)
    return page + (fold([say(short, "dim")], look, indent="  ") if short and not several else ())


def _label(asked: Asked, case: str, *, several: bool) -> str:
    what = {"verdict": asked.claim, "mechanical_outcome": "outcome"}.get(asked.kind, asked.kind)
    return f"{case} {what} {asked.word}" if several else f"{case} {what}"


def _cell(one: RateOf | None) -> list[Segment]:
    if one is None:
        return [say("-", "dim")]
    if one.tally.planned > 1:
        open_ = f" ?{one.rate.undecided}" if one.rate.undecided else ""
        return [say(f"{one.rate.k}/{one.rate.decided}{open_}", "warn" if open_ else "plain")]
    if one.rate.undecided:
        return [say("? " + next(iter(one.tally.why), ""), "warn")]
    word = next(iter(one.tally.words))
    return [say(SHORT_READINGS[word] if one.asked.kind == "set" else word, _STYLES.get(word, "plain"))]
