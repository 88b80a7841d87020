"""`PinSet@1` and `Environment@1`: everything fixed before execution, and what is observed when a series opens.

A PinSet is the closed list of pinned fields. It is compared between the arms of one comparison and with the series'
own; what is not in the list is printed as not pinned. A field nobody could observe is `null`: it is not pinned there,
and says so, rather than being equal by accident.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import Field

from oyer.records.case import EffectClass
from oyer.records.endpoint import ModelFaultText, Price
from oyer.records.model import Json, Record

__all__ = [
    "Admits",
    "Delimiters",
    "Environment",
    "Hardware",
    "Harness",
    "PinSet",
    "SubjectPin",
    "ToolPin",
    "pin_differences",
]

_Delimiter = Annotated[str, Field(min_length=1)]

Delimiters = tuple[tuple[_Delimiter, _Delimiter], ...]
"""Between which texts a model that thinks inline does so: where each stretch begins, and where it ends."""


class PinSet(Record):
    """The closed list of pinned fields, each a digest or a plain value in words; `null` where it was not observable."""

    oyer: Literal["PinSet@1"] = "PinSet@1"
    case: str | None = Field(description="digest of the expanded case")
    world: str | None = Field(description="directory digest of the fixture world, null where the case has none")
    prompts: str | None = Field(description="digest of the turns as delivered, run tokens masked")
    subject: str | None = Field(description="driver and revision of the subject")
    parameters: str | None = Field(description="digest of the model parameters as sent")
    models: Mapping[str, str] = Field(default_factory=dict, description="reported model per requested name")
    listings: Mapping[str, str] = Field(default_factory=dict, description="tool listing digest per server, as observed")
    harness: str | None = Field(description="version and source digest of Oyer")
    dependencies: str | None = Field(description="digest of the installed packages the harness runs with")
    python: str | None = None


def pin_differences(one: PinSet, other: PinSet) -> tuple[tuple[str, str, str], ...]:
    """Return `(field, one's value, other's value)` for every field that both observed and that differs."""
    found: list[tuple[str, str, str]] = []
    for name in sorted(PinSet.model_fields):
        if name == "oyer":
            continue
        mine, yours = getattr(one, name), getattr(other, name)
        if isinstance(mine, Mapping):
            both = sorted(set(mine) & set(yours))
            found += [(f"{name}.{key}", mine[key], yours[key]) for key in both if mine[key] != yours[key]]
        elif mine is not None and yours is not None and mine != yours:
            found.append((name, mine, yours))
    return tuple(found)


class SubjectPin(Record):
    """Who was on trial: driver, name and revision, and whether it could state its revision at all."""

    driver: str
    name: str
    revision: str | None
    identified: bool
    model: str | None = None
    endpoint: str | None = None
    parameters: Mapping[str, Json] = Field(default_factory=dict)


class ToolPin(Record):
    """One server as declared, with the digest of its tool listing as observed when the series opened."""

    command: tuple[str, ...]
    url: str | None = None
    listing: str | None
    tools: tuple[str, ...] = ()
    problem: str | None = None


class Hardware(Record):
    """The host, as far as it can bear on a result."""

    system: str
    machine: str
    cores: int
    memory_bytes: int | None


class Harness(Record):
    """Oyer itself: version, digest of its sources, digests of loaded extensions."""

    version: str
    source: str
    extensions: Mapping[str, str] = Field(default_factory=dict)

    @property
    def identity(self) -> str:
        """Version and source digest in one text, as pins and qualifications hold them."""
        return f"{self.version} {self.source}"


class Admits(Record):
    """What may happen here at all; an effect outside it is a fault."""

    effect_classes: tuple[EffectClass, ...]
    payload_digests: tuple[str, ...] = ()
    by: str


class Environment(Record):
    """Everything pinned about the subject and its surroundings when a series opens."""

    oyer: Literal["Environment@1"] = "Environment@1"
    subject: SubjectPin
    prompts: str | None
    tools: Mapping[str, ToolPin] = Field(default_factory=dict)
    dependencies: Mapping[str, str] = Field(default_factory=dict)
    dependencies_digest: str
    hardware: Hardware
    harness: Harness
    python: str
    state: str | None = None
    reasoning_delimiters: Delimiters = ()
    faults: tuple[ModelFaultText, ...] = Field(default=(), description="declared faults of the model's endpoint")
    prices: Mapping[str, Price] = Field(default_factory=dict, description="by the name of a model")
    budgets: Mapping[str, Json] = Field(default_factory=dict)
    policy: Mapping[str, Json] = Field(default_factory=dict)
    admits: Admits | None = None
    isolation: str
    extensions: Mapping[str, Json] = Field(default_factory=dict)
