"""A tap as the engine sees it, whatever it speaks on either side.

Owns the making of a tap over HTTP, which alone loads what it runs on: a case without one should not pay for it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from oyer.instruments.in_flight import CallsInFlight
from oyer.instruments.ports import CallWatcher, DeferringRecorder, OnFault
from oyer.instruments.tap_rules import TapRules
from oyer.instruments.tap_settings import TapLimits, TappedServer

__all__ = ["AddressedTap", "ServerTap", "make_http_tap"]


class ServerTap(Protocol):
    """The tap of one server in one attempt; `session` is set when a session opens."""

    session: str | None

    async def open(self) -> None:
        """Begin to listen. Raises: OSError, HarnessError."""
        ...

    async def settle(self, limit_s: float) -> None:
        """Wait, but no longer than this, until the subject has closed what it opened."""
        ...

    async def end_connections(self) -> None:
        """End every connection and its server; the tap goes on listening."""
        ...

    async def close(self) -> None:
        """Stop listening and end everything."""
        ...


class AddressedTap(ServerTap, Protocol):
    """One that the subject reaches at an address, known once it is open."""

    @property
    def url(self) -> str:
        """The address for the subject."""
        ...


def make_http_tap(
    server: TappedServer,
    recorder: DeferringRecorder,
    *,
    rules: TapRules,
    declared: TapRules,
    limits: TapLimits,
    watchers: Sequence[CallWatcher],
    calls: CallsInFlight,
    on_fault: OnFault,
    ending: str,
) -> AddressedTap:
    """Make the tap of a server that is given as an address, of which `ending` is the last part."""
    from oyer.instruments.tap_http import HttpTap  # noqa: PLC0415 - loads the HTTP library

    return HttpTap(
        server,
        recorder,
        rules=rules,
        declared=declared,
        limits=limits,
        watchers=watchers,
        calls=calls,
        on_fault=on_fault,
        ending=ending,
    )
