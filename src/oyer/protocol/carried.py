"""Calls inside of calls: agents that list few tools have the model call the others through one of theirs.

Owns how such a carrier is recognised. Source: what Qwen Code 0.24 sends (`tool_call` with `name` and `arguments`).
"""

from __future__ import annotations

from typing import Final

from oyer.errors import ProtocolError
from oyer.protocol.jsonvalue import JsonValue, loads

__all__ = ["CARRIED_UNDER", "CARRIER", "carried_call"]

CARRIER: Final = "tool_call"
CARRIED_UNDER: Final = ("args", "arguments", "input", "params")
"""Where a carrier's arguments hold those of the call that it carries; its name is under `name`."""


def carried_call(name: str | None, arguments: JsonValue) -> tuple[str, JsonValue] | None:
    """Return the name and the arguments of the call that this one carries; None where it is a call by itself.

    Arguments that are text are read as JSON; none at all are an empty object. With two places for them it is not said
    what is called, and nothing is carried.
    """
    inner = arguments.get("name") if name == CARRIER and isinstance(arguments, dict) else None
    if not isinstance(arguments, dict) or not isinstance(inner, str):
        return None
    given = [arguments[under] for under in CARRIED_UNDER if arguments.get(under) is not None]
    if len(given) > 1:
        return None
    value: JsonValue = given[0] if given else {}
    if isinstance(value, str):
        try:
            value = loads(value.encode("utf-8", "surrogatepass"))
        except ProtocolError:
            value = None
    return inner, value
