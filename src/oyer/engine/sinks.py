"""The http sinks' process of a running series: started once, started anew when it died, ended with what came late.

Owns which process new sinks are opened in. Must never hide that one died: every attempt with a sink in it hears of
that itself, and is not continued.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

from oyer.instruments import LateEffect, SinkHost

__all__ = ["Sinks", "late_texts"]


class Sinks:
    """The live sink process of a series."""

    def __init__(self, secrets: Mapping[str, bytes]) -> None:
        self._secrets = secrets
        self._host: SinkHost | None = None
        self._starting = asyncio.Lock()
        self._late: list[LateEffect] = []

    async def host(self) -> SinkHost:
        """Return the live process; it starts with the first need, and again when it has died. Raises: HarnessError."""
        async with self._starting:
            if self._host is not None and not self._host.alive:
                await self._stop()
            if self._host is None:
                self._host = await SinkHost.start(secrets=self._secrets)
            return self._host

    async def stop(self) -> tuple[LateEffect, ...]:
        """End the process; return what came too late to be recorded in any attempt, over the whole series."""
        async with self._starting:
            await self._stop()
        return tuple(self._late)

    async def _stop(self) -> None:
        host, self._host = self._host, None
        if host is not None:
            self._late += await host.stop()


def late_texts(late: tuple[LateEffect, ...]) -> list[str]:
    """Write late effects as the ledger keeps them: run, digest of the token, digest of the request, how it began."""
    return [f"{one.run} {one.token} {one.request} {one.begins}" for one in late]
