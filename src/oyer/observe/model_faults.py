"""What is wrong with the declared faults of a model's endpoint as they are on record.

A declared fault means one request of its trial by number, and is counted again here. Must never take an endpoint's own
failure for a declared one, or a declared one for the endpoint's.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import NamedTuple

from oyer.evidence import Event
from oyer.observe.coding import decoded
from oyer.observe.trial import TrialEvidence
from oyer.protocol import Defect, api_of, read_answer
from oyer.records import ModelFault, parse_model_fault

__all__ = ["UNFINISHED", "wrong_faults"]

UNFINISHED: Mapping[str, str] = {
    "cut_stream": "the stream ended without its end marker",
    "api_error": "the endpoint reported an error in its stream",
}
"""What of an answer with success says that its endpoint did not give it whole, by the code of the defect."""

Wrong = tuple[str, tuple[str, ...]]


def wrong_faults(evidence: TrialEvidence) -> Iterator[Wrong]:
    """Yield `(what is wrong, refs)` for every declared fault that is not on record as it was declared.

    One that nothing declares is wrong by itself, and said elsewhere.
    """
    asked: dict[int, Event] = {}
    answered: dict[int, Event] = {}
    for event in evidence.events("gateway", "model.request", "model.response"):
        (asked if event.kind == "model.request" else answered).setdefault(event.body["exchange"], event)
    yield from _Acts(evidence, asked, answered).wrong()


class _Due(NamedTuple):
    """One request, its answer, and the declared fault that means it."""

    fault: ModelFault | None
    request: Event
    response: Event | None


class _Acts:
    """The declared faults of one trial, held against the requests that they mean."""

    def __init__(self, evidence: TrialEvidence, asked: Mapping[int, Event], answered: Mapping[int, Event]) -> None:
        self._evidence = evidence
        self._exchanges = _due(evidence, asked, answered)
        self._acted: dict[int, Event] = {}

    def wrong(self) -> Iterator[Wrong]:
        """Yield everything that is not as it was declared."""
        for act in self._evidence.events("gateway", "model.fault"):
            yield from self._act(act)
        for number, due in self._exchanges.items():
            if number not in self._acted:
                yield from self._undone(due)

    def _act(self, act: Event) -> Iterator[Wrong]:
        number, text = act.body["exchange"], act.body["declared"]
        due = self._exchanges.get(number)
        if text not in self._evidence.model_faults:
            return
        if due is None:
            yield "a declared fault of the model's endpoint at no recorded request", (act.ref,)
        elif number in self._acted:
            yield "two declared faults of the model's endpoint at one request", (self._acted[number].ref, act.ref)
        elif due.fault is None or due.fault.text != text:
            told = f"a fault of the model's endpoint at another request than it is declared for ({text})"
            yield told, (act.ref, due.request.ref)
        else:
            yield from self._done(due.fault, act, due)
        self._acted.setdefault(number, act)

    def _done(self, fault: ModelFault, act: Event, due: _Due) -> Iterator[Wrong]:
        answer = due.response
        if answer is None:
            return
        refs = (act.ref, answer.ref)
        if not due.request.seq < act.seq < answer.seq:
            yield "a declared fault of the model's endpoint that is not on record between request and answer", refs
        elif fault.kind in ("429", "500"):
            if (answer.body.get("source"), answer.body["http_status"]) != ("declared", int(fault.kind)):
                yield f"an answer of the model's endpoint is recorded as a declared fault ({fault.text})", refs
        elif answer.body.get("source") == "declared":
            yield f"an answer in the model's place that the declared fault does not give ({fault.text})", refs
        elif not 200 <= answer.body["http_status"] < 300 or self._failed(act, due):
            yield f"a failure of the model's endpoint is recorded as a declared one ({fault.text})", refs
        elif fault.kind == "cut" and answer.body["complete"]:
            yield f"an answer of the model came whole, and was to break off ({fault.text})", refs

    def _failed(self, act: Event, due: _Due) -> bool:
        """Whether what the endpoint gave, of which a declared fault kept something back, was not whole by itself."""
        answer, raw = due.response, self._evidence.payload(act)
        api = api_of(due.request.body["path"])
        plain = None if raw is None or answer is None else decoded(raw, answer.body.get("content_encoding"))
        read = None if plain is None or api is None else read_answer(api, plain)
        return isinstance(read, Defect) and read.code in UNFINISHED

    def _undone(self, due: _Due) -> Iterator[Wrong]:
        """Where a fault was due and none was acted, only the endpoint's own failure may be why."""
        answer = due.response
        if answer is None:
            return
        refs = (due.request.ref, answer.ref)
        if answer.body.get("source") == "declared":
            yield "an answer in the model's place without a declared fault on record", refs
        elif due.fault is not None and (due.fault.kind in ("429", "500") or self._came(answer)):
            yield f"a declared fault of the model's endpoint that was not acted ({due.fault.text})", refs

    def _came(self, answer: Event) -> bool:
        blamed = {ref for event in self._evidence.events("gateway", "fault") for ref in event.because}
        return answer.body["complete"] and 200 <= answer.body["http_status"] < 300 and answer.ref not in blamed


def _due(evidence: TrialEvidence, asked: Mapping[int, Event], answered: Mapping[int, Event]) -> Mapping[int, _Due]:
    """Count the requests that may pass to a model, from 1, as the gateway does; by exchange what is due at each."""
    faults: list[ModelFault] = []
    for text in evidence.model_faults:
        with suppress(ValueError):  # a text that declares nothing: no act can be of it
            faults.append(parse_model_fault(text))
    found: dict[int, _Due] = {}
    place = 0
    for number, request in asked.items():
        response = answered.get(number)
        counts = api_of(request.body["path"]) is not None and (
            response is None or response.body.get("source") != "gateway"
        )
        place += counts
        meant = (one for one in faults if counts and one.first <= place < one.first + one.times)
        found[number] = _Due(next(meant, None), request, response)
    return found
