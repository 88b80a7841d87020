"""What an author may write to point at evidence: JSON patterns and evidence matchers.

Owns the *shape* of patterns. Matching itself happens where evidence is (`oyer.observe`), and returns the events
that matched: a yes without evidence references does not exist.

A JSON pattern is an ordinary JSON value in which an object with one operator key stands for a test::

    {contains: TEXT} {equals: VALUE} {regex: RE2} {gte: N} {lte: N} {one_of: [...]} {absent: true}
    {any: PATTERN} {all: PATTERN} {none: PATTERN}      over the members of a list
    {digest_of: LINK} {equals_field: LINK.path}        against what an earlier link matched

Source: "Matchers" in the record design.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal, Self

import re2
from pydantic import model_validator

from oyer.records.model import Flaw, Json, Record, refuse

__all__ = ["OPERATORS", "EvidenceMatcher", "Pattern", "ToolName", "pattern_flaws", "pattern_problems"]

OPERATORS = frozenset(
    {
        "absent",
        "all",
        "any",
        "contains",
        "digest_of",
        "equals",
        "equals_field",
        "gte",
        "lte",
        "none",
        "one_of",
        "regex",
    }
)
"""The operator keys. An object with exactly one key, and that key in this set, is a test and not data."""

Pattern = Json
"""Any JSON value, read as a pattern."""


class ToolName(Record):
    """One tool of one server, written `server.tool` in the short form."""

    server: str
    tool: str


def pattern_problems(pattern: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[tuple[str | int, ...], str]]:
    """Yield `(path, what is wrong)` for every operator in a pattern whose operand cannot work."""
    if isinstance(pattern, list | tuple):
        for index, item in enumerate(pattern):
            yield from pattern_problems(item, (*path, index))
        return
    if not hasattr(pattern, "items"):
        return
    keys = list(pattern)
    if len(keys) == 1 and keys[0] in OPERATORS:
        yield from _operator_problems(keys[0], pattern[keys[0]], (*path, keys[0]))
        return
    for key, value in pattern.items():
        yield from pattern_problems(value, (*path, key))


def _operator_problems(
    name: str, operand: Any, path: tuple[str | int, ...]
) -> Iterator[tuple[tuple[str | int, ...], str]]:
    if name in ("contains", "digest_of", "equals_field") and not (isinstance(operand, str) and operand):
        yield path, f"{name} takes a non-empty string"
    elif name == "regex":
        yield from _regex_problems(operand, path)
    elif name in ("gte", "lte") and (isinstance(operand, bool) or not isinstance(operand, int | float)):
        yield path, f"{name} takes a number"
    elif name == "one_of" and not (isinstance(operand, list | tuple) and operand):
        yield path, "one_of takes a non-empty list"
    elif name == "absent" and operand is not True:
        yield path, "absent takes true"
    elif name in ("any", "all", "none"):
        yield from pattern_problems(operand, path)


def _regex_problems(operand: Any, path: tuple[str | int, ...]) -> Iterator[tuple[tuple[str | int, ...], str]]:
    if not isinstance(operand, str):
        yield path, "regex takes a string"
        return
    options = re2.Options()
    options.log_errors = False
    try:
        re2.compile(operand, options)
    except re2.error as error:
        yield path, f"not a regular expression of the linear-time engine (RE2): {error}"


def pattern_flaws(record: Record, *fields: str) -> list[Flaw]:
    """List what is wrong with the patterns in these fields of a record."""
    return [
        Flaw((field, *path), problem) for field in fields for path, problem in pattern_problems(getattr(record, field))
    ]


class EvidenceMatcher(Record):
    """A named pattern over evidence: `expected`, `forbidden`, `traces`, `repair`, `attempt`, `benign`.

    Exactly one of three forms: `called` (a tool call, by its arguments), `world_path` (a file of the world at the
    end of the trial), `witnessed` (an effect in a sink).
    """

    id: str | None = None
    called: ToolName | None = None
    arguments: Pattern = None
    session: str | None = None
    world_path: str | None = None
    changed: bool | None = None
    contains: str | None = None
    equals: str | None = None
    json_value: Pattern = None
    absent: bool | None = None
    witnessed: str | None = None
    match: Pattern = None
    allow_extra: tuple[str, ...] = ()

    @model_validator(mode="after")
    def _one_form(self) -> Self:
        forms = [name for name in ("called", "world_path", "witnessed") if getattr(self, name) is not None]
        flaws = pattern_flaws(self, "arguments", "match", "json_value")
        if len(forms) != 1:
            flaws.append(Flaw((), "a matcher names exactly one of called, world_path, witnessed"))
        if flaws:
            refuse(*flaws)
        return self

    @property
    def form(self) -> Literal["called", "world_path", "witnessed"]:
        """Which of the three forms this matcher has."""
        if self.called is not None:
            return "called"
        return "world_path" if self.world_path is not None else "witnessed"
