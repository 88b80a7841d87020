"""One session of a subject process: the first line, then turns, until the driver is gone.

Owns the order of things and their release. Knows nothing of scripts or models: what to do in a turn is handed in.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from oyer.programs.child_wire import DriverGoneError, DriverWire
from oyer.programs.tool_servers import ToolServers

__all__ = ["Turns", "serve"]

_DRIVER_BROKE = 64


class Turns(Protocol):
    """What a program does with a turn: it answers through the wire, exactly once."""

    def turn(self, number: int, text: str, left: dict[str, int]) -> None:
        """Take one turn; `left` is what may still be used of the declared stops."""
        ...


def serve(role: str, open_session: Callable[[DriverWire, ToolServers, dict[str, Any]], Turns]) -> int:
    """Run one session whose configuration stands under `role` in the first line; return the exit code."""
    wire = DriverWire()
    servers: ToolServers | None = None
    try:
        first = _next(wire, None)
        if first is None:
            return 0
        opened = first["open"]
        servers = ToolServers(opened["servers"])
        turns = open_session(wire, servers, opened[role])
        while (line := _next(wire, servers)) is not None:
            turn = line["turn"]
            turns.turn(turn["number"], turn["text"], turn["left"])
    except DriverGoneError:
        return _DRIVER_BROKE
    finally:
        if servers is not None:
            servers.close()
    return 0


def _next(wire: DriverWire, servers: ToolServers | None) -> dict[str, Any] | None:
    """Wait for the driver's next line, attending to the servers meanwhile; None at the end."""
    while (line := wire.take()) is None and not wire.ended:
        if servers is not None:
            servers.pump_until(wire.fileno())
        wire.read()
    return line
