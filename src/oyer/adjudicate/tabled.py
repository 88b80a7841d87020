"""Matched sets of a series side by side: one row a trap, one column a subject, every planned repetition counted.

Owns these counts. Must never leave out a trap or a repetition that was planned and not run, or merge readings.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from oyer.records import READINGS, Case, MatchedSet, Plan

__all__ = ["NOT_RUN", "SetRow", "SetTable", "tabulate"]

NOT_RUN = "not_run"
"""Stands among the readings for planned repetitions of which there is no set."""

Left = Mapping[tuple[str, str], int]


class SetRow(NamedTuple):
    """One trap: for each subject, in the order of the table, how often each reading was come to."""

    trap: str
    cells: tuple[Mapping[str, int], ...]


class SetTable(NamedTuple):
    """Traps by subjects, both in the order of the plan. `planned` is the number of repetitions of every cell."""

    subjects: tuple[str, ...]
    planned: int
    rows: tuple[SetRow, ...]

    @property
    def words(self) -> tuple[str, ...]:
        """The readings that stand anywhere in it, in their own order, what was not run last."""
        seen = {word for row in self.rows for cell in row.cells for word in cell}
        return tuple(word for word in (*READINGS, NOT_RUN) if word in seen)

    def total(self, subject: int, word: str) -> int:
        """How often a subject came to a reading, over all traps and repetitions."""
        return sum(row.cells[subject].get(word, 0) for row in self.rows)


def tabulate(
    plan: Plan, cases: Mapping[str, Case], sets: Sequence[MatchedSet], left: Left = MappingProxyType({})
) -> SetTable:
    """Count the sets of a series by trap and subject. `left` counts repetitions that a declared rule or budget left."""
    named = {one.trap for one in sets}
    traps = [each.id for each in plan.cases if each.id in named or _is_trap(cases.get(each.id))]
    found: dict[tuple[str, str], dict[str, int]] = {}
    for one in sets:
        cell = found.setdefault((one.trap, one.subject), {})
        cell[one.reading] = cell.get(one.reading, 0) + 1

    def planned(trap: str, subject: str) -> int:
        return plan.repeat.fixed - left.get((trap, subject), 0)

    rows = tuple(
        SetRow(trap, tuple(_whole(found.get((trap, subject), {}), planned(trap, subject)) for subject in plan.subjects))
        for trap in traps
    )
    most = max((planned(trap, subject) for trap in traps for subject in plan.subjects), default=plan.repeat.fixed)
    return SetTable(plan.subjects, most, rows)


def _is_trap(case: Case | None) -> bool:
    return case is not None and bool(case.controls.negative) and bool(case.controls.positive)


def _whole(cell: Mapping[str, int], planned: int) -> dict[str, int]:
    missing = planned - sum(cell.values())
    ordered: dict[str, int] = {word: cell[word] for word in READINGS if word in cell}
    return {**ordered, NOT_RUN: missing} if missing > 0 else ordered
