"""A scripted model: which answer a behaviour gives to a conversation. The behaviours are those of the doubles.

Owns the playing of steps by what a request itself shows (its turns, the calls that were asked for, their results), so
that the same request always gets the same answer: a retry, a second conversation or an auxiliary request moves nothing.
Must never keep anything between two requests. Where nothing is to be said, it says `SILENCE`: an answer without any
text is one that agents take for a failure, and ask for again.

A step's tool is found among those offered by the end of its name: `server__tool`, `mcp__server__tool`, `server_tool`
with a hash behind it, a namespace with the tool in it, or the bare name. A tool that is not listed is looked for with
the search that the agent offers, and called through its `tool_call` where the agent has one; what a search found is
no result of the script. A request that offers no
tool of the case and no search is auxiliary (a title, a summary, a classifier): it is answered with one plain word.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from oyer.protocol.answering import Asked, Heard, Offered, Reply, Shown, Told, texts_of
from oyer.protocol.answering_apis import VOICES
from oyer.protocol.carried import CARRIED_UNDER, CARRIER
from oyer.protocol.model_api import Json, ModelApi

__all__ = ["PLAIN", "SILENCE", "find_tool", "is_auxiliary", "plainly", "play", "scripted_answer"]

PLAIN: Final = "OK."
"""The answer to an auxiliary request."""

SILENCE: Final = "."
"""What is answered where a behaviour says nothing: the least that agents take for an answer, and no claim."""

_LAST_TEXT: Final = "{last.text}"
_SEARCHES: Final = ("ToolSearch", "tool_search")
_HASHED: Final = re.compile(r"[_-][0-9a-f]{8,64}\Z")
_NAME: Final = re.compile(r"[A-Za-z0-9_-]+")

Step = Mapping[str, Any]


def scripted_answer(
    api: ModelApi, request: Json, behaviour: Mapping[str, Any] | None, tools: Iterable[str]
) -> tuple[Json, Sequence[bytes]]:
    """Return the body that answers a request, and the events of the stream that stands for it.

    `tools` are those of the case, as `server.tool`. Without a behaviour every request is auxiliary.
    """
    voice = VOICES[api.name]
    heard = voice.hear(request)
    reply = plainly(heard) if behaviour is None or is_auxiliary(heard, tools) else play(behaviour, heard)
    body = voice.write(reply)
    return body, voice.stream(body)


def find_tool(call: str, offered: Iterable[Offered]) -> Offered | None:
    """Return the offered tool that a step means by `server.tool`; None where none is, or several equally.

    One whose name or namespace also holds the server's goes before one that only ends in the tool's.
    """
    server, _, tool = call.partition(".")
    near = [one for one in offered if _ends_in(one.name, tool)]
    close = [one for one in near if _holds(one, server, tool)]
    found = close or near
    whole = (tool, f"{server}__{tool}", f"mcp__{server}__{tool}")
    exact = [one for one in found if one.name in whole and (one.space is None or one in close)]
    found = exact or found
    return found[0] if len({(one.name, one.space) for one in found}) == 1 else None


def _plain(name: str) -> str:
    return re.sub(r"[^a-z0-9]+", "_", name.lower())


def _ends_in(name: str, tool: str) -> bool:
    return any(
        _plain(form) == _plain(tool) or _plain(form).endswith("_" + _plain(tool))
        for form in (name, _HASHED.sub("", name))
    )


def _holds(one: Offered, server: str, tool: str) -> bool:
    before = f"{one.space or ''}_{_HASHED.sub('', one.name)}"
    return f"_{_plain(server)}_" in f"_{_plain(before)[: -len(_plain(tool))]}_"


def is_auxiliary(heard: Heard, tools: Iterable[str]) -> bool:
    """Whether a request is none of the work on the case: of the case's `tools` it offers none, and no search."""
    wanted = tuple(tools)
    if not wanted or any(one.name in (*_SEARCHES, CARRIER) for one in heard.offered):
        return False
    return not any(_ends_in(one.name, call.partition(".")[2]) for call in wanted for one in heard.offered)


def play(behaviour: Mapping[str, Any], heard: Heard) -> Reply:
    """Return the answer of a behaviour to a conversation."""
    player = _Player(behaviour)
    for item in heard.items:
        player.see(item)
    return player.answer(heard.offered)


def plainly(heard: Heard) -> Reply:
    """Return the answer to an auxiliary request."""
    asked = [item for item in heard.items if isinstance(item, Asked)]
    return Reply(PLAIN, None, {}, len(asked), sum(item.name is not None for item in asked))


class _Player:
    """What was played so far, as a conversation shows it."""

    def __init__(self, behaviour: Mapping[str, Any]) -> None:
        self._parts = [_Part(part) for part in behaviour.get("parts") or [behaviour]]
        self._turn = -1
        self._between = True
        self._steps: list[Step] = []
        self._one_say = False
        self._said: list[str] = []
        self._read: list[str] = []
        self._seen: list[str] = []
        self._found: list[str] = []
        self._searched = False
        self._searching = False
        self._answers = 0
        self._calls = 0

    def see(self, item: Told | Asked | Shown) -> None:
        if isinstance(item, Told):
            if self._between:
                self._begin_turn()
            return
        self._between = True
        if isinstance(item, Shown):
            self._show(item)
            return
        self._answers += 1
        if item.name is None:
            self._next_call()
        else:
            self._calls += 1
            self._searching = item.name in _SEARCHES
            if self._searching:
                self._searched = True
            elif self._next_call() is not None:
                self._steps.pop(0)
                self._searched = False

    def answer(self, offered: Sequence[Offered]) -> Reply:
        step = self._next_call()
        if step is None:
            return Reply("\n".join(self._said) or SILENCE, None, {}, self._answers, self._calls)
        tool, arguments = self._called(step["call"], self._filled(step.get("arguments") or {}), offered)
        return Reply("", tool, arguments, self._answers, self._calls)

    def _begin_turn(self) -> None:
        self._turn, self._between, self._said = self._turn + 1, False, []
        number = self._turn
        for part in self._parts:
            if number < part.length:
                self._steps, self._one_say = part.due(number, self._steps)
                return
            number -= part.length
        self._steps, self._one_say = [], False

    def _show(self, item: Shown) -> None:
        texts = list(texts_of(item.text))
        self._found += item.names
        if self._searching:
            self._found += [name for text in texts for name in _NAME.findall(text)]
            return
        self._read.append(item.text)
        self._seen += texts

    def _next_call(self) -> Step | None:
        """Say what comes before the next call of this turn, and return that call; None where the turn ends first."""
        while self._steps:
            step = self._steps[0]
            if step.get("if_seen") is not None and not any(step["if_seen"] in text for text in self._seen):
                self._steps.pop(0)
                continue
            if "call" in step:
                return step
            self._steps.pop(0)
            self._said.append("\n\n".join(self._read) if "quote" in step else self._filled(step["say"]))
            if self._one_say:
                return None
        return None

    def _called(self, call: str, arguments: Any, offered: Sequence[Offered]) -> tuple[Offered, Any]:
        tool = find_tool(call, offered)
        if tool is not None:
            return tool, arguments
        by_name = {one.name: one for one in offered}
        wanted = find_tool(call, [Offered(name) for name in self._found])
        search = next((by_name[name] for name in _SEARCHES if name in by_name), None)
        if wanted is None and search is not None and not self._searched:
            most = {"max_results": 5} if "max_results" in search.properties else {}
            return search, {"query": call.partition(".")[2], **most}
        named = wanted or Offered(call.partition(".")[2])
        carrier = by_name.get(CARRIER)
        if carrier is None:
            return named, arguments
        under = next((name for name in CARRIED_UNDER if name in carrier.properties), "args")
        return carrier, {"name": named.name, under: arguments}

    def _filled(self, value: Any) -> Any:
        if isinstance(value, str):
            return value.replace(_LAST_TEXT, self._read[-1] if self._read else "")
        if isinstance(value, dict):
            return {key: self._filled(inner) for key, inner in value.items()}
        return [self._filled(inner) for inner in value] if isinstance(value, list | tuple) else value


class _Part:
    """One script for so many turns, with what follows in each further one."""

    def __init__(self, script: Mapping[str, Any]) -> None:
        self._script: Sequence[Step] = script["steps"]
        self._repeat = bool(script.get("repeat"))
        self._turns = int(script.get("turns", 1))
        self._rounds: Sequence[Sequence[Step]] = script.get("rounds") or ()
        self.length = self._turns + len(self._rounds)

    def due(self, number: int, left: list[Step]) -> tuple[list[Step], bool]:
        """Return the steps of a turn, and whether something said ends it; `left` is what the turn before left."""
        if number >= self._turns:
            return list(self._rounds[number - self._turns]), False
        if self._repeat:
            return list(self._script), False
        return list(self._script) if number == 0 else left, number + 1 < self._turns
