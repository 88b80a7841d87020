"""Calls of a Chat Completions stream, from the fragments that its chunks carry.

Must never raise on what an endpoint sends: what is no fragment is passed over.
Source: OpenAI Chat Completions API reference, "The chat completion chunk object"; what endpoints make of it.
"""

from __future__ import annotations

from oyer.protocol.jsonvalue import JsonValue
from oyer.protocol.model_api import Json

__all__ = ["CallPieces"]


class CallPieces:
    """The calls of one choice, put together from fragments.

    Fragments of one index are of one call; only a *new* id under a known index begins another, and what follows there
    without an id goes on with that one.
    """

    def __init__(self) -> None:
        self._calls: list[Json] = []
        self._latest: dict[str, Json] = {}
        self._by_id: dict[tuple[str, str], Json] = {}

    def add(self, fragments: JsonValue) -> None:
        """Take the `tool_calls` of one chunk."""
        for fragment in fragments if isinstance(fragments, list) else []:
            if isinstance(fragment, dict):
                self._join(fragment)

    def whole(self) -> list[JsonValue]:
        """Return the calls as an answer that was not streamed holds them, in the order in which they began."""
        return list(self._calls)

    def _join(self, fragment: Json) -> None:
        index, new_id, function = str(fragment.get("index", 0)), fragment.get("id"), fragment.get("function")
        call = self._latest.get(index)
        if new_id:
            begun = call if call is not None and not call["id"] else None
            call = self._by_id.get((index, str(new_id)), begun)
        if call is None:
            call = {"id": new_id, "function": {"name": "", "arguments": ""}}
            self._calls.append(call)
        call["id"] = call["id"] or new_id
        self._latest[index] = call
        self._by_id.setdefault((index, str(call["id"])), call)
        target = call["function"]
        if isinstance(function, dict) and isinstance(target, dict):
            name, piece = function.get("name"), function.get("arguments")
            target["name"] = target["name"] or name or ""
            target["arguments"] = f"{target['arguments']}{piece if isinstance(piece, str) else ''}"
