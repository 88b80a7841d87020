"""A declared change of tool results inside requests to a model, the same in every request that repeats them.

Owns which results are meant, and their counting: a result is the same one when session, tool, call id and text are,
the n-th such of its request. Pure, so that the scorer does it again from the originals. Must never half-apply a change,
nor pass over a result of which nobody can tell what it answers.
"""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256
from typing import Final, NamedTuple

from oyer.errors import ProtocolError
from oyer.protocol.edits import Applied, Edit, NotApplied, splices_of, why_code
from oyer.protocol.jsonvalue import loads_tolerant, same_json, subset_of
from oyer.protocol.model_results import ToolResult, names_tool, tool_results
from oyer.protocol.selector import Selector
from oyer.protocol.splices import Splice, splice

__all__ = ["REQUEST_EDITS", "ResultCounter", "ShownResult", "change_results", "names_tool"]

REQUEST_EDITS: Final = ("append_text", "replace_json", "replace_text")
"""Kinds of changes that mean the same in every API; none has a form of its own for a failed call."""


class ShownResult(NamedTuple):
    """A result that a selector counts: its number (from 1), its place in its request, and whether it is meant."""

    result: ToolResult
    number: int
    part: int
    declared: bool


class ResultCounter:
    """Counts the results that match a selector, over all requests of one trial."""

    def __init__(self, selector: Selector) -> None:
        self._selector = selector
        self._numbers: dict[tuple[str, int], int] = {}

    def take(self, api: str, raw: bytes, session: str | None) -> tuple[ShownResult, ...] | NotApplied:
        """Take the next request; return the results in it that are counted, or why that cannot be told.

        `unknown_call`: it holds a result whose call it does not hold.
        """
        if self._selector.session not in (None, session):
            return ()
        try:
            return self._take(api, raw, session)
        except ProtocolError as error:
            return NotApplied(why_code(error), str(error))

    def _take(self, api: str, raw: bytes, session: str | None) -> tuple[ShownResult, ...]:
        found: list[ShownResult] = []
        seen: dict[str, int] = {}
        unknown = False
        for part, result in enumerate(tool_results(api, raw)):
            matches = self._matches(result)
            unknown = unknown or matches is None
            if not matches:
                continue
            own = _identity(result, session)
            seen[own] = seen.get(own, 0) + 1
            number = self._numbers.setdefault((own, seen[own]), len(self._numbers) + 1)
            found.append(ShownResult(result, number, part, self._selector.occurrence in ("every", number)))
        if unknown:
            told = "the call that a tool result answers does not stand in the request, or cannot be read"
            raise ProtocolError("E-EDIT-UNKNOWN-CALL", told, side="subject")
        return tuple(found)

    def _matches(self, result: ToolResult) -> bool | None:
        """Whether a result is counted; None where the request does not tell."""
        selector = self._selector
        if result.tool is None:
            return None
        if selector.tool is None or not names_tool(result.tool, selector.tool):
            return False
        if selector.arguments is None:
            return True
        return None if result.arguments is None else subset_of(selector.arguments, result.arguments)


def _identity(result: ToolResult, session: str | None) -> str:
    told = repr((session, result.tool, result.id)).encode("utf-8", "backslashreplace")
    return sha256(sha256(told).digest() + result.said).hexdigest()


def change_results(edit: Edit, raw: bytes, shown: Sequence[ShownResult]) -> Applied | NotApplied | None:
    """Change the results of a request that are meant; None where none is."""
    meant = [one.result for one in shown if one.declared]
    if not meant:
        return None
    if edit.kind not in REQUEST_EDITS:
        return NotApplied("bad_edit", f"{edit.kind!r} is no change of a result in a request")
    try:
        return _apply(raw, [one for result in meant for one in _splices(edit, result)])
    except ProtocolError as error:
        return NotApplied(why_code(error), str(error))


def _apply(raw: bytes, splices: Sequence[Splice]) -> Applied | NotApplied:
    """Apply splices in any order. Whether anything is changed is asked of each piece: a request may be long."""
    ordered = tuple(sorted(one for one in splices if not _same(raw[one.start : one.end], one.replacement)))
    if not ordered:
        return NotApplied("noop", "the edit changes nothing")
    return Applied(splice(raw, ordered), ordered)


def _same(one: bytes, other: bytes) -> bool:
    """Whether two pieces say the same, be they parts of a string or whole values; a bare number is read as a text."""
    forms = [(b'"' + one + b'"', b'"' + other + b'"')]
    if one[:1] in (b'"', b"{", b"["):
        forms.append((one, other))
    for before, after in forms:
        try:
            if same_json(loads_tolerant(before)[0], loads_tolerant(after)[0]):
                return True
        except ProtocolError:
            continue
    return one == other


def _splices(edit: Edit, result: ToolResult) -> list[Splice]:
    """Edit the first reading of a result in which the change finds what it is about."""
    refused: ProtocolError | None = None
    for view in result.views():
        try:
            return splices_of(edit, view)
        except ProtocolError as error:
            refused = refused or error
    raise refused or ProtocolError("E-EDIT-NO-TEXT", "the result has no text", side="endpoint")
