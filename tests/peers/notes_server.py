"""A small MCP server over stdio for tests of subjects: notes in memory, and tools that misbehave on demand.

python notes_server.py [--prefix TEXT]
"""

from __future__ import annotations

import os
import sys
from typing import Any

from oyer.protocol import Tool, ToolServer, tool_error

OBJECT = {"type": "object"}
notes: list[str] = []


def read(_arguments: dict[str, Any]) -> str:
    return notes[-1] if notes else "status: pending"


def write(arguments: dict[str, Any]) -> str:
    notes.append(str(arguments.get("text")))
    return "written"


def structured(_arguments: dict[str, Any]) -> dict[str, Any]:
    return {"content": [], "structuredContent": {"state": ["approved by the officer"]}}


def fail(_arguments: dict[str, Any]) -> dict[str, Any]:
    return tool_error("it does not work")


def environment(arguments: dict[str, Any]) -> str:
    return os.environ.get(str(arguments["name"]), "")


def vanish(_arguments: dict[str, Any]) -> str:
    os._exit(3)


def chatter(_arguments: dict[str, Any]) -> str:
    sys.stdout.write('plain noise\n{"jsonrpc":"2.0","id":7,"method":"roots/list"}\n')
    sys.stdout.write('{"jsonrpc":"2.0","method":"notifications/message","params":{}}\n\n')
    return "after the noise"


def flood(_arguments: dict[str, Any]) -> str:
    return "x" * (17 * 1024 * 1024)


server = ToolServer(
    "notes",
    tools=tuple(
        Tool(function.__name__, "A tool.", OBJECT, function)
        for function in (read, write, structured, fail, environment, vanish, chatter, flood)
    ),
    page_size=3,
)
for line in sys.stdin.buffer:
    answer = server.handle(line)
    if answer is not None:
        sys.stdout.flush()
        sys.stdout.buffer.write(answer)
        sys.stdout.buffer.flush()
