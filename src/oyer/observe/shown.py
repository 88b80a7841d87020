"""Tool results that a change at the gateway is about, as exchanges: each with every request that showed it.

Owns the counting over the recorded requests, done again from the originals, and what the declared change makes of each
request. The record of a change is never believed here: what it should be is derived beside it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from oyer.evidence import digest_of
from oyer.observe.declared import protocol_edit, protocol_selector
from oyer.observe.exchanges import Delivery, Exchange
from oyer.observe.model import ModelExchange
from oyer.protocol import Applied, Message, NotApplied, ResultCounter, ShownResult, change_results
from oyer.records import Intervention

__all__ = ["RequestChange", "ShownResults", "read_shown"]


class RequestChange(NamedTuple):
    """One request to the model, and what the declared change makes of it: nothing (None), or why it cannot be told."""

    exchange: ModelExchange
    original: bytes | None
    outcome: Applied | NotApplied | None


class ShownResults(NamedTuple):
    """Every result that counts, in the order of its first showing, as an exchange of the server `gateway`.

    The answers of an exchange are the requests that showed its result. `requests` are all requests of the trial.
    """

    results: tuple[Exchange, ...] = ()
    requests: tuple[RequestChange, ...] = ()


def read_shown(change: Intervention, exchanges: Iterable[ModelExchange]) -> ShownResults:
    """Read which results the requests showed, and what the declared change makes of them."""
    counter, edit = ResultCounter(protocol_selector(change.at)), protocol_edit(change)
    found: dict[int, Exchange] = {}
    requests: list[RequestChange] = []
    for exchange in exchanges:
        raw = exchange.original_bytes()
        if exchange.api is None or raw is None:
            requests.append(RequestChange(exchange, raw, None))
            continue
        shown = counter.take(exchange.api.name, raw, exchange.session)
        if isinstance(shown, NotApplied):
            requests.append(RequestChange(exchange, raw, shown))
            continue
        requests.append(RequestChange(exchange, raw, change_results(edit, raw, shown)))
        for one in shown:
            delivery = _delivery(exchange, raw, one)
            known = found.get(one.number)
            if known is None:
                found[one.number] = _exchange(exchange, one, delivery)
            else:
                found[one.number] = known._replace(answers=(*known.answers, delivery))
    # What reached the model tells of a result; a request that nobody answered, only where none did.
    results = (found[number] for number in sorted(found))
    return ShownResults(
        tuple(one._replace(answers=tuple(sorted(one.answers, key=_undelivered))) for one in results), tuple(requests)
    )


def _undelivered(delivery: Delivery) -> bool:
    return delivery.delivered_ref is None


def _exchange(exchange: ModelExchange, one: ShownResult, delivery: Delivery) -> Exchange:
    return Exchange(
        ref=exchange.request_ref,
        part=one.part,
        server="gateway",
        connection=0,
        session=exchange.session,
        boot=exchange.boot,
        method="tools/call",
        tool=one.result.tool,
        target=one.result.tool,
        arguments=one.result.arguments,
        t_ns=exchange.t_request_ns,
        t_forwarded_ns=exchange.t_request_ns,
        transmissions=(exchange.request_ref,),
        answers=(delivery,),
        cancelled=False,
        policies=(),
        refusal=None,
        refusal_delivered_ns=None,
        half_refused=False,
    )


def _delivery(exchange: ModelExchange, raw: bytes, one: ShownResult) -> Delivery:
    """One showing of a result. It reached the model where an answer to its request is on record."""
    act = next((act for act in exchange.acts if act.applied and act.modified is not None), None)
    expected = raw if act is None or act.modified is None else act.modified
    answered = exchange.went_on
    node = one.result.node
    message = Message(b'{"result":' + raw[node.start : node.end] + b"}", "response")
    return Delivery(
        ref=exchange.request_ref,
        t_ns=exchange.t_request_ns,
        original=raw,
        message=message,
        in_batch=False,
        expected=expected,
        delivered_ref=exchange.response_ref if answered else None,
        delivered_digest=(exchange.sent or digest_of(raw)) if answered else None,
        t_delivered_ns=exchange.t_request_ns if answered else None,
        interventions=exchange.acts,
        policies=(),
        repeats=None,
        contradicts=None,
        session=exchange.session,
    )
