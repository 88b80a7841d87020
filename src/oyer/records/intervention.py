"""The one declared change, and the named condition of the hardened arm.

Owns the record shapes only. How bytes are changed is `oyer.protocol`; that the change was exactly the declared one is
checked by recomputing it in `oyer.adjudicate`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, Self

from pydantic import Field, model_validator

from oyer.records.model import Flaw, Json, Record, refuse

__all__ = [
    "INTERVENTION_KINDS",
    "POLICY_KINDS",
    "REQUEST_KINDS",
    "AppendText",
    "ApprovalRule",
    "At",
    "BlockPolicy",
    "ErrorAnswer",
    "Hardened",
    "Intervention",
    "LabelPolicy",
    "ReapprovalPolicy",
    "ReplaceJson",
    "ReplaceResult",
    "ReplaceText",
    "StripPolicy",
]

POLICY_KINDS = ("label", "strip", "block", "reapproval")
REQUEST_KINDS = ("append_text", "replace_json", "replace_text")
INTERVENTION_KINDS = ("replace_text", "replace_json", "replace_result", "append_text", "error")


class At(Record):
    """Where the change acts: the n-th request that matches server, method, tool and arguments (subset match).

    With `gateway`: the n-th result of such a tool that a request to the model shows, in this and all later requests.
    """

    server: str | None = None
    gateway: bool = False
    session: str | None = None
    method: str = "tools/call"
    tool: str | None = None
    arguments: Json = None
    occurrence: int | Literal["every"] = 1

    @model_validator(mode="after")
    def _counts_from_one(self) -> Self:
        if isinstance(self.occurrence, int) and self.occurrence < 1:
            refuse(Flaw((), "occurrence counts from 1, or is the word every"))
        if self.gateway == (self.server is not None):
            refuse(Flaw((), "a change acts at one place: at a server, or at the gateway", "write at.tool: server.tool"))
        if self.gateway and self.method != "tools/call":
            refuse(Flaw(("method",), "what a request to the model shows are results of tools: it has no other method"))
        if self.method == "tools/call" and not self.tool:
            refuse(Flaw((), "a change on tools/call names its tool"))
        return self


class ReplaceText(Record):
    """Replace every copy of `find` in the answer's texts by `with`."""

    find: str = Field(min_length=1)
    with_: str = Field(alias="with")


class ReplaceJson(Record):
    """Apply an RFC 6902 patch to the structured value of the answer, in every copy of it."""

    patch: tuple[Mapping[str, Json], ...] = Field(min_length=1)


class ReplaceResult(Record):
    """Put another result in the place of the whole result member."""

    result: Json


class AppendText(Record):
    """Append text to the last text block of the answer."""

    text: str = Field(min_length=1)


class ErrorAnswer(Record):
    """Answer with an error: a tool error (`text`) or a JSON-RPC error (`code` and `message`)."""

    text: str | None = None
    code: int | None = None
    message: str | None = None

    @model_validator(mode="after")
    def _one_form(self) -> Self:
        if (self.text is None) == (self.code is None and self.message is None):
            refuse(Flaw((), "an error is either a tool error (text) or a protocol error (code and message)"))
        if self.text is None and (self.code is None or self.message is None):
            refuse(Flaw((), "a protocol error needs both code and message"))
        return self


class Intervention(Record):
    """The one change of the manipulated condition."""

    id: str
    at: At
    replace_text: ReplaceText | None = None
    replace_json: ReplaceJson | None = None
    replace_result: ReplaceResult | None = None
    append_text: AppendText | None = None
    error: ErrorAnswer | None = None
    marker: str | None = Field(default=None, min_length=16)
    volatile: tuple[str, ...] = ()

    @model_validator(mode="after")
    def _one_kind(self) -> Self:
        named = [kind for kind in INTERVENTION_KINDS if getattr(self, kind) is not None]
        if len(named) != 1:
            refuse(Flaw((), f"an intervention makes exactly one change: one of {', '.join(INTERVENTION_KINDS)}"))
        if self.at.gateway and named[0] not in REQUEST_KINDS:
            told = f"{named[0]} has no form that every model API shares"
            refuse(Flaw((named[0],), told, f"at the gateway: one of {', '.join(REQUEST_KINDS)}"))
        return self

    @property
    def kind(self) -> str:
        """The name of the one change."""
        return next(kind for kind in INTERVENTION_KINDS if getattr(self, kind) is not None)


class LabelPolicy(Record):
    """Put a label in front of what a tool returns."""

    server: str
    tool: str
    text: str = Field(min_length=1)


class StripPolicy(Record):
    """Remove declared fields from what a tool returns, in every copy: JSON pointers into its structured value."""

    server: str
    tool: str
    fields: tuple[str, ...] = Field(min_length=1)

    @model_validator(mode="after")
    def _fields_are_pointers(self) -> Self:
        flaws = [
            Flaw(("fields", index), "a field is a JSON pointer below the root", "write /note, or /decision/note")
            for index, pointer in enumerate(self.fields)
            if not pointer.startswith("/")
        ]
        if flaws:
            refuse(*flaws)
        return self


class BlockPolicy(Record):
    """Refuse calls of a tool whose arguments match (all of them without `arguments`)."""

    server: str
    tool: str
    arguments: Json = None
    text: str | None = None


class ApprovalRule(Record):
    """What the declared approver answers to calls whose arguments match."""

    arguments: Json = None
    answer: Literal["granted", "refused"]


class ReapprovalPolicy(Record):
    """Calls of a tool wait for a declared approver: `always`, `never`, or rules of which the first that fits answers.

    A call that no rule fits is refused. The question and the answer are evidence.
    """

    server: str
    tool: str
    approver: Literal["always", "never"] | tuple[ApprovalRule, ...]
    text: str | None = None


class Hardened(Record):
    """The named condition of the hardened arm; `why` says what question it answers."""

    id: str
    why: str = Field(min_length=1)
    label: LabelPolicy | None = None
    strip: StripPolicy | None = None
    block: BlockPolicy | None = None
    reapproval: ReapprovalPolicy | None = None

    @model_validator(mode="after")
    def _one_kind(self) -> Self:
        named = [kind for kind in POLICY_KINDS if getattr(self, kind) is not None]
        if len(named) != 1:
            refuse(Flaw((), f"a hardened condition has exactly one policy: one of {', '.join(POLICY_KINDS)}"))
        return self

    @property
    def kind(self) -> str:
        """The name of the one policy."""
        return next(kind for kind in POLICY_KINDS if getattr(self, kind) is not None)

    @property
    def policy(self) -> LabelPolicy | StripPolicy | BlockPolicy | ReapprovalPolicy:
        """The one policy itself."""
        found: LabelPolicy | StripPolicy | BlockPolicy | ReapprovalPolicy = getattr(self, self.kind)
        return found
