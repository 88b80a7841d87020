"""The harness's side of a subject process: what its lines must look like.

Owns the reading and writing of the child protocol (described in `oyer.programs.child_wire`), as pure values.
Must never accept a line that the protocol does not know: it is the subject's fault and ends its turn.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from oyer.errors import ProtocolError

__all__ = ["Note", "Said", "encode_open", "encode_turn", "parse_line"]

_SAID_KEYS: Final = frozenset({"text", "ended_by", "calls", "model_calls", "stopped_by"})
_STOPS: Final = (None, "model_calls", "tool_calls")
_ENDED_BY: Final = ("subject", "stop", "harness")
_MAX_COUNT: Final = 2**31


class Note(NamedTuple):
    """Something for the record; `fault` names a dependency that failed under the subject."""

    fault: str | None


class Said(NamedTuple):
    """The answer to a turn. `stopped_by` names the declared stop where `ended_by` is `stop`."""

    text: str
    ended_by: str
    calls: int
    model_calls: int
    stopped_by: str | None


def encode_open(servers: Mapping[str, Mapping[str, Any]], role: str, configuration: Mapping[str, Any]) -> bytes:
    """Write the first line: the servers to use, and the configuration under the name of the program's role."""
    return _line({"open": {"servers": servers, role: configuration}})


def encode_turn(number: int, text: str, left: Mapping[str, int]) -> bytes:
    """Write one turn; `left` says how much of the declared stops may still be used."""
    return _line({"turn": {"number": number, "text": text, "left": left}})


def parse_line(line: bytes) -> Said | Note:
    """Read one line of a subject process. Raises: ProtocolError when it is not of the protocol."""
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        raise _broken("no JSON") from None
    if not isinstance(value, dict) or len(value) != 1:
        raise _broken("no object with one key")
    if isinstance(said := value.get("said"), dict):
        return _said(said)
    if isinstance(note := value.get("note"), dict):
        return Note(_fault(note.get("fault")))
    raise _broken("neither said nor note")


def _said(said: dict[str, Any]) -> Said:
    text, ended_by = said.get("text"), said.get("ended_by")
    stopped_by = said.get("stopped_by")
    if not said.keys() <= _SAID_KEYS or not isinstance(text, str) or ended_by not in _ENDED_BY:
        raise _broken("a said of another form")
    if stopped_by not in _STOPS or (stopped_by is None) != (ended_by != "stop"):
        raise _broken("a stop without its name")
    return Said(text, ended_by, _count(said.get("calls", 0)), _count(said.get("model_calls", 0)), stopped_by)


def _count(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= _MAX_COUNT:
        raise _broken("a said with a count that is none")
    return value


def _fault(fault: Any) -> str | None:
    if fault is None:
        return None
    # A subject may say that something under it failed; whose fault that is, is not for it to say.
    if isinstance(fault, dict) and fault.get("class") == "dependency_unavailable":
        message = fault.get("message")
        if isinstance(message, str):
            return message
    raise _broken("a fault of another form")


def _broken(what: str) -> ProtocolError:
    return ProtocolError("E-SUBJECT-LINE", f"a line that is {what}", side="subject")


def _line(value: Mapping[str, Any]) -> bytes:
    return json.dumps(value).encode("ascii") + b"\n"
