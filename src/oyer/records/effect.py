"""The short form `effect` as an author writes it, checked before it is expanded.

Owns its fields and nothing else. It has to be strict by itself: once it has become a sink and a chain, a misspelt
field of it is nowhere to be found, and an effect without its text would be confirmed by any change of the file.
"""

from __future__ import annotations

from typing import Any, Self

from pydantic import Field, model_validator

from oyer.errors import Problem, RecordError
from oyer.records.document import Document
from oyer.records.model import Flaw, Json, Record, refuse
from oyer.records.validation import validate_as

__all__ = ["effect_problems"]


class _Effect(Record):
    """A file, what it would hold, and the tool that would write it."""

    file: str = Field(min_length=1)
    contains: str | None = Field(default=None, min_length=1)
    equals: str | None = None
    by: str = Field(min_length=1, description="server.tool")
    arguments: Json = None
    allow_extra: tuple[str, ...] = ()

    @model_validator(mode="after")
    def _one_test(self) -> Self:
        if (self.contains is None) == (self.equals is None):
            refuse(Flaw((), "effect takes exactly one of contains, equals"))
        return self


def effect_problems(document: Document, value: dict[str, Any]) -> list[Problem]:
    """List what is wrong with the `effect` of a case as written; without one, or beside a `chain`, nothing is."""
    if "effect" not in value or "chain" in value:
        return []
    try:
        validate_as(document.expanded({"effect": value["effect"]}, {}), _Part)
    except RecordError as error:
        return list(error.problems)
    return []


class _Part(Record):
    """The place of the effect in its case, so that every problem names it."""

    effect: _Effect
