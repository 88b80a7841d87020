"""Values drawn per run: `{random.NAME}` in what a Case says, and in matchers wherever they stand.

Owns where the name of a drawn value may stand, and putting recorded values in the place of their names. Every other
brace in these texts is text, as it always was: JSON and code need no escapes, and `{{random.x}}` stands for the text
`{random.x}`. Must never draw a value, or look inside one that it put in.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from oyer.records.canonical import plain
from oyer.records.case import Case, Doubles, Pressure
from oyer.records.matchers import EvidenceMatcher
from oyer.records.model import Record, freeze_json
from oyer.records.placeholders import fill_family, fill_family_tree, names_in_tree

__all__ = ["DRAWN", "drawn_in", "drawn_names", "fill_case", "fill_matcher", "fill_texts", "with_names"]

DRAWN = "random"
"""The family of the placeholders that stand for drawn values."""

_MARK = "{random."
_NOT_FILLED = frozenset({"id", "called", "session"})
_FILLED = tuple(name for name in EvidenceMatcher.model_fields if name not in _NOT_FILLED)


def drawn_in(value: Any) -> tuple[str, ...]:
    """List the names of drawn values in the texts of a plain value, each once, without their family."""
    names = (name.partition(".") for name in names_in_tree(value))
    return tuple(rest for family, _, rest in names if family == DRAWN and rest)


def drawn_names(case: Case) -> tuple[str, ...]:
    """List the names of every value that a Case wants drawn for each run, sorted.

    They may stand in commands and environments, in turns and nudges, in scripts and in matchers.
    """
    parts: list[Any] = [
        [[*server.command, *server.env.values()] for server in case.servers.values()],
        [list(validator.command) for validator in case.validators.values()],
        _texts_of(case.sessions),
        _texts_of(case.pressure),
        _texts_of(case.doubles),
        _texts_of(case.non_completion),
        _texts_of((*case.attempt, *case.benign, *case.expected, *case.forbidden, *case.traces)),
        _texts_of((case.refusal, case.repair, *(claim.oracle for claim in case.claims))),
    ]
    return tuple(sorted(set(drawn_in(parts))))


def _texts_of(value: Any) -> Any:
    """Return a part of a record as plain lists and mappings, keys of mappings apart."""
    if isinstance(value, Record):
        return [_texts_of(getattr(value, name)) for name in type(value).model_fields]
    if isinstance(value, Mapping):
        return [_texts_of(item) for item in value.values()]
    if isinstance(value, list | tuple):
        return [_texts_of(item) for item in value]
    return value


def fill_texts(texts: tuple[str, ...], values: Mapping[str, str]) -> tuple[str, ...]:
    """Return texts with each recorded value in the place of its name; a name without a value stays as it is."""
    return tuple(fill_family(text, DRAWN, values.get) for text in texts)


def with_names(text: str) -> str:
    """Return a text as it reads once every value in it was masked by its name again."""
    return fill_family(text, DRAWN, lambda name: f"{{{DRAWN}.{name}}}")


def fill_case(case: Case, values: Mapping[str, str], *, scripts: Mapping[str, str] | None = None) -> Case:
    """Return a Case as one run plays it: turns, nudges, scripts and the call that declines with what was drawn.

    `values` are all that it draws. `scripts` are those that the doubles' scripts get where they are not of this run.
    Commands and environments are filled where they are placed, and matchers where they are looked for.
    """
    if not values and not scripts:
        return case
    changed: dict[str, Any] = {
        "sessions": tuple(
            session.model_copy(update={"turns": fill_texts(session.turns, values)}) for session in case.sessions
        ),
        "pressure": None if case.pressure is None else _pressure(case.pressure, values),
        "doubles": None if case.doubles is None else _doubles(case.doubles, values if scripts is None else scripts),
        "refusal": None if case.refusal is None else fill_matcher(case.refusal, values) or case.refusal,
    }
    return case.model_copy(update=changed)


def _pressure(pressure: Pressure, values: Mapping[str, str]) -> Pressure:
    return pressure.model_copy(
        update={
            "rounds": fill_texts(pressure.rounds, values),
            "neutral": fill_texts(pressure.neutral, values),
            "ask": None if pressure.ask is None else fill_texts((pressure.ask,), values)[0],
        }
    )


def _doubles(doubles: Doubles, values: Mapping[str, str]) -> Doubles:
    return Doubles.model_validate(fill_family_tree(plain(doubles), DRAWN, values.get))


def fill_matcher(matcher: EvidenceMatcher, values: Mapping[str, str]) -> EvidenceMatcher | None:
    """Return a matcher with each recorded value in the place of its name, None where a name has no value."""
    texts = {name: getattr(matcher, name) for name in _FILLED}
    if not any(_holds_mark(text) for text in texts.values()):
        return matcher
    if any(name not in values for name in drawn_in(list(texts.values()))):
        return None
    filled = {name: freeze_json(fill_family_tree(text, DRAWN, values.get)) for name, text in texts.items()}
    return matcher.model_copy(update=filled)


def _holds_mark(value: Any) -> bool:
    if isinstance(value, str):
        return _MARK in value
    if isinstance(value, Mapping):
        return any(_holds_mark(item) for item in value.values())
    return isinstance(value, list | tuple) and any(_holds_mark(item) for item in value)
