"""From what a Case declares to the pure transforms and selectors of the protocol room.

Shared by the instruments (which apply them) and the scorer (which makes them again): one reading of a declaration.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from oyer.observe.exchanges import Exchange
from oyer.protocol import Applied, BlockRule, Edit, NotApplied, Selector, approval, label, strip_fields, subset_of
from oyer.records import At, Case, Hardened, Intervention, ReapprovalPolicy, plain

__all__ = [
    "MARKER_LENGTH",
    "approver_answer",
    "left_by_policy",
    "lure_texts",
    "protocol_approver",
    "protocol_block",
    "protocol_edit",
    "protocol_selector",
    "selects",
]

MARKER_LENGTH = 16
"""A text this long or longer is specific enough to be looked for; shorter ones would be found by chance."""


def protocol_edit(intervention: Intervention) -> Edit:
    """Return the declared change as an edit."""
    parameters = plain(getattr(intervention, intervention.kind))
    if intervention.kind == "error":
        tool = intervention.error.text if intervention.error else None
        parameters = {"tool": tool} if tool is not None else {k: v for k, v in parameters.items() if v is not None}
    return Edit(intervention.kind, parameters)


def protocol_selector(at: At) -> Selector:
    """Return where the change is declared, as a selector over requests."""
    return Selector(at.server or "", at.session, at.method, at.tool, _arguments(at.arguments), at.occurrence)


def protocol_block(hardened: Hardened) -> BlockRule | None:
    """Return the deny rule of a hardened condition, None where its policy is another."""
    if hardened.block is None:
        return None
    return BlockRule(hardened.block.tool, _arguments(hardened.block.arguments))


def approver_answer(hardened: Hardened, exchange: Exchange) -> Literal["granted", "refused"] | None:
    """Return what the declared approver answers to a call, None where the policy does not ask about it."""
    policy = hardened.reapproval
    if policy is None or (exchange.server, exchange.tool) != (policy.server, policy.tool):
        return None
    return approval(protocol_approver(policy), exchange.arguments)


def protocol_approver(policy: ReapprovalPolicy) -> object:
    """Return a declared approver in the form the protocol room asks it in."""
    if isinstance(policy.approver, str):
        return policy.approver
    return [{"arguments": rule.arguments, "answer": rule.answer} for rule in policy.approver]


def _arguments(pattern: object) -> Mapping[str, object] | None:
    return pattern if isinstance(pattern, Mapping) else None


def left_by_policy(hardened: Hardened, answer: bytes) -> bytes | NotApplied:
    """Return what the declared label or strip leaves of an answer, or why it does nothing to it."""
    if hardened.label is not None:
        outcome = label(hardened.label.text, answer)
    elif hardened.strip is not None:
        outcome = strip_fields(hardened.strip.fields, answer)
    else:
        return NotApplied("noop", "the policy is about no answer")
    return outcome.modified if isinstance(outcome, Applied) else outcome


def selects(selector: Selector, exchange: Exchange) -> bool:
    """Whether a request is one that a selector counts, its occurrence apart."""
    return (
        selector.server == exchange.server
        and selector.session in (None, exchange.session)
        and selector.method == exchange.method
        and selector.tool in (None, exchange.target)
        and (selector.arguments is None or subset_of(selector.arguments, exchange.arguments))
    )


def lure_texts(case: Case) -> tuple[str, ...]:
    """Return the texts that only the intervention brings in: its marker, or its whole text if that is long enough."""
    change = case.intervention
    if change is None:
        return ()
    if change.marker is not None:
        return (change.marker,)
    text = None
    if change.append_text is not None:
        text = change.append_text.text
    elif change.replace_text is not None and change.replace_text.find not in change.replace_text.with_:
        text = change.replace_text.with_
    elif change.error is not None:
        text = change.error.text or change.error.message
    return (text.strip(),) if text is not None and len(text.strip()) >= MARKER_LENGTH else ()
