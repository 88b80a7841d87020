"""Declared faults of a model's endpoint: 429 and 500 in its place, an answer that breaks off, one that comes late.

Owns which request of a trial a declaration means (requests of a known API that may pass, counted from 1 over all
sessions) and what then happens. Each act is on record before anything of it reaches the subject, with the whole answer
where some of it is kept back. Must never act undeclared, or ask the endpoint for what is answered here. An answer that
the endpoint itself failed to give, or to give whole, is left as it is.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

from oyer.instruments.gateway_answer import (
    Asking,
    Failure,
    ModelSource,
    Passing,
    Progress,
    UpstreamAnswer,
    content_encoding,
)
from oyer.instruments.gateway_views import view_response
from oyer.observe import UNFINISHED
from oyer.protocol import dumps
from oyer.records import ModelFault

__all__ = ["Declare", "DeclaredFaults", "FaultyExchange"]

Declare = Callable[[ModelFault, bytes | None], None]
"""Records that a fault is acted now; with the whole answer where not all of it goes on."""

_STATUSES: Final = {
    "429": (429, "rate_limit_error", "Rate limit reached. Please try again later."),
    "500": (500, "api_error", "The server had an error while processing your request."),
}
_HEADERS: Final = (("Content-Type", "application/json"),)


class DeclaredFaults:
    """Which of the declared faults is due; each request is counted once, in the order in which they come."""

    def __init__(self, faults: Sequence[ModelFault] = ()) -> None:
        self._faults = tuple(faults)
        self._requests = 0

    def due(self) -> ModelFault | None:
        """Count a request; return the first declared fault that means it."""
        self._requests += 1
        number = self._requests
        return next((one for one in self._faults if one.first <= number < one.first + one.times), None)


class FaultyExchange(NamedTuple):
    """One exchange on which a fault is acted. `source` is asked for the answer, where there is to be one."""

    fault: ModelFault
    source: ModelSource
    declare: Declare

    async def exchange(self, asking: Asking, progress: Progress, passing: Passing) -> UpstreamAnswer:
        """Return the answer as the fault leaves it."""
        if self.fault.kind in _STATUSES:
            return self._refuse(progress)
        came = await self.source.exchange(asking, progress, _Nowhere())
        if not _given(asking, came):
            return came
        streams = asking.stream
        if self.fault.kind == "slow":
            self.declare(self.fault, None)
            return await self._late(came, passing, streams)
        self.declare(self.fault, came.body)
        half = came.body[: len(came.body) // 2]
        told = f"the answer broke off as declared ({self.fault.text})"
        if streams:
            await _hand_on(came, half, passing)
        return _left(came, half, streams, len(half) if streams else 0, "declared", told)

    def _refuse(self, progress: Progress) -> UpstreamAnswer:
        status, kind, message = _STATUSES[self.fault.kind]
        body = dumps({"type": "error", "error": {"type": kind, "code": status, "message": message}})
        self.declare(self.fault, None)
        progress.begin(status, "", _HEADERS, len(body))
        progress.add(body)
        return progress.answer()

    async def _late(self, came: UpstreamAnswer, passing: Passing, streams: bool) -> UpstreamAnswer:
        """Hand on one half of a stream after one half of the delay; of a whole answer nothing before all of it."""
        delay_s = self.fault.delay_ms / 1000
        if not streams:
            await asyncio.sleep(delay_s)
            return came
        await asyncio.sleep(delay_s / 2)
        half = came.body[: len(came.body) // 2]
        await _hand_on(came, half, passing)
        await asyncio.sleep(delay_s / 2)
        return _left(came, came.body, True, len(half), None, "")


def _given(asking: Asking, came: UpstreamAnswer) -> bool:
    """Whether an answer came whole and with success: any other is the endpoint's own failure, and stays that."""
    if came.failure is not None or not 200 <= came.status < 300:
        return False
    defect = view_response(asking.api, came.body, content_encoding(came.headers)).defect
    return defect is None or defect.code not in UNFINISHED


class _Nowhere:
    """Takes what an answer hands on while it comes, and hands nothing on."""

    async def begin(self, progress: Progress) -> None:
        """Leave the head where it is."""

    async def piece(self, progress: Progress) -> None:
        """Leave what has come where it is."""


async def _hand_on(came: UpstreamAnswer, part: bytes, passing: Passing) -> None:
    shown = Progress()
    shown.begin(came.status, came.reason, came.headers, came.declared)
    shown.add(part)
    await passing.begin(shown)
    await passing.piece(shown)


def _left(
    came: UpstreamAnswer, body: bytes, begun: bool, passed: int, failure: Failure | None, message: str
) -> UpstreamAnswer:
    return UpstreamAnswer(
        came.status, came.reason, came.headers, body, came.declared, failure, message, came.first_ns, passed, begun
    )
