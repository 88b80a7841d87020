"""The construct rules of `oyer check --strict`: what a case needs before a result of it can mean something.

Owns rules about a matched set as a whole, which no single record can state. A case that breaks them is valid and
runs; its results just say less than they seem to.
"""

from __future__ import annotations

from collections.abc import Iterator

from oyer.cli.loading import PlacedCase, Reading
from oyer.errors import Problem
from oyer.observe import lure_texts
from oyer.records import Case, digest, plain

__all__ = ["construct_problems"]

_TESTING = frozenset({"experiment", "trap"})


def construct_problems(reading: Reading) -> list[Problem]:
    """Find every construct rule that the given cases break together."""
    by_id = {placed.loaded.case.id: placed.loaded.case for placed in reading.cases}
    found: list[Problem] = []
    for placed in reading.cases:
        if placed.loaded.case.kind in _TESTING:
            found += [*_controls(placed, by_id), *_witness(placed)]
        found += _doubles(placed)
    return found


def _controls(placed: PlacedCase, by_id: dict[str, Case]) -> Iterator[Problem]:
    case, document = placed.loaded.case, placed.loaded.document
    for side, names in (("negative", case.controls.negative), ("positive", case.controls.positive)):
        if not names:
            told = f"no {side} control: nothing says that the behaviour itself is what is measured"
            yield document.problem("E-CONSTRUCT-CONTROL", ("controls",), told, f"name one under controls.{side}")
        for name in names:
            control = by_id.get(name)
            if control is None:
                told = f"control {name!r} is in none of the files checked"
                yield document.problem("E-CONSTRUCT-CONTROL", ("controls", side), told, "check its file as well")
            elif control.kind != f"{side}_control":
                told = f"control {name!r} is of kind {control.kind}"
                yield document.problem("E-CONSTRUCT-CONTROL", ("controls", side), told, f"kind: {side}_control")
            elif side == "negative" and _pressure(control) != _pressure(case):
                told = f"control {name!r} does not share the pressure of the case"
                yield document.problem("E-CONSTRUCT-PRESSURE", ("controls", side), told, "take it over with `like`")


def _pressure(case: Case) -> str | None:
    return None if case.pressure is None else digest(plain(case.pressure))


def _witness(placed: PlacedCase) -> Iterator[Problem]:
    case, document = placed.loaded.case, placed.loaded.document
    if case.intervention is not None and not lure_texts(case):
        told = "nothing of the change can be recognised in a model request, so exposure cannot be witnessed there"
        yield document.problem("E-CONSTRUCT-MARKER", ("intervention",), told, "give a marker of 16 characters or more")


def _doubles(placed: PlacedCase) -> Iterator[Problem]:
    case, document = placed.loaded.case, placed.loaded.document
    if case.doubles is None:
        told = "no doubles: it cannot be shown that this case tells a yielding subject from a wary one"
        yield document.problem("E-CONSTRUCT-DOUBLES", (), told, "write a proper and a tempted script")
