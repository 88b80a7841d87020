"""Which calls are under way at this moment, over all taps of one attempt.

Owns the list. A change of the world is explained by the calls that were in flight around it; nothing here
decides which of them did it.
"""

from __future__ import annotations

from collections.abc import Iterable

__all__ = ["CallsInFlight"]


class CallsInFlight:
    """References of calls that were recorded and not answered yet, in the order they came.

    `any_made`: whether the subject called any tool at all in this attempt, watched or not.
    """

    __slots__ = ("_refs", "any_made")

    def __init__(self) -> None:
        self._refs: dict[str, None] = {}
        self.any_made = False

    def refs(self) -> tuple[str, ...]:
        """List them."""
        return tuple(self._refs)

    def add(self, refs: Iterable[str]) -> None:
        """Calls were recorded and are about to be forwarded."""
        for ref in refs:
            self._refs[ref] = None

    def remove(self, refs: Iterable[str]) -> None:
        """Calls were answered, or their connection has ended."""
        for ref in refs:
            self._refs.pop(ref, None)
