"""Counting what a model's answers report as used, against the Case's budget.

Owns the sum over one attempt. Must never guess: an answer that reports no usage adds nothing, and says so by its
absence in the evidence.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from oyer.instruments import Recorder

__all__ = ["TokenCount"]


class TokenCount:
    """The gateway's recorder, which looks at the usage of every answer it writes; `exceeded(seen)` is called once."""

    def __init__(self, recorder: Recorder, limit: int, exceeded: Callable[[int], None]) -> None:
        self._recorder = recorder
        self._limit = limit
        self._exceeded = exceeded
        self._seen = 0

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
        """Record an event as it is, then count it."""
        ref = self._recorder.record(kind, body, payloads=payloads or {}, session=session, because=because, sync=sync)
        if kind == "model.response":
            self._count(body.get("usage") or {})
        return ref

    def kept(self, raw: bytes) -> tuple[str, int]:
        """Return digest and size under which these bytes are kept."""
        return self._recorder.kept(raw)

    def _count(self, usage: Mapping[str, int]) -> None:
        before = self._seen
        total = usage.get("total")
        self._seen += usage.get("input", 0) + usage.get("output", 0) if total is None else total
        if before <= self._limit < self._seen:
            self._exceeded(self._seen)
