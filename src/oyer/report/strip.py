"""The chain of one comparison as a strip: seven layers across, one arm a row.

Owns which state each cell has and how it is drawn. A cell always carries a glyph and a word, so that colour is never
the only sign. Must never decide anything: states are those of the record, except that layer 1 is read from the
trial's facts and that a baseline shows no change because none is made there.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Literal, NamedTuple

from oyer.records import LAYERS, ArmRef, Comparison, LinkResult, Outcome
from oyer.report.page import Look, Page, Segment, Style, cut, fold, line, say, width_of

__all__ = ["Cell", "CellState", "Row", "read_strip", "render_legend", "render_strip"]

CellState = Literal["matched", "absent", "broken", "removed_by_policy", "not_reached", "not_in_chain"]


class Cell(NamedTuple):
    """One layer of one arm: how far it got, and the declared links that stand behind it."""

    layer: str
    state: CellState
    links: tuple[str, ...]


class Row(NamedTuple):
    """One arm: its seven cells, and a remark where it did not run to its end."""

    arm: str
    cells: tuple[Cell, ...]
    remark: str


class _Drawn(NamedTuple):
    glyph: str
    ascii: str
    word: str
    style: Style
    meaning: str


_DRAWN: Mapping[CellState, _Drawn] = {
    "matched": _Drawn("●", "#", "matched", "accent", "on sealed record, in its place in the chain"),
    "absent": _Drawn("○", "o", "absent", "plain", "looked for and not there"),
    "broken": _Drawn("✕", "!", "broken", "bad", "there, but not as the chain needs it"),
    "removed_by_policy": _Drawn("◌", "~", "removed", "warn", "the named policy took it out"),
    "not_reached": _Drawn("·", ".", "unreached", "dim", "a link before it did not hold"),
    "not_in_chain": _Drawn("─", "-", "not part", "dim", "this arm or chain has no such link"),
}
_RANK: Sequence[CellState] = ("broken", "removed_by_policy", "absent", "not_reached", "matched")
"""Several links in one layer show as the worst of them."""

_HEADS = (
    ("invocation", ""),
    ("original", "result"),
    ("modified", "result"),
    ("persistence", ""),
    ("later", "consumption"),
    ("higher", "authority"),
    ("external", "effect"),
)
_LABEL = 12
_COLUMN = 12
_INDENT = 2


def read_strip(comparison: Comparison, outcomes: Mapping[str, Outcome], declared: str | None = None) -> tuple[Row, ...]:
    """Read the rows of a comparison. `declared` is the request the change acts on, as `server.tool`."""
    rows = [_row(arm, outcomes.get(arm.trial), declared) for arm in comparison.arms]
    here = {arm.condition for arm in comparison.arms}
    layers = _links_by_layer(comparison.primary.links)
    for scored in (comparison.primary, comparison.hardened):
        for reason in scored.reasons if scored else ():
            if reason.code == "ARM_MISSING" and reason.arm is not None and reason.arm not in here:
                here.add(reason.arm)
                cells = tuple(_cell(layer, layers.get(layer, ()), gone=True) for layer in LAYERS)
                rows.append(Row(reason.arm, cells, "no sealed attempt"))
    return tuple(rows)


def _row(arm: ArmRef, outcome: Outcome | None, declared: str | None) -> Row:
    layers = _links_by_layer(arm.links)
    cells = [_cell(layer, layers.get(layer, ())) for layer in LAYERS]
    cells[0] = Cell("invocation", _invocation(layers, outcome, declared), ())
    if arm.condition == "baseline" and cells[2].state in ("absent", "not_reached"):
        cells[2] = cells[2]._replace(state="not_in_chain")
    return Row(arm.condition, tuple(cells), _remark(arm, outcome))


def _invocation(
    layers: Mapping[str, tuple[LinkResult, ...]], outcome: Outcome | None, declared: str | None
) -> CellState:
    """The declared request was made if it was answered, or if a fact of the trial says so."""
    if any(link.state in ("matched", "absent", "broken") for link in layers.get("original_result", ())):
        return "matched"
    facts = outcome.observations if outcome else ()
    asked = [fact for fact in facts if fact.layer == "invocation"]
    return "matched" if any(declared and fact.what.startswith(f"{declared} was called") for fact in asked) else "absent"


def _cell(layer: str, links: tuple[LinkResult, ...], *, gone: bool = False) -> Cell:
    ids = tuple(link.id for link in links)
    if gone or not links:
        return Cell(layer, "not_reached" if gone and links else "not_in_chain", ids)
    states = {link.state for link in links}
    return Cell(layer, next(state for state in _RANK if state in states), ids)


def _links_by_layer(links: Iterable[LinkResult]) -> dict[str, tuple[LinkResult, ...]]:
    found: dict[str, tuple[LinkResult, ...]] = {}
    for link in links:
        found[link.layer] = (*found.get(link.layer, ()), link)
    return found


def _remark(arm: ArmRef, outcome: Outcome | None) -> str:
    if arm.status is None:
        return "no sealed attempt"
    if arm.status == "completed":
        return f"stopped at the declared limit: {arm.stopped_by}" if arm.stopped_by else ""
    error = outcome.error if outcome else None
    return f"{arm.status} ({error.error_class} at {error.where})" if error else arm.status


def render_strip(rows: Sequence[Row], look: Look) -> Page:
    """Draw the strip; where the page is too narrow for seven columns, layers go down and arms across."""
    if not rows:
        return ()
    wide = _INDENT + _LABEL + _COLUMN * len(LAYERS) <= look.width
    drawn = _across(rows, look) if wide else _down(rows, look)
    remarks = [(row.arm, row.remark) for row in rows if row.remark]
    told = [piece for arm, remark in remarks for piece in fold([say(f"{arm}: {remark}", "warn")], look, indent="  ")]
    return (*drawn, *told)


def _across(rows: Sequence[Row], look: Look) -> Page:
    pad = " " * _INDENT
    blank = pad + " " * _LABEL
    page = [line(blank, *(say(cut(str(number), _COLUMN), "dim") for number in range(1, len(LAYERS) + 1)))]
    page += [line(blank, *(say(cut(head[part], _COLUMN), "strong") for head in _HEADS)) for part in (0, 1)]
    named = [",".join(cell.links) for cell in rows[0].cells]
    page.append(
        line(pad, say(cut("link", _LABEL), "dim"), *(say(cut(name, _COLUMN - 1) + " ", "dim") for name in named))
    )
    for row in rows:
        page.append(line(pad, say(cut(row.arm, _LABEL), "strong"), *(_drawn(cell, look) for cell in row.cells)))
    return tuple(page)


def _down(rows: Sequence[Row], look: Look) -> Page:
    names = [f"{number} {' '.join(head).strip()}" for number, head in enumerate(_HEADS, start=1)]
    label = max(map(width_of, names)) + 2
    page = [line(" " * (_INDENT + label), *(say(cut(row.arm, _COLUMN), "strong") for row in rows))]
    for index, name in enumerate(names):
        cells = (_drawn(row.cells[index], look) for row in rows)
        page.append(line(" " * _INDENT, say(cut(name, label), "strong"), *cells))
    return tuple(page)


def _drawn(cell: Cell, look: Look) -> Segment:
    drawn = _DRAWN[cell.state]
    return say(cut(f"{drawn.glyph if look.unicode else drawn.ascii} {drawn.word}", _COLUMN), drawn.style)


def render_legend(rows: Iterable[Row], look: Look) -> Page:
    """Say what the words in these rows mean."""
    used = {cell.state for row in rows for cell in row.cells}
    parts: list[Segment | str] = []
    for state, drawn in _DRAWN.items():
        if state in used:
            glyph = drawn.glyph if look.unicode else drawn.ascii
            parts += [
                *([say("; ", "dim")] if parts else []),
                say(f"{glyph} {drawn.word}"),
                say(f": {drawn.meaning}", "dim"),
            ]
    return fold(parts, look, indent="  ") if parts else ()
