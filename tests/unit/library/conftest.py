"""A fixture server as a child process, spoken to in raw JSON-RPC lines."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import oyer

SOURCES = str(Path(oyer.__file__).resolve().parents[1])


class Talk:
    """One running server and the dialogue with it."""

    def __init__(self, server: str, cwd: Path, env: dict[str, str]) -> None:
        given = {"PATH": os.environ.get("PATH", ""), "PYTHONPATH": SOURCES, "PYTHONSAFEPATH": "1", **env}
        argv = [sys.executable, "-m", f"oyer.library.servers.{server}"]
        pipe = subprocess.PIPE
        self.child = subprocess.Popen(argv, cwd=cwd, env=given, stdin=pipe, stdout=pipe, stderr=pipe)
        self._number = 0

    def send(self, raw: bytes) -> None:
        assert self.child.stdin is not None
        self.child.stdin.write(raw)
        self.child.stdin.flush()

    def line(self) -> bytes:
        assert self.child.stdout is not None
        return self.child.stdout.readline()

    def ask(self, method: str, params: dict[str, Any]) -> bytes:
        """Return the raw answer to one request."""
        self._number += 1
        message = {"jsonrpc": "2.0", "id": self._number, "method": method, "params": params}
        self.send(json.dumps(message).encode() + b"\n")
        return self.line()

    def open(self) -> dict[str, Any]:
        params = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
        answer = json.loads(self.ask("initialize", params))
        self.send(b'{"jsonrpc":"2.0","method":"notifications/initialized"}\n')
        return answer["result"]

    def tools(self) -> dict[str, dict[str, Any]]:
        return {tool["name"]: tool for tool in json.loads(self.ask("tools/list", {}))["result"]["tools"]}

    def raw(self, tool: str, **arguments: Any) -> bytes:
        return self.ask("tools/call", {"name": tool, "arguments": arguments})

    def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        return json.loads(self.raw(tool, **arguments))["result"]

    def text(self, tool: str, **arguments: Any) -> str:
        """Return the text of an answer that is no error."""
        result = self.call(tool, **arguments)
        assert not result.get("isError"), result
        return result["content"][0]["text"]

    def refusal(self, tool: str, **arguments: Any) -> str:
        """Return the text of an answer that is a tool error."""
        result = self.call(tool, **arguments)
        assert result.get("isError") is True, result
        return result["content"][0]["text"]

    def end(self) -> tuple[int, bytes]:
        """Close the input; return the exit code and what stood on standard error."""
        _, stderr = self.child.communicate(timeout=30)
        return self.child.returncode, stderr


Start = Callable[..., Talk]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """Start a server in a directory (by default an empty one) with an environment; end it afterwards."""
    running: list[Talk] = []

    def run(server: str, cwd: Path | None = None, **env: str) -> Talk:
        place = cwd
        if place is None:
            place = tmp_path / "place"
            place.mkdir(exist_ok=True)
        talk = Talk(server, place, env)
        running.append(talk)
        talk.open()
        return talk

    yield run
    for talk in running:
        if talk.child.poll() is None:
            talk.child.kill()
            talk.child.communicate()
