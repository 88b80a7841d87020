"""The record of one exchange with a model: a request, then exactly one response, whatever happens in between.

Owns the bodies of `model.request` and `model.response` and the faults that belong to them. Must never see a header.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

from oyer.instruments.gateway_answer import Progress, SourceKind, UpstreamAnswer, content_encoding, header_of
from oyer.instruments.gateway_views import RequestView, ResponseView, view_response
from oyer.instruments.ports import OnFault, Recorder
from oyer.observe import UNFINISHED, printable
from oyer.records import ModelFault

__all__ = ["Exchange", "record_fault"]

_UNREAD: Final = ResponseView(None, None, None)


class Exchange:
    """Writes one exchange; `asked` is entered first, and on leaving it a response is on record.

    `progress` is what has come of the answer: it is what is recorded where nobody waits for the rest any more.
    `request` is the reference of the request; `sent` is set to the bytes that go on where they are not those that came.
    `refused_by` is the status of an endpoint's own error, or of what a declared fault left of an answer; `fulfilled`
    whether a whole answer came, `declared` the declared fault that was acted.
    """

    def __init__(
        self,
        recorder: Recorder,
        number: int,
        session: str | None,
        view: RequestView,
        on_fault: OnFault | None = None,
        *,
        source: SourceKind = "endpoint",
    ) -> None:
        self.progress = Progress()
        self.refused_by: int | None = None
        self.fulfilled = False
        self.declared: str | None = None
        self.response = ""
        self._recorder = recorder
        self._on_fault = on_fault
        self._number = number
        self.session = session
        self._view = view
        self._source = source
        self.request = ""
        self.sent: bytes | None = None
        self._asked_ns = 0

    @contextmanager
    def asked(self, body: bytes, path: str, *, sync: bool = False) -> Iterator[None]:
        """Record the request before anything is forwarded, with `sync` on the disk.

        On leaving, make sure that a response is recorded.
        """
        payloads = {"payload": body}
        if self._view.parameters is not None:
            payloads["parameters"] = self._view.parameters
        asked = {"exchange": self._number, "requested_model": self._view.model, "path": printable(path)}
        self.request = self._recorder.record(
            "model.request",
            asked if self._view.unread is None else {**asked, "unread": self._view.unread},
            payloads=payloads,
            session=self.session,
            sync=sync,
        )
        self._asked_ns = time.monotonic_ns()
        try:
            yield
        finally:
            if not self.response:
                # Cancelled: the subject went away or the attempt ended while the endpoint was still at work.
                self._respond(self.progress.answer(), _UNREAD, complete=False)

    def declare(self, fault: ModelFault, original: bytes | None) -> None:
        """Record that a declared fault is acted here; `original` is an answer of which part is kept back."""
        self.declared = fault.text
        if fault.kind in ("429", "500"):
            self._source = "declared"  # nobody is asked
        self._recorder.record(
            "model.fault",
            {"exchange": self._number, "declared": fault.text},
            payloads={} if original is None else {"payload": original},
            session=self.session,
            because=(self.request,),
        )

    def answered(self, came: UpstreamAnswer) -> None:
        """Record what the endpoint answered, and its failure to answer whole as a fault."""
        view, unfinished = _UNREAD, None
        if came.failure is None:
            view = view_response(self._view.api, came.body, content_encoding(came.headers))
            if view.defect is not None and 200 <= came.status < 300:
                unfinished = UNFINISHED.get(view.defect.code)
        whole = came.failure in (None, "redirect", "leak") and not came.begun if came.failure else unfinished is None
        response = self._respond(came, view, complete=whole)
        refused = came.status >= 400 if came.failure is None else came.failure == "declared"
        self.refused_by = came.status if refused else None
        self.fulfilled = whole and came.failure is None and 200 <= came.status < 300
        if came.failure == "declared":
            return  # an agent may ask again: it is a fault when nothing whole follows in the session
        if came.failure is not None:
            self._fault("harness" if came.failure == "unrecorded" else "dependency_unavailable", came.message, response)
        elif unfinished is not None and view.defect is not None:
            self._fault("dependency_unavailable", f"{unfinished}: {view.defect.why}", response)

    def refused(self, status: int, body: bytes, fault: str | None, message: str) -> None:
        """Record an answer of the gateway itself."""
        self._source = "gateway"  # nobody else is asked, not even a script or a recording
        own = UpstreamAnswer(status, "", (), body, len(body))
        response = self._respond(own, _UNREAD, complete=True)
        if fault is not None:
            self._fault(fault, message, response)

    def _respond(self, came: UpstreamAnswer, view: ResponseView, *, complete: bool) -> str:
        response: dict[str, Any] = {
            "exchange": self._number,
            "http_status": came.status,
            "requested_model": self._view.model,
            "reported_model": view.model,
            "usage": view.usage,
            "latency_ns": time.monotonic_ns() - self._asked_ns,
            "complete": complete,
        }
        if self._source != "endpoint":
            response["source"] = self._source
        if view.finish is not None:
            response["finish"] = view.finish
        if view.unread is not None and 200 <= came.status < 300:
            response["unread"] = view.unread
        if self.sent is not None and came.status > 0 and self._source != "declared":
            response["sent"] = self._recorder.kept(self.sent)[0]
        if came.first_ns is not None:
            response["first_byte_ns"] = max(0, came.first_ns - self._asked_ns)
        for key, header in (("content_type", "content-type"), ("content_encoding", "content-encoding")):
            value = header_of(came.headers, header)
            if value is not None:
                response[key] = printable(value)
        self.response = self._recorder.record(
            "model.response", response, payloads={"payload": came.body}, session=self.session, because=(self.request,)
        )
        return self.response

    def _fault(self, class_: str, message: str, response: str) -> None:
        record_fault(self._recorder, class_, message, response, self.session, self._on_fault)


def record_fault(
    recorder: Recorder, class_: str, message: str, because: str, session: str | None, on_fault: OnFault | None
) -> None:
    """Record a fault of the gateway's exchanges (`because` "" where it is about none), then tell who listens."""
    recorder.record(
        "fault",
        {"where": "gateway", "class": class_, "message": printable(message)},
        session=session,
        because=(because,) if because else (),
    )
    if on_fault is not None:
        on_fault("gateway", class_, message)
