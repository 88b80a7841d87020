"""Tool results as they stand in a request to a model, in each API, opened for editing.

Owns finding them with the call that each answers, a carried call (`carried`) in place of its carrier. A result whose
call is not in the request has no tool. Results of tools that the provider runs itself are none of the agent's and are
left out. Must never read a value that stands under a repeated key.
Source: the request formats of Chat Completions, Responses, Messages and Gemini generateContent.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import Final, NamedTuple

from oyer.errors import ProtocolError
from oyer.protocol.carried import carried_call
from oyer.protocol.jsonvalue import JsonValue, loads_tolerant
from oyer.protocol.places import AnswerView
from oyer.protocol.spans import Node, decode_string, scan

__all__ = ["ResultView", "ToolResult", "names_tool", "tool_results"]


class ResultView(AnswerView):
    """One tool result inside a request: its texts, and the JSON value that it is, where its API wants one."""

    __slots__ = ()

    def __init__(self, raw: bytes, result: Node, texts: Iterable[Node], structured: Node | None = None) -> None:
        self.raw = raw
        self.root = result
        self.result = result
        self.texts = [self._place(("result", index), node) for index, node in enumerate(texts)]
        self.structured = structured


class ToolResult(NamedTuple):
    """One result. `views()` are the ways to read it, the most likely first; `said` tells it from any other answer.

    `tool` and `arguments` are those of the call that it answers, None where the request does not hold it.
    """

    tool: str | None
    id: str | None
    arguments: JsonValue
    node: Node
    views: Callable[[], tuple[ResultView, ...]]
    said: bytes


class _Call(NamedTuple):
    name: str | None
    arguments: JsonValue

    @property
    def meant(self) -> _Call:
        """The call that this one carries, or itself."""
        carried = carried_call(self.name, self.arguments)
        return self if carried is None else _Call(*carried)


_NO_CALL: Final = _Call(None, None)


def names_tool(name: str, tool: str) -> bool:
    """Whether a name that a model used is a tool's: agents put the server's name before it."""
    return name == tool or re.search(rf"(?:^|[^A-Za-z0-9]){re.escape(tool)}\Z", name) is not None


def tool_results(api: str, raw: bytes) -> tuple[ToolResult, ...]:
    """Return the tool results of a request, in order. Raises: ProtocolError for what cannot be read without doubt."""
    return tuple(_READERS[api](raw, scan(raw)))


def _get(node: Node | None, *names: str) -> Node | None:
    """Return the first member that is there, None where there is none or the node is no object."""
    if node is None or node.kind != "object":
        return None
    return next((found for name in names if (found := node.member(name)) is not None), None)


def _items(node: Node | None) -> list[Node]:
    return node.children if node is not None and node.kind == "array" else []


def _text(raw: bytes, node: Node | None) -> str | None:
    return decode_string(raw, node.span).text if node is not None and node.kind == "string" else None


def _arguments(raw: bytes, node: Node | None) -> JsonValue:
    """The arguments of a call, given as a value or as text that should be JSON; None where they are none."""
    if node is None:
        return {}
    given = _text(raw, node)
    told = raw[node.start : node.end] if given is None else given.encode("utf-8", "surrogatepass")
    if not told.strip():
        return {}
    try:
        return loads_tolerant(told)[0]
    except ProtocolError:
        return None


def _result(raw: bytes, call: _Call, id_: str | None, content: Node | None) -> Iterator[ToolResult]:
    """A result that is a text, or a list of parts some of which have one."""
    if content is None:
        return
    texts = [content] if content.kind == "string" else [part for one in _items(content) for part in _own_text(one)]
    said = b"\0".join(_plain(raw, node) for node in texts)
    name, arguments = call.meant
    yield ToolResult(name, id_, arguments, content, lambda: (ResultView(raw, content, texts),), said)


def _plain(raw: bytes, node: Node) -> bytes:
    """What a string says; where each of its characters stands is asked of few, and costs much."""
    return str(loads_tolerant(raw[node.start : node.end])[0]).encode("utf-8", "surrogatepass")


def _own_text(part: Node) -> Iterator[Node]:
    text = _get(part, "text")
    if text is not None and text.kind == "string":
        yield text


def _chat(raw: bytes, root: Node) -> Iterator[ToolResult]:
    calls: dict[str | None, _Call] = {}
    older: dict[str | None, _Call] = {}
    for message in _items(_get(root, "messages")):
        for call in _items(_get(message, "tool_calls")):
            function = _get(call, "function")
            name, arguments = _text(raw, _get(function, "name")), _arguments(raw, _get(function, "arguments"))
            calls[_text(raw, _get(call, "id"))] = _Call(name, arguments)
        function = _get(message, "function_call")
        name = _text(raw, _get(function, "name"))
        if name is not None:
            older[name] = _Call(name, _arguments(raw, _get(function, "arguments")))
        role, content = _text(raw, _get(message, "role")), _get(message, "content")
        if role == "tool":
            id_ = _text(raw, _get(message, "tool_call_id"))
            yield from _result(raw, calls.get(id_, _NO_CALL), id_, content)
        elif role == "function":
            name = _text(raw, _get(message, "name"))
            yield from _result(raw, older.get(name, _Call(name, None)), None, content)


def _responses(raw: bytes, root: Node) -> Iterator[ToolResult]:
    calls: dict[str | None, _Call] = {}
    for item in _items(_get(root, "input")):
        kind, id_ = _text(raw, _get(item, "type")), _text(raw, _get(item, "call_id"))
        if kind in ("function_call", "custom_tool_call"):
            arguments = _get(item, "arguments" if kind == "function_call" else "input")
            calls[id_] = _Call(_text(raw, _get(item, "name")), _arguments(raw, arguments))
        elif kind in ("function_call_output", "custom_tool_call_output"):
            yield from _result(raw, calls.get(id_, _NO_CALL), id_, _get(item, "output"))


def _messages(raw: bytes, root: Node) -> Iterator[ToolResult]:
    calls: dict[str | None, _Call] = {}
    for message in _items(_get(root, "messages")):
        for block in _items(_get(message, "content")):
            kind = _text(raw, _get(block, "type"))
            if kind == "tool_use":
                call = _Call(_text(raw, _get(block, "name")), _arguments(raw, _get(block, "input")))
                calls[_text(raw, _get(block, "id"))] = call
            elif kind == "tool_result":
                id_ = _text(raw, _get(block, "tool_use_id"))
                yield from _result(raw, calls.get(id_, _NO_CALL), id_, _get(block, "content"))


def _gemini(raw: bytes, root: Node) -> Iterator[ToolResult]:
    """Results have names, and mostly no ids: the calls and the results of one name then pair in order."""
    calls: dict[tuple[str | None, str | None], list[_Call]] = {}
    answered: dict[tuple[str | None, str | None], int] = {}
    for content in _items(_get(root, "contents")):
        for part in _items(_get(content, "parts")):
            call = _get(part, "functionCall", "function_call")
            result = _get(part, "functionResponse", "function_response")
            for one in (call, result):
                if one is None:
                    continue
                name, id_ = _text(raw, _get(one, "name")), _text(raw, _get(one, "id"))
                if one is call:
                    calls.setdefault((name, id_), []).append(_Call(name, _arguments(raw, _get(one, "args"))))
                    continue
                number = answered.get((name, id_), 0)
                answered[name, id_] = number + 1
                known = calls.get((name, id_), [])
                found = known[number] if number < len(known) else _Call(name, None)
                yield from _object(raw, found, id_, _get(one, "response"))


def _object(raw: bytes, call: _Call, id_: str | None, response: Node | None) -> Iterator[ToolResult]:
    """A result that is an object: all its strings are its texts; read as JSON it is itself, or its only member."""
    if response is None:
        return
    said = raw[response.start : response.end]
    name, arguments = call.meant
    yield ToolResult(name, id_, arguments, response, lambda: _readings(raw, response), said)


def _readings(raw: bytes, response: Node) -> tuple[ResultView, ...]:
    strings = [node for _, node in response.strings()]
    views = [ResultView(raw, response, strings), ResultView(raw, response, (), response)]
    if response.kind == "object" and len(response.children) == 1 and response.children[0].kind != "string":
        views.append(ResultView(raw, response, (), response.children[0]))
    return tuple(views)


_READERS: Final[dict[str, Callable[[bytes, Node], Iterator[ToolResult]]]] = {
    "chat": _chat,
    "gemini": _gemini,
    "messages": _messages,
    "responses": _responses,
}
