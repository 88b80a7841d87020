"""Looking at many cases, a few at a time: servers start for it, and all of them at once would starve each other.

Owns the bound and what happens at the first failure. Must never leave a look running behind an error.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

from oyer.engine.request import CaseSource

__all__ = ["LOOKING_AT_ONCE", "look_at_all"]

T = TypeVar("T")

LOOKING_AT_ONCE = 4


async def look_at_all(sources: Sequence[CaseSource], look: Callable[[CaseSource], Awaitable[T]]) -> dict[str, T]:
    """Return what each look gives, by case id. Raises what the first failure raises, with everything down."""
    gate = asyncio.Semaphore(LOOKING_AT_ONCE)

    async def gated(source: CaseSource) -> T:
        async with gate:
            return await look(source)

    try:
        async with asyncio.TaskGroup() as group:
            looking = {source.case.id: group.create_task(gated(source)) for source in sources}
    except BaseExceptionGroup as failures:
        raise failures.exceptions[0] from None
    return {name: task.result() for name, task in looking.items()}
