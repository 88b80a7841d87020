"""Our own subjects take an address by themselves, of either transport, and hear why one is gone."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

PEERS = Path(__file__).parents[2] / "peers"
SOURCES = str(Path(__file__).parents[3] / "src")
SERVED = {
    "json": ("http_peer.py", "json", "mcp", "http"),
    "stream": ("http_peer.py", "sse", "mcp", "http"),
    "stream that is cut": ("http_peer.py", "cuts", "mcp", "http"),
    "unsaid": ("http_peer.py", "sse", "mcp", "auto"),
    "older": ("sse_peer.py", "pieces", "sse", "sse"),
    "older, unsaid": ("sse_peer.py", "absolute", "sse", "auto"),
}

PROGRAM = """
import json, os, sys
from oyer.programs.tool_servers import ServerGoneError, ToolServers
used, said = ToolServers({"notes": json.loads(sys.argv[1])}), []
try:
    said.append(len(used.tools("notes")))
    for tool, arguments in json.loads(sys.argv[2]):
        said.append(used.call("notes", tool, arguments).text)
except ServerGoneError as error:
    said.append(str(error))
used.close()
print(json.dumps(said))
sys.stdout.flush()
os._exit(0)  # as our programs end: what still listens ends with them
"""


def used(url: str, transport: str, *calls: tuple[str, dict[str, str]]) -> list[int | str]:
    """Use a server at an address in a program of its own; return how many tools it has, and what each call said."""
    argv = [sys.executable, "-c", PROGRAM, json.dumps({"url": url, "transport": transport}), json.dumps(calls)]
    done = subprocess.run(argv, env={**os.environ, "PYTHONPATH": SOURCES}, capture_output=True, timeout=60, check=True)
    said: list[int | str] = json.loads(done.stdout)
    return said


@contextmanager
def served(program: str, style: str) -> Iterator[int]:
    """A server in front of the notes, on a port."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    notes = [sys.executable, str(PEERS / "notes_server.py")]
    argv = [sys.executable, str(PEERS / program), str(port), style, *notes]
    with subprocess.Popen(argv, env={**os.environ, "PYTHONPATH": SOURCES}) as peer:
        try:
            for _ in range(500):
                try:
                    socket.create_connection(("127.0.0.1", port)).close()
                    break
                except OSError:
                    time.sleep(0.02)
            yield port
        finally:
            peer.kill()


@pytest.mark.parametrize("name", SERVED)
def test_tools_are_listed_and_called_at_an_address(name: str) -> None:
    program, style, place, transport = SERVED[name]
    calls = [("write", {"text": "é\u2028"}), ("read", {}), ("fail", {}), ("chatter", {})]
    with served(program, style) as port:
        said = used(f"http://127.0.0.1:{port}/{place}", transport, *calls)
    assert said == [8, "written", "é\u2028", "it does not work", "after the noise"]  # listed in three pages


GONE = {
    "the server answered 500 Internal Server Error: out of order": ("http_peer.py", "fails", "mcp", "http"),
    "the server answered 307 Temporary Redirect": ("http_peer.py", "moved", "mcp", "http"),
    "the server ended its stream": ("sse_peer.py", "ends", "sse", "sse"),
    "named another origin": ("sse_peer.py", "elsewhere", "sse", "sse"),
    "answered 404 Not Found to a stream (and 404 Not Found to a POST)": ("sse_peer.py", "plain", "else", "auto"),
}


@pytest.mark.parametrize("told", GONE)
def test_an_address_that_fails_is_gone_with_its_reason(told: str) -> None:
    program, style, place, transport = GONE[told]
    with served(program, style) as port:
        said = used(f"http://127.0.0.1:{port}/{place}", transport, ("read", {}))
    assert str(said[-1]).startswith("notes is gone: ") and told in str(said[-1])


def test_nobody_there_is_gone_too() -> None:
    (said,) = used("http://127.0.0.1:9/mcp", "auto")
    assert "could not be reached at 127.0.0.1:9" in str(said)
