"""How an agent speaks to a model, whatever the API: what it offers, says and answers, and what it reads back.

Owns the one small interface (`Manner`) that an agent's loop needs, so that the loop itself knows no API. The other side
of the same APIs, a model that answers, is `answering`. Must never add a parameter that nobody declared, or leave out of
a conversation what an API wants to see again (reasoning items and signatures go back as they came).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from oyer.errors import ProtocolError
from oyer.protocol.chat import ToolCall, tool_call
from oyer.protocol.jsonvalue import loads_tolerant
from oyer.protocol.model_api import Defect, Json, ModelApi, api_error, read_answer

__all__ = ["CallResult", "Invent", "Manner", "Said", "hear", "offered_call"]

Invent = Callable[[], str]
"""Gives an id for a call to which the model gave none."""


class CallResult(NamedTuple):
    """What became of a call: its id, the name it was called by, and the text to show."""

    id: str
    name: str
    text: str


class Said(NamedTuple):
    """What a model answered. `echo` is its answer as it goes back into the conversation.

    `ended_itself` is False where the API says that the answer was cut short or kept back; `finish` is its word for it.
    """

    text: str
    calls: tuple[ToolCall, ...]
    finish: str | None
    ended_itself: bool
    echo: tuple[Json, ...]


class Manner(NamedTuple):
    """How one API is asked. `place(model, stream)` is the path after the endpoint's root, `key(key)` the headers.

    `tool(name, description, schema)`: a tool as it is offered; `user(text)`, `results(results)`: items of the
    conversation; `read(answer, invent)`: what an answer says; `request(model, system, items, tools, parameters)`: the
    whole body, the `parameters` in it exactly as they are. `wanted`: parameters without which an API refuses;
    `taken`: members that the loop sets itself; `names`: what an API calls the parameters that all of them have.
    """

    api: ModelApi
    place: Callable[[str, bool], str]
    key: Callable[[str], Mapping[str, str]]
    tool: Callable[[str, str | None, Json], Json]
    user: Callable[[str], Json]
    results: Callable[[Sequence[CallResult]], Sequence[Json]]
    read: Callable[[Json, Invent], Said | Defect]
    request: Callable[[str, str | None, Sequence[Json], Sequence[Json], Json], Json]
    taken: frozenset[str]
    names: Mapping[str, tuple[str, ...]]
    wanted: tuple[str, ...] = ()


def hear(manner: Manner, raw: bytes, *, stream: bool, invent: Invent) -> Said | Defect:
    """Read a whole answer. One that was asked for as a stream may be one or not; any other must be an object."""
    try:
        if stream:
            answer = read_answer(manner.api, raw, lambda body: loads_tolerant(body)[0])
        else:
            value = loads_tolerant(raw)[0]
            answer = value if isinstance(value, dict) else Defect("bad_shape", "the response is no object")
    except ProtocolError as error:
        return Defect("not_json", str(error))
    if isinstance(answer, Defect):
        return answer
    if answer.get("error") is not None:
        return api_error(answer["error"])
    return manner.read(answer, invent)


def offered_call(call_id: object, name: object, arguments: object, invent: Invent) -> ToolCall:
    """Return a call as a loop takes it, with an id of ours where the model gave none."""
    given = call_id if isinstance(call_id, str) and call_id else invent()
    return tool_call(given, name, arguments)
