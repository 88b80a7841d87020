"""Which frames a declared change or a watcher could be about, told from their bytes alone.

Owns the quick look that lets every other frame go on before it is understood. It may err on one side only: a frame
that concerns somebody is always found, one that concerns nobody may be taken for one that does. It goes by what any
arm of the Case declares, never by the arm at hand: how long a frame takes must not tell arms apart.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable

from oyer.instruments.tap_rules import TapRules
from oyer.protocol import Selector

__all__ = ["Interest"]

_DECODER = json.JSONDecoder()
_CALL = b"tools/call"
_ID = re.compile(rb'"id" ?: ?(\d{1,15})[,}]')
"""How an answer mostly names its request; what it finds need not be that."""


class Interest:
    """The quick look at the frames of one connection."""

    __slots__ = ("_any_id", "_ids", "_marks")

    def __init__(self, declared: Iterable[TapRules], *, calls: bool) -> None:
        """Concern what these rules are about, and every tool call when `calls` is set."""
        self._marks = {mark for rules in declared for mark in _marks_of(rules)}
        if calls:
            self._marks.add(_CALL)
        self._ids: set[int | str] = set()
        self._any_id = False

    def in_sent(self, frame: bytes) -> bool:
        """Whether a frame of the subject could hold a request that concerns somebody."""
        if not self._marks:
            return False
        # A name may be written with escapes, and then the frame holds a backslash.
        return b"\\" in frame or any(mark in frame for mark in self._marks)

    def expect(self, identifier: object) -> None:
        """A request with this id was found: what answers it concerns somebody, however often it comes."""
        if type(identifier) in (int, str):
            self._ids.add(identifier)  # type: ignore[arg-type]
        else:
            self._any_id = True

    def in_received(self, frame: bytes) -> bool:
        """Whether a frame of the server could be an answer to a request that was found."""
        if self._any_id:
            return True
        if not self._ids:
            return False
        first = _ID.search(frame)
        if first is not None and int(first[1]) in self._ids:
            return True
        try:
            value = _DECODER.decode(frame.decode("utf-8"))
        except (ValueError, RecursionError):
            return True
        if not isinstance(value, dict):
            return True
        identifier = value.get("id")
        if type(identifier) in (int, str):
            return identifier in self._ids
        return "id" in value or "method" not in value


def _marks_of(rules: TapRules) -> Iterable[bytes]:
    for rule in (rules.edit, rules.treatment):
        if rule is not None:
            yield _mark(rule.selector)
    if rules.block is not None:
        yield _encoded(rules.block.rule.tool)
    if rules.approval is not None:
        yield _encoded(rules.approval.tool)


def _mark(selector: Selector) -> bytes:
    return _encoded(selector.method if selector.tool is None else selector.tool)


def _encoded(name: str) -> bytes:
    """Return how a name stands in a frame without escapes; what can only stand there escaped needs no mark."""
    try:
        return name.encode("utf-8")
    except UnicodeEncodeError:
        return b"\\"
