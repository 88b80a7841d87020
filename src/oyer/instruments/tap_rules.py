"""What a tap is told to change: at most one intervention and one policy, declared before the run.

Owns the choice of the message a declared change is about. The change itself is a pure transform in
`protocol`. Must never choose by time, content of answers or anything but the requests seen, in order.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

from oyer.errors import UsageError
from oyer.protocol import (
    REFUSAL_TEXT,
    Applied,
    BlockRule,
    Edit,
    NotApplied,
    OccurrenceCounter,
    Request,
    Selector,
    approval,
    label,
    strip_fields,
)

__all__ = [
    "DeclaredApproval",
    "DeclaredBlock",
    "DeclaredEdit",
    "DeclaredLabel",
    "DeclaredStrip",
    "RequestPlan",
    "RuleBook",
    "TapRules",
]

_NOT_BY_SPLICE = ("delay_ms", "drop")


class DeclaredEdit(NamedTuple):
    """The intervention of a manipulated condition."""

    id: str
    selector: Selector
    edit: Edit


class DeclaredLabel(NamedTuple):
    """A policy that labels what the selected requests return."""

    id: str
    selector: Selector
    text: str

    did: Literal["labelled"] = "labelled"

    def apply(self, answer: bytes) -> Applied | NotApplied:
        """Return the answer with its label."""
        return label(self.text, answer)


class DeclaredStrip(NamedTuple):
    """A policy that removes fields from what the selected requests return."""

    id: str
    selector: Selector
    fields: tuple[str, ...]

    did: Literal["stripped"] = "stripped"

    def apply(self, answer: bytes) -> Applied | NotApplied:
        """Return the answer without the fields."""
        return strip_fields(self.fields, answer)


class DeclaredBlock(NamedTuple):
    """A policy that refuses calls; they never reach the server."""

    id: str
    server: str
    rule: BlockRule
    text: str = REFUSAL_TEXT


class DeclaredApproval(NamedTuple):
    """A policy that asks a declared approver about calls of one tool before they go on; `approver` as in the Case."""

    id: str
    server: str
    tool: str
    approver: object
    text: str = REFUSAL_TEXT


class TapRules(NamedTuple):
    """Everything a tap may change; nothing, in a baseline."""

    edit: DeclaredEdit | None = None
    treatment: DeclaredLabel | DeclaredStrip | None = None
    block: DeclaredBlock | None = None
    approval: DeclaredApproval | None = None

    @property
    def refusing(self) -> DeclaredBlock | DeclaredApproval | None:
        """The policy that may refuse a call, None where none may."""
        return self.block or self.approval


class RequestPlan(NamedTuple):
    """What is declared about one request: the occurrence whose answer is to be edited, a refusal.

    `treat` says that the policy treats its answers.
    """

    edit_occurrence: int | None
    treat: bool
    refuse: bool
    asked: Literal["granted", "refused"] | None = None

    @property
    def changes_answer(self) -> bool:
        """True when the answer will not be forwarded as it came."""
        return self.treat or self.edit_occurrence is not None


_NOTHING = RequestPlan(None, False, False)


class RuleBook:
    """Applies the rules of one server over all its connections in one attempt."""

    __slots__ = ("_edits", "_server", "_treated", "rules")

    def __init__(self, server: str, rules: TapRules) -> None:
        if rules.edit is not None and rules.edit.edit.kind in _NOT_BY_SPLICE:
            kind = rules.edit.edit.kind
            raise UsageError("E-TAP-EDIT", f"this tap cannot apply {kind!r}", where=rules.edit.id)
        self._server = server
        self.rules = rules
        self._edits = OccurrenceCounter(rules.edit.selector) if rules.edit else None
        self._treated = OccurrenceCounter(rules.treatment.selector) if rules.treatment else None

    def plan(self, request: Request, session: str | None) -> RequestPlan:
        """Take the next request and say what is declared about it."""
        if self._edits is None and self._treated is None and self.rules.refusing is None:
            return _NOTHING
        edited = self._edits.take(request, self._server, session or "") if self._edits else None
        treated = self._treated.take(request, self._server, session or "") if self._treated else None
        block, asked = self.rules.block, self._ask(request)
        return RequestPlan(
            edit_occurrence=edited.number if edited is not None and edited.declared else None,
            treat=treated is not None and treated.declared,
            refuse=asked == "refused"
            or (block is not None and block.server == self._server and block.rule.denies(request)),
            asked=asked,
        )

    def _ask(self, request: Request) -> Literal["granted", "refused"] | None:
        asking = self.rules.approval
        if asking is None or (asking.server, asking.tool) != (self._server, request.tool):
            return None
        return approval(asking.approver, request.arguments)
