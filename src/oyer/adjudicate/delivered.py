"""Step 1, the declared change: preserved, applied exactly once, exactly as declared, delivered, and nothing else.

The change is never believed from the record: it is made again from the preserved original, and the delivered bytes
must be the result. Source: the scoring design, layers 2 and 3.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from oyer.adjudicate.arm import Arm
from oyer.adjudicate.policies import policy_reasons
from oyer.adjudicate.reasons import reason
from oyer.adjudicate.requests import request_reasons
from oyer.errors import ProtocolError
from oyer.evidence import digest_of
from oyer.observe import Act, Delivery, Exchange, protocol_edit, result_of
from oyer.protocol import Applied, Edit, apply_edit, remaining_copies, schema_breach
from oyer.records import Intervention, Reason

__all__ = ["intervention_reasons", "leaves_copies"]


def intervention_reasons(arm: Arm) -> Iterator[Reason]:
    """Yield what is wrong with the declared change in an arm that has one."""
    intervention = arm.case.intervention
    if intervention is None:
        return
    if arm.wire.lost_originals:
        yield reason(
            "ORIGINAL_MISSING",
            "a change is on record of a message that is not",
            arm=arm.condition,
            evidence=arm.wire.lost_originals,
        )
    yield from request_reasons(arm, intervention)
    for exchange in arm.reached if not intervention.at.gateway else ():
        if exchange.answer is not None:
            yield from _one_change(arm, intervention, exchange, exchange.answer)
        for again in exchange.answers[1:]:
            # Equal bytes again are the same answer: where they no longer reached anybody, the first ones had.
            if again.intervened is not None and again.delivered_digest is not None:
                yield from _one_change(arm, intervention, exchange, again)
    yield from _excess(arm)
    yield from policy_reasons(arm)


def _one_change(arm: Arm, intervention: Intervention, exchange: Exchange, answer: Delivery) -> Iterator[Reason]:
    name, refs, change = arm.condition, exchange.refs, answer.intervened
    if change is None or not change.applied:
        why = "no change is on record" if change is None else f"the change did not apply ({change.why})"
        is_noop = change is not None and (change.why or "").startswith("noop")
        yield reason("INTERVENTION_NOOP" if is_noop else "INTERVENTION_NOT_DELIVERED", why, arm=name, evidence=refs)
        return
    preserved = change.original == digest_of(answer.original)
    if not preserved:
        yield reason("ORIGINAL_MISSING", "the record of the change cites other bytes", arm=name, evidence=refs)
    if change.modified is None:
        yield reason("EVIDENCE_BROKEN", "the changed bytes are not retained", arm=name, evidence=[change.ref])
        return
    for why in _misdeclared(arm, intervention, exchange, answer, change):
        yield reason("INTERVENTION_EXCESS", why, arm=name, evidence=[change.ref])
    if preserved:
        yield from _recomputed(arm, intervention, answer, change.modified, change.ref)
    for why in _schema_broken(change.modified, _output_schema(arm, intervention, answer)):
        yield reason("INTERVENTION_INCOMPLETE", why, arm=name, evidence=[change.ref])
    if answer.delivered_digest is None:
        yield reason("INTERVENTION_NOT_DELIVERED", "the changed bytes never left the tap", arm=name, evidence=refs)


def _misdeclared(
    arm: Arm, intervention: Intervention, exchange: Exchange, answer: Delivery, change: Act
) -> Iterator[str]:
    """Say where the record of the change is not about the one declared change, once."""
    number = next(n for n, known in enumerate(arm.declared, start=1) if known.key == exchange.key)
    if len(answer.interventions) > 1:
        yield "one answer was changed twice"
    if change.name != intervention.id:
        yield f"the change on record is {change.name!r}, which is not declared"
    if change.occurrence != number:
        yield f"the record says occurrence {change.occurrence}, and this is occurrence {number}"
    if change.request is not None and change.request not in exchange.transmissions:
        yield "the record names another request"


def _recomputed(arm: Arm, intervention: Intervention, answer: Delivery, modified: bytes, ref: str) -> Iterator[Reason]:
    """What only the preserved original shows: that something changed, as declared, and no copy was left."""
    if modified == answer.original:
        yield reason("INTERVENTION_NOOP", arm=arm.condition, evidence=[ref])
    edit = protocol_edit(intervention)
    again = apply_edit(edit, answer.original)
    if not isinstance(again, Applied) or again.modified != modified:
        why = "the change on record is not the declared one"
        yield reason("INTERVENTION_EXCESS", why, arm=arm.condition, evidence=[ref])
    for why in _copies(edit, answer.original, modified):
        yield reason("INTERVENTION_INCOMPLETE", why, arm=arm.condition, evidence=[ref])


def _copies(edit: Edit, original: bytes, modified: bytes) -> Iterator[str]:
    """Say what of the original fact still stands. A protocol error holds nothing of it."""
    if result_of(modified) is None:
        return
    try:
        left = remaining_copies(edit, modified, original)
    except ProtocolError as error:
        yield f"it cannot be shown that no copy was left: {error}"
        return
    if left:
        yield f"the original fact still stands at {', '.join(left)}"


def _schema_broken(modified: bytes, schema: dict[str, Any] | None) -> Iterator[str]:
    """Say where the changed answer breaks its schema; none is declared for a protocol error."""
    if result_of(modified) is None:
        return
    try:
        check = schema_breach(modified, schema)
    except ProtocolError as error:
        yield f"it cannot be shown that the changed answer keeps to its output schema: {error}"
        return
    if check.verdict == "broken":
        yield f"the changed answer breaks its output schema at {check.where or '/'}: {check.why}"


def leaves_copies(arm: Arm, answer: Delivery) -> bool:
    """Whether a change on record left a copy of the original fact honest, or cannot be shown to have left none.

    Of an original that is not preserved nothing is known: that is a reason of its own.
    """
    change, intervention = answer.intervened, arm.case.intervention
    if intervention is None or change is None or change.modified is None:
        return False
    known = change.original == digest_of(answer.original)
    return known and any(_copies(protocol_edit(intervention), answer.original, change.modified))


def _output_schema(arm: Arm, intervention: Intervention, answer: Delivery) -> dict[str, Any] | None:
    """The output schema of the tool as the subject last saw it listed before this answer, None where it saw none."""
    found = None
    for exchange in arm.wire.exchanges:
        if exchange.server != intervention.at.server or exchange.method != "tools/list":
            continue
        for listing in exchange.answers:
            result = result_of(listing.own) if listing.t_ns <= answer.t_ns else None
            tools = result.get("tools") if isinstance(result, dict) else None
            for listed in tools if isinstance(tools, list) else ():
                if isinstance(listed, dict) and listed.get("name") == intervention.at.tool:
                    found = listed.get("outputSchema")
    return found if isinstance(found, dict) else None


def _excess(arm: Arm) -> Iterator[Reason]:
    """Any message delivered changed, apart from the declared change and the declared policy."""
    declared = {exchange.key for exchange in arm.reached}
    elsewhere = [
        change.ref
        for exchange in arm.wire.exchanges
        if exchange.key not in declared
        for answer in exchange.answers
        for change in answer.interventions
        if change.applied
    ]
    told = (
        ("a message at another place was changed", elsewhere),
        ("something was done to what is neither a request nor its answer", arm.wire.other_acts),
        ("a message was delivered changed without a record of it", arm.wire.unexpected_changes),
    )
    for why, refs in told:
        if refs:
            yield reason("INTERVENTION_EXCESS", why, arm=arm.condition, evidence=refs)
