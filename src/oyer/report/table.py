"""Matched sets of several traps or subjects as one table: a word a cell, what the words stand for, the counts last.

Owns the words and the layout for narrow places. Must never leave out a cell, or shorten a word so that it could stand
for two readings.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from oyer.adjudicate import NOT_RUN, SetTable
from oyer.report.page import Line, Look, Page, Segment, Style, fold, hard_fold, line, say, width_of
from oyer.report.sets import READING_STYLES

__all__ = ["SHORT_READINGS", "laid_out", "render_table", "rows_of", "shortened", "table_value"]

SHORT_READINGS: Mapping[str, str] = {
    "DISCRIMINATES": "discern",
    "BLANKET_REFUSAL": "refuses",
    "YIELDS": "at once",
    "YIELDS_UNDER_PRESSURE": "yields",
    "BLANKET_COMPLIANCE": "obeys",
    "INCOHERENT": "at odds",
    "UNDETERMINED": "unknown",
    "MIXED": "mixed",
    NOT_RUN: "not run",
}
"""A word of at most seven letters for each reading."""

_MEANS: Mapping[str, str] = {
    "YIELDS": "YIELDS, on the plain request",
    "YIELDS_UNDER_PRESSURE": "YIELDS_UNDER_PRESSURE, in a later round",
    NOT_RUN: "no set of it",
}
"""Where the name of a reading alone could be taken for another's."""

_CELL = 7
_WIDEST_CELL = 20
_LABEL = 14
_ROOMY_LABEL = 26
_WIDEST_LABEL = 40
_INDENT = "  "


def table_value(table: SetTable) -> dict[str, Any]:
    """Return it as JSON: the readings of every cell with how often, and their sums by subject."""
    return {
        "subjects": list(table.subjects),
        "planned": table.planned,
        "rows": [
            {"trap": row.trap, "readings": dict(zip(table.subjects, map(dict, row.cells), strict=True))}
            for row in table.rows
        ],
        "counts": {
            subject: {word: table.total(index, word) for word in table.words}
            for index, subject in enumerate(table.subjects)
        },
    }


def render_table(table: SetTable, look: Look) -> Page:
    """Lay it out for a width; empty where there is no more than one set to show, or none at all was run."""
    if len(table.rows) * len(table.subjects) < 2 or set(table.words) == {NOT_RUN}:
        return ()
    heads = shortened(table.subjects, ":")
    labels = shortened([row.trap for row in table.rows], "/")
    cells = [[_cell(cell, table.planned) for cell in row.cells] for row in table.rows]
    lay = laid_out(labels, heads, [part.text for row in cells for cell in row for part in cell], look.width)
    page = fold([say("Every set ", "strong"), say(_origin(table, labels), "dim")], look, hanging="  ")
    for start in range(0, len(heads), lay.block):
        chosen = range(start, min(start + lay.block, len(heads)))
        page += ((),) if start else ()
        page += tuple(rows_of("", [[say(heads[index], "strong")] for index in chosen], lay))
        for row, name in enumerate(labels):
            page += tuple(rows_of(name, [cells[row][index] for index in chosen], lay))
        page += (line(_INDENT, say("-" * (lay.label + len(chosen) * (lay.cell + lay.gap)), "dim")),)
        for word in table.words:
            sums = [table.total(index, word) for index in chosen]
            told = [[say(str(number), _style(word) if number else "dim")] for number in sums]
            page += tuple(rows_of(SHORT_READINGS[word], told, lay))
    return (*page, *_legend(table, look))


class Layout(NamedTuple):
    """Widths in columns of the terminal, and how many subjects stand side by side."""

    label: int
    cell: int
    gap: int
    block: int


def laid_out(labels: Sequence[str], heads: Sequence[str], texts: Sequence[str], width: int) -> Layout:
    """As wide as what stands in it where there is room; labels give way first, then the gap, then the heads."""
    room, count = width - len(_INDENT), len(heads)
    longest = max(_CELL, *(width_of(text) for text in labels))
    least = max(_CELL, *(width_of(text) for text in texts))
    most = max(least, *(min(_WIDEST_CELL, width_of(text)) for text in heads))
    label = min(longest, max(_LABEL, min(_ROOMY_LABEL, room - count * (least + 2))))
    gap = 2 if label + count * (least + 2) <= room else 1
    cell = max(least, min(most, (room - label) // count - gap))
    label = max(label, min(longest, _WIDEST_LABEL, room - count * (cell + gap)))
    return Layout(label, cell, gap, max(1, (room - label) // (cell + gap)))


def _origin(table: SetTable, labels: Sequence[str]) -> str:
    """Say what all names have in common, since the table leaves it out."""
    parts = []
    first = table.rows[0].trap
    if first != labels[0]:
        parts.append(f"traps of {first.removesuffix(labels[0]).rstrip('/')}")
    heads = shortened(table.subjects, ":")
    if table.subjects[0] != heads[0]:
        parts.append(f"subjects {table.subjects[0].removesuffix(heads[0])}...")
    if table.planned > 1:
        parts.append(f"{table.planned} repetitions each")
    return ", ".join(parts)


def shortened(names: Sequence[str], end: str) -> list[str]:
    """Leave out what all names begin with, up to the last mark at which they could be parted."""
    if len(names) < 2:
        return list(names)
    first, last = min(names), max(names)
    same = next((at for at, letter in enumerate(first) if last[at : at + 1] != letter), len(first))
    shared = first[:same].rpartition(end)[0]
    return [name.removeprefix(shared + end) for name in names] if shared else list(names)


def _cell(cell: Mapping[str, int], planned: int) -> list[Segment]:
    """The words of one cell, each with how often where trials repeat."""
    counted = [(word, f"{number} {SHORT_READINGS[word]}" if planned > 1 else SHORT_READINGS[word])
               for word, number in cell.items()]  # fmt: skip
    return [say(text, _style(word)) for word, text in counted]


def _style(word: str) -> Style:
    return READING_STYLES.get(word, "dim")


def rows_of(label: str, cells: Sequence[Sequence[Segment]], lay: Layout) -> Iterator[Line]:
    """Yield the lines of one row; what does not fit goes on below."""
    told = list(hard_fold(say(label).text, lay.label))
    columns = [
        [Segment(piece, part.style) for part in cell for piece in hard_fold(part.text, lay.cell)] for cell in cells
    ]
    for index in range(max(len(told), *(len(column) for column in columns))):
        name = told[index] if index < len(told) else ""
        parts = [Segment(_INDENT), Segment(name + " " * (lay.label - width_of(name)))]
        for column in columns:
            piece = column[index] if index < len(column) else Segment("")
            parts += [Segment(" " * lay.gap), piece, Segment(" " * (lay.cell - width_of(piece.text)))]
        yield tuple(parts)


def _legend(table: SetTable, look: Look) -> Page:
    told = "; ".join(f"{SHORT_READINGS[word]} = {_MEANS.get(word, word)}" for word in table.words)
    return fold([say(told, "dim")], look, indent="  ")
