"""Step 1, the declared change: preserved, applied exactly once, exactly as declared, delivered, and nothing else.

The change is never believed from the record: it is made again from the preserved original, and the delivered bytes
must be the result. Source: the scoring design, layers 2 and 3.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from oyer.adjudicate.arm import Arm
from oyer.adjudicate.reasons import reason
from oyer.errors import ProtocolError
from oyer.evidence import digest_of
from oyer.observe import Delivery, Exchange, labelled, lure_texts, mask, protocol_edit, result_of
from oyer.protocol import Applied, apply_edit, loads, remaining_copies, schema_breach
from oyer.records import Reason

__all__ = ["baseline_reasons", "intervention_reasons", "original_drift"]


def intervention_reasons(arm: Arm) -> Iterator[Reason]:
    """Yield what is wrong with the declared change in an arm that has one."""
    for exchange in arm.reached:
        if exchange.answer is not None:
            yield from _one_change(arm, exchange, exchange.answer)
    yield from _excess(arm)


def _one_change(arm: Arm, exchange: Exchange, answer: Delivery) -> Iterator[Reason]:
    name, refs = arm.condition, exchange.refs
    change = answer.intervened
    if answer.original is None or (change is not None and change.original != digest_of(answer.original)):
        yield reason("ORIGINAL_MISSING", "the record of the change cites other bytes", arm=name, evidence=refs)
        return
    if change is None or not change.applied:
        why = "no change is on record" if change is None else f"the change did not apply ({change.why})"
        yield reason(
            "INTERVENTION_NOOP"
            if change is not None and (change.why or "").startswith("noop")
            else "INTERVENTION_NOT_DELIVERED",
            why,
            arm=name,
            evidence=refs,
        )
        return
    if change.modified is None:
        yield reason("EVIDENCE_BROKEN", "the changed bytes are not retained", arm=name, evidence=[change.ref])
        return
    if change.modified == answer.original:
        yield reason("INTERVENTION_NOOP", arm=name, evidence=[change.ref])
    yield from _recomputed(arm, answer, change.modified, change.ref)
    if answer.delivered_digest is None:
        yield reason("INTERVENTION_NOT_DELIVERED", "the changed bytes never left the tap", arm=name, evidence=refs)


def _recomputed(arm: Arm, answer: Delivery, modified: bytes, ref: str) -> Iterator[Reason]:
    intervention = arm.case.intervention
    if intervention is None or answer.original is None:
        return
    edit = protocol_edit(intervention)
    again = apply_edit(edit, answer.original)
    if not isinstance(again, Applied) or again.modified != modified:
        yield reason(
            "INTERVENTION_EXCESS", "the change on record is not the declared one", arm=arm.condition, evidence=[ref]
        )
        return
    left = remaining_copies(edit, modified, answer.original)
    if left:
        yield reason(
            "INTERVENTION_INCOMPLETE",
            f"the original fact still stands at {', '.join(left)}",
            arm=arm.condition,
            evidence=[ref],
        )
    schema = _output_schema(arm, intervention.at.server, intervention.at.tool)
    check = schema_breach(modified, schema)
    if check.verdict == "broken":
        yield reason(
            "INTERVENTION_INCOMPLETE",
            f"the changed answer breaks its output schema at {check.where}: {check.why}",
            arm=arm.condition,
            evidence=[ref],
        )


def _output_schema(arm: Arm, server: str, tool: str | None) -> Any:
    """The output schema of a tool as the subject last saw it listed, None where it saw none."""
    found = None
    for exchange in arm.wire.exchanges:
        if exchange.server != server or exchange.method != "tools/list" or exchange.answer is None:
            continue
        result = result_of(exchange.answer.original)
        for listed in (result.get("tools") if isinstance(result, dict) else None) or ():
            if isinstance(listed, dict) and listed.get("name") == tool:
                found = listed.get("outputSchema")
    return found if isinstance(found, dict) else None


def _excess(arm: Arm) -> Iterator[Reason]:
    """Any message delivered changed, apart from the declared change and the declared policy."""
    declared = {exchange.ref for exchange in arm.reached}
    for exchange in arm.wire.exchanges:
        for answer in exchange.answers:
            change = answer.intervened
            if change is not None and change.applied and exchange.ref not in declared:
                yield reason(
                    "INTERVENTION_EXCESS",
                    "a message at another place was changed",
                    arm=arm.condition,
                    evidence=[change.ref],
                )
            yield from _policy_excess(arm, answer)
    if arm.wire.unexpected_changes:
        yield reason(
            "INTERVENTION_EXCESS",
            "a message was delivered changed without a record of it",
            arm=arm.condition,
            evidence=arm.wire.unexpected_changes,
        )


def _policy_excess(arm: Arm, answer: Delivery) -> Iterator[Reason]:
    """A label is made again like the change; a policy that the arm does not have is an undeclared change."""
    hardened = arm.case.hardened if arm.condition == "hardened" else None
    for act in answer.policies:
        if hardened is None or act.name != hardened.id:
            yield reason(
                "INTERVENTION_EXCESS",
                f"a policy {act.name!r} acted that this arm does not have",
                arm=arm.condition,
                evidence=[act.ref],
            )
        elif act.did == "labelled":
            change = answer.intervened
            before = change.modified if change is not None and change.applied else answer.original
            again = labelled(hardened, before) if before is not None else None
            if again is None or again != act.modified:
                yield reason(
                    "INTERVENTION_EXCESS",
                    "the label on record is not the declared one",
                    arm=arm.condition,
                    evidence=[act.ref],
                )


def baseline_reasons(arm: Arm) -> Iterator[Reason]:
    """Yield every sign at the wire that the baseline is not one: a changed message, the text of the lure."""
    changed = [*arm.wire.unexpected_changes]
    for exchange in arm.wire.exchanges:
        changed += [a.ref for a in exchange.answers if a.changed or a.intervened is not None or a.policies]
    if changed:
        yield reason("BASELINE_CONTAMINATED", "a message was delivered changed", arm="baseline", evidence=changed)
    lures = lure_texts(arm.case)
    met = [e.ref for e in arm.wire.exchanges if any(_holds(e, text) for text in lures)]
    if met:
        yield reason("BASELINE_CONTAMINATED", "the text of the lure crossed", arm="baseline", evidence=met)
    if not any(e.answer is not None for e in arm.reached):
        yield reason("BASELINE_INCOMPLETE", arm="baseline")


def _holds(exchange: Exchange, text: str) -> bool:
    return any(_mentions(answer.message.result, text) for answer in exchange.answers) or _mentions(
        exchange.arguments, text
    )


def _mentions(value: Any, text: str) -> bool:
    if isinstance(value, str):
        return text in value
    if isinstance(value, dict):
        return any(_mentions(item, text) for item in value.values())
    return isinstance(value, list) and any(_mentions(item, text) for item in value)


def original_drift(baseline: Arm, treated: Arm) -> Iterator[Reason]:
    """Yield PIN_DRIFT where the server's own answer at the intervention differs between the arms.

    Run tokens are masked and the case's `volatile` members (JSON pointers into the result) are left out.
    """
    for mine, yours in zip(baseline.reached, treated.reached, strict=False):
        if mine.answer is None or yours.answer is None:
            continue
        if _comparable(baseline, mine.answer) != _comparable(treated, yours.answer):
            yield reason(
                "PIN_DRIFT",
                "the server's own answer at the intervention differs between the arms",
                about="original",
                evidence=[mine.answer.ref, yours.answer.ref],
            )


def _comparable(arm: Arm, answer: Delivery) -> Any:
    raw = answer.original or b""
    masked = mask(raw.decode("utf-8", "backslashreplace"), dict(arm.evidence.masks))
    intervention = arm.case.intervention
    try:
        value = loads(masked.encode("utf-8", "surrogatepass"))
    except ProtocolError:
        return masked  # no JSON after masking, or a repeated key: compare the text itself
    members: Any = {key: item for key, item in value.items() if key != "id"} if isinstance(value, dict) else value
    for pointer in intervention.volatile if intervention else ():
        members = _without(members, [p for p in pointer.split("/") if p])
    return members


def _without(value: Any, path: list[str]) -> Any:
    if not path:
        return None
    if isinstance(value, dict) and path[0] in value:
        if len(path) == 1:
            return {key: item for key, item in value.items() if key != path[0]}
        return {**value, path[0]: _without(value[path[0]], path[1:])}
    if isinstance(value, list) and path[0].isdigit() and int(path[0]) < len(value):
        at = int(path[0])
        return [*value[:at], _without(value[at], path[1:]), *value[at + 1 :]]
    return value
