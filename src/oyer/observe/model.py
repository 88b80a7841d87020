"""What the gateway saw of the model: requests, answers, and where a text stands in them.

Reasoning is never evidence: a text found only in reasoning was not shown. A call asked for in an answer that did not
come whole was not asked for. Source: "What is never evidence".
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from fractions import Fraction
from functools import partial
from typing import Any, NamedTuple

from oyer.evidence import Event, digest_of
from oyer.observe.coding import decoded
from oyer.observe.costing import cost_of
from oyer.observe.exchanges import Act
from oyer.observe.texts import any_holds, json_or_none, printable, strings_in
from oyer.observe.trial import TrialEvidence
from oyer.protocol import AskedCall, Defect, ModelApi, api_of, carried_call, read_answer
from oyer.records import Delimiters

__all__ = [
    "ModelExchange",
    "as_it_came",
    "asked_calls",
    "holds",
    "may_show",
    "read_model",
    "read_model_faults",
    "shows",
    "unread_words",
]

_UNASKED = ("declared", "gateway")
"""Who answers without asking anybody: a declared fault, and the gateway that turns a request away."""


class ModelExchange(NamedTuple):
    """One request to the model and its answer; `answer` is None where none came back whole.

    `api` is None where the path is of no API that is understood: nothing was then shown or asked for that counts.
    `answer` of a stream is the one body that it stands for. A call may be made from `t_first_ns` on: from the first
    byte of the answer, where that is on record.
    `acts` are the declared changes of this request on record, `sent` the digest of what went on where that was not
    `original_bytes`; `request_bytes` are those that the model was sent. `went_on`:
    an answer shows that the request reached whoever answers, which one of a declared fault or of the gateway does not.
    `cost` is in millionths of a dollar, None where it is not known.
    A request repeats the whole conversation: it is read anew each time `request` is asked for, and never kept.
    """

    exchange: int
    session: str | None
    request_ref: str
    t_request_ns: int
    api: ModelApi | None
    request_bytes: Callable[[], bytes | None]
    requested_model: str | None
    parameters: bytes | None
    response_ref: str | None
    t_response_ns: int | None
    t_first_ns: int | None
    answer: Any
    http_status: int | None
    reported_model: str | None
    finish: str | None
    complete: bool
    tokens: int | None
    cost: Fraction | None = None
    path: str = ""
    delimiters: Delimiters = ()
    boot: str = ""
    original_bytes: Callable[[], bytes | None] = lambda: None
    acts: tuple[Act, ...] = ()
    sent: str | None = None
    went_on: bool = False
    answer_unread: str | None = None

    @property
    def request(self) -> Any:
        """The request as a JSON value, None where it is not retained or is none."""
        return json_or_none(self.request_bytes())

    @property
    def fulfilled(self) -> bool:
        """Whether a model is on record as having answered: whole, readable and with success, by nobody else.

        What a request holds that was answered by an error, or broken off, no model is known to have been shown.
        """
        succeeded = self.http_status is not None and 200 <= self.http_status < 300
        answered = isinstance(self.answer, dict) and self.answer.get("error") is None
        return self.went_on and self.complete and succeeded and answered

    @property
    def unread(self) -> str | None:
        """Say why this exchange is not understood, so that it shows nothing and asks for nothing; None where it is."""
        if self.api is None:
            return f"{self.path} is no path of an API that is understood"
        if not isinstance(self.request, dict):
            return "a request is no JSON object"
        return self.answer_unread


def read_model(evidence: TrialEvidence) -> tuple[ModelExchange, ...]:
    """Read the gateway's journal of a trial into exchanges, in order of request. Empty without a gateway.

    The first record of a request and of its answer stands; `read_model_faults` names every other.
    """
    found: dict[int, ModelExchange] = {}
    acts: dict[str, list[Act]] = {}
    for event in evidence.events("gateway", "model.intervened"):
        acts.setdefault(event.body["of"], []).append(_act(evidence, event))
    for event in evidence.events("gateway", "model.request", "model.response"):
        number = event.body["exchange"]
        if event.kind == "model.request":
            found.setdefault(number, _asked(evidence, event, tuple(acts.get(event.ref, ()))))
        elif number in found and found[number].response_ref is None:
            found[number] = _answered(evidence, event, found[number])
    return tuple(found.values())


def _act(evidence: TrialEvidence, event: Event) -> Act:
    body = event.body
    return Act(
        ref=event.ref,
        t_ns=event.t_mono_ns,
        name=body["intervention"],
        did="intervened",
        applied=body["applied"],
        why=body.get("why"),
        original=body["original"],
        modified=evidence.payload(event, "modified"),
        modified_digest=None,
        proof=body.get("proof"),
        occurrence=None,
        request=None,
    )


def _asked(evidence: TrialEvidence, event: Event, acts: tuple[Act, ...]) -> ModelExchange:
    body = event.body
    return ModelExchange(
        exchange=body["exchange"],
        session=event.session,
        request_ref=event.ref,
        t_request_ns=event.t_mono_ns,
        api=api_of(body["path"]),
        request_bytes=partial(evidence.payload, event),
        requested_model=body["requested_model"],
        parameters=evidence.payload(event, "parameters"),
        response_ref=None,
        t_response_ns=None,
        t_first_ns=None,
        answer=None,
        http_status=None,
        reported_model=None,
        finish=None,
        complete=False,
        tokens=None,
        path=body["path"],
        delimiters=evidence.reasoning_delimiters,
        boot=event.boot,
        original_bytes=partial(evidence.payload, event),
        acts=acts,
    )


def _answered(evidence: TrialEvidence, event: Event, asked: ModelExchange) -> ModelExchange:
    body = event.body
    first = body.get("first_byte_ns")
    answer, unread = None, None
    if body["complete"]:
        answer, unread = _read(asked.api, evidence.payload(event), body.get("content_encoding"))
    succeeded = 200 <= body["http_status"] < 300
    sent = body.get("sent")
    changed = next((act for act in asked.acts if act.modified is not None and digest_of(act.modified) == sent), None)
    return asked._replace(
        request_bytes=asked.request_bytes if changed is None else partial(_given, changed.modified),
        sent=sent,
        went_on=body["http_status"] > 0 and body.get("source") not in _UNASKED,
        response_ref=event.ref,
        t_response_ns=event.t_mono_ns,
        # Counted from when the request was on record, so that this is never later than the byte came.
        t_first_ns=event.t_mono_ns if first is None else min(asked.t_request_ns + first, event.t_mono_ns),
        answer=answer,
        answer_unread=unread if succeeded else None,
        http_status=body["http_status"],
        reported_model=body["reported_model"],
        finish=body.get("finish"),
        complete=body["complete"],
        tokens=0 if body.get("source") in _UNASKED else _tokens(body["usage"] or {}),
        cost=cost_of(
            evidence.prices,
            requested=body["requested_model"],
            reported=body["reported_model"],
            usage=body["usage"],
            source=body.get("source"),
        ),
    )


def _given(raw: bytes | None) -> bytes | None:
    return raw


def _read(api: ModelApi | None, raw: bytes | None, encoding: str | None) -> tuple[Any, str | None]:
    """Return an answer, and why it cannot be read."""
    plain = None if raw is None else decoded(raw, encoding)
    if raw is not None and plain is None:
        return None, f"an answer is in the coding {encoding}, which is not read"
    if api is None or plain is None:
        return json_or_none(plain), None
    answer = read_answer(api, plain)
    return (None, f"an answer is none of its API: {answer.why}") if isinstance(answer, Defect) else (answer, None)


def _tokens(usage: dict[str, int]) -> int | None:
    """What an answer used: its total, or all its parts where an API reports no total."""
    if "total" in usage or not {"input", "output"} <= usage.keys():
        return usage.get("total")
    return sum(usage.values())


def read_model_faults(evidence: TrialEvidence) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Return `(what is wrong, refs)` for every record of the gateway that does not pair with exactly one other."""
    asked: dict[int, Event] = {}
    answered: dict[int, Event] = {}
    found: list[tuple[str, tuple[str, ...]]] = [
        ("a fault of the model's endpoint that nothing declares", (event.ref,))
        for event in evidence.events("gateway", "model.fault")
        if event.body["declared"] not in evidence.model_faults
    ]
    for event in evidence.events("gateway", "model.request", "model.response"):
        number = event.body["exchange"]
        if event.kind == "model.request":
            if number in asked:
                found.append(("two requests of one exchange with the model", (asked[number].ref, event.ref)))
            asked.setdefault(number, event)
        elif number not in asked:
            found.append(("an answer of the model to no recorded request", (event.ref,)))
        else:
            first = answered.setdefault(number, event)
            if first is not event and first.body["payload"]["sha256"] != event.body["payload"]["sha256"]:
                found.append(("two different answers of the model in one exchange", (first.ref, event.ref)))
    requests = {event.ref for event in asked.values()}
    changes = evidence.events("gateway", "model.intervened")
    lost = tuple(event.ref for event in changes if event.body["of"] not in requests)
    return (*found, *([("a change of a request to the model that is not on record", lost)] if lost else []))


def shows(exchange: ModelExchange, text: str) -> bool:
    """Whether a request showed a text to the model, in any part that is not reasoning, after unescaping."""
    api, request = exchange.api, exchange.request
    if api is None or not isinstance(request, dict):
        return False
    return holds(exchange, [request.get(member) for member in api.shown], text)


def may_show(exchange: ModelExchange, text: str) -> bool:
    """Whether a request may have shown a text: it holds it anywhere (what it offers, what it sets), reasoning apart."""
    if exchange.api is not None and isinstance(exchange.request, dict):
        return holds(exchange, exchange.request, text)
    raw = exchange.request_bytes() or b""
    return any_holds([*strings_in(exchange.request), raw.decode("utf-8", "replace")], text)


def as_it_came(exchange: ModelExchange) -> ModelExchange:
    """Return an exchange with its request as it came, whatever a declared change made of it."""
    return exchange._replace(request_bytes=exchange.original_bytes)


def unread_words(exchanges: Iterable[ModelExchange]) -> tuple[str, tuple[str, ...]]:
    """Return a clause on what was not understood of some exchanges, empty where all was, and the requests' refs."""
    found = [(why, one.request_ref) for one in exchanges if (why := one.unread) is not None]
    if not found:
        return "", ()
    whys = "; ".join(sorted({printable(why) for why, _ in found}))
    count = "1 exchange" if len(found) == 1 else f"{len(found)} exchanges"
    return f" ({count} with the model could not be read: {whys})", tuple(ref for _, ref in found)


def holds(exchange: ModelExchange, value: Any, text: str) -> bool:
    """Whether a text stands in a part of a request or an answer, reasoning of its API apart."""
    reasoning = exchange.api.reasoning if exchange.api is not None else None
    if reasoning is None:
        return any_holds(strings_in(value), text)
    between = exchange.delimiters
    return any_holds(strings_in(value, hidden=reasoning.names, marked=reasoning.marks, delimiters=between), text)


def asked_calls(exchange: ModelExchange) -> tuple[tuple[str, Any], ...]:
    """Return `(tool name, arguments)` of every call the model asked for in this answer, in order.

    Arguments are None where they are no JSON. A call that carries another is followed by the one that it carries.
    """
    if exchange.api is None or not isinstance(exchange.answer, dict):
        return ()
    return tuple(_each(exchange.api.calls(exchange.answer)))


def _each(calls: Iterable[AskedCall]) -> Iterator[tuple[str, Any]]:
    for call in calls:
        arguments = _arguments(call.arguments)
        yield call.name, arguments
        carried = carried_call(call.name, arguments)
        if carried is not None:
            yield carried


def _arguments(value: Any) -> Any:
    """The arguments of a call; none at all are an empty object, as on the wire."""
    if value is None or (isinstance(value, str) and not value.strip()):
        return {}
    return json_or_none(value.encode("utf-8", "surrogatepass")) if isinstance(value, str) else value
