"""The driver's side of a subject process: one JSON line in, one JSON line out.

Owns the reading of `open` and `turn` lines from standard input and the writing of `said` and `note` lines to
standard output. Must never write anything else there: what is not of the protocol is the subject's fault.

Protocol (each line one JSON object)::

    -> {"open": {"servers": {NAME: SERVER}, "script" | "model": {...}}}                        first line, where SERVER
                is {"command": [...], "env": {...}} or {"url": "...", "transport": "auto" | "http" | "sse"}
    -> {"turn": {"number": 0, "text": "...", "left": {"model_calls": N, "tool_calls": N}}}
    <- {"note": {...}}                                                          any number, before its `said`
    <- {"said": {"text": "...", "ended_by": "subject" | "stop" | "harness", "calls": N, "model_calls": N,
                 "stopped_by": "model_calls" | "tool_calls"}}

`left` is what may still be used of the declared stops; a stop that was not declared is not in it. `calls` are tool
calls that a server answered. `stopped_by` stands there for a stop and not otherwise. A note with
`"fault": {"class": "dependency_unavailable", "message": ...}` says that a model or a server failed its subject: that
turn has then ended by the harness, whatever its `said` says, and `harness` needs such a note before it. The end of
standard input ends the session.
"""

from __future__ import annotations

import json
import os
from typing import Any, Final

__all__ = ["DriverGoneError", "DriverWire"]

_CHUNK_BYTES: Final = 65536
_MAX_LINE_BYTES: Final = 64 * 1024 * 1024


class DriverGoneError(Exception):
    """What came on standard input is not of the protocol: there is nothing more to do."""


class DriverWire:
    """Both directions over two descriptors; `read` takes whatever is there, so that a caller may poll."""

    __slots__ = ("_buffer", "_in", "_out", "ended")

    def __init__(self, read_fd: int = 0, write_fd: int = 1) -> None:
        self._in = read_fd
        self._out = write_fd
        self._buffer = bytearray()
        self.ended = False

    def fileno(self) -> int:
        """The descriptor to wait on."""
        return self._in

    def read(self) -> None:
        """Take one chunk; blocks only when nothing is there."""
        chunk = os.read(self._in, _CHUNK_BYTES)
        if not chunk:
            self.ended = True
        self._buffer += chunk
        if len(self._buffer) > _MAX_LINE_BYTES:
            raise DriverGoneError("a line of the driver is too long")

    def take(self) -> dict[str, Any] | None:
        """Return the next whole line, None when there is none. Raises: DriverGoneError when it is no object."""
        line, found, rest = self._buffer.partition(b"\n")
        if not found:
            return None
        self._buffer = rest
        value = json.loads(line)
        if not isinstance(value, dict):
            raise DriverGoneError("the driver sent no object")
        return value

    def drain(self) -> None:
        """Wait for the end of standard input and heed nothing that comes before it."""
        while os.read(self._in, _CHUNK_BYTES):
            self._buffer.clear()

    def note(self, note: dict[str, Any]) -> None:
        """Say something for the record."""
        self._write({"note": note})

    def said(
        self, text: str, ended_by: str, calls: int, model_calls: int = 0, *, stopped_by: str | None = None
    ) -> None:
        """Answer the turn."""
        said: dict[str, Any] = {"text": text, "ended_by": ended_by, "calls": calls, "model_calls": model_calls}
        if stopped_by is not None:
            said["stopped_by"] = stopped_by
        self._write({"said": said})

    def _write(self, value: dict[str, Any]) -> None:
        self.write_raw(json.dumps(value).encode("ascii") + b"\n")

    def write_raw(self, data: bytes) -> None:
        """Write bytes as they are."""
        while data:
            data = data[os.write(self._out, data) :]
