"""Step 1, the policy of the hardened arm: it acted on everything it is declared on, as declared, and on nothing else.

A label is put on again and fields are removed again, and compared; a deny rule is asked again about every call. An arm
without a declared policy has none. Source: the scoring design, "The hardened arm", `INTERVENTION_EXCESS`,
`INTERVENTION_NOT_DELIVERED`.
"""

from __future__ import annotations

from collections.abc import Iterator

from oyer.adjudicate.arm import Arm
from oyer.adjudicate.reasons import reason
from oyer.adjudicate.removal import is_declared_act
from oyer.observe import Act, Delivery, Exchange, approver_answer, left_by_policy, protocol_block
from oyer.protocol import subset_of
from oyer.records import Hardened, Reason

__all__ = ["policy_reasons"]


MAY_DO = {
    "label": ("labelled",),
    "strip": ("stripped",),
    "block": ("refused",),
    "reapproval": ("asked", "granted", "refused"),
}
"""What each kind of policy may be on record as having done."""


def policy_reasons(arm: Arm) -> Iterator[Reason]:
    """Yield every act of a policy that is not the declared one, and every place where the declared one did not act."""
    policy = arm.case.hardened if arm.condition == "hardened" else None
    may = MAY_DO[policy.kind] if policy is not None else ()
    for act in _acts(arm):
        if policy is None or act.name != policy.id:
            why = f"a policy {act.name!r} acted that this arm does not have"
            yield reason("INTERVENTION_EXCESS", why, arm=arm.condition, evidence=[act.ref])
        elif act.did not in may:
            why = f"the policy {act.did} something, which it is not declared to do"
            yield reason("INTERVENTION_EXCESS", why, arm=arm.condition, evidence=[act.ref])
    for exchange in arm.wire.exchanges:
        if exchange.half_refused:
            why = f"{exchange.server} {exchange.target}: the policy refused it, and it reached the server all the same"
            yield reason("CONTRADICTORY", why, arm=arm.condition, evidence=exchange.refs)
        if policy is not None:
            yield from _RULES[policy.kind](arm, policy, exchange)


def _acts(arm: Arm) -> Iterator[Act]:
    for exchange in arm.wire.exchanges:
        yield from exchange.policies
        for answer in exchange.answers:
            yield from answer.policies


def _treated(arm: Arm, policy: Hardened, exchange: Exchange) -> Iterator[Reason]:
    """A label or a strip: it is made again from what it had before it, and the bytes must be the same."""
    treats = policy.label or policy.strip
    declared = treats is not None and (exchange.server, exchange.tool) == (treats.server, treats.tool)
    (did,) = MAY_DO[policy.kind]
    for answer in exchange.answers:
        acts = [act for act in answer.policies if act.did == did and act.name == policy.id]
        if acts and not (declared and len(acts) == 1 and is_declared_act(policy, answer, acts[0])):
            why = f"what was {did} on record is not what the policy declares"
            yield reason("INTERVENTION_EXCESS", why, arm=arm.condition, evidence=[act.ref for act in acts])
        elif declared and not acts and answer.delivered_digest is not None and _had_to(policy, answer):
            yield _idle(arm, policy, f"an answer was delivered and not {did}", (answer.ref,))


def _had_to(policy: Hardened, answer: Delivery) -> bool:
    """Whether the policy had something to do: what stands in a batch it could not treat, and had to.

    An error, or an answer without text, has no place for a label, and one without the fields has nothing to strip.
    """
    left = left_by_policy(policy, answer.before_policy)
    if answer.in_batch or isinstance(left, bytes):
        return True
    return policy.strip is not None and left.why_code not in {"noop", "no_result"}


def _block(arm: Arm, policy: Hardened, exchange: Exchange) -> Iterator[Reason]:
    rule = protocol_block(policy)
    if rule is None or policy.block is None:
        return
    denied = (
        exchange.server == policy.block.server
        and exchange.tool == rule.tool
        and (rule.arguments is None or subset_of(rule.arguments, exchange.arguments))
    )
    refused = [act for act in exchange.policies if act.did == "refused" and act.name == policy.id]
    if refused and not denied:
        why = f"the policy refused {exchange.server} {exchange.target}, which it does not deny"
        yield reason("INTERVENTION_EXCESS", why, arm=arm.condition, evidence=[act.ref for act in refused])
    elif denied and exchange.refusal is None and not exchange.half_refused:
        yield _idle(arm, policy, "a call that it denies was not refused", exchange.transmissions)


def _asked(arm: Arm, policy: Hardened, exchange: Exchange) -> Iterator[Reason]:
    """Every declared call was asked about, once or each time it was sent, and answered as declared before it went."""
    acts = [act for act in exchange.policies if act.name == policy.id]
    refs = [act.ref for act in acts]
    answer = approver_answer(policy, exchange)
    if answer is None:
        if acts:
            why = f"the policy asked about {exchange.server} {exchange.target}, which it is not declared on"
            yield reason("INTERVENTION_EXCESS", why, arm=arm.condition, evidence=refs)
        return
    told = [act.did for act in acts]
    if told not in (["asked", answer], ["asked", answer] * len(exchange.transmissions)):
        if not any(act.did == "asked" for act in acts):
            yield _idle(arm, policy, "a call that needs approval was not asked about", exchange.transmissions)
        else:
            why = f"the approver's answer on record is not the declared one ({answer})"
            yield reason("INTERVENTION_EXCESS", why, arm=arm.condition, evidence=refs)
    elif exchange.t_forwarded_ns is not None and exchange.t_forwarded_ns < acts[1].t_ns:
        why = f"{exchange.server} {exchange.target}: it went to the server before it was approved"
        yield reason("CONTRADICTORY", why, arm=arm.condition, evidence=exchange.refs)


def _idle(arm: Arm, policy: Hardened, why: str, refs: tuple[str, ...]) -> Reason:
    return reason(
        "INTERVENTION_NOT_DELIVERED", f"the policy {policy.id} did not act: {why}", arm=arm.condition, evidence=refs
    )


_RULES = {"label": _treated, "strip": _treated, "block": _block, "reapproval": _asked}
