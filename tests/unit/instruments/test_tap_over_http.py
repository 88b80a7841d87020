"""A server that is reached over HTTP looks to the tap like any other, and its failures name it."""

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
OPENING = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "a", "version": "1"}}
META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": {"name": "a", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {},
}
SOURCES = str(Path(__file__).parents[3] / "src")
LIMIT_BYTES = 16 * 1024 * 1024


class HttpRig(Rig):
    """A tap in front of a bridge that starts a peer over HTTP."""

    def __init__(self, run_dir: RunDir, style: str, *, limit_bytes: int = LIMIT_BYTES) -> None:
        bridge = [
            sys.executable,
            "-P",
            "-m",
            "oyer.programs.http_bridge",
            str(limit_bytes),
            "auto",
            "http://127.0.0.1:{port}/mcp",
        ]
        peer = [sys.executable, str(PEERS / "http_peer.py"), "{port}", style]
        super().__init__(run_dir, [*bridge, *peer, sys.executable, str(PEERS / "notes_server.py")])
        self.log = run_dir.temp / "requests"
        self.env = {**self.env, "PYTHONPATH": SOURCES, "HTTP_PEER_LOG": str(self.log)}

    def requests(self) -> list[dict[str, Any]]:
        found = [json.loads(line) for line in self.log.read_text().splitlines()]
        return [
            {**one, "body": base64.b64decode(one["body"]), "headers": {k.lower(): v for k, v in one["headers"]}}
            for one in found
        ]


@asynccontextmanager
async def served(style: str, **options: Any) -> AsyncIterator[HttpRig]:
    """A tap in front of a server over HTTP with that manner."""
    become_subreaper()
    with open_run_dir() as run_dir:
        rig = HttpRig(run_dir, style, **options)
        try:
            yield rig
        finally:
            await rig.close()


async def opened(rig: HttpRig, **limits: Any) -> Client:
    await rig.open(limits=TapLimits(patience=QUICK, **limits))
    client = await rig.client()
    assert (await client.ask(0, "initialize", OPENING))["result"]["protocolVersion"] == "2025-11-25"
    await client.send(INITIALIZED)
    return client


@pytest.mark.parametrize("style", ["json", "pretty", "sse"])
async def test_a_conversation_crosses_and_is_recorded(style: str) -> None:
    async with served(style) as rig:
        client = await opened(rig)
        odd = (
            '{ "params" : {"name":"write","arguments":{"text":"a\\u00e9é\u2028 \\n","text":"b é","x":1.0}} ,'
            '"method":"tools/call", "id":"k","jsonrpc":"2.0"}\n'
        ).encode()
        await client.send(odd)
        line = await client.line()
        assert json.loads(line)["result"]["content"][0]["text"] == "written" and line.count(b"\n") == 1
        assert (await client.call(2, tool="read"))["result"]["content"][0]["text"] == "b é"
        assert await client.leave() == 0
        assert rig.tap is not None
        await rig.tap.settle(60)
        journal = rig.journal
        assert [journal.raw(event) for event in journal.of("mcp.sent")][2] == odd
        received = {event.body["id"]: event for event in journal.of("mcp.received")}
        assert journal.raw(received["k"]) == line and received["k"].because == (journal.of("mcp.sent")[2].ref,)
        assert journal.of("mcp.noise") == [] and rig.faults == []
        posts = [one for one in rig.requests() if one["method"] == "POST"]
        assert posts[2]["body"] == odd[:-1]
        sessions = {one["headers"].get("mcp-session-id") for one in rig.requests()[1:]}
        assert len(sessions) == 1 and None not in sessions and rig.requests()[-1]["method"] == "DELETE"
        assert {one["headers"].get("mcp-protocol-version") for one in rig.requests()[1:]} == {"2025-11-25"}


async def test_the_era_without_a_handshake_says_in_headers_what_a_request_is_about() -> None:
    async with served("sse") as rig:
        await rig.open()
        client = await rig.client()
        await client.ask(1, "tools/list", {"_meta": META})
        answer = await client.ask(2, "tools/call", {"name": "write", "arguments": {"text": "x"}, "_meta": META})
        assert answer["result"]["content"][0]["text"] == "written"
        assert await client.leave() == 0
        headers = [one["headers"] for one in rig.requests()]
        assert [(one["mcp-method"], one.get("mcp-name")) for one in headers] == [
            ("tools/list", None),
            ("tools/call", "write"),
        ]
        assert not any("mcp-session-id" in one for one in headers) and rig.faults == []


async def test_what_a_server_says_by_itself_comes_on_its_own_stream() -> None:
    async with served("sse") as rig:
        client = await opened(rig)
        await client.send(request(1, "tools/call", {"name": "chatter", "arguments": {}}))
        said = [json.loads(await client.line()) for _ in range(3)]
        methods = sorted(str(one.get("method")) for one in said)
        assert methods == ["None", "notifications/message", "roots/list"] and rig.faults == []


async def test_many_calls_at_once_each_get_their_own_answer() -> None:
    async with served("sse") as rig:
        client = await opened(rig)
        frames = [
            request(n, "tools/call", {"name": "environment", "arguments": {"name": f"N{n}"}}) for n in range(10, 74)
        ]
        await client.send(b"".join(frames))
        answered = sorted([json.loads(await client.line())["id"] for _ in frames])
        assert answered == list(range(10, 74)) and rig.faults == []
        await client.leave()
        posts = [one["body"] + b"\n" for one in rig.requests() if one["method"] == "POST"]
        assert sorted(posts[2:]) == sorted(frames)


async def test_a_stream_that_ends_early_is_taken_up_after_its_last_event() -> None:
    async with served("cuts") as rig:
        client = await opened(rig)
        assert (await client.call(1, {"text": "x"}, tool="write"))["result"]["content"][0]["text"] == "written"
        assert await client.leave() == 0
        assert [one["headers"]["last-event-id"] for one in rig.requests() if "last-event-id" in one["headers"]] == [
            "1-0"
        ]
        assert len([one for one in rig.requests() if b"tools/call" in one["body"]]) == 1
        assert rig.tap is not None
        await rig.tap.settle(60)
        (gone,) = rig.journal.of("process.exited")
        assert b"taken up after event 1-0" in rig.journal.raw(gone, "stderr") and rig.faults == []


BROKEN = {
    "forgets": "404 Not Found",
    "breaks": "405 Method Not Allowed",
    "moved": "307 Temporary Redirect",
    "fails": "500 Internal Server Error: out of order",
}


@pytest.mark.parametrize("style", BROKEN)
async def test_what_cannot_be_said_over_standard_streams_ends_the_connection_and_names_the_server(style: str) -> None:
    async with served(style) as rig:
        client = await opened(rig)
        await client.send(request(1, "tools/call", {"name": "read"}))
        if style == "forgets":
            assert json.loads(await client.line())["id"] == 1
            await client.send(request(2, "tools/call", {"name": "read"}))
        await client.rest()
        assert rig.tap is not None
        await rig.tap.settle(60)
        ((where, cls, message),) = rig.faults
        assert (where, cls) == ("server:ops", "dependency_unavailable") and BROKEN[style] in message
        calls = [one for one in rig.requests() if b'"tools/call"' in one["body"]]
        assert len(calls) == len({one["body"] for one in calls})  # nothing was sent twice


async def test_a_stream_without_end_is_bounded() -> None:
    async with served("endless", limit_bytes=1 << 20) as rig:
        client = await opened(rig, max_frame_bytes=1 << 20)
        await client.send(request(1, "tools/call", {"name": "read"}))
        await client.rest()
        assert rig.tap is not None
        await rig.tap.settle(60)
        ((where, cls, message),) = rig.faults
        assert (where, cls) == ("server:ops", "dependency_unavailable") and "beyond the bound" in message


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


async def test_an_address_that_nobody_serves_is_the_servers_fault() -> None:
    with open_run_dir() as run_dir:
        rig = HttpRig(run_dir, "json")
        rig.command = (*rig.command[:6], "http://127.0.0.1:9/mcp")
        await rig.open()
        client = await rig.client()
        await client.send(request(0, "initialize", OPENING))
        assert await client.rest() == b""
        assert rig.tap is not None
        await rig.tap.settle(60)
        await rig.close()
    ((where, cls, message),) = rig.faults
    assert (where, cls) == ("server:ops", "dependency_unavailable")
    assert "could not be reached at 127.0.0.1:9" in message
