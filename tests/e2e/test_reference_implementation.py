"""The reference implementation on both sides, each on any transport, with a tap between them: neither notices."""

from __future__ import annotations

import os
import sys
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any, Literal

import pytest
from series_kit import PEERS

from oyer.engine.place import ENDINGS, place_tapped
from oyer.evidence import Chain, Envelope
from oyer.host import Patience, become_subreaper, boot_id, open_run_dir, stamp
from oyer.instruments import Tap, TapLimits, TappedServer
from oyer.instruments.tap_http import HttpTap
from oyer.records import Server
from oyer.store import MemoryJournal

pytestmark = [pytest.mark.e2e, pytest.mark.slow, pytest.mark.needs("mcp-sdk")]
RELAY = Path(__file__).parents[2] / "src" / "oyer" / "programs" / "relay.py"
SOURCES = str(Path(__file__).parents[2] / "src")
Way = Literal["command", "url", "sse"]
WAYS: tuple[Way, ...] = ("command", "url", "sse")


TRIED = {("stdio", "url"), ("streamable-http", "command"), ("sse", "sse")}
PAIRS = [
    pytest.param(upstream, way, marks=() if (upstream, way) in TRIED else pytest.mark.heavy)
    for upstream in ("stdio", "streamable-http", "sse")
    for way in WAYS
]


def declared(upstream: str, given_as: Way) -> Server:
    talker = (sys.executable, str(PEERS / "sdk_talker.py"), upstream)
    if upstream == "stdio":
        return Server(command=(*talker, "0"), given_as=given_as)
    ending, transport = ("sse", "sse") if upstream == "sse" else ("mcp", "http")
    url = f"http://127.0.0.1:{{port}}/{ending}"
    return Server(command=(*talker, "{port}"), url=url, transport=transport, given_as=given_as)


def client_of(tap: Tap | HttpTap, given_as: Way) -> AbstractAsyncContextManager[Any]:
    from mcp.client.sse import sse_client
    from mcp.client.stdio import StdioServerParameters, stdio_client
    from mcp.client.streamable_http import streamable_http_client

    if isinstance(tap, Tap):
        argv = ["-I", "-S", str(RELAY), str(tap.socket_path)]
        return stdio_client(StdioServerParameters(command=sys.executable, args=argv))
    return sse_client(tap.url) if given_as == "sse" else streamable_http_client(tap.url)


@pytest.mark.parametrize(("upstream", "given_as"), PAIRS)
async def test_client_and_server_do_not_notice(upstream: str, given_as: Way) -> None:
    from mcp import ClientSession
    from mcp_types import CreateMessageResult, TextContent

    async def sample(_context: Any, _params: Any) -> Any:
        return CreateMessageResult(role="assistant", content=TextContent(type="text", text="me"), model="m")

    faults: list[tuple[str, str, str]] = []
    progress: list[float] = []

    async def told(step: float, _total: float | None, _message: str | None) -> None:
        progress.append(step)

    become_subreaper()
    with open_run_dir() as run_dir:
        placed = place_tapped(declared(upstream, given_as), {}, run_dir.world, message_bytes=1 << 20)
        env = {"PATH": os.environ["PATH"], "TMPDIR": str(run_dir.temp), "PYTHONPATH": SOURCES}
        served = (placed.url, placed.port_mark, placed.ends_with_input)
        server = TappedServer("sdk", placed.command, env, run_dir.world, str(run_dir.temp), *served)
        journal = MemoryJournal(Chain("tap:sdk", Envelope("s", "t", "r0", "baseline", 1, boot_id())), stamp)
        limits = TapLimits(patience=Patience(settle_s=1.0))
        tap: Tap | HttpTap
        if placed.url is None:
            tap = Tap(server, run_dir.new_socket_path(), journal, limits=limits, on_fault=lambda *f: faults.append(f))
        else:
            ending = ENDINGS[given_as]
            tap = HttpTap(server, journal, limits=limits, on_fault=lambda *f: faults.append(f), ending=ending)
        await tap.open()
        try:
            async with (
                client_of(tap, given_as) as (reads, writes, *_),
                ClientSession(reads, writes, sampling_callback=sample) as session,
            ):
                await session.initialize()
                assert {tool.name for tool in (await session.list_tools()).tools} == {"add", "steps", "ask"}
                added: Any = await session.call_tool("add", {"left": 2, "right": 3})
                assert added.content[0].text == "5"
                done: Any = await session.call_tool("steps", {}, progress_callback=told)
                assert done.content[0].text == "done" and progress == [0, 1, 2]
                asked: Any = await session.call_tool("ask", {})
                assert asked.content[0].text == "me"
            await tap.settle(10)
        finally:
            await tap.close()
    assert faults == []
    assert journal.data.count(b'"mcp.sent"') == 7  # opening, two notices and calls, and the answer to the question
