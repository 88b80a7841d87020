"""`oyer run --against`: whether a new series can be compared with an old one, found out first; then the comparison."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from oyer.cli.differing import (
    DiffResult,
    compared,
    planned_side,
    read_verified,
    require_comparable,
    side_of,
    subject_pairs,
)
from oyer.cli.running import request_of
from oyer.cli.selection import Selection
from oyer.cli.terminal import look_of
from oyer.engine import Registered, plan_request
from oyer.report import Page, difference_value, render_difference

__all__ = ["Held", "held_against", "require_base"]

DRAWS = 10_000


class Held(NamedTuple):
    """A new series against an old one: where both are, and what came of it."""

    base: Path
    path: Path
    result: DiffResult

    def value(self) -> dict[str, Any]:
        """Return it as JSON."""
        told = difference_value(self.result.found, self.result.pins)
        return {"a": str(self.base), "b": str(self.path), **told, "exit_code": self.result.found.exit_code}

    def page(self) -> Page:
        """Lay it out for standard output."""
        names = (str(self.base), str(self.path))
        return render_difference(self.result.found, self.result.pins, names, look_of(sys.stdout))


def require_base(base: Path, selection: Selection, registered: Registered | None, plugins: Sequence[Path]) -> None:
    """Verify the old series and refuse a run that could not be compared with it, before it starts.

    Raises: EvidenceError, UsageError, RecordError E-DIFF-...
    """
    plan = plan_request(request_of(selection, Path())) if registered is None else registered.plan
    cases = {placed.loaded.case.id: placed.loaded.case for placed in selection.cases}
    suite = None if selection.suite is None else selection.suite.suite
    with read_verified(base, plugins) as old:
        pairs = subject_pairs(old.reading.plan, plan)
        require_comparable(
            [(side_of(old, one), planned_side(plan, cases, selection.rubrics, other, suite)) for one, other in pairs]
        )


def held_against(base: Path, path: Path, plugins: Sequence[Path]) -> Held:
    """Compare a series that has just run with an old one. Raises: OyerError."""
    with read_verified(base, plugins) as old, read_verified(path, plugins) as new:
        return Held(base, path, compared(old, new, seed=None, draws=DRAWS))
