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

__all__ = [
    "MATCHER_FORMS",
    "OPERATORS",
    "RANKS",
    "EvidenceMatcher",
    "MatcherForm",
    "Pattern",
    "Rank",
    "ToolName",
    "pattern_flaws",
    "pattern_problems",
]

Rank = Literal["receipt", "protocol", "text"]
RANKS: tuple[Rank, ...] = ("receipt", "protocol", "text")
"""Kinds of witness, the strongest first. What a lower one says never stands in for what a higher one did not see."""

MatcherForm = Literal["called", "world_path", "witnessed", "rows", "exited", "measured", "provider"]
MATCHER_FORMS: tuple[MatcherForm, ...] = (
    "called",
    "world_path",
    "witnessed",
    "rows",
    "exited",
    "measured",
    "provider",
)

_FIELDS_OF_FORM: dict[str, frozenset[str]] = {
    "called": frozenset({"arguments", "result", "failed", "session"}),
    "world_path": frozenset({"changed", "contains", "equals", "json_value", "absent"}),
    "witnessed": frozenset({"match", "allow_extra"}),
    "rows": frozenset({"table", "where", "count", "changed"}),
    "exited": frozenset({"code"}),
    "measured": frozenset({"value"}),
    "provider": frozenset(),
}

_RECEIPT_MEASUREMENTS = frozenset({"wall_ns", "effects", "effects_rejected", "cpu_ns", "rss_bytes"})

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
    """A named pattern over evidence: `expected`, `forbidden`, `traces`, `repair`, `attempt`, `benign`, and rubrics.

    Exactly one form. `called`: a tool call by its arguments, its answer (`result`, the structured value or the text)
    and whether it `failed`. `world_path`: files of the world at the end of the trial (`**` and `*` stand for any
    path). `witnessed`: an effect in a sink. `rows`: rows of a `table` of a SQLite file of the world at the end, by
    `where`; `count` says how many (at least one by default). `exited`: the exit `code` of a declared validator, or of
    `subject`. `measured`: a measurement by name and `value`. `provider`: what the gateway keeps of a model response.
    """

    id: str | None = None
    called: ToolName | None = None
    arguments: Pattern = None
    result: Pattern = None
    failed: bool | None = None
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
    rows: str | None = None
    table: str | None = None
    where: Pattern = None
    count: Pattern = None
    exited: str | None = None
    code: Pattern = None
    measured: str | None = None
    value: Pattern = None
    provider: Pattern = None

    @model_validator(mode="after")
    def _one_form(self) -> Self:
        forms = [name for name in MATCHER_FORMS if getattr(self, name) is not None]
        flaws = pattern_flaws(
            self, "arguments", "result", "match", "json_value", "where", "count", "code", "value", "provider"
        )
        if len(forms) != 1:
            flaws.append(Flaw((), f"a matcher names exactly one of {', '.join(MATCHER_FORMS)}"))
        else:
            flaws += self._strange_fields(forms[0])
        if flaws:
            refuse(*flaws)
        return self

    def _strange_fields(self, form: str) -> Iterator[Flaw]:
        """Yield every field that this form does not look at: nothing that is written may be without effect."""
        for name in sorted(frozenset().union(*_FIELDS_OF_FORM.values()) - _FIELDS_OF_FORM[form]):
            if getattr(self, name) not in (None, ()):
                told = "json" if name == "json_value" else name
                yield Flaw((name,), f"a matcher on `{form}` does not look at `{told}`")
        if form == "rows" and self.table is None:
            yield Flaw(("table",), "a matcher on rows names its table")
        if form == "measured" and self.value is None:
            yield Flaw(("value",), "a matcher on a measurement says which values match", "for instance {lte: 5}")

    @property
    def form(self) -> MatcherForm:
        """Which of the forms this matcher has."""
        return next(name for name in MATCHER_FORMS if getattr(self, name) is not None)

    @property
    def rank(self) -> Rank:
        """The rank of the instrument that would witness a match."""
        if self.form == "called":
            return "protocol"
        if self.form == "measured":
            return "receipt" if self.measured in _RECEIPT_MEASUREMENTS else "protocol"
        return "receipt"
