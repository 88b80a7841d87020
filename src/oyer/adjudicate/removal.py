"""What the policy of the hardened arm took out of an answer, and whether that was all that the link brought.

The policy is never believed: it is applied again to the bytes that it had, and the delivered bytes must be the result.
Content is removed only where nothing of it crossed; a part that was left is exposure. Source: the scoring design,
"The hardened arm", `removed_by_policy`.
"""

from __future__ import annotations

from oyer.adjudicate.arm import Arm
from oyer.adjudicate.persistence import Persisted, carries
from oyer.evidence import digest_of
from oyer.observe import (
    Act,
    Delivery,
    answer_value,
    any_holds,
    json_or_none,
    left_by_policy,
    lure_texts,
    result_of,
    strings_in,
)
from oyer.protocol import same_json
from oyer.records import ConsumedLink, Hardened

__all__ = ["is_declared_act", "lost_its_mark", "removed_change", "removed_content", "removing_act"]


def is_declared_act(policy: Hardened, answer: Delivery, act: Act) -> bool:
    """Whether what is on record as done to an answer is exactly what the policy declares, with all three digests."""
    before = answer.before_policy
    return (
        not answer.in_batch
        and act.original == digest_of(answer.original)
        and act.modified_digest in (None, digest_of(before))
        and act.modified is not None
        and act.modified == left_by_policy(policy, before)
    )


def removing_act(arm: Arm, answer: Delivery) -> Act | None:
    """Return the act by which the declared strip took something out of an answer that was then delivered so."""
    policy = arm.case.hardened if arm.condition == "hardened" else None
    if policy is None or policy.strip is None or answer.delivered is None:
        return None
    acts = [act for act in answer.policies if act.did == "stripped" and act.name == policy.id]
    return acts[0] if len(acts) == 1 and is_declared_act(policy, answer, acts[0]) else None


def removed_change(arm: Arm, answer: Delivery) -> Act | None:
    """Return the act that took the whole declared change out of an answer: the honest one would have come out the same.

    None where anything of it was left.
    """
    act, policy, change = removing_act(arm, answer), arm.case.hardened, answer.intervened
    if act is None or policy is None:
        return None
    if change is not None and change.original != digest_of(answer.original):
        return None  # what the honest answer was is not on record
    honest = left_by_policy(policy, answer.own)
    left = result_of(honest if isinstance(honest, bytes) else answer.own)
    return act if same_json(result_of(act.modified), left) else None


def lost_its_mark(arm: Arm, answer: Delivery) -> bool:
    """Whether the policy took out every text that the change is recognised by."""
    act, lures = removing_act(arm, answer), lure_texts(arm.case)
    if act is None or not lures:
        return False
    told = tuple(strings_in(json_or_none(act.modified)))
    return not any(any_holds(told, lure) for lure in lures)


def removed_content(arm: Arm, answer: Delivery, link: ConsumedLink, source: Persisted) -> Act | None:
    """Return the act that took the persisted lure out of a later read, None where the read still carried it."""
    act = removing_act(arm, answer)
    if act is None or same_json(source.value, answer_value(act.modified, link.value)):
        return None
    told = strings_in(json_or_none(act.modified))
    return None if any(carries(source.link.carries, text) for text in told) else act
