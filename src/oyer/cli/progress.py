"""How far a series is, on standard error: one line that changes on a terminal, a few plain lines elsewhere."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, TextIO

from oyer.cli.streams import can_encode, write_out
from oyer.cli.terminal import is_lively, look_of
from oyer.report import cut, neutralise

if TYPE_CHECKING:
    from oyer.engine import Progress

__all__ = ["ProgressLine"]

_BAR = 20
_EVERY_S = 10


class ProgressLine:
    """Takes every Progress of a run. Close it before anything else is printed."""

    def __init__(self, stream: TextIO | None = None) -> None:
        self._stream = sys.stderr if stream is None else stream
        self._lively = is_lively(self._stream)
        self._full, self._rest = ("█", "·") if can_encode(self._stream, "█·") else ("#", ".")
        self._told_s = 0.0
        self._shown = False

    def __enter__(self) -> ProgressLine:
        return self

    def __exit__(self, *_: object) -> None:
        if self._shown:
            write_out(self._stream, "\r\x1b[K")
            self._shown = False

    def __call__(self, progress: Progress) -> None:
        """Show it: at once on a terminal; elsewhere every ten seconds and at the end."""
        if self._lively:
            text = cut(self._line(progress), look_of(self._stream).width - 1).rstrip()
            write_out(self._stream, f"\r\x1b[K{text}")
            self._shown = True
        elif progress.elapsed_s - self._told_s >= _EVERY_S:
            self._told_s = progress.elapsed_s
            write_out(self._stream, neutralise(self._line(progress)) + "\n")

    def _line(self, progress: Progress) -> str:
        filled = _BAR * progress.done // max(1, progress.total)
        bar = self._full * filled + self._rest * (_BAR - filled)
        told = f"{bar} {progress.done}/{progress.total}  {_statuses(progress.by_status)}"
        left = f", about {_left_s(progress):.0f} s left" if 0 < progress.done < progress.total else ""
        return f"{told}  {progress.elapsed_s:.0f} s{left}  {progress.current or ''}"


def _statuses(by_status: Mapping[str, int]) -> str:
    return " ".join(f"{status} {number}" for status, number in sorted(by_status.items()))


def _left_s(progress: Progress) -> float:
    return progress.elapsed_s / progress.done * (progress.total - progress.done)
