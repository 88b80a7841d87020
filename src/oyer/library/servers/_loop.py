"""What every fixture server shares: the loop over standard input and output, and the shapes of tools and answers.

Owns reading frames, writing one answer before the next frame is looked at, and turning a declared refusal into a tool
error. Must never split on anything but 0x0A, hide a bug (what is no declared refusal ends the server with its
traceback), or know what any tool does.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import NamedTuple

from oyer.protocol import LineSplitter, Overlong, Tool, ToolServer

__all__ = ["Answer", "TextTool", "serve"]

_CHUNK_BYTES = 65536
_TEXT = {"type": "string"}


class Answer(NamedTuple):
    """What a tool answers: a text block, the same facts as structured content, or that it failed."""

    text: str
    structured: Mapping[str, object] | None = None
    is_error: bool = False


class TextTool(NamedTuple):
    """A tool that takes texts only: `arguments` maps each to its description; those in `optional` may be left out."""

    name: str
    description: str
    run: Callable[[Mapping[str, str]], Answer]
    arguments: Mapping[str, str] = {}
    optional: tuple[str, ...] = ()
    output_schema: Mapping[str, object] | None = None


def serve(name: str, tools: tuple[TextTool, ...], *, refusal: type[Exception] | None = None) -> None:
    """Answer frames until the input ends or nobody reads the output any more.

    `refusal` is the exception by which a tool says no; its message becomes a tool error.
    """
    server = ToolServer(name, "1", tuple(_tool(tool, refusal) for tool in tools))
    splitter = LineSplitter()
    try:
        while data := os.read(0, _CHUNK_BYTES):
            for frame in splitter.feed(data):
                _write(server.handle(_frame(frame)))
        if (rest := splitter.end()) is not None:
            _write(server.handle(_frame(rest)))
    except (BrokenPipeError, KeyboardInterrupt):
        return


def _frame(frame: bytes | Overlong) -> bytes:
    # What is kept of a frame that is too long parses as no message, and is answered as such.
    return frame.prefix if isinstance(frame, Overlong) else frame


def _write(data: bytes | None) -> None:
    left = memoryview(data or b"")
    while left:
        left = left[os.write(1, left) :]


def _tool(tool: TextTool, refusal: type[Exception] | None) -> Tool:
    declared: tuple[type[Exception], ...] = () if refusal is None else (refusal,)

    def function(arguments: Mapping[str, object]) -> Mapping[str, object]:
        try:
            answer = tool.run({key: str(value) for key, value in arguments.items()})
        except declared as error:
            answer = Answer(str(error), is_error=True)
        return _result(answer)

    schema: dict[str, object] = {
        "type": "object",
        "properties": {name: {**_TEXT, "description": words} for name, words in tool.arguments.items()},
        "required": [name for name in tool.arguments if name not in tool.optional],
        "additionalProperties": False,
    }
    return Tool(tool.name, tool.description, schema, function, tool.output_schema)


def _result(answer: Answer) -> Mapping[str, object]:
    result: dict[str, object] = {"content": [{"type": "text", "text": answer.text}]}
    if answer.structured is not None:
        result["structuredContent"] = answer.structured
    return {**result, "isError": True} if answer.is_error else result
