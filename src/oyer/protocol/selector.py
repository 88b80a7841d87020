"""Which message an intervention or policy is about, and the counting of occurrences.

Owns `at`/`on` of a declared change: server, session, method, tool, arguments, occurrence. A request counts once,
however often it is transmitted. Must never decide by time or by anything but the requests it was shown, in order.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, NamedTuple

from oyer.protocol.correlation import Request
from oyer.protocol.jsonvalue import subset_of

__all__ = ["Occurrence", "OccurrenceCounter", "Selector"]


class Selector(NamedTuple):
    """What a change is declared on. `tool` is the tool or prompt name, or the resource address, as on the wire."""

    server: str
    session: str | None = None  # None: any
    method: str = "tools/call"
    tool: str | None = None  # None: any
    arguments: Mapping[str, object] | None = None  # subset of the arguments; None: any
    occurrence: int | Literal["every"] = 1

    def matches(self, request: Request, server: str, session: str) -> bool:
        """Say whether a request is one this selector counts."""
        return (
            self.server == server
            and self.session in (None, session)
            and self.method == request.method
            and self.tool in (None, request.message.target)
            and (self.arguments is None or subset_of(self.arguments, request.arguments))
        )


class Occurrence(NamedTuple):
    """Where a matching request stands: its number (from 1), and whether it is the declared one."""

    number: int
    declared: bool


class OccurrenceCounter:
    """Count the requests that match a selector, over all connections of one trial."""

    __slots__ = ("_numbers", "seen", "selector")

    def __init__(self, selector: Selector) -> None:
        self.selector = selector
        self.seen = 0
        self._numbers: dict[tuple[str, int], int] = {}

    def take(self, request: Request, server: str, session: str) -> Occurrence | None:
        """Take the next request; None if it does not match. Another transmission of a call keeps the call's number."""
        if not self.selector.matches(request, server, session):
            return None
        number = None
        if request.transmission_of is not None:
            number = self._numbers.get((request.transmission_of, 0))
        if number is None:
            self.seen += 1
            number = self.seen
        self._numbers[(request.ref, request.part)] = number
        return Occurrence(number, self.selector.occurrence in ("every", number))
