"""The reference model subject: a tool loop over a model's endpoint, in a process of its own.

Owns the sending: requests over plain HTTP to the address given (the gateway's), tool calls to the servers. The rules
of the loop are in `model_loop`. Must never retry, follow a redirect, keep time, or read a setting from anywhere but
the first line.

Configuration (`model` in the first line)::

    {"base_url": "http://127.0.0.1:PORT/SECRET/v1", "key": "...", "api": "chat", "model": NAME, "parameters": {...},
     "system": null}

`api` is one of `oyer.protocol.API_NAMES`; its own path and its own header for the key are used.

Every tool of every server is offered as the function `<server>__<tool>` (see `tool_names`). A tool's answer is shown
as its text. What the model or a server did wrong becomes a note; an endpoint without a well-formed answer ends the
turn with the note `{"fault": {"class": "dependency_unavailable", ...}}`.
"""

from __future__ import annotations

import os
from typing import Any, Final

from oyer.programs.child_wire import DriverWire
from oyer.programs.model_loop import Ask, Failed, ModelLoop, Use
from oyer.programs.session import serve
from oyer.programs.tool_names import function_names
from oyer.programs.tool_servers import ServerError, ToolServers, unmade
from oyer.protocol import JsonValue, manner_of

__all__ = ["ModelSubject", "main"]

_READ_BYTES: Final = 64 * 1024
_MAX_ANSWER_BYTES: Final = 32 * 1024 * 1024


class ModelSubject:
    """One session of one model."""

    def __init__(self, wire: DriverWire, servers: ToolServers, configuration: dict[str, Any]) -> None:
        self._wire = wire
        self._servers = servers
        self._base_url = configuration["base_url"]
        self._manner = manner = manner_of(configuration["api"])
        parameters = configuration.get("parameters") or {}
        self._place = manner.place(configuration["model"], parameters.get("stream") is True)
        self._headers = {**manner.key(configuration["key"]), "Content-Type": "application/json"}
        functions, tools = self._offer()
        self._loop = ModelLoop(
            manner,
            model=configuration["model"],
            parameters=parameters,
            functions=functions,
            tools=tools,
            system=configuration.get("system"),
        )

    def turn(self, _number: int, text: str, left: dict[str, int]) -> None:
        """Let the model answer one turn."""
        loop, wire = self._loop, self._wire
        loop.begin_turn(text, model_calls=left.get("model_calls"), tool_calls=left.get("tool_calls"))
        while True:
            step = loop.next()
            if isinstance(step, Ask):
                self._ask(step.body)
            elif isinstance(step, Use):
                loop.used(self._use(step))
            else:
                break
            self._tell_notes()
        counts = loop.tool_calls, loop.model_calls
        if isinstance(step, Failed):
            wire.note({"fault": {"class": "dependency_unavailable", "message": step.message}})
            wire.said("", "harness", *counts)
        else:
            wire.said(step.text, "stop" if step.stopped_by else "subject", *counts, stopped_by=step.stopped_by)

    def _offer(self) -> tuple[dict[str, tuple[str, str]], list[dict[str, JsonValue]]]:
        """List the tools of all servers and name them as functions."""
        listed: dict[tuple[str, str], dict[str, JsonValue]] = {}
        for server in self._servers.names:
            try:
                tools = self._servers.tools(server)
            except ServerError as error:
                self._wire.note(unmade({"server": server}, error))
                continue
            for tool in tools:
                name = tool.get("name")
                if isinstance(name, str):
                    listed[server, name] = tool
        functions = function_names(listed)
        return functions, [self._function(name, listed[place]) for name, place in functions.items()]

    def _function(self, name: str, tool: dict[str, JsonValue]) -> dict[str, JsonValue]:
        description, schema = tool.get("description"), tool.get("inputSchema")
        return self._manner.tool(
            name,
            description if isinstance(description, str) else None,
            schema if isinstance(schema, dict) else {"type": "object", "properties": {}},
        )

    def _ask(self, body: bytes) -> None:
        """Send one request and tell the loop what came of it."""
        # Loading HTTP takes longer than everything else here together: only where a model is really asked.
        from http.client import HTTPConnection, HTTPException
        from urllib.parse import urlsplit

        address = urlsplit(self._base_url)
        connection = HTTPConnection(address.hostname or "", address.port)
        root = address.path.rstrip("/").removesuffix("/v1")
        try:
            connection.request("POST", f"{root}{self._place}", body, self._headers)
            answer = connection.getresponse()
            came, whole = _read(answer)
        except (OSError, HTTPException) as error:
            self._loop.unreachable(f"{type(error).__name__}: {error}")
        else:
            self._loop.answered(answer.status, came, whole)
        finally:
            connection.close()

    def _use(self, step: Use) -> str:
        try:
            return self._servers.call(step.server, step.tool, step.arguments).shown
        except ServerError as error:
            self._wire.note(unmade({"call": f"{step.server}.{step.tool}"}, error))
            return f"Error: {error}"

    def _tell_notes(self) -> None:
        for note in self._loop.notes:
            self._wire.note(note)
        self._loop.notes.clear()


def _read(answer: Any) -> tuple[bytes, bool]:
    """Take a body in pieces, so that what came before a cut is there; say whether it is whole."""
    pieces = bytearray()
    while piece := answer.read(_READ_BYTES):
        pieces += piece
        if len(pieces) > _MAX_ANSWER_BYTES:
            return bytes(pieces), False
    # What is left of a declared length is what did not come.
    return bytes(pieces), not answer.length


def main() -> int:
    """Run one session; return the exit code."""
    return serve("model", ModelSubject)


if __name__ == "__main__":
    # Nothing is buffered, and taking an interpreter down in order takes longer than a step of a script.
    os._exit(main())
