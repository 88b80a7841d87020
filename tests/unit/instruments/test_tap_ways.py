"""Nine pairs of transports, one conversation: what reaches the server, what the subject hears, what is on record."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Literal

import pytest
from waiting import until

from instrument_kit import PEERS, QUICK, RELAY, KitJournal, replay_chain, request
from oyer.engine.place import ENDINGS, place_tapped
from oyer.host import become_subreaper, open_run_dir
from oyer.instruments import AddressedTap, Tap, TapLimits, TappedServer
from oyer.instruments.tap_http import HttpTap
from oyer.programs.tool_servers import _Process
from oyer.records import Server

SOURCES = str(Path(__file__).parents[3] / "src")
VERSION = "io.modelcontextprotocol/protocolVersion"
META = {VERSION: "2026-07-28"}
OPENING = {"protocolVersion": "2025-03-26", "capabilities": {}, "clientInfo": {"name": "a", "version": "1"}}
INITIALIZED = b'{"jsonrpc":"2.0","method":"notifications/initialized"}\n'
LIMITS = TapLimits(patience=QUICK)
HELD_OPEN = (
    "import os, sys; r, w = os.pipe(); os.set_inheritable(w, True); os.dup2(r, 0); os.execv(sys.argv[1], sys.argv[1:])"
)
STAYS = (sys.executable, "-c", HELD_OPEN)
"""A command of which standard input never ends."""
Way = Literal["command", "url", "sse"]
QUICK_PAIRS = {("stdio", "sse"), ("http", "command"), ("sse", "url")}
"""Each transport once on either side; the other pairs are asked for with the slow tests."""
PAIRS = [
    pytest.param(upstream, way, marks=() if (upstream, way) in QUICK_PAIRS else pytest.mark.slow)
    for upstream in ("stdio", "http", "sse")
    for way in ("command", "url", "sse")
]


class Talk:
    """A client's side of one connection: lines, whatever carries them."""

    def __init__(self, line: _Process) -> None:
        self._line = line
        os.set_blocking(line.to_fd, True)
        self._held = b""

    async def say(self, line: bytes) -> None:
        await asyncio.to_thread(os.write, self._line.to_fd, line)

    async def hear(self) -> bytes:
        while b"\n" not in self._held:
            chunk = await asyncio.wait_for(asyncio.to_thread(os.read, self._line.from_fd, 1 << 16), 60)
            assert chunk, "the connection ended"
            self._held += chunk
        line, _, self._held = self._held.partition(b"\n")
        return line

    async def ask(self, identifier: int, tool: str, **more: Any) -> list[Any]:
        """Call a tool and return everything that is heard until it is answered, the answer last."""
        await self.say(request(identifier, "tools/call", {"name": tool, "arguments": {}, **more}))
        heard = [json.loads(await self.hear())]
        while "method" in heard[-1] or heard[-1].get("id") != identifier:
            heard.append(json.loads(await self.hear()))
        return heard

    async def leave(self) -> None:
        os.close(self._line.to_fd)
        await asyncio.to_thread(self._line.wait, 10)
        os.close(self._line.from_fd)


class Bench:
    """A tap between two transports, and what reached the server behind it."""

    def __init__(self, tap: Tap | AddressedTap, journal: KitJournal, log: Path) -> None:
        self.tap, self.journal, self._log = tap, journal, log
        self.faults: list[tuple[str, str, str]] = []

    async def reached(self, what: bytes) -> bytes:
        """Return what reached the server, when this is in it."""
        await until(lambda: self._log.exists() and what in self._log.read_bytes())
        return self._log.read_bytes()

    @asynccontextmanager
    async def client(self) -> AsyncIterator[Talk]:
        if isinstance(self.tap, Tap):
            relay = [sys.executable, "-I", "-S", str(RELAY), str(self.tap.socket_path)]
            argv = relay
        else:
            spoken = "sse" if self.tap.url.endswith("/sse") else "http"
            argv = [sys.executable, "-P", "-m", "oyer.programs.http_bridge", "100000", spoken, self.tap.url]
        talk = Talk(_Process(argv, {**os.environ, "PYTHONPATH": SOURCES}))
        try:
            yield talk
        finally:
            await talk.leave()
            await self.tap.settle(10)


@asynccontextmanager
async def tapped(upstream: str, given_as: Way) -> AsyncIterator[Bench]:
    """Place a server as the engine does, and put a tap before it."""
    become_subreaper()
    with open_run_dir() as run_dir:
        log = run_dir.temp / "reached"
        talkative = (sys.executable, str(PEERS / "talkative_server.py"), str(log))
        door = (*STAYS, sys.executable, "-P", "-m", "oyer.programs.http_door", "100000", "{port}", *talkative)
        peer = (sys.executable, str(PEERS / "sse_peer.py"), "{port}", "plain", *talkative)
        server = {
            "stdio": Server(command=talkative, given_as=given_as),
            "http": Server(command=door, url="http://127.0.0.1:{port}/mcp", transport="http", given_as=given_as),
            "sse": Server(command=peer, url="http://127.0.0.1:{port}/sse", transport="sse", given_as=given_as),
        }[upstream]
        placed = place_tapped(server, {}, run_dir.world, message_bytes=100_000)
        env = {"PATH": os.environ["PATH"], "TMPDIR": str(run_dir.temp), "PYTHONPATH": SOURCES}
        served = (placed.url, placed.port_mark, placed.ends_with_input)
        behind = TappedServer("ops", placed.command, env, run_dir.world, str(run_dir.temp), *served)
        journal, faults = KitJournal("tap:ops"), list[tuple[str, str, str]]()
        tap: Tap | HttpTap
        if placed.url is None:
            tap = Tap(behind, run_dir.new_socket_path(), journal, limits=LIMITS, on_fault=lambda *f: faults.append(f))
        else:
            ending = ENDINGS[given_as]
            tap = HttpTap(behind, journal, limits=LIMITS, on_fault=lambda *f: faults.append(f), ending=ending)
        tap.session = "a"
        await tap.open()
        bench = Bench(tap, journal, log)
        bench.faults = faults
        try:
            yield bench
        finally:
            await tap.close()
            assert replay_chain(journal) == []


def recorded(journal: KitJournal) -> list[tuple[str, bytes, list[bytes]]]:
    """Return every message with what it answers, in the order of the record."""
    crossed = [event for event in journal.events if event.kind in ("mcp.sent", "mcp.received")]
    raw = {event.ref: journal.raw(event).strip() for event in crossed}
    return [(event.kind, raw[event.ref], [raw[ref] for ref in event.because]) for event in crossed]


async def older_talk(bench: Bench) -> list[Any]:
    """Speak of all that the era of sessions has; return what was heard."""
    async with bench.client() as talk:
        await talk.say(request(0, "initialize", OPENING))
        heard: list[Any] = [json.loads(await talk.hear())]
        await talk.say(INITIALIZED)
        heard += await talk.ask(1, "progress", _meta={"progressToken": "p"})
        await talk.say(request(2, "tools/call", {"name": "ask", "arguments": {}}))
        heard.append(json.loads(await talk.hear()))
        await talk.say(b'{"jsonrpc":"2.0","id":"s1","result":{"role":"assistant"}}\n')
        heard.append(json.loads(await talk.hear()))
        heard += await talk.ask(3, "talk")
        await talk.say(request(4, "tools/call", {"name": "wait", "arguments": {}}))
        await bench.reached(b'"wait"')
        await talk.say(b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":4}}\n')
        heard.append(json.loads(await talk.hear()))
        batch = [json.loads(request(5, "ping")), json.loads(request(6, "tools/call", {"name": "x", "arguments": {}}))]
        await talk.say(json.dumps(batch).encode() + b"\n")
        heard.append(json.loads(await talk.hear()))
    return heard


async def newer_talk(bench: Bench) -> list[Any]:
    """Speak of all that the era without sessions has; return what was heard."""
    async with bench.client() as talk:
        await talk.say(request(1, "subscriptions/listen", {"_meta": META, "notifications": {"toolsListChanged": True}}))
        heard = [json.loads(await talk.hear()) for _ in range(2)]
        heard += await talk.ask(2, "progress", _meta={**META, "progressToken": 7})
        heard += await talk.ask(3, "talk", _meta=META)
        params = {"requestId": 1, "_meta": META}
        cancel = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params}
        await talk.say(json.dumps(cancel).encode() + b"\n")
        await bench.reached(b'"notifications/cancelled"')
        heard += await talk.ask(4, "after", _meta=META)
    return heard


@pytest.mark.parametrize(("upstream", "given_as"), PAIRS)
async def test_the_era_of_sessions_is_the_same_over_every_pair(upstream: str, given_as: Way) -> None:
    async with tapped(upstream, given_as) as bench:
        heard = await older_talk(bench)
        reached = (await bench.reached(b'"ping"')).splitlines()
    assert [each.get("method") or each.get("id") for each in heard[:-1]] == [
        0,
        *["notifications/progress"] * 3,
        1,
        "sampling/createMessage",
        2,
        "notifications/message",
        3,
        "notifications/message",
    ]
    assert heard[6]["result"]["content"][0]["text"] == '{"role": "assistant"}'
    assert heard[9]["params"]["data"] == "cancelled 4" and [each["id"] for each in heard[10]] == [5, 6]
    record = recorded(bench.journal)
    assert [raw for kind, raw, _ in record if kind == "mcp.sent"] == [line.strip() for line in reached]
    assert [json.loads(raw) for kind, raw, _ in record if kind == "mcp.received"] == heard
    answers = {json.dumps(json.loads(raw)): of for kind, raw, of in record if kind == "mcp.received"}
    sent = [(json.loads(raw), raw) for kind, raw, _ in record if kind == "mcp.sent"]
    asked = {each["id"]: raw for each, raw in sent if isinstance(each, dict) and "id" in each}
    for each in heard[:-1]:
        if "method" not in each:
            assert answers[json.dumps(each)] == [asked[each["id"]]]
    assert answers[json.dumps(heard[10])] == [raw for _, raw, _ in record if raw.startswith(b"[{") and b"ping" in raw]
    assert bench.faults == [], bench.faults
    assert {event.body["connection"] for event in bench.journal.of("mcp.sent")} == {0}


@pytest.mark.parametrize(("upstream", "given_as"), PAIRS)
async def test_the_era_without_sessions_is_the_same_over_every_pair(upstream: str, given_as: Way) -> None:
    async with tapped(upstream, given_as) as bench:
        heard = await newer_talk(bench)
        reached = [json.loads(line) for line in (await bench.reached(b'"after"')).splitlines()]
    assert [each.get("method") or each.get("id") for each in heard] == [
        "notifications/subscriptions/acknowledged",
        "notifications/tools/list_changed",
        *["notifications/progress"] * 3,
        2,
        "notifications/message",
        3,
        4,
    ]
    methods = ["subscriptions/listen", *["tools/call"] * 2, "notifications/cancelled", "tools/call"]
    assert [each["method"] for each in reached] == methods and reached[3]["params"]["requestId"] == 1
    record = recorded(bench.journal)
    sent = [json.loads(raw) for kind, raw, _ in record if kind == "mcp.sent"]
    said = given_as == "url"  # where a stream that is closed says it, no message does
    assert sent == [each for each in reached if not (said and each["method"] == "notifications/cancelled")]
    assert [json.loads(raw) for kind, raw, _ in record if kind == "mcp.received"] == heard
    assert bench.faults == [], bench.faults
