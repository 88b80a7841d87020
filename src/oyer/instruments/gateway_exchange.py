"""The record of one exchange with a model: a request, then exactly one response, whatever happens in between.

Owns the bodies of `model.request` and `model.response` and the faults that belong to them. Must never see a header.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from oyer.instruments.gateway_upstream import UpstreamAnswer
from oyer.instruments.gateway_views import RequestView, ResponseView, view_response
from oyer.instruments.ports import OnFault, Recorder

__all__ = ["Exchange"]

_UNREAD = ResponseView(None, None, None)


class Exchange:
    """Writes one exchange; `asked` is entered first, and on leaving it a response is on record."""

    def __init__(
        self, recorder: Recorder, number: int, session: str | None, view: RequestView, on_fault: OnFault | None = None
    ) -> None:
        self._recorder = recorder
        self._on_fault = on_fault
        self._number = number
        self._session = session
        self._view = view
        self._request = ""
        self._asked_ns = 0
        self._closed = False

    @contextmanager
    def asked(self, body: bytes, path: str) -> Iterator[None]:
        """Record the request before anything is forwarded; on leaving, make sure that a response is recorded."""
        payloads = {"payload": body}
        if self._view.parameters is not None:
            payloads["parameters"] = self._view.parameters
        self._request = self._recorder.record(
            "model.request",
            {"exchange": self._number, "requested_model": self._view.model, "path": path},
            payloads=payloads,
            session=self._session,
        )
        self._asked_ns = time.monotonic_ns()
        try:
            yield
        finally:
            if not self._closed:
                # Cancelled: the subject went away or the attempt ended while the endpoint was still at work.
                self._respond(0, b"", _UNREAD, complete=False)

    def answered(self, came: UpstreamAnswer) -> None:
        """Record what the endpoint answered, and its failure to answer whole as a fault."""
        encoding = next((value for name, value in came.headers if name.lower() == "content-encoding"), None)
        view = view_response(came.body, encoding) if came.failure is None else _UNREAD
        response = self._respond(came.status, came.body, view, complete=came.failure in (None, "redirect", "leak"))
        if came.failure is not None:
            self._fault("dependency_unavailable", came.message, response)

    def refused(self, status: int, body: bytes, fault: str | None, message: str) -> None:
        """Record an answer of the gateway itself."""
        response = self._respond(status, body, _UNREAD, complete=True)
        if fault is not None:
            self._fault(fault, message, response)

    def _respond(self, status: int, body: bytes, view: ResponseView, *, complete: bool) -> str:
        self._closed = True
        response: dict[str, Any] = {
            "exchange": self._number,
            "http_status": status,
            "requested_model": self._view.model,
            "reported_model": view.model,
            "usage": view.usage,
            "latency_ns": time.monotonic_ns() - self._asked_ns,
            "complete": complete,
        }
        if view.finish is not None:
            response["finish"] = view.finish
        return self._recorder.record(
            "model.response", response, payloads={"payload": body}, session=self._session, because=(self._request,)
        )

    def _fault(self, class_: str, message: str, response: str) -> None:
        self._recorder.record(
            "fault",
            {"where": "gateway", "class": class_, "message": message},
            session=self._session,
            because=(response,),
        )
        if self._on_fault is not None:
            self._on_fault("gateway", class_, message)
