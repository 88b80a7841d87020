"""Carrying out a declared change of tool results in requests to a model, on record before a changed request goes on.

Owns the order: results counted and the original recorded and synced (by the exchange), change applied,
`model.intervened` synced. In an arm that changes nothing the same requests are counted and synced, so that less of the
time tells the arms apart. A request in which the change cannot be applied goes on as it came, and the record says why.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from oyer.instruments.ports import Recorder
from oyer.instruments.tap_rules import DeclaredEdit
from oyer.protocol import Applied, ModelApi, NotApplied, ResultCounter, Selector, ShownResult, change_results

__all__ = ["GatewayRules", "RequestChanger"]


class GatewayRules(NamedTuple):
    """Which results are meant, in every arm; the change itself only in an arm that has it."""

    selector: Selector
    edit: DeclaredEdit | None


Meant = tuple[ShownResult, ...] | NotApplied
"""What of one request is meant: the results in it that count, some of them meant, or why it cannot be told."""


class RequestChanger:
    """Changes the requests of one trial as declared; it has to see every one of them, in the order of their records."""

    def __init__(self, recorder: Recorder, rules: GatewayRules) -> None:
        self._recorder = recorder
        self._edit = rules.edit
        self._counter = ResultCounter(rules.selector)

    def look(self, api: ModelApi | None, body: bytes, session: str | None) -> Meant | None:
        """Say what of the next request is meant; None where nothing is. Of a path of no API nothing is read."""
        if api is None:
            return None
        shown = self._counter.take(api.name, body, session)
        return shown if isinstance(shown, NotApplied) or any(one.declared for one in shown) else None

    def change(self, meant: Meant | None, body: bytes, ref: str, session: str | None) -> bytes:
        """Return what goes on in place of a request that is recorded as `ref`."""
        if meant is None or self._edit is None:
            return body
        outcome = meant if isinstance(meant, NotApplied) else change_results(self._edit.edit, body, meant)
        if outcome is None:
            return body
        told: dict[str, Any] = {
            "intervention": self._edit.id,
            "of": ref,
            "original": self._digest(body),
            "applied": isinstance(outcome, Applied),
            "results": [] if isinstance(meant, NotApplied) else [one.number for one in meant if one.declared],
        }
        payloads: dict[str, bytes] = {}
        if isinstance(outcome, Applied):
            spans = [[s.start, s.end, self._digest(s.replacement), len(s.replacement)] for s in outcome.spans]
            told["proof"] = {"kind": self._edit.edit.kind, "spans": spans}
            payloads["modified"] = outcome.modified
        else:
            told["why"] = f"{outcome.why_code}: {outcome.why}"
        self._recorder.record("model.intervened", told, payloads=payloads, session=session, because=(ref,), sync=True)
        return outcome.modified if isinstance(outcome, Applied) else body

    def _digest(self, raw: bytes) -> str:
        return self._recorder.kept(raw)[0]
