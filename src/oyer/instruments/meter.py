"""What the subject used of the machine, sampled from outside while its process lives.

Owns the writer `meter`. A sample is what the subject's processes used so far, over every session of the attempt; what
ended before it could be looked at is in no sample. Must never ask the subject.
"""

from __future__ import annotations

import time

from oyer.host import Usage, usage_of
from oyer.instruments.ports import Recorder

__all__ = ["SubjectMeter"]


class SubjectMeter:
    """Samples one subject. `started` hears of each process of it, `sample` looks at the one that lives."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self._began_ns = time.monotonic_ns()
        self._pid: int | None = None
        self._before_ns = 0
        self._last = Usage(0, 0)

    def started(self, pid: int) -> None:
        """The subject's process of a session was started; what the one before it used stays counted."""
        self._before_ns += self._last.cpu_ns
        self._pid, self._last = pid, Usage(0, 0)

    def sample(self, session: str | None) -> None:
        """Look now, and record what is seen; nothing where the process is gone or the system does not say."""
        seen = usage_of(self._pid) if self._pid is not None else None
        if seen is None:
            return
        self._last = Usage(max(seen.cpu_ns, self._last.cpu_ns), seen.rss_bytes)
        body = {
            "wall_ns": time.monotonic_ns() - self._began_ns,
            "cpu_ns": self._before_ns + self._last.cpu_ns,
            "rss_bytes": seen.rss_bytes,
        }
        self._recorder.record("meter.sample", body, session=session)
