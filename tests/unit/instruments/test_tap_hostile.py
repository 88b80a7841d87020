"""What a server or a subject over HTTP may try in order to be seen no more, or to have others blamed for it."""

from __future__ import annotations

import asyncio
import json
import socket
from contextlib import ExitStack, suppress
from typing import Any

import pytest
from http_tap_kit import JSON, QUICKLY, Bench, cut, tapped, upstream
from waiting import leap, until

from instrument_kit import request
from oyer.instruments import CallsInFlight

OK = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: "
ANSWER = b'{"jsonrpc":"2.0","id":1,"result":{}}'
CALL = request(1, "tools/call", {"name": "read", "arguments": {}}).rstrip(b"\n")


def whole(body: bytes) -> bytes:
    return OK + b"%d\r\n\r\n" % len(body) + body


def talks(*pieces: bytes) -> Any:
    async def talk(_: bytes, writer: asyncio.StreamWriter) -> None:
        for piece in pieces:
            writer.write(piece)
            await writer.drain()

    return talk


async def raw_open(bench: Bench) -> tuple[asyncio.StreamReader, asyncio.StreamWriter, str]:
    """Open a connection to the tap; return it with the path and the host line of a request."""
    host, _, path = bench.tap.url.removeprefix("http://").partition("/")
    reader, writer = await asyncio.open_connection(*host.split(":"))
    return reader, writer, f"/{path} HTTP/1.1\r\nHost: {host}\r\n"


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
@pytest.mark.parametrize("place", ["http://127.0.0.1:9/mcp/", "/mcp/", "//127.0.0.1:9/"])
async def test_a_server_that_sends_its_client_elsewhere_is_blamed_and_followed_by_nobody(
    status: int, place: str
) -> None:
    head = f"HTTP/1.1 {status} Moved\r\nLocation: {place}\r\nContent-Length: 0\r\n\r\n".encode()
    async with upstream(talks(head)) as (url, requests), tapped(url=url) as bench:
        await cut(bench, CALL)
    assert len(requests) == 1
    ((where, cls, message),) = bench.faults
    assert (where, cls) == ("server:ops", "dependency_unavailable") and str(status) in message and place in message


async def test_what_a_server_says_in_an_event_of_another_name_is_on_record() -> None:
    events = b'event: other\ndata: {"jsonrpc":"2.0","id":1,"result":{"x":1}}\n\n: words\n\ndata: ' + ANSWER + b"\n\n"
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"
    async with upstream(talks(head, events)) as (url, _), tapped(url=url) as bench:
        assert (await bench.ask(CALL)).body == events
    noise = [bench.journal.raw(event) for event in bench.journal.of("mcp.noise")]
    assert noise == [b'event: other\ndata: {"jsonrpc":"2.0","id":1,"result":{"x":1}}\n\n'] and bench.faults == []
    assert [bench.journal.raw(event) for event in bench.journal.of("mcp.received")] == [ANSWER]


async def test_events_of_another_name_are_bounded_as_messages_are() -> None:
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"
    events = [b"event: other\ndata: x\n\n"] * 200
    limits = QUICKLY._replace(max_frames=100)
    async with upstream(talks(head, *events)) as (url, _), tapped(url=url, limits=limits) as bench:
        await cut(bench, CALL)
    assert "more than 100 messages" in bench.faults[0][2] and bench.faults[0][0] == "server:ops"


async def test_a_byte_order_mark_inside_a_stream_hides_an_event_from_whoever_reads_it() -> None:
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"
    first, second = b'{"jsonrpc":"2.0","method":"notifications/x"}', ANSWER
    mark = b"\xef\xbb\xbf"
    events = mark + b"data: " + first + b"\n\n" + mark + b"data: " + second + b"\n\n"
    async with upstream(talks(head, events)) as (url, _), tapped(url=url) as bench:
        assert (await bench.ask(CALL)).body == events
    assert [bench.journal.raw(event) for event in bench.journal.of("mcp.received")] == [first]


async def test_a_client_that_waits_to_be_told_to_go_on_is_told() -> None:
    async with upstream(talks(whole(ANSWER))) as (url, requests), tapped(url=url) as bench:
        reader, writer, line = await raw_open(bench)
        writer.write(f"POST {line}Expect: 100-continue\r\nContent-Length: {len(CALL)}\r\n\r\n".encode())
        assert await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), 20) == b"HTTP/1.1 100 Continue\r\n\r\n"
        writer.write(CALL)
        assert (await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), 20)).startswith(b"HTTP/1.1 200 OK")
        writer.close()
        assert requests[0].endswith(CALL) and b"expect" not in requests[0].lower()


async def test_a_whole_address_is_a_target_too_and_garbage_is_nobodys_traceback(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async with upstream(talks(whole(ANSWER))) as (url, requests), tapped(url=url) as bench:
        for whose, status in ((bench.tap.url.split("/")[2], b"200"), ("evil.example", b"404")):
            reader, writer, line = await raw_open(bench)
            length = f"Content-Length: {len(CALL)}\r\n\r\n"
            writer.write(f"POST http://{whose}{line}{length}".encode() + CALL)
            assert (await asyncio.wait_for(reader.readuntil(b"\r\n"), 60)).split()[1] == status
            writer.close()
        reader, writer, _ = await raw_open(bench)
        writer.write(b"\x16\x03\x01\x02\x00\r\n\r\n")
        assert b" 400 " in await asyncio.wait_for(reader.readuntil(b"\r\n"), 60)
        writer.close()
    assert len(requests) == 1 and requests[0].startswith(b"POST /mcp%2Fx ") and caplog.records == []


@pytest.mark.parametrize("size", [9_000, 60_000])
async def test_long_headers_pass_both_ways(size: int) -> None:
    long = "a" * size
    answer = whole(ANSWER).replace(b"\r\n\r\n", b"\r\nX-Long: " + long.encode() + b"\r\n\r\n", 1)
    async with upstream(talks(answer)) as (url, requests), tapped(url=url) as bench:
        reply = await bench.ask(CALL, headers={**JSON, "X-Long": long})
    assert reply.header("x-long") == long and f"X-Long: {long}".encode() in requests[0] and bench.faults == []


async def test_a_subject_that_opens_a_thousand_connections_is_named_and_holds_nothing() -> None:
    async with upstream(talks(whole(ANSWER))) as (url, _), tapped(url=url) as bench:
        host, _, _ = bench.tap.url.removeprefix("http://").partition("/")
        name, port = host.split(":")
        with ExitStack() as held:
            for _ in range(1000):
                held.enter_context(await asyncio.to_thread(socket.create_connection, (name, int(port)), 20))
            await until(lambda: bench.faults)
            assert bench.faults[0][:2] == ("tap:ops", "subject") and "connections at once" in bench.faults[0][2]
            assert len(bench.faults) == 1
        await until(lambda: bench.tap.held == 0)
        assert (await bench.ask(CALL)).body == ANSWER


@pytest.mark.parametrize(
    ("told", "named"),
    [("http://localhost:{port}/m", None), ("//127.0.0.12:{port}/m", None), ("/m é?a=b c", "/m%20%C3%A9?a=b%20c")],
)
async def test_an_address_to_post_to_leads_back_here_or_is_named(told: str, named: str | None) -> None:
    async def talk(raw: bytes, writer: asyncio.StreamWriter) -> None:
        if raw.startswith(b"GET"):
            address = told.replace("{port}", url.split(":")[2].partition("/")[0])
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n")
            writer.write(f"event: endpoint\ndata: {address}\n\n".encode())
            await writer.drain()
            await asyncio.Event().wait()
        writer.write(b"HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n")

    async with upstream(talk) as (url, requests), tapped(url=url) as bench:
        reader, writer, line = await raw_open(bench)
        writer.write(f"GET {line}Accept: text/event-stream\r\n\r\n".encode())
        if named is None:
            await until(lambda: bench.faults)
            assert bench.faults[0][0] == "server:ops" and told[:12] in bench.faults[0][2] and url in bench.faults[0][2]
        else:
            await asyncio.wait_for(reader.readuntil(b"data: "), 60)
            place = (await asyncio.wait_for(reader.readuntil(b"\n"), 60)).strip().decode()
            assert place.endswith(named)
            _, other, line = await raw_open(bench)
            other.write(f"POST {place} {line.partition(' ')[2]}Content-Length: {len(CALL)}\r\n\r\n".encode() + CALL)
            await until(lambda: len(requests) == 2)
            assert requests[1].startswith(f"POST {named} HTTP/1.1".encode()) and bench.faults == []
            other.close()
        writer.close()


async def test_a_stream_at_the_address_that_another_one_named_is_a_stream_of_its_own() -> None:
    async def talk(raw: bytes, writer: asyncio.StreamWriter) -> None:
        if raw.startswith(b"GET"):
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n")
            writer.write(b"event: endpoint\ndata: /mcp\n\n")
            await writer.drain()
            await asyncio.Event().wait()

    async with upstream(talk) as (url, requests), tapped(url=url.replace("/mcp%2Fx", "/mcp")) as bench:
        streams = []
        for number in range(2):
            reader, writer, line = await raw_open(bench)
            writer.write(f"GET {line}Accept: text/event-stream\r\n\r\n".encode())
            await asyncio.wait_for(reader.readuntil(b"data: "), 20)
            assert bench.tap.connections == number + 1
            streams.append(writer)
        streams[1].close()
        await until(lambda: bench.tap.connections == 1)
        assert [event.body["connection"] for event in bench.journal.of("connection.closed")] == [1]
        streams[0].close()
    assert bench.faults == [] and len(requests) == 2


class Held:
    """A watcher whose first look waits until it may end."""

    def __init__(self) -> None:
        self.looking, self.go_on = asyncio.Event(), asyncio.Event()

    async def before_forward(self, call_ref: str, in_flight: tuple[str, ...]) -> None:
        self.looking.set()
        await self.go_on.wait()

    async def before_answer(self, call_ref: str, in_flight: tuple[str, ...]) -> None:
        pass


async def test_a_call_that_never_went_on_is_waited_for_by_nobody() -> None:
    held, calls = Held(), CallsInFlight()
    limits = QUICKLY._replace(answer_timeout_s=600)
    async with (
        upstream(talks(whole(ANSWER))) as (url, requests),
        tapped(url=url, limits=limits, watchers=[held], calls=calls) as bench,
    ):
        _, writer, line = await raw_open(bench)
        writer.write(f"POST {line}Content-Length: {len(CALL)}\r\n\r\n".encode() + CALL)
        await asyncio.wait_for(held.looking.wait(), 60)
        assert len(calls.refs()) == 1
        writer.close()
        await until(lambda: not calls.refs())
        leap(700)
        await asyncio.sleep(0.05)
    assert bench.faults == [] and requests == [] and len(bench.journal.of("mcp.sent")) == 1


async def test_what_a_server_says_unasked_on_a_kept_connection_answers_nobody() -> None:
    stale = asyncio.Event()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(asyncio.IncompleteReadError, ConnectionError):
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                size = next(
                    int(line[15:]) for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:")
                )
                asked = json.loads(await reader.readexactly(size))
                writer.write(whole(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": {}}).encode()))
                await asyncio.sleep(0.01)
                writer.write(b"HTTP/1.1 408 Request Timeout\r\nContent-Length: 0\r\n\r\n")
                await writer.drain()
                stale.set()
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/mcp"
    async with server, tapped(url=url) as bench:
        for number in range(3):
            reply = await bench.ask(CALL.replace(b'"id": 1', b'"id": %d' % number))
            assert reply.status == 200 and json.loads(reply.body)["id"] == number
            await asyncio.wait_for(stale.wait(), 60)
            await asyncio.sleep(0.05)
            stale.clear()
        assert bench.faults == []
