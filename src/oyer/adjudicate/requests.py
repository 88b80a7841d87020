"""Step 1, a change declared at the gateway: whether each request to the model carries it, exactly as declared.

The change is made again from the preserved original of every request, and what went on must be the result. Source: the
scoring design, layers 2 and 3; the instruments design, "The model gateway".
"""

from __future__ import annotations

from collections.abc import Iterator

from oyer.adjudicate.arm import Arm
from oyer.adjudicate.reasons import reason
from oyer.evidence import digest_of
from oyer.observe import Act, RequestChange, may_show
from oyer.protocol import Applied
from oyer.records import Intervention, Reason

__all__ = ["changed_requests", "honest_requests", "request_reasons"]


def changed_requests(arm: Arm) -> tuple[str, ...]:
    """Return the refs of everything by which a request to the model is on record as changed."""
    acts = (act.ref for exchange in arm.model for act in exchange.acts)
    sent = (exchange.response_ref for exchange in arm.model if exchange.sent is not None and exchange.response_ref)
    return (*acts, *sent)


def request_reasons(arm: Arm, intervention: Intervention) -> Iterator[Reason]:
    """Yield what is wrong with the declared change in the requests of an arm that has one."""
    if not intervention.at.gateway:
        refs = changed_requests(arm)
        if refs:
            yield reason("INTERVENTION_EXCESS", "a request to the model was changed", arm=arm.condition, evidence=refs)
        return
    tool = intervention.at.tool or ""
    other = [one for one in arm.shown.results if one.tool is not None and not arm.names_tool(one.tool, tool)]
    if other:
        why = f"a result of another tool was counted, whose name ends in {tool!r} too"
        yield reason("INTERVENTION_EXCESS", why, arm=arm.condition, evidence=[one.ref for one in other])
    for one in arm.shown.requests:
        for code, why, refs in _one(intervention, one):
            yield reason(code, why, arm=arm.condition, evidence=refs)


def honest_requests(arm: Arm, session: str | None, since_ns: int, until_ns: int | None) -> tuple[str, ...]:
    """Return the requests of a session that showed the model, beside the change, the text that it replaced.

    A subject may repeat a result anywhere: in a turn of its own, in a summary, on a path that is not understood. What
    an authored turn says itself, and what the change adds again, tells nothing. Only a text that is replaced can be
    looked for; an appended one leaves the original where it is.
    """
    change = arm.case.intervention
    replaced = change.replace_text if change is not None and change.at.gateway else None
    if replaced is None or replaced.find in replaced.with_:
        return ()
    if any(replaced.find in (turn.sent or b"").decode("utf-8", "replace") for turn in arm.turns):
        return ()
    return tuple(
        exchange.request_ref
        for exchange in arm.model
        if exchange.session == session
        and exchange.went_on
        and exchange.t_request_ns >= since_ns
        and (until_ns is None or exchange.t_request_ns < until_ns)
        and may_show(exchange, replaced.find)
    )


_Found = tuple[str, str, tuple[str, ...]]


def _one(intervention: Intervention, one: RequestChange) -> Iterator[_Found]:
    exchange, outcome = one.exchange, one.outcome
    acts, sent, request = exchange.acts, exchange.sent, (exchange.request_ref,)
    refs = (*request, *(act.ref for act in acts))
    if outcome is None:
        if acts or sent is not None:
            yield "INTERVENTION_EXCESS", "a request that shows no declared result was changed", refs
        return
    if not acts:
        why = "a request shows the declared result, and no change of it is on record"
        yield "INTERVENTION_NOT_DELIVERED", why, request
        if sent is not None:
            yield "INTERVENTION_EXCESS", "a request was sent changed without a record of it", request
        return
    if len(acts) > 1:
        yield "INTERVENTION_EXCESS", "one request was changed twice", refs
    act = acts[0]
    if not act.applied:
        code = "INTERVENTION_NOOP" if (act.why or "").startswith("noop") else "INTERVENTION_NOT_DELIVERED"
        yield code, f"the change did not apply ({act.why})", refs
        if sent is not None:
            yield "INTERVENTION_EXCESS", "a request was sent changed without a record of it", refs
        return
    if act.original != digest_of(one.original or b""):
        yield "ORIGINAL_MISSING", "the record of the change cites other bytes", refs
    if act.modified is None:
        yield "EVIDENCE_BROKEN", "the changed bytes are not retained", refs
        return
    yield from _made(intervention, one, act, act.modified)


def _made(intervention: Intervention, one: RequestChange, act: Act, modified: bytes) -> Iterator[_Found]:
    refs = (one.exchange.request_ref, act.ref)
    if act.name != intervention.id:
        yield "INTERVENTION_EXCESS", f"the change on record is {act.name!r}, which is not declared", refs
    if not isinstance(one.outcome, Applied) or one.outcome.modified != modified:
        yield "INTERVENTION_EXCESS", "the change on record is not the declared one", refs
    if modified == one.original:
        yield "INTERVENTION_NOOP", "", refs
    sent = one.exchange.sent
    if sent is None and one.exchange.complete and one.exchange.went_on:
        yield "INTERVENTION_NOT_DELIVERED", "nothing shows that the changed request went on", refs
    elif sent is not None and sent != digest_of(modified):
        yield "INTERVENTION_EXCESS", "other bytes went on than the change on record left", refs
