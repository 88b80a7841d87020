"""Over HTTP with SSE of 2024-11-05 every byte passes as it came but the address that a stream names."""

from __future__ import annotations

import asyncio
import base64
import json
import os
import re
import sys
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from waiting import leap, until
from yarl import URL

from instrument_kit import PEERS, QUICK, KitJournal, replay_chain, request
from oyer.host import become_subreaper, open_run_dir
from oyer.instruments import DeclaredBlock, DeclaredEdit, TapLimits, TappedServer, TapRules
from oyer.instruments.tap_http import HttpTap
from oyer.protocol import BlockRule, Edit, Selector, SseSplitter, parse_sse

QUICKLY = TapLimits(patience=QUICK)
JSON = {"Content-Type": "application/json"}
OPENING = {"protocolVersion": "2024-11-05", "capabilities": {}, "clientInfo": {"name": "a", "version": "1"}}
INITIALIZED = b'{"jsonrpc":"2.0","method":"notifications/initialized"}'


class Stream:
    """A client's stream and what it posts."""

    def __init__(self, client: aiohttp.ClientSession, url: str, came: aiohttp.ClientResponse) -> None:
        self._client, self._url, self.came = client, url, came
        self._splitter = SseSplitter()
        self._events: list[bytes] = []
        self.endpoint = ""

    async def event(self) -> bytes:
        """Return the raw bytes of the next event; b"" at the end."""
        while not self._events:
            chunk = await asyncio.wait_for(self.came.content.readany(), 60)
            if not chunk:
                return b""
            self._events += self._splitter.feed(chunk)
        return self._events.pop(0)

    async def data(self) -> bytes:
        """Return the data of the next message."""
        while raw := await self.event():
            event = parse_sse(raw)
            if event.event == "message" and event.data:
                return event.data
        return b""

    async def begin(self) -> None:
        while not (event := parse_sse(await self.event())).data:
            pass
        assert event.event == "endpoint" and event.data is not None
        self.endpoint = f"{'/'.join(self._url.split('/')[:3])}{event.data.decode()}"

    async def post(self, body: bytes) -> tuple[int, bytes]:
        async with self._client.post(URL(self.endpoint, encoded=True), data=body, headers=JSON) as reply:
            return reply.status, await reply.read()

    async def greet(self) -> None:
        await self.begin()
        assert (await self.post(request(0, "initialize", OPENING).rstrip(b"\n")))[0] == 202
        assert json.loads(await self.data())["id"] == 0
        assert (await self.post(INITIALIZED))[0] == 202


class Bench:
    """A tap, its journal, and a client."""

    def __init__(self, tap: HttpTap, log: Path) -> None:
        self.tap, self.journal, self.log = tap, KitJournal("tap:ops"), log
        self.faults: list[tuple[str, str, str]] = []

    @asynccontextmanager
    async def stream(self) -> AsyncIterator[Stream]:
        headers = {"Accept": "text/event-stream"}
        async with aiohttp.ClientSession() as client, client.get(self.tap.url, headers=headers) as came:
            yield Stream(client, self.tap.url, came)

    async def over(self) -> None:
        await until(lambda: not self.tap.connections)

    def reached(self) -> list[bytes]:
        lines = [json.loads(line) for line in self.log.read_text().splitlines()]
        return [base64.b64decode(line["body"]) for line in lines if line["path"].startswith("/messages")]


@asynccontextmanager
async def tapped(
    style: str | None = None, *, url: str | None = None, limits: TapLimits = QUICKLY, **options: Any
) -> AsyncIterator[Bench]:
    become_subreaper()
    with open_run_dir() as run_dir:
        log = run_dir.temp / "requests"
        env = {"PATH": os.environ["PATH"], "TMPDIR": str(run_dir.temp), "HTTP_PEER_LOG": str(log)}
        env["PYTHONPATH"] = str(Path(__file__).parents[3] / "src")
        peer = (sys.executable, str(PEERS / "sse_peer.py"), "{port}", style or "", sys.executable)
        command = (*peer, str(PEERS / "notes_server.py")) if style else ()
        place = url or "http://127.0.0.1:{port}/sse"
        server = TappedServer("ops", command, env, run_dir.world, str(run_dir.temp), place)
        faults: list[tuple[str, str, str]] = []
        journal = KitJournal("tap:ops")
        tap = HttpTap(
            server, journal, limits=limits, on_fault=lambda *fault: faults.append(fault), ending="sse", **options
        )
        tap.session = "a"
        await tap.open()
        bench = Bench(tap, log)
        bench.journal, bench.faults = journal, faults
        try:
            yield bench
        finally:
            await tap.close()
            assert replay_chain(journal) == []


Talk = Callable[[bytes, asyncio.StreamWriter], Coroutine[Any, Any, None]]


@asynccontextmanager
async def upstream(talk: Talk) -> AsyncIterator[tuple[str, list[bytes]]]:
    """A server of raw bytes: it keeps each request as it came, and `talk` writes what it likes."""
    requests: list[bytes] = []
    tasks: set[asyncio.Task[Any]] = set()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        tasks.add(task)
        with suppress(asyncio.IncompleteReadError, ConnectionError, asyncio.CancelledError):
            head = await reader.readuntil(b"\r\n\r\n")
            lines = head.lower().split(b"\r\n")
            length = next((int(line.split(b":")[1]) for line in lines if line.startswith(b"content-length")), 0)
            requests.append(head + await reader.readexactly(length))
            await talk(requests[-1], writer)
            await writer.drain()
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    try:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/s%2Fse?k=%20v", requests
    finally:
        server.close()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


HEAD = (
    b"HTTP/1.1 200 Fine\r\nContent-Type: text/event-stream\r\nX-Odd: a\r\nX-Odd: b\r\n"
    b"Transfer-Encoding: chunked\r\n\r\n"
)
FIRST = b": hello\r\n\r\nevent: endpoint\r\nid: 0\r\ndata: %s\r\n\r\n"
NAMED = b"/a%2Fb/messages?session=%C3%A9&x"
REST = (
    'event: message\nid: 7\ndata: {"jsonrpc":"2.0","method":"notifications/message","params":{"x":1.0,"x":"é\u2028"}}'
    '\n\ndata: {"jsonrpc":"2.0",\ndata: "id":"k","result":{"content":[{"type":"text","text":"ж𝄞"}]}}\r\n\r\n'
    "event: endpoint\ndata: /again\n\nevent: other\ndata: unknown\n\n"
).encode()
ODD = (
    '{ "params" : {"name":"écho","arguments":{"a":1.0,"a":2e2,"n":1234567890123456789,"t":"\\u00e9\u2028 \\/"}} ,\r\n'
    '"method":"tools/call", "id":"k","jsonrpc":"2.0"}\n'
).encode()


async def test_a_stream_and_what_is_posted_pass_byte_for_byte_but_for_the_address() -> None:
    posted = asyncio.Event()

    async def send(data: bytes, writer: asyncio.StreamWriter) -> None:
        for at in range(0, len(data), 3):  # characters are split
            part = data[at : at + 3]
            writer.write(b"%x\r\n%s\r\n" % (len(part), part))
            await writer.drain()

    async def talk(raw: bytes, writer: asyncio.StreamWriter) -> None:
        if raw.startswith(b"POST"):
            writer.write(b"HTTP/1.1 202 Taken\r\nX-Mine: yes\r\nContent-Length: 8\r\n\r\nAccepted")
            posted.set()
            return
        writer.write(HEAD)
        await send(FIRST % NAMED, writer)
        await posted.wait()
        await send(REST, writer)
        await asyncio.sleep(30)

    async with upstream(talk) as (url, requests), tapped(url=url) as bench:
        async with bench.stream() as stream:
            assert stream.came.status == 200 and stream.came.headers.getall("X-Odd") == ["a", "b"]
            assert await stream.event() == b": hello\r\n\r\n"
            first = await stream.event()
            told = parse_sse(first)
            assert told.data is not None and told.data.endswith(NAMED)
            root = told.data.removesuffix(NAMED)
            assert re.fullmatch(rb"/[A-Za-z0-9_-]{20,}", root) and bench.tap.url.endswith(f"{root.decode()}/sse")
            assert b": hello\r\n\r\n" + first == FIRST % told.data
            stream.endpoint = f"{'/'.join(bench.tap.url.split('/')[:3])}{told.data.decode()}"
            assert await stream.post(ODD) == (202, b"Accepted")
            pieces = [await stream.event() for _ in range(4)]
            assert b"".join(pieces) == REST.replace(b"/again", root + b"/again")
        await bench.over()
    opened, sent = requests
    assert opened.startswith(b"GET /s%2Fse?k=%20v HTTP/1.1\r\n") and b"\r\nAccept: text/event-stream" in opened
    head, _, body = sent.partition(b"\r\n\r\n")
    assert head.startswith(b"POST " + NAMED + b" HTTP/1.1\r\n") and body == ODD
    journal = bench.journal
    (sent_event,) = journal.of("mcp.sent")
    assert journal.raw(sent_event) == ODD and sent_event.body["id"] == "k" and sent_event.body["tool"] == "écho"
    notice, answer = journal.of("mcp.received")
    assert answer.because == (sent_event.ref,) and notice.body["method"] == "notifications/message"
    noise = {journal.raw(event) for event in journal.of("mcp.noise")}  # it is kept, and is no message
    assert noise == {b"Accepted", b"event: other\ndata: unknown\n\n"} and bench.faults == []
    assert [event.body["reason"] for event in journal.of("connection.closed")] == ["subject_closed"]


@pytest.mark.parametrize("style", ["plain", "absolute", "pieces", "holds"])
async def test_a_stream_is_a_connection_with_all_that_is_posted_for_it(style: str) -> None:
    calls = [request(n, "tools/call", {"name": "environment", "arguments": {"name": f"N{n}"}}) for n in range(1, 65)]
    async with tapped(style) as bench:
        async with bench.stream() as one, bench.stream() as other:
            for stream in (one, other):
                await stream.greet()
            replies = await asyncio.gather(*(one.post(call) for call in calls), other.post(calls[0]))
            assert {status for status, _ in replies} == {202}
            assert sorted([json.loads(await one.data())["id"] for _ in calls]) == list(range(1, 65))
            assert json.loads(await other.data())["id"] == 1
        await bench.over()
        reached = bench.reached()
    journal = bench.journal
    sent = {number: [e for e in journal.of("mcp.sent") if e.body["connection"] == number] for number in (0, 1)}
    assert sorted(journal.raw(event) for event in sent[0][2:]) == sorted(calls)
    assert [journal.raw(event) for event in sent[1][2:]] == calls[:1]
    assert sorted(reached) == sorted(journal.raw(event) for event in journal.of("mcp.sent"))
    assert all(len(event.because) == 1 for event in journal.of("mcp.received")) and bench.faults == []


async def test_what_a_server_asks_and_what_it_is_answered_pass() -> None:
    async with tapped("plain") as bench:
        async with bench.stream() as stream:
            await stream.greet()
            await stream.post(request(1, "tools/call", {"name": "chatter", "arguments": {}}))
            said = [json.loads(await stream.data()) for _ in range(3)]
            asked = next(one for one in said if one.get("method") == "roots/list")
            answer = json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": {"roots": []}}).encode()
            assert (await stream.post(answer))[0] == 202
        await bench.over()
    assert bench.journal.raw(bench.journal.of("mcp.sent")[-1]) == answer and bench.faults == []


EDIT = DeclaredEdit("e", Selector("ops", tool="read"), Edit("replace_text", {"find": "pending", "with": "approved é"}))


async def test_a_declared_change_replaces_its_span_in_the_event_and_nothing_else() -> None:
    events = []
    for rules in (TapRules(), TapRules(edit=EDIT)):
        async with tapped("pieces", rules=rules, declared=TapRules(edit=EDIT)) as bench, bench.stream() as stream:
            await stream.greet()
            await stream.post(request(5, "tools/call", {"name": "read", "arguments": {}}))
            events.append(await stream.event())
            assert bench.faults == []
    assert b"pending" in events[0] and events[1] == events[0].replace(b"pending", "approved é".encode())


async def test_a_refusal_comes_where_answers_come() -> None:
    rules = TapRules(block=DeclaredBlock("b", "ops", BlockRule("write"), "not allowed"))
    async with tapped("plain", rules=rules, declared=rules) as bench:
        async with bench.stream() as stream:
            await stream.greet()
            assert await stream.post(request(3, "tools/call", {"name": "write", "arguments": {"text": "x"}})) == (
                202,
                b"Accepted",
            )
            told = json.loads(await stream.data())
            assert told["id"] == 3 and "not allowed" in json.dumps(told)
        await bench.over()
        assert not any(b"tools/call" in body for body in bench.reached())
    assert [event.body["did"] for event in bench.journal.of("mcp.policy")] == ["refused"]


async def test_nothing_is_posted_where_no_stream_named_it() -> None:
    async with tapped("plain") as bench, aiohttp.ClientSession() as client:
        async with bench.stream() as stream:
            await stream.begin()
            named = stream.endpoint
            async with client.post(f"{named}0", data=b"{}") as reply:
                assert reply.status == 404
        await bench.over()
        async with client.post(URL(named, encoded=True), data=b"{}") as reply:
            assert reply.status == 404  # its stream is gone
    assert bench.journal.of("mcp.sent") == [] and bench.faults == []


BROKEN = {
    "ends": "ended its stream before the subject was done with it",
    "elsewhere": "named another origin for what is posted",
}


@pytest.mark.parametrize("style", BROKEN)
async def test_a_server_that_fails_its_client_is_named(style: str) -> None:
    async with tapped(style) as bench:
        async with bench.stream() as stream:
            with suppress(aiohttp.ClientError):
                await stream.greet()
                await stream.post(request(1, "tools/call", {"name": "read"}))
                assert await stream.data() == b""
        await bench.over()
        ((where, cls, message),) = bench.faults
        assert (where, cls) == ("server:ops", "dependency_unavailable") and BROKEN[style] in message


async def test_a_client_that_tries_the_newer_transport_first_finds_the_older_one() -> None:
    async with tapped("plain", limits=QUICKLY._replace(answer_timeout_s=600)) as bench:
        greeting = request(0, "initialize", OPENING)
        async with (
            aiohttp.ClientSession() as client,
            client.post(bench.tap.url, data=greeting, headers=JSON) as reply,
        ):
            assert reply.status == 405 and reply.headers["Allow"] == "GET"
        async with bench.stream() as stream:
            await stream.greet()
            leap(700)
            await asyncio.sleep(0.05)  # nobody waits for the answer that was refused
            assert bench.faults == []
    assert [event.body["connection"] for event in bench.journal.of("mcp.sent")] == [0, 1, 1]


@pytest.mark.slow
async def test_a_result_of_fifty_megabytes_passes_whole_on_a_stream() -> None:
    body = b'{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"' + b"x" * (50 << 20) + b'"}]}}'
    posted = asyncio.Event()

    async def talk(raw: bytes, writer: asyncio.StreamWriter) -> None:
        if raw.startswith(b"POST"):
            posted.set()
            writer.write(b"HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n")
            return
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\nevent: endpoint\ndata: /m\n\n")
        await posted.wait()
        writer.write(b"data: " + body + b"\n\n")
        await writer.drain()
        await asyncio.sleep(30)

    limits = QUICKLY._replace(max_frame_bytes=64 << 20)
    async with upstream(talk) as (url, _), tapped(url=url, limits=limits) as bench:
        async with bench.stream() as stream:
            await stream.begin()
            assert (await stream.post(request(1, "tools/call", {"name": "big"})))[0] == 202
            assert await stream.data() == body
        await bench.over()
    assert bench.faults == [] and bench.journal.of("mcp.received")[0].body["payload"]["size"] == len(body)
