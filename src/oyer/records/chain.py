"""The declared causal chain: exposure links, then promotion links, over the seven layers.

The original and the modified result always come first and are not written down. Exposure must be complete before
anything may be concluded; promotion is what is asked.
"""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Field, Tag, model_validator

from oyer.records.matchers import Pattern, ToolName, pattern_flaws
from oyer.records.model import Flaw, Json, Record, by_key, refuse

__all__ = [
    "CalledLink",
    "Carries",
    "Chain",
    "ConsumedLink",
    "ExposureLink",
    "Link",
    "PersistedBy",
    "PersistedLink",
    "PromotionLink",
    "Value",
    "WitnessedLink",
]


class Value(Record):
    """What of a content is compared: `whole`, or one JSON field (a dotted path)."""

    field: str | None = None

    @property
    def whole(self) -> bool:
        """True where the whole content is compared, byte for byte."""
        return self.field is None


class Carries(Record):
    """What makes persisted content the lure's: exactly one of contains, equals, or field with value."""

    contains: str | None = Field(default=None, min_length=1)
    equals: str | None = None
    field: str | None = None
    value: Json = None

    @model_validator(mode="after")
    def _one_form(self) -> Self:
        if sum(form is not None for form in (self.contains, self.equals, self.field)) != 1:
            refuse(Flaw((), "carries takes exactly one of contains, equals, field"))
        return self


class PersistedBy(Record):
    """The subject's own call that writes the artifact: server, tool and the argument that holds the content."""

    server: str
    tool: str
    argument: str


class PersistedLink(Record):
    """Layer 4: an artifact of the world that carries the lure, written by the subject's own call."""

    id: str
    persisted: str = Field(description="path of the artifact, relative to the world")
    by: PersistedBy
    carries: Carries
    value: Value = Value()
    session: str | None = None

    layer: Literal["persistence"] = "persistence"


class ConsumedLink(Record):
    """Layer 5: the persisted content read again in the required later session."""

    id: str
    consumed: str = Field(description="id of the persistence link whose content is read")
    through: ToolName
    value: Value = Value()
    session: str | None = None

    layer: Literal["later_consumption"] = "later_consumption"


class CalledLink(Record):
    """Layer 6: the privileged action, requested exactly."""

    id: str
    called: ToolName
    arguments: Pattern = None
    allow_extra: tuple[str, ...] = ()
    session: str | None = None

    layer: Literal["higher_authority_invocation"] = "higher_authority_invocation"

    @model_validator(mode="after")
    def _patterns_work(self) -> Self:
        flaws = pattern_flaws(self, "arguments")
        if flaws:
            refuse(*flaws)
        return self


class WitnessedLink(Record):
    """Layer 7: exactly this effect, confirmed by an independent sink."""

    id: str
    witnessed: str = Field(description="name of the sink")
    match: Pattern = None
    allow_extra: tuple[str, ...] = ()

    layer: Literal["external_effect"] = "external_effect"

    @model_validator(mode="after")
    def _patterns_work(self) -> Self:
        flaws = pattern_flaws(self, "match")
        if flaws:
            refuse(*flaws)
        return self


ExposureLink = Annotated[
    Annotated[PersistedLink, Tag("persisted")] | Annotated[ConsumedLink, Tag("consumed")],
    by_key("persisted", "consumed"),
]
PromotionLink = Annotated[
    Annotated[CalledLink, Tag("called")] | Annotated[WitnessedLink, Tag("witnessed")],
    by_key("called", "witnessed"),
]
Link = PersistedLink | ConsumedLink | CalledLink | WitnessedLink


class Chain(Record):
    """The declared links, in causal order."""

    exposure: tuple[ExposureLink, ...] = ()
    promotion: tuple[PromotionLink, ...] = Field(min_length=1)

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        flaws: list[Flaw] = []
        seen: set[str] = {"original", "modified"}
        persisted: set[str] = set()
        for stage, links in (("exposure", self.exposure), ("promotion", self.promotion)):
            for index, link in enumerate(links):
                if link.id in seen:
                    flaws.append(
                        Flaw((stage, index, "id"), f"link id {link.id!r} is taken (so are original, modified)")
                    )
                seen.add(link.id)
                if isinstance(link, PersistedLink):
                    persisted.add(link.id)
                if isinstance(link, ConsumedLink) and link.consumed not in persisted:
                    flaws.append(Flaw((stage, index, "consumed"), f"no earlier link persists {link.consumed!r}"))
        if not any(isinstance(link, CalledLink) for link in self.promotion):
            flaws.append(Flaw(("promotion",), "promotion names the privileged action", "add a called link"))
        if flaws:
            refuse(*flaws)
        return self

    @property
    def links(self) -> tuple[Link, ...]:
        """Every declared link, in order."""
        return (*self.exposure, *self.promotion)
