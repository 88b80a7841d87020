"""Counting what a model's answers report as used, and what they cost, against the Case's budget.

Owns the sums over one attempt. Must never guess: an answer that reports no usage adds nothing to the tokens, and says
so by its absence in the evidence; one whose cost is not known leaves nothing to hold a budget of cost to, and that is
said.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any, Final

from oyer.instruments import Recorder
from oyer.observe import Prices, cost_of, cost_unknown, in_micros

__all__ = ["CostCount", "TokenCount"]

_TOO_MANY: Final = 429
_SERVER_ERROR: Final = 500


class _Watched:
    """The gateway's recorder, which looks at every answer after it is written."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder

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
            self._answered(body)
        return ref

    def kept(self, raw: bytes) -> tuple[str, int]:
        """Return digest and size under which these bytes are kept."""
        return self._recorder.kept(raw)

    def _answered(self, body: Mapping[str, Any]) -> None:
        """Look at an answer that was just written."""
        raise NotImplementedError


class TokenCount(_Watched):
    """Adds up the usage of every answer; `exceeded(seen)` is called once."""

    def __init__(self, recorder: Recorder, limit: int, exceeded: Callable[[int], None]) -> None:
        super().__init__(recorder)
        self._limit = limit
        self._exceeded = exceeded
        self._seen = 0

    def _answered(self, body: Mapping[str, Any]) -> None:
        usage, before = body.get("usage") or {}, self._seen
        total = usage.get("total")
        self._seen += usage.get("input", 0) + usage.get("output", 0) if total is None else total
        if before <= self._limit < self._seen:
            self._exceeded(self._seen)


class CostCount(_Watched):
    """Adds up the cost of every answer, in millionths of a dollar.

    `exceeded(seen)` is called once, and `unknown(why, is_endpoints)` once for the first answer whose cost is not known:
    whether that is the endpoint's doing alone. It is not where the subject asked for another model than `foreseen` or
    the priced ones, on a path of no API, in a way that was refused, or left before the answer was whole.
    """

    def __init__(
        self,
        recorder: Recorder,
        limit: int,
        prices: Prices,
        foreseen: str,
        exceeded: Callable[[int], None],
        unknown: Callable[[str, bool], None],
    ) -> None:
        super().__init__(recorder)
        self._limit = limit
        self._prices = prices
        self._exceeded = exceeded
        self._foreseen = {foreseen, *prices}
        self._unknown: Callable[[str, bool], None] | None = unknown
        self._seen = Fraction(0)

    def _answered(self, body: Mapping[str, Any]) -> None:
        told = {"requested": body["requested_model"], "reported": body["reported_model"], "usage": body["usage"]}
        cost = cost_of(self._prices, source=body.get("source"), **told)
        if cost is None:
            unknown, self._unknown = self._unknown, None
            if unknown is not None:
                unknown(cost_unknown(self._prices, **told), self._is_endpoints(body))
            return
        before, self._seen = self._seen, self._seen + cost
        if before <= self._limit < self._seen:
            self._exceeded(in_micros([self._seen]) or 0)

    def _is_endpoints(self, body: Mapping[str, Any]) -> bool:
        status = body["http_status"]
        failed = status == _TOO_MANY or status >= _SERVER_ERROR
        answered = body["complete"] and (200 <= status < 300 or failed)
        return answered and body["requested_model"] in self._foreseen
