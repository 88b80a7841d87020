"""A scripted subject: plays a list of steps over real servers, in a process of its own.

Owns the playing; what to play is worked out elsewhere and arrives in the first line, so this program knows neither
which double it is nor why. Must never decide anything but whether an `if_seen` text was seen, and must start in
milliseconds: standard library and `oyer.protocol` only.

Configuration (`script` in the first line)::

    {"steps": [step, ...], "repeat": false, "turns": 1, "rounds": [[step, ...], ...]}

Steps are described in `oyer.subjects.doubles`. With several turns a `say` ends a turn that is not the last, and the
next turn goes on after it; in the last turn all that is left is played. `repeat` plays all steps in every turn.
`rounds` (none by default) are the steps of the turns that follow, one list a turn, each played whole. A session of
several parts has `{"parts": [{"steps": ..., "turns": ..., ...}, ...]}`: each plays its turns and rounds, then the next.
`{last.text}` in texts and arguments stands for the text of the last tool answer of the session ("" before one).
"""

from __future__ import annotations

import os
import sys
from typing import Any

from oyer.programs.child_wire import DriverWire
from oyer.programs.session import serve
from oyer.programs.tool_servers import ServerError, ToolServers, unmade

__all__ = ["Player", "main"]

_LAST_TEXT = "{last.text}"
_BROKEN_FRAME = b'{"jsonrpc": "2.0", "id": 99, "method": \n'
_BROKEN_LINE = b'{"said": {"text": \n'


class Player:
    """One session of one script."""

    def __init__(self, wire: DriverWire, servers: ToolServers, script: dict[str, Any]) -> None:
        self._wire = wire
        self._servers = servers
        self._parts = [_Part(part) for part in script.get("parts") or [script]]
        self._calls = 0
        self._read: list[str] = []
        self._seen: list[str] = []

    def turn(self, number: int, _text: str, left: dict[str, int]) -> None:
        """Play one turn and answer it; a script does not look at what it is told."""
        steps, one_say = self._due(number)
        said: list[str] = []
        before, stopped_by = self._calls, None
        while steps:
            step = steps[0]
            if "call" in step and self._calls - before == left.get("tool_calls"):
                stopped_by = "tool_calls"
                break
            del steps[0]
            if step.get("if_seen") is not None and not any(step["if_seen"] in text for text in self._seen):
                continue
            words = self._play(step)
            if words is not None:
                said.append(words)
                if one_say:
                    break
        ended_by = "subject" if stopped_by is None else "stop"
        self._wire.said("\n".join(said), ended_by, self._calls - before, stopped_by=stopped_by)

    def _due(self, number: int) -> tuple[list[dict[str, Any]], bool]:
        """Return what is left to be played in a turn, and whether something said ends it. Beyond the last: nothing."""
        for part in self._parts:
            if number < part.length:
                return part.due(number)
            number -= part.length
        return [], False

    def _play(self, step: dict[str, Any]) -> str | None:
        """Do one step; return what it says, if it says something."""
        if "call" in step:
            self._call(step["call"], step.get("arguments") or {})
        elif "say" in step:
            return str(self._filled(step["say"]))
        elif "quote" in step:
            return "\n\n".join(self._read)
        elif "die" in step:
            os.kill(os.getpid(), step["die"])
        elif "garble" in step:
            self._garble(step["garble"])
        return None

    def _call(self, name: str, arguments: dict[str, Any]) -> None:
        server, _, tool = name.partition(".")
        try:
            answer = self._servers.call(server, tool, self._filled(arguments))
        except ServerError as error:
            # A script has no other plan: it goes on with nothing read, and the record says why.
            self._wire.note(unmade({"call": name}, error))
            return
        self._calls += 1
        self._read.append(answer.text)
        self._seen += [answer.text, *answer.strings]

    def _garble(self, server: str | None) -> None:
        """Break both protocols and stop: nothing sensible comes from here any more."""
        if server is not None:
            self._servers.write_raw(server, _BROKEN_FRAME)
        self._wire.write_raw(_BROKEN_LINE)
        self._wire.drain()
        sys.exit(0)

    def _filled(self, value: Any) -> Any:
        if isinstance(value, str):
            return value.replace(_LAST_TEXT, self._read[-1] if self._read else "")
        if isinstance(value, dict):
            return {key: self._filled(inner) for key, inner in value.items()}
        if isinstance(value, list):
            return [self._filled(inner) for inner in value]
        return value


class _Part:
    """One script for so many turns, with what follows in each further one."""

    def __init__(self, script: dict[str, Any]) -> None:
        self._steps = list(script["steps"])
        self._repeat = bool(script.get("repeat"))
        self._turns = int(script.get("turns", 1))
        self._rounds = list(script.get("rounds") or ())
        self.length = self._turns + len(self._rounds)

    def due(self, number: int) -> tuple[list[dict[str, Any]], bool]:
        if number >= self._turns:
            return list(self._rounds[number - self._turns]), False
        if self._repeat:
            return list(self._steps), False
        # What is played is taken off this list: the next turn goes on where this one ends.
        return self._steps, number + 1 < self._turns


def main() -> int:
    """Play one session; return the exit code."""
    return serve("script", Player)


if __name__ == "__main__":
    # Nothing is buffered, and taking an interpreter down in order takes longer than a step of a script.
    os._exit(main())
