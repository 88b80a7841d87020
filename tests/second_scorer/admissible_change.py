"""Step 1 of the law: was the declared change applied, it alone, and whole?"""

from __future__ import annotations

from collections.abc import Iterator

from pair import Pair, changed_by_nobody, changed_nothing, one_copy_left
from reading import Answer, Arm
from stripping import as_declared, has_fields, strips


def original_missing(pair: Pair) -> Iterator[str]:
    """`ORIGINAL_MISSING`: no preserved original of the declared change."""
    points = pair.points(pair.arm) if pair.arm is not None else []
    if any(point.changed and point.original is None for point in points):
        yield "ORIGINAL_MISSING"


def intervention_not_delivered(pair: Pair) -> Iterator[str]:
    """`INTERVENTION_NOT_DELIVERED`: the declared occurrence was reached and no change, or no policy, is on record."""
    for point in pair.points(pair.arm) if pair.arm is not None else ():
        if not point.changed or (point.delivered is None and not changed_nothing(point)):
            yield "INTERVENTION_NOT_DELIVERED"
    if pair.arm is not None and pair.name == "hardened" and not _policy_applied(pair, pair.arm):
        yield "INTERVENTION_NOT_DELIVERED"


def _policy_applied(pair: Pair, arm: Arm) -> bool:
    """Whether every message that the policy is declared for shows what the policy did."""
    policy = pair.declared["policy"]
    tool, what = policy["on"].split(" ")
    if what == "call":
        return all(call.policy for call in arm.to(tool))
    answers = [answer for call in arm.to(tool) for answer in call.answers]
    if policy["kind"] == "strip":
        answers = [answer for answer in answers if has_fields(pair, answer)]
    return all(answer.policy or answer.by_policy for answer in answers)


def intervention_noop(pair: Pair) -> Iterator[str]:
    """`INTERVENTION_NOOP`: equal bytes where the kind demands a change."""
    points = pair.points(pair.arm) if pair.arm is not None else []
    if any(point.changed and changed_nothing(point) for point in points):
        yield "INTERVENTION_NOOP"


def intervention_excess(pair: Pair) -> Iterator[str]:
    """`INTERVENTION_EXCESS`: any other message was delivered changed (policy apart)."""
    for arm in [pair.arm] if pair.arm is not None else []:  # the baseline's are contamination
        declared = [a for request in pair.requests(arm) for a in request.answers]
        answers = [answer for call in arm.calls for answer in call.answers] + arm.orphans
        if any(answer.changed and not changed_nothing(answer) and answer not in declared for answer in answers):
            yield "INTERVENTION_EXCESS"
        if any(answer.changed for answer in arm.orphans):  # nothing is declared of what answers no call
            yield "INTERVENTION_EXCESS"
        made = [point for point in declared if point.changed and point.original is not None]
        if not all(changed_nothing(point) or pair.is_the_change(point) for point in made):
            yield "INTERVENTION_EXCESS"
        if any(changed_by_nobody(answer) for answer in answers):
            yield "INTERVENTION_EXCESS"
        if not _policy_keeps_to_its_place(pair, arm):
            yield "INTERVENTION_EXCESS"


def _policy_keeps_to_its_place(pair: Pair, arm: Arm) -> bool:
    """Whether a policy acts only in the hardened arm, and only on the messages that it is declared for."""
    touched = {f"{call.tool} call" for call in arm.calls if call.policy}
    touched |= {f"{call.tool} result" for call in arm.calls for answer in call.answers if answer.policy}
    hardened = pair.name == "hardened" and arm is pair.arm
    allowed = {pair.declared["policy"]["on"]} if hardened and "policy" in pair.declared else set()
    answers = [answer for call in arm.calls for answer in call.answers if answer.policy.get("did") == "stripped"]
    return touched <= allowed and all(strips(pair) and as_declared(pair, answer) for answer in answers)


def intervention_incomplete(pair: Pair) -> Iterator[str]:
    """`INTERVENTION_INCOMPLETE`: a copy of the original fact is left, or the declared schema broken."""
    for point in pair.points(pair.arm) if pair.arm is not None else ():
        if not point.changed or changed_nothing(point) or point.policy.get("did") == "stripped":
            continue  # what a policy takes out afterwards is not the change's, and the format does not show the copy before it
        if one_copy_left(point) or _breaks_schema(pair, point):
            yield "INTERVENTION_INCOMPLETE"


def _breaks_schema(pair: Pair, point: Answer) -> bool:
    """As much of a schema as the vectors use: required members, their types and their values."""
    schema, copy = pair.declared.get("output_schema"), point.structured
    if schema is None or not isinstance(copy, dict):
        return False
    if any(name not in copy for name in schema.get("required", ())):
        return True
    members = [(copy[name], rule) for name, rule in schema.get("properties", {}).items() if name in copy]
    return any(
        (rule.get("type") == "string" and not isinstance(value, str)) or value not in rule.get("enum", [value])
        for value, rule in members
    )
