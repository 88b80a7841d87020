"""Two series side by side, for a person and for a program: what was fixed otherwise, counts, tests, the answer.

Owns the words and the layout. Must never print a difference without the counts of both sides and what is undecided, or
an answer that the tests did not give.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from oyer.adjudicate import COUNTED_ALONE, NOT_TESTED, Difference, DiffRow, DiffTest
from oyer.report.contrasts import contrast_value, counts_text, counts_value, pairs_text, render_contrast
from oyer.report.lock_words import LockDifference
from oyer.report.page import Look, Page, Style, counted, fold, line, say

__all__ = ["answer_of", "difference_value", "render_difference"]

_STYLES: Mapping[str, Style] = {
    "worse": "bad",
    "better": "good",
    "no_difference_decided": "plain",
    "not_decided": "warn",
}
_MOST_PINS = 12


def answer_of(found: Difference) -> str:
    """Say in one sentence what came of it."""
    words = [test.word for test in found.tests if test.decides]
    told = [
        f"{words.count(word)} {word.replace('_', ' ')}"
        for word in ("worse", "better", "no_difference_decided", "not_decided")
        if word in words
    ]
    lead = {1: "Worse: a difference is decided", 5: "Not decided", 0: "No difference for the worse is decided"}
    return f"{lead[found.exit_code]}. Of {counted(len(words), 'test')}: {', '.join(told) or 'none'}."


def render_difference(
    found: Difference, pins: Sequence[LockDifference], names: tuple[str, str], look: Look, *, every: bool = False
) -> Page:
    """Lay out two series side by side; `names` are what each is called, `every` shows all that was fixed otherwise."""
    page: Page = ()
    whose = [", ".join(pair[side] for pair in found.subjects) for side in (0, 1)]
    for letter, name, subject, ledger in zip("AB", names, whose, found.ledgers, strict=True):
        page += fold(
            [say(f"{letter}  ", "strong"), say(name), say(f" by {subject}: {ledger}", "dim")], look, hanging="   "
        )
    page += ((), *_pins(pins, look, every=every))
    page += (
        (),
        line(say("Counts of either side", "strong"), say(f"  {counted(len(found.cases), 'common case')}", "dim")),
    )
    for row in found.rows:
        page += _short_row(row, look) if row.asked.kind == "held" else _row(row, look)
    if any(row.asked.kind in COUNTED_ALONE for row in found.rows):
        page += fold([say(NOT_TESTED, "dim")], look, indent="  ", hanging="    ")
    for about, why in found.left_out:
        page += fold([say(f"{about} is left out: {why}", "warn")], look, indent="  ", hanging="    ")
    drawn = f"  seed {found.seed}, {found.draws} draws; B less A, at 5 %"
    page += ((), line(say("Tests", "strong"), say(drawn, "dim")))
    if {row.asked.kind for row in found.rows} & {"survived", "held"}:
        told = "what pressure did is a family of its own, adjusted by itself: each family at 5 %"
        page += fold([say(told, "dim")], look, indent="  ", hanging="    ")
    if found.family is not None:
        page += fold([say(f"declared family: {', '.join(found.family)}", "dim")], look, indent="  ", hanging="    ")
    about = ""
    for test in found.tests:
        if about != (about := test.contrast.about):
            page += fold([say(about, "accent")], look, indent="  ", hanging="    ")
        if test.decides:
            page += render_contrast(test.contrast, look, word=test.word.replace("_", " "), style=_STYLES[test.word])
    said = {test.contrast.why for test in found.tests}
    for caveat in filter(None, (found.unfixed if found.unfixed not in said else "", found.budget)):
        page += fold([say(caveat, "warn")], look, indent="  ", hanging="    ")
    style: Style = {1: "bad", 5: "warn"}.get(found.exit_code, "good")  # type: ignore[assignment]
    page += ((), *fold([say(answer_of(found), style)], look))
    told = "These are the trials that ran, under these pins: what else changed between the two is listed above, and "
    return (*page, *fold([say(told + "nothing here says which of it did it.", "dim")], look))


def _pins(pins: Sequence[LockDifference], look: Look, *, every: bool) -> Page:
    if not pins:
        return (line(say("Fixed alike", "strong"), say("  nothing that was pinned differs", "dim")),)
    page: Page = (line(say("Fixed otherwise, A to B", "strong")),)
    for one in pins if every else pins[:_MOST_PINS]:
        page += fold([say(one.sentence)], look, indent="  ", hanging="    ")
    if len(pins) > _MOST_PINS and not every:
        page += (line(say(f"  and {len(pins) - _MOST_PINS} more (--pins shows all)", "dim")),)
    return page


def _row(row: DiffRow, look: Look) -> Page:
    page: Page = (line("  ", say(row.asked.about, "accent"), say(f"  {_whose(row)}", "dim")),)
    for letter, tally in zip("AB", (row.first, row.second), strict=True):
        page += fold([say(f"{letter}  "), say(tally.line)], look, indent="    ", hanging="       ")
    if row.sides.pairs is not None:
        page += fold([say(pairs_text(row.sides.pairs))], look, indent="    ", hanging="      ")
    return page


def _short_row(row: DiffRow, look: Look) -> Page:
    """One round in a line: the counts say all that the words would."""
    told = f"A {counts_text(row.sides.first)}; B {counts_text(row.sides.second)}"
    if row.sides.pairs is not None:
        told += f"; {pairs_text(row.sides.pairs)}"
    head = [say(row.asked.about, "accent"), say(f"  {_whose(row)}: ", "dim"), say(told)]
    return fold(head, look, indent="  ", hanging="    ")


def _whose(row: DiffRow) -> str:
    one, other = row.first.subject, row.second.subject
    return one if one == other else f"{one} to {other}"


def difference_value(found: Difference, pins: Sequence[LockDifference]) -> dict[str, Any]:
    """Return two series side by side as JSON."""
    return {
        "subjects": [list(pair) for pair in found.subjects],
        "ledgers": list(found.ledgers),
        "pins": [one._asdict() for one in pins],
        "cases": list(found.cases),
        "left_out": [{"about": about, "why": why} for about, why in found.left_out],
        "rows": [_row_value(row) for row in found.rows],
        "family": None if found.family is None else list(found.family),
        "unfixed": found.unfixed or None,
        "budget": found.budget or None,
        "tests": [_test_value(test) for test in found.tests],
        "seed": found.seed,
        "draws": found.draws,
        "answer": answer_of(found),
    }


def _row_value(row: DiffRow) -> dict[str, Any]:
    sides = zip(("first", "second"), (row.first, row.second), (row.sides.first, row.sides.second), strict=True)
    return {
        "about": row.asked.about,
        "case": row.asked.case,
        "subjects": [row.first.subject, row.second.subject],
        "word": row.asked.word,
        **{
            name: {"line": tally.line, "words": dict(tally.words), "why": dict(tally.why), **counts_value(counts)}
            for name, tally, counts in sides
        },
        "pairs": None if row.sides.pairs is None else row.sides.pairs._asdict(),
    }


def _test_value(test: DiffTest) -> dict[str, Any]:
    value = contrast_value(test.contrast)
    return {**value, "word": test.word if test.decides else None, "side": value["word"], "decides": test.decides}
