"""Policies of the hardened condition, as pure transforms: label, strip, block, reapproval, pin_tools.

Owns the bytes a policy delivers and the decisions it takes from declared data. A policy works on what an intervention
left (original -> modified -> delivered). `block` and a refused approval are the only answers that come from Oyer and
not from a server: declared, on record, and written so that they say nothing about an experiment.

Must never invent an approval, or change a message it was not declared on.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple

from oyer.errors import ProtocolError
from oyer.protocol.correlation import Request
from oyer.protocol.edits import Applied, NotApplied, apply_splices, remove_members, why_code
from oyer.protocol.frames import Message
from oyer.protocol.jsonvalue import dumps, escape_text, loads_tolerant, same_json, subset_of
from oyer.protocol.places import open_answer
from oyer.protocol.spans import scan
from oyer.protocol.splices import Splice

__all__ = ["REFUSAL_TEXT", "BlockRule", "approval", "changed_tools", "label", "refuse", "strip_fields"]

REFUSAL_TEXT = "This call is not permitted here."
"""What a refused call is answered with, unless the policy declares another text."""


def label(text: str, answer: bytes) -> Applied | NotApplied:
    """Put a label line before each text block, and before each string of `structuredContent` that repeats a block."""
    try:
        view = open_answer(answer)
        blocks = {place.text for place in view.texts}
        places = [*view.texts, *(place for place in view.structured_strings() if place.text in blocks)]
        if not places:
            return NotApplied("no_text", "the answer has no text block")
        prefix = escape_text(text + "\n")
        return apply_splices(answer, [Splice(place.offsets[0], place.offsets[0], prefix) for place in places])
    except ProtocolError as error:
        return NotApplied(why_code(error), str(error))


def strip_fields(pointers: Sequence[str], answer: bytes) -> Applied | NotApplied:
    """Remove the declared members from `structuredContent` and from the text blocks that are JSON.

    A pointer to nothing removes nothing; if none points to anything the answer is left as it is (`noop`).
    """
    try:
        return apply_splices(answer, remove_members(open_answer(answer), pointers))
    except ProtocolError as error:
        return NotApplied(why_code(error), str(error))


class BlockRule(NamedTuple):
    """A deny rule: the tool, and optionally a subset of the arguments."""

    tool: str
    arguments: Mapping[str, object] | None = None

    def denies(self, request: Request) -> bool:
        """Say whether this call is denied."""
        return request.tool == self.tool and (self.arguments is None or subset_of(self.arguments, request.arguments))


def refuse(call: Message, text: str = REFUSAL_TEXT) -> bytes:
    """Return the answer to a refused call: a tool error under the call's id in the form it was written.

    Raises: ProtocolError (`E-POLICY-NOT-A-CALL`) if the message cannot be answered.
    """
    node = scan(call.raw)
    identifier = node.member("id") if node.kind == "object" else None
    if call.kind != "request" or identifier is None:
        raise ProtocolError("E-POLICY-NOT-A-CALL", "only a call can be refused", side="subject")
    result: dict[str, object] = {"content": [{"type": "text", "text": text}], "isError": True}
    params = call.params
    meta = params.get("_meta") if isinstance(params, dict) else None
    if isinstance(meta, dict) and "io.modelcontextprotocol/protocolVersion" in meta:
        result["resultType"] = "complete"  # required from 2026-07-28 on, where every request carries its version
    raw_id = call.raw[identifier.start : identifier.end]
    return b'{"jsonrpc":"2.0","id":' + raw_id + b',"result":' + dumps(result) + b"}\n"


def approval(approver: object, arguments: object) -> Literal["granted", "refused"]:
    """Ask a declared approver about a call: `always`, `never`, or `{arguments, answer}` rules (first that fits).

    A rule without arguments fits every call; a call that no rule fits is refused.

    Raises: ProtocolError (`E-POLICY-APPROVER`).
    """
    if approver == "always":
        return "granted"
    if approver == "never":
        return "refused"
    if not isinstance(approver, Sequence) or isinstance(approver, str | bytes):
        raise ProtocolError("E-POLICY-APPROVER", "an approver is always, never, or a list of rules", side="endpoint")
    for rule in approver:
        answer = rule.get("answer") if isinstance(rule, Mapping) else None
        if answer not in ("granted", "refused"):
            raise ProtocolError("E-POLICY-APPROVER", "a rule's answer is granted or refused", side="endpoint")
        if subset_of(rule.get("arguments") or {}, arguments):
            return "granted" if answer == "granted" else "refused"
    return "refused"


def changed_tools(pinned: bytes, listed: bytes) -> tuple[str, ...]:
    """Return the tools that a listing answer adds, changes or (`-name`) drops against the pinned listing answer.

    Compare listings of equal pages. Raises: ProtocolError if one of them is no listing.
    """
    before, now = _tools(pinned), _tools(listed)
    changed = [name for name in now if name not in before or not same_json(before[name], now[name])]
    return (*changed, *(f"-{name}" for name in before if name not in now))


def _tools(answer: bytes) -> dict[str, object]:
    value = loads_tolerant(answer)[0]
    result = value.get("result") if isinstance(value, dict) else None
    tools = result.get("tools") if isinstance(result, dict) else None
    if not isinstance(tools, list):
        raise ProtocolError("E-POLICY-NO-LISTING", "this answer is no listing of tools", side="server")
    return {str(tool.get("name")): tool for tool in tools if isinstance(tool, dict)}
