"""Between HTTP and HTTP every byte of a message passes as it came, and everything is on record."""

from __future__ import annotations

import asyncio
import hashlib
import http.client
import json
import socket
from contextlib import suppress

import pytest
from http_tap_kit import JSON, QUICKLY, cut, fetch, tapped, upstream
from waiting import leap, until

from instrument_kit import request
from oyer.instruments import DeclaredBlock, DeclaredEdit, TapRules
from oyer.protocol import BlockRule, Edit, Selector

ODD = (
    '{ "params" : {"name":"écho","arguments":{"a":1.0,"a":2e2,"n":1234567890123456789,"t":"\\u00e9\u2028 \\/"}} ,\r\n'
    '"method":"tools/call", "id":"k","jsonrpc":"2.0"}\n'
).encode()
EVENTS = (
    ": first\r\n\r\nid: 7\r\nretry: 250\r\ndata:\r\n\r\n"
    'event: message\ndata: {"jsonrpc":"2.0","method":"notifications/message","params":{"x":1.0,"x":"é\u2028"}}\n\n'
    'data: {"jsonrpc":"2.0",\ndata: "id":"k","result":{"content":[{"type":"text","text":"ж𝄞"}]}}\r\n\r\n'
    "event: other\ndata: unknown\n\n: never ended"
).encode()


async def test_a_request_and_a_stream_pass_byte_for_byte() -> None:
    async def talk(_: bytes, writer: asyncio.StreamWriter) -> None:
        writer.write(
            b"HTTP/1.1 200 Fine\r\nContent-Type: text/event-stream\r\nX-Odd: a\r\nX-Odd: b\r\nMcp-Session-Id: s1\r\n"
            b"Transfer-Encoding: chunked\r\nKeep-Alive: 5\r\n\r\n"
        )
        for at in range(0, len(EVENTS), 3):  # characters are split
            part = EVENTS[at : at + 3]
            writer.write(b"%x\r\n%s\r\n" % (len(part), part))
            await writer.drain()
        writer.write(b"0\r\n\r\n")

    async with upstream(talk) as (url, requests), tapped(url=url) as bench:
        headers = {**JSON, "X-Unknown": "kept", "Last-Event-ID": "6", "MCP-Protocol-Version": "2099-01-01"}
        reply = await bench.ask(ODD, headers={**headers, "Connection": "X-Hop", "X-Hop": "gone"}, tail="?a=%2F&b")
    head, _, body = requests[0].partition(b"\r\n\r\n")
    assert body == ODD and head.startswith(b"POST /mcp%2Fx?a=%2F&b HTTP/1.1\r\n")
    for name, value in headers.items():
        assert f"\r\n{name}: {value}".encode() in head
    assert b"X-Hop" not in head and f"Host: {url.split('/')[2]}".encode() in head
    assert (reply.status, reply.body) == (200, EVENTS)
    assert [value for key, value in reply.headers if key == "X-Odd"] == ["a", "b"]
    assert reply.header("mcp-session-id") == "s1" and reply.header("keep-alive") is None
    journal = bench.journal
    (sent,) = journal.of("mcp.sent")
    assert journal.raw(sent) == ODD and sent.body["id"] == "k" and sent.body["tool"] == "écho"
    notice, answer = journal.of("mcp.received")
    assert journal.raw(answer) == EVENTS.split(b"\n\ndata: ")[1].split(b"\r\n\r\n")[0].replace(b"\ndata: ", b"\n")
    assert answer.because == (sent.ref,) and notice.body["method"] == "notifications/message"
    noise = [journal.raw(event) for event in journal.of("mcp.noise")]
    assert noise == [b"event: other\ndata: unknown\n\n", b": never ended"]
    delivered = {
        (event.body["of"], event.body["sha256"], event.body["direction"]) for event in journal.of("mcp.delivered")
    }
    assert (sent.ref, f"sha256:{hashlib.sha256(ODD).hexdigest()}", "to_server") in delivered and len(delivered) == 5
    assert bench.faults == [] and journal.kinds()[-1] == "connection.closed"


async def test_an_event_is_passed_on_before_the_next_one_comes() -> None:
    go_on = asyncio.Event()

    async def talk(_: bytes, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n")
        await writer.drain()
        await go_on.wait()
        writer.write(b"data: {}\n\n")

    async with upstream(talk) as (url, _), tapped(url=url) as bench:
        host, port = bench.tap.url.split("/")[2].split(":")
        reader, writer = await asyncio.open_connection(host, int(port))
        writer.write(f"GET {bench.tap.url.split(str(port))[1]} HTTP/1.1\r\nHost: {host}:{port}\r\n\r\n".encode())
        head = await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), 60)
        assert b"text/event-stream" in head
        go_on.set()
        assert await asyncio.wait_for(reader.readuntil(b"data: {}\n\n"), 60)
        writer.close()


STATUSES = {
    "accepted": b"HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n",
    "refused": b"HTTP/1.1 405 Method Not Allowed\r\nAllow: POST\r\nContent-Length: 2\r\n\r\nno",
    "unauthorized": b'HTTP/1.1 401 Unauthorized\r\nWWW-Authenticate: Bearer realm="x"\r\nContent-Length: 0\r\n\r\n',
    "failed": b"HTTP/1.1 503 Busy\r\nContent-Length: 4\r\n\r\nbusy",
    "encoded": b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 3\r\n\r\n\x1f\x8b\x00",
}


@pytest.mark.parametrize("name", STATUSES)
async def test_statuses_pass_as_they_are(name: str) -> None:
    async def talk(_: bytes, writer: asyncio.StreamWriter) -> None:
        writer.write(STATUSES[name])

    async with upstream(talk) as (url, requests), tapped(url=url) as bench:
        reply = await bench.ask(b'{"jsonrpc":"2.0","method":"x"}')
    head, _, body = STATUSES[name].partition(b"\r\n\r\n")
    status, *lines = head.decode().split("\r\n")
    assert (reply.status, reply.body, len(requests)) == (int(status.split()[1]), body, 1)
    for line in lines:
        key, _, value = line.partition(": ")
        assert reply.header(key) == value
    assert len(bench.journal.of("mcp.noise")) == bool(body) and bench.faults == []


@pytest.mark.parametrize("style", ["json", "sse"])
async def test_a_session_is_a_connection_and_its_server_ends_with_it(style: str) -> None:
    async with tapped(style) as bench:
        headers = await bench.greet()
        calls = [request(n, "tools/call", {"name": "environment", "arguments": {"name": f"N{n}"}}) for n in range(64)]
        replies = await asyncio.gather(*(bench.ask(call, headers=headers) for call in calls))
        for number, reply in enumerate(replies):
            assert b'"id":%d' % number in reply.body.replace(b" ", b"")
        assert (await bench.ask(None, method="DELETE", headers=headers)).status == 200
    journal = bench.journal
    assert {event.body["connection"] for event in journal.of("mcp.sent")} == {0} and bench.faults == []
    assert sorted(journal.raw(event) for event in journal.of("mcp.sent")[2:]) == sorted(calls)
    assert all(len(event.because) == 1 for event in journal.of("mcp.received")[1:])
    assert [event.body["reason"] for event in journal.of("connection.closed")] == ["session_ended"]
    assert journal.kinds()[-1] == "process.exited"
    assert sorted(bench.reached[2:-1]) == sorted(calls)


async def test_a_stream_of_a_session_that_is_ended_ends_as_the_server_ends_it() -> None:
    async with tapped("sse") as bench:
        headers = await bench.greet()
        listening = asyncio.create_task(bench.ask(None, method="GET", headers=headers))
        await until(lambda: '"GET"' in bench.log.read_text())
        assert (await bench.ask(None, method="DELETE", headers=headers)).status == 200
        stream = await asyncio.wait_for(listening, 60)  # a stream that was cut would raise
        assert stream.status == 200 and (stream.header("content-type") or "").startswith("text/event-stream")
        await until(lambda: bench.journal.of("connection.closed"))
        assert [event.body["reason"] for event in bench.journal.of("connection.closed")] == ["session_ended"]
    assert bench.faults == []


async def test_without_sessions_equal_ids_at_once_never_meet() -> None:
    both = asyncio.Barrier(2)

    async def talk(raw: bytes, writer: asyncio.StreamWriter) -> None:
        await both.wait()
        name = json.loads(raw.partition(b"\r\n\r\n")[2])["params"]["name"]
        body = b'{"jsonrpc":"2.0","id":1,"result":{"of":"%s"}}' % name.encode()
        writer.write(
            b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(body) + body
        )

    async with upstream(talk) as (url, _), tapped(url=url) as bench:
        bodies = [request(1, "tools/call", {"name": name}) for name in ("one", "two")]
        replies = await asyncio.gather(*(bench.ask(body) for body in bodies))
    assert [json.loads(reply.body)["result"]["of"] for reply in replies] == ["one", "two"]
    journal = bench.journal
    sent = {event.ref: event for event in journal.of("mcp.sent")}
    assert {event.body["connection"] for event in sent.values()} == {0, 1} and bench.faults == []
    for answer in journal.of("mcp.received"):
        assert sent[answer.because[0]].body["tool"] in journal.raw(answer).decode()


@pytest.mark.parametrize("session", [False, True])
async def test_an_id_of_an_exchange_that_is_over_may_be_used_again_answered_or_not(session: bool) -> None:
    async def talk(_: bytes, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 2\r\n\r\nno")

    async with upstream(talk) as (url, _), tapped(url=url) as bench:
        headers = {**JSON, "Mcp-Session-Id": "s"} if session else JSON
        for name in ("one", "two"):
            assert (await bench.ask(request(500, "tools/call", {"name": name}), headers=headers)).status == 400
        await asyncio.sleep(0)
    assert len(bench.journal.of("mcp.sent")) == 2 and bench.faults == []


async def test_an_id_used_again_while_its_exchange_is_under_way_is_the_subjects_fault() -> None:
    both = asyncio.Barrier(2)

    async def talk(_: bytes, writer: asyncio.StreamWriter) -> None:
        await both.wait()
        writer.write(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 2\r\n\r\nno")

    async with upstream(talk) as (url, _), tapped(url=url) as bench:
        bodies = [request(500, "tools/call", {"name": name}) for name in ("one", "two")]
        await asyncio.gather(*(bench.ask(body, headers={**JSON, "Mcp-Session-Id": "s"}) for body in bodies))
        await until(lambda: bench.faults)
    ((where, cls, message),) = bench.faults
    assert (where, cls) == ("tap:ops", "subject") and "used id 500 again" in message


async def test_headers_of_the_era_without_sessions_reach_the_server() -> None:
    async with tapped("sse") as bench:
        meta = {"io.modelcontextprotocol/protocolVersion": "2026-07-28"}
        headers = {**JSON, "MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": "read"}
        body = request(1, "tools/call", {"name": "read", "arguments": {}, "_meta": meta})
        assert (await bench.ask(body, headers=headers)).status == 200
        wrong = await bench.ask(body, headers={**headers, "Mcp-Name": "write"})
        assert wrong.status == 400 and b"-32020" in wrong.body
    assert {event.body["connection"] for event in bench.journal.of("mcp.sent")} == {0} and bench.faults == []


EDIT = DeclaredEdit("e", Selector("ops", tool="read"), Edit("replace_text", {"find": "pending", "with": "approved é"}))


@pytest.mark.parametrize("style", ["json", "sse", "pretty"])
async def test_a_declared_change_replaces_its_span_and_nothing_else(style: str) -> None:
    replies = []
    for rules in (TapRules(), TapRules(edit=EDIT)):
        async with tapped(style, rules=rules, declared=TapRules(edit=EDIT)) as bench:
            headers = await bench.greet()
            replies.append(
                await bench.ask(request(5, "tools/call", {"name": "read", "arguments": {}}), headers=headers)
            )
            assert bench.faults == []
    assert replies[1].body == replies[0].body.replace(b"pending", "approved é".encode())
    assert replies[1].body != replies[0].body
    (done,) = bench.journal.of("mcp.intervened")
    assert done.body["applied"] and done.ref in bench.journal.synced
    changed = hashlib.sha256(bench.journal.raw(done, "modified")).hexdigest()
    assert bench.journal.of("mcp.delivered")[-1].body["sha256"] == f"sha256:{changed}"


async def test_a_call_that_a_policy_refuses_never_reaches_the_server() -> None:
    rules = TapRules(block=DeclaredBlock("b", "ops", BlockRule("write")))
    async with tapped("json", rules=rules, declared=rules) as bench:
        headers = await bench.greet()
        reply = await bench.ask(
            request(5, "tools/call", {"name": "write", "arguments": {"text": "x"}}), headers=headers
        )
        assert json.loads(reply.body)["result"]["isError"] is True
        read = await bench.ask(request(6, "tools/call", {"name": "read", "arguments": {}}), headers=headers)
        assert json.loads(read.body)["result"]["content"][0]["text"] == "status: pending"
    assert len(bench.reached) == 3 and not any(b"write" in body for body in bench.reached)
    assert [event.body["did"] for event in bench.journal.of("mcp.policy")] == ["refused"]


async def test_pages_and_guesses_are_turned_away_and_not_recorded() -> None:
    async with tapped("json") as bench:
        for headers in ({"Host": "evil.example"}, {"Origin": "http://evil.example"}):
            assert (await bench.ask(b"{}", headers={**JSON, **headers})).status == 403
        assert (await bench.ask(b"{}", tail="/more")).status == 404
        elsewhere = bench.tap.url.split("/")[2]
        assert (await asyncio.to_thread(fetch, f"http://{elsewhere}/mcp", "POST", JSON, b"{}")).status == 404
    assert bench.journal.kinds() == []


async def test_a_server_that_is_not_there_is_blamed_and_never_answered_for() -> None:
    async with tapped(url="http://127.0.0.1:9/mcp") as bench:
        await cut(bench, request(1, "tools/list"))
    ((where, cls, message),) = bench.faults
    assert (where, cls) == ("server:ops", "dependency_unavailable") and "gave no whole answer" in message


async def test_an_answer_that_breaks_off_is_the_servers_fault() -> None:
    async def talk(_: bytes, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 900\r\n\r\n{")

    async with upstream(talk) as (url, _), tapped(url=url) as bench:
        await cut(bench, request(1, "tools/list"))
    assert [fault[:2] for fault in bench.faults] == [("server:ops", "dependency_unavailable")]


@pytest.mark.parametrize("kind", ["text/event-stream", "application/json"])
async def test_what_is_beyond_the_bound_ends_the_connection_and_names_the_server(kind: str) -> None:
    async def talk(_: bytes, writer: asyncio.StreamWriter) -> None:
        writer.write(f"HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\n\r\ndata: ".encode())
        for _ in range(100):
            writer.write(b"x" * 4096)
            await writer.drain()

    limits = QUICKLY._replace(max_frame_bytes=64 * 1024)
    async with upstream(talk) as (url, _), tapped(url=url, limits=limits) as bench:
        await cut(bench, request(1, "tools/list"))
    ((where, cls, message),) = bench.faults
    assert (where, cls) == ("server:ops", "dependency_unavailable") and "beyond the bound" in message
    (noise,) = bench.journal.of("mcp.noise")
    assert (
        noise.body["truncated"] is True
        and bench.journal.of("connection.closed")[0].body["reason"] == "server_frame_too_long"
    )


@pytest.mark.parametrize("kind", ["text/event-stream", "application/json"])
async def test_an_answer_that_falls_silent_is_the_servers_and_one_that_has_not_begun_may_wait(kind: str) -> None:
    begun = b'data: {"jsonrpc":' if kind == "text/event-stream" else b'{"jsonrpc":'

    async def talk(_: bytes, writer: asyncio.StreamWriter) -> None:
        await asyncio.sleep(0.6)  # longer than the silence that is allowed inside of an answer
        writer.write(f"HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\n\r\n".encode() + begun)
        await writer.drain()
        await asyncio.sleep(600)

    async with upstream(talk) as (url, _), tapped(url=url, limits=QUICKLY._replace(idle_s=0.3)) as bench:
        await cut(bench, request(1, "tools/list"))
    ((where, cls, message),) = bench.faults
    assert (where, cls) == ("server:ops", "dependency_unavailable") and "nothing more came for 0.3 s" in message


async def test_a_stream_beyond_its_bound_ends_the_connection_and_names_the_server() -> None:
    event = b'data: {"jsonrpc":"2.0","method":"notifications/message","params":{}}\n\n'

    async def talk(_: bytes, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n")
        while True:
            writer.write(event)
            await writer.drain()

    limits = QUICKLY._replace(max_stream_bytes=10_000)
    async with upstream(talk) as (url, _), tapped(url=url, limits=limits) as bench:
        await cut(bench, request(1, "tools/list"))
    ((where, cls, message),) = bench.faults
    assert (where, cls) == ("server:ops", "dependency_unavailable")
    assert "more than 10000 bytes, as a stream" in message
    assert bench.journal.of("connection.closed")[0].body["reason"] == "server_flooded"


@pytest.mark.parametrize(("bound", "told"), [("max_frames", "2 messages"), ("max_total_bytes", "1500 bytes")])
async def test_a_subject_beyond_the_bounds_of_its_connection_is_named(bound: str, told: str) -> None:
    limits = QUICKLY._replace(**{bound: int(told.split(maxsplit=1)[0])})
    async with tapped("json", limits=limits) as bench:
        headers = await bench.greet()
        with suppress(OSError, http.client.HTTPException, AssertionError):
            for number in range(4):
                await bench.ask(request(number, "ping", {"filler": "x" * 500}), headers=headers)
    assert [fault[1] for fault in bench.faults] == ["subject"] and told in bench.faults[0][2]


async def test_a_subject_that_sends_too_much_is_named() -> None:
    limits = QUICKLY._replace(max_frame_bytes=64 * 1024)
    async with tapped("json", limits=limits) as bench:
        await cut(bench, b" " * 70_000)
    assert [fault[1] for fault in bench.faults] == ["subject"]


async def test_an_answer_that_does_not_come_is_the_servers_fault_and_one_given_up_is_nobodys() -> None:
    asked, left = [], []

    async def silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        asked.append(await reader.readuntil(b"\r\n\r\n"))
        with suppress(ConnectionError):
            left.append(await reader.read())
        writer.close()

    server = await asyncio.start_server(silent, "127.0.0.1", 0)
    url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/mcp"
    async with server, tapped(url=url, limits=QUICKLY._replace(answer_timeout_s=600)) as bench:
        host, port = bench.tap.url.split("/")[2].split(":")
        path = bench.tap.url.split(str(port))[1]
        body = request(1, "tools/list")
        told = f"Content-Type: application/json\r\nAccept: */*\r\nContent-Length: {len(body)}\r\n\r\n"
        head = f"POST {path} HTTP/1.1\r\nHost: {host}:{port}\r\n{told}".encode()
        _, gone = await asyncio.open_connection(host, int(port))
        gone.write(head + body)
        await until(lambda: asked)
        gone.close()
        await until(lambda: left)
        leap(700)
        await asyncio.sleep(0.05)
        assert bench.faults == []
        _, waits = await asyncio.open_connection(host, int(port))
        waits.write(head + body)
        await until(lambda: len(asked) == 2 and len(bench.journal.of("mcp.sent")) == 2)
        leap(700)
        await until(lambda: bench.faults)
        assert [fault[:2] for fault in bench.faults] == [("server:ops", "dependency_unavailable")]
        waits.close()


@pytest.mark.parametrize("kind", ["text/event-stream", "application/json"])
async def test_a_subject_that_leaves_at_the_moment_of_the_answer_is_nobodys_fault(kind: str) -> None:
    answered = asyncio.Event()
    gone: list[socket.socket] = []
    body = (
        b'data: {"jsonrpc":"2.0","id":1,"result":{}}\n\n'
        if "event" in kind
        else b'{"jsonrpc":"2.0","id":1,"result":{}}'
    )

    async def talk(_: bytes, writer: asyncio.StreamWriter) -> None:
        # Both within one step of the loop, the answer first: the tap begins to answer a connection that is closing.
        writer.write(f"HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body)
        gone[0].close()
        answered.set()

    async with upstream(talk) as (url, _), tapped(url=url) as bench:
        host, port = bench.tap.url.split("/")[2].split(":")
        path = bench.tap.url.split(str(port))[1]
        asked = request(1, "tools/list")
        head = f"POST {path} HTTP/1.1\r\nHost: {host}:{port}\r\nContent-Length: {len(asked)}\r\n\r\n".encode()
        gone.append(socket.create_connection((host, int(port))))
        gone[0].sendall(head + asked)
        await answered.wait()
        await bench.tap.settle(5)
    assert bench.faults == []


async def test_a_stream_that_is_taken_up_brings_the_answer_to_what_was_asked() -> None:
    async with tapped("cuts") as bench:
        headers = await bench.greet()
        asked = request(7, "tools/call", {"name": "write", "arguments": {"text": "x"}})
        cut = await bench.ask(asked, headers=headers)
        assert cut.status == 200 and b"id: 1-0" in cut.body and b'"id": 7' not in cut.body
        rest = await bench.ask(None, method="GET", headers={**headers, "Last-Event-ID": "1-0"})
        assert b"written" in rest.body
    journal = bench.journal
    sent = next(event for event in journal.of("mcp.sent") if event.body.get("id") == 7)
    answer = next(event for event in journal.of("mcp.received") if event.body.get("id") == 7)
    assert answer.because == (sent.ref,) and answer.body["connection"] == sent.body["connection"] == 0
    assert bench.faults == [] and bench.reached.count(asked) == 1


async def test_a_session_that_is_lost_is_on_record() -> None:
    async with tapped("forgets") as bench:
        headers = await bench.greet()
        call = request(1, "tools/call", {"name": "read", "arguments": {}})
        assert (await bench.ask(call, headers=headers)).status == 200
        lost = await bench.ask(call, headers=headers)
        assert lost.status == 404 and b"Session not found" in lost.body
    assert [event.body["reason"] for event in bench.journal.of("mcp.session_break")] == [
        "the server answered 404 to this session"
    ]


@pytest.mark.slow
async def test_a_result_of_fifty_megabytes_passes_whole() -> None:
    size = 50 * 1024 * 1024
    body = b'{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"' + b"x" * size + b'"}]}}'

    async def talk(_: bytes, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\ndata: " + body + b"\n\n")

    limits = QUICKLY._replace(max_frame_bytes=64 * 1024 * 1024)
    async with upstream(talk) as (url, _), tapped(url=url, limits=limits) as bench:
        reply = await bench.ask(request(1, "tools/call", {"name": "big"}))
    assert reply.body == b"data: " + body + b"\n\n" and bench.faults == []
    assert bench.journal.of("mcp.received")[0].body["payload"]["size"] == len(body)


@pytest.mark.parametrize(("method", "blamed"), [("subscriptions/listen", False), ("tools/list", True)])
async def test_a_stream_that_stands_open_for_news_may_be_silent(method: str, blamed: bool) -> None:
    ended = asyncio.Event()

    async def talk(_: bytes, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n: here\n\n")
        await writer.drain()
        with suppress(TimeoutError):
            await asyncio.wait_for(ended.wait(), 1.0)

    async with upstream(talk) as (url, _), tapped(url=url, limits=QUICKLY._replace(idle_s=0.2)) as bench:
        with suppress(http.client.HTTPException, ConnectionError):
            await bench.ask(request(1, method))
        ended.set()
        assert any("nothing more came" in message for _, _, message in bench.faults) is blamed
