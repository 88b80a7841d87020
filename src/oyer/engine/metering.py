"""The subject's recorder, heard by the meter: a process that started, and a turn that has just ended.

Owns when samples are taken. Must never change what is recorded.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from oyer.instruments import SubjectMeter
from oyer.subjects import Recorder

__all__ = ["MeteredRecorder"]


class MeteredRecorder:
    """Records what a driver says, then lets the meter look."""

    def __init__(self, recorder: Recorder, meter: SubjectMeter) -> None:
        self._recorder = recorder
        self._meter = meter

    def record(
        self,
        kind: str,
        body: Mapping[str, Any],
        *,
        payloads: Mapping[str, bytes] | None = None,
        session: str | None = None,
        because: Sequence[str] = (),
        sync: bool = False,
    ) -> str:
        """Record an event as it is, then sample where it says that the subject started or has just answered."""
        ref = self._recorder.record(kind, body, payloads=payloads or {}, session=session, because=because, sync=sync)
        if kind == "process.started" and body.get("role") == "subject":
            self._meter.started(body["pid"])
        elif kind == "turn.received":
            self._meter.sample(session)
        return ref
