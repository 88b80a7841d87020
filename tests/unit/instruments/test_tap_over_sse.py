"""A server over HTTP with SSE as of 2024-11-05 looks to the tap like any other, and its failures name it."""

from __future__ import annotations

import base64
import json
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from waiting import leap, until

from instrument_kit import PEERS, QUICK, Client, Rig, request
from oyer.host import RunDir, become_subreaper, open_run_dir
from oyer.instruments import TapLimits

INITIALIZED = b'{"jsonrpc":"2.0","method":"notifications/initialized"}\n'
OPENING = {"protocolVersion": "2024-11-05", "capabilities": {}, "clientInfo": {"name": "a", "version": "1"}}
SOURCES = str(Path(__file__).parents[3] / "src")


class SseRig(Rig):
    """A tap in front of a bridge that starts a peer over HTTP with SSE."""

    def __init__(self, run_dir: RunDir, style: str, transport: str) -> None:
        bridge = [sys.executable, "-P", "-m", "oyer.programs.http_bridge", str(16 << 20), transport]
        peer = [sys.executable, str(PEERS / "sse_peer.py"), "{port}", style]
        notes = [sys.executable, str(PEERS / "notes_server.py")]
        super().__init__(run_dir, [*bridge, "http://127.0.0.1:{port}/sse", *peer, *notes])
        self.log = run_dir.temp / "requests"
        self.env = {**self.env, "PYTHONPATH": SOURCES, "HTTP_PEER_LOG": str(self.log)}

    def requests(self) -> list[dict[str, Any]]:
        found = [json.loads(line) for line in self.log.read_text().splitlines()]
        return [{**one, "body": base64.b64decode(one["body"])} for one in found]

    def posted(self) -> list[bytes]:
        return [one["body"] for one in self.requests() if one["path"].startswith("/messages")]


@asynccontextmanager
async def served(style: str = "plain", transport: str = "sse") -> AsyncIterator[SseRig]:
    become_subreaper()
    with open_run_dir() as run_dir:
        rig = SseRig(run_dir, style, transport)
        try:
            yield rig
        finally:
            await rig.close()


async def opened(rig: SseRig, **limits: Any) -> Client:
    await rig.open(limits=TapLimits(patience=QUICK, **limits))
    client = await rig.client()
    assert (await client.ask(0, "initialize", OPENING))["result"]["protocolVersion"] == "2024-11-05"
    await client.send(INITIALIZED)
    return client


async def settled(rig: SseRig) -> None:
    assert rig.tap is not None
    await rig.tap.settle(10)


@pytest.mark.parametrize("transport", ["sse", "auto"])
@pytest.mark.parametrize("style", ["plain", "absolute", "pieces", "holds"])
async def test_a_conversation_crosses_and_is_recorded(style: str, transport: str) -> None:
    async with served(style, transport) as rig:
        client = await opened(rig)
        odd = (
            '{ "params" : {"name":"write","arguments":{"text":"a\\u00e9é\u2028 \\n","text":"b é","x":1.0}} ,'
            '"method":"tools/call", "id":"k","jsonrpc":"2.0"}\n'
        ).encode()
        await client.send(odd)
        line = await client.line()
        assert json.loads(line)["result"]["content"][0]["text"] == "written"
        assert (await client.call(2, tool="read"))["result"]["content"][0]["text"] == "b é"
        assert await client.leave() == 0
        await settled(rig)
        journal = rig.journal
        assert [journal.raw(event) for event in journal.of("mcp.sent")][2] == odd
        received = {event.body["id"]: event for event in journal.of("mcp.received")}
        assert journal.raw(received["k"]) == line and received["k"].because == (journal.of("mcp.sent")[2].ref,)
        assert journal.of("mcp.noise") == [] and rig.faults == []
        assert rig.posted()[2] == odd[:-1] and len(rig.posted()) == 4
        tried = [one["method"] for one in rig.requests() if one["path"] == "/sse"]
        assert tried == (["POST", "GET"] if transport == "auto" else ["GET"])


async def test_what_a_server_says_by_itself_and_what_it_is_answered_cross() -> None:
    async with served("holds") as rig:  # a POST that waits for its answer must not hold up what the answer waits for
        client = await opened(rig)
        await client.send(request(1, "tools/call", {"name": "chatter", "arguments": {}}))
        said = [json.loads(await client.line()) for _ in range(3)]
        methods = sorted(str(one.get("method")) for one in said)
        assert methods == ["None", "notifications/message", "roots/list"] and rig.faults == []


async def test_many_calls_at_once_each_get_their_own_answer() -> None:
    async with served() as rig:
        client = await opened(rig)
        frames = [
            request(n, "tools/call", {"name": "environment", "arguments": {"name": f"N{n}"}}) for n in range(10, 74)
        ]
        await client.send(b"".join(frames))
        answered = sorted([json.loads(await client.line())["id"] for _ in frames])
        assert answered == list(range(10, 74)) and rig.faults == []
        await client.leave()
        assert [post + b"\n" for post in rig.posted()[2:]] == frames


BROKEN = {
    "ends": "the server ended its stream",
    "refuses": "the server answered 500 Internal Server Error: out of order",
}


@pytest.mark.parametrize("style", BROKEN)
async def test_what_cannot_be_said_over_standard_streams_ends_the_connection_and_names_the_server(style: str) -> None:
    async with served(style) as rig:
        client = await opened(rig)
        await client.send(request(1, "tools/call", {"name": "read"}))
        await client.rest()
        await settled(rig)
        ((where, cls, message),) = rig.faults
        assert (where, cls) == ("server:ops", "dependency_unavailable") and BROKEN[style] in message


UNOPENED = {
    "elsewhere": "named another origin for what is posted: http://127.0.0.1:9/messages",
    "never": "ended its stream before it named an address",
}


@pytest.mark.parametrize("style", UNOPENED)
async def test_a_stream_that_leads_nowhere_is_the_servers_fault(style: str) -> None:
    async with served(style) as rig:
        await rig.open()
        client = await rig.client()
        await client.send(request(0, "initialize", OPENING))
        assert await client.rest() == b""
        await settled(rig)
        ((where, cls, message),) = rig.faults
        assert (where, cls) == ("server:ops", "dependency_unavailable") and UNOPENED[style] in message
        assert rig.posted() == []


async def test_an_address_that_speaks_neither_transport_says_what_it_answered_to_both() -> None:
    async with served("plain", "auto") as rig:
        rig.command = tuple(
            word.replace("/sse", "/other") if word.startswith("http:") else word for word in rig.command
        )
        await rig.open()
        client = await rig.client()
        await client.send(request(0, "initialize", OPENING))
        assert await client.rest() == b""
        await settled(rig)
        ((_, cls, message),) = rig.faults
        assert cls == "dependency_unavailable"
        assert "answered 404 Not Found to a stream (and 404 Not Found to a POST): not here" in message


async def test_an_answer_that_does_not_come_is_the_servers_fault() -> None:
    async with served("silent") as rig:
        client = await opened(rig, answer_timeout_s=600)
        await client.send(request(1, "tools/call", {"name": "read"}))
        await until(lambda: any(b'"tools/call"' in one["body"] for one in rig.requests()))
        await until(lambda: len(rig.journal.of("mcp.sent")) == 3)  # on record, and waited for, in a quiet moment
        leap(700)
        await until(lambda: rig.faults)
        ((where, cls, message),) = rig.faults
        assert (where, cls) == ("server:ops", "dependency_unavailable") and "did not answer tools/call" in message
