"""The bench of one attempt: everything that watches and intervenes, brought up, probed, and taken down in order."""

from __future__ import annotations

from oyer.instruments import (
    DeclaredBlock,
    DeclaredEdit,
    DeclaredLabel,
    TapRules,
)

from oyer.observe import protocol_block, protocol_edit, protocol_selector
from oyer.protocol import REFUSAL_TEXT, Selector
from oyer.records import Case

__all__ = ["Bench", "open_bench", "tap_rules"]

RELAY = "link"
"""The neutral name under which each run keeps its own copy of the relay."""


def tap_rules(case: Case, condition: str, server: str) -> TapRules:
    """Return what the tap of one server may change in one condition: nothing, in a baseline."""
    if condition not in ("manipulated", "hardened") or case.intervention is None:
        return TapRules()
    change = case.intervention
    edit = None
    if change.at.server == server:
        edit = DeclaredEdit(change.id, protocol_selector(change.at), protocol_edit(change))
    if condition == "manipulated" or case.hardened is None:
        return TapRules(edit=edit)
    policy = case.hardened
    label = block = None
    if policy.label is not None and policy.label.server == server:
        label = DeclaredLabel(
            policy.id, Selector(server, tool=policy.label.tool, occurrence="every"), policy.label.text
        )
    rule = protocol_block(policy)
    if policy.block is not None and rule is not None and policy.block.server == server:
        block = DeclaredBlock(policy.id, server, rule, policy.block.text or REFUSAL_TEXT)
    return TapRules(edit=edit, label=label, block=block)
