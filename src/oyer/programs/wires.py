"""Which transport an address speaks: the one that is declared, or the one that it turns out to be.

Owns the choice. Where none is declared the newer transport is tried with the first frame, and where that is refused
with 400, 404 or 405 the older one, as the protocol prescribes: nothing was carried out by then.
Source: MCP transports, Streamable HTTP, backwards compatibility.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, Literal

from oyer.programs.http_wire import HttpWire, OlderTransportError
from oyer.programs.sse_wire import SseWire
from oyer.programs.wire import note

__all__ = ["TRANSPORTS", "AnyWire", "Transport"]

Transport = Literal["auto", "http", "sse"]
TRANSPORTS: Final[dict[str, Transport]] = {"auto": "auto", "http": "http", "sse": "sse"}


class AnyWire:
    """One client of one address. `send` takes frames in order; what comes back is written as lines to `out_fd`.

    `on_failed` is told once why the connection is over, "" where nobody reads any more; it need not return.
    """

    def __init__(
        self, url: str, max_bytes: int, out_fd: int, on_failed: Callable[[str], None], transport: Transport = "auto"
    ) -> None:
        self._older: Callable[[str], SseWire] = lambda after: SseWire(url, max_bytes, out_fd, on_failed, after=after)
        self._wire: HttpWire | SseWire
        if transport == "sse":
            self._wire = self._older("")
        else:
            self._wire = HttpWire(url, max_bytes, out_fd, on_failed, detects=transport == "auto")

    @property
    def address(self) -> tuple[str, int]:
        """Host and port."""
        return self._wire.address

    @property
    def is_servers(self) -> bool:
        """Whether the connection failed for what is the server's doing, whatever its client sent."""
        return self._wire.is_servers

    def send(self, frame: bytes) -> None:
        """Send one frame. Raises: WireFailed."""
        try:
            self._wire.send(frame)
        except OlderTransportError as refusal:
            note(f"the server answered {refusal} to a POST and is asked for the older transport")
            self._wire = self._older(str(refusal))
            self._wire.send(frame)

    def leave(self, limit_s: float) -> None:
        """Wait a moment for what is under way, then end the session."""
        self._wire.leave(limit_s)

    def fail(self, why: str) -> None:
        """Say that the connection is over. Raises: WireFailed."""
        self._wire.fail(why)
