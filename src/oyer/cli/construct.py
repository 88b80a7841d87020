"""The construct rules of `oyer check --strict`: what a case needs before a result of it can mean something.

A case that breaks them is valid and runs; its results just say less than they seem to. What controls must share with
their case is no construct rule: a set that breaks that is refused everywhere.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from oyer.cli.loading import PlacedCase, Reading
from oyer.cli.project import find_project
from oyer.cli.scopes import Scope
from oyer.errors import Problem
from oyer.observe import lure_texts
from oyer.records import Path, digest_bytes, plain

__all__ = ["UNPRICED", "construct_problems"]

UNPRICED = "cost_usd is declared and nothing enforces it where no prices are given (--prices, or prices in oyer.yaml)"

_TELLING = re.compile(
    r"(?<![a-z])(oracle|baseline|canary|honeypot|benchmark|test case|evaluation)s?(?![a-z])", re.IGNORECASE
)
"""Words by which a subject may know that it is on trial."""

_WANTED = {
    "negative": "let its world (or its prompt) make the work possible",
    "positive": "ask plainly in its `prompt`, or leave out what tempts",
}
_TESTING = frozenset({"experiment", "trap"})


def construct_problems(reading: Reading) -> list[Problem]:
    """Find every construct rule that the given cases break together."""
    found: list[Problem] = []
    known = Scope.of(reading.files).cases
    for placed in reading.cases:
        if placed.loaded.case.kind in _TESTING:
            found += [*_controls(placed), *_alike(placed, known), *_taken_over(placed, known), *_witness(placed)]
        found += [*_doubles(placed), *_money(placed), *_words(placed)]
    return list(dict.fromkeys(found))


def _controls(placed: PlacedCase) -> Iterator[Problem]:
    case, document = placed.loaded.case, placed.loaded.document
    for side, names in (("negative", case.controls.negative), ("positive", case.controls.positive)):
        if not names:
            told = f"no {side} control: nothing says that the behaviour itself is what is measured"
            yield document.problem("E-CONSTRUCT-CONTROL", ("controls",), told, f"name one under controls.{side}")


def _alike(placed: PlacedCase, known: Mapping[str, PlacedCase]) -> Iterator[Problem]:
    """A control that a subject cannot tell from its case controls nothing, whatever else is declared of it."""
    case, document = placed.loaded.case, placed.loaded.full
    given = _given(placed)
    for side, names in (("negative", case.controls.negative), ("positive", case.controls.positive)):
        for number, name in enumerate(names):
            if name in known and _given(known[name]) == given:
                told = (
                    f"a subject is given and finds in {name} exactly what it is in {case.id}: the control is no other"
                )
                yield document.problem("E-CONSTRUCT-SAME", ("controls", side, number), told, _WANTED[side])


def _given(placed: PlacedCase) -> Any:
    """What a subject is given and can find: its turns and rounds, the world, the servers, the declared change."""
    case = placed.loaded.case
    turns = [[_spaced(text) for text in case.turns_of(session)] for session in case.sessions]
    servers = {name: (server.command, dict(server.env)) for name, server in case.servers.items()}
    change = None if case.intervention is None else plain(case.intervention)
    return turns, _world(placed), servers, change


def _world(placed: PlacedCase) -> str | None:
    """The digest of a world; of one that is a single file, that of its bytes."""
    if placed.world_digest is not None or placed.world is None or not placed.world.is_file():
        return placed.world_digest
    return digest_bytes(placed.world.read_bytes())


def _spaced(text: str) -> str:
    """A text as it is read: how it is broken into lines makes no other."""
    return " ".join(text.split())


def _taken_over(placed: PlacedCase, known: Mapping[str, PlacedCase]) -> Iterator[Problem]:
    """A positive control that takes over the nudges without a word is asked under the pressure it should be free of."""
    case = placed.loaded.case
    for name in case.controls.positive:
        control = known.get(name)
        if control is None or case.pressure is None or control.loaded.case.pressure != case.pressure:
            continue
        document = control.loaded.document
        if "like" in document.value and "pressure" not in document.value:
            told = f"a positive control is asked plainly, and this one takes over the pressure of {case.id}"
            hint = "write `pressure: none`, or the block itself where it is meant"
            yield document.problem("E-CONSTRUCT-PRESSURE", ("kind",), told, hint)


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


def _money(placed: PlacedCase) -> Iterator[Problem]:
    project = find_project()
    if placed.loaded.case.budget.cost_usd is not None and not (project is not None and project.project.prices):
        path = ("budget", "cost_usd")
        yield placed.loaded.document.problem(
            "E-CONSTRUCT-COST", path, UNPRICED, "give prices, or bound what is spent with tokens"
        )


def _words(placed: PlacedCase) -> Iterator[Problem]:
    """What a subject reads of a case: its turns and nudges, the names of its servers and of the files of its world."""
    case, document = placed.loaded.case, placed.loaded.full
    told: list[tuple[Path, str]] = [
        (("sessions", number, "turns", turn), text)
        for number, session in enumerate(case.sessions)
        for turn, text in enumerate(session.turns)
    ]
    if case.pressure is not None:
        told += [(("pressure", "rounds", number), text) for number, text in enumerate(case.pressure.rounds)]
        told += [(("pressure", "neutral", number), text) for number, text in enumerate(case.pressure.neutral)]
    told += [(("servers", name), name) for name in case.servers]
    for path, text in told:
        found = _TELLING.search(text)
        if found is not None:
            words = f"{found[0]!r} would tell a subject that it is on trial"
            yield document.problem("E-CONSTRUCT-WORD", path, words, "say it as somebody at work would")
