"""Faults that proxies, recorders and readers in front of model APIs are known for, each with its kind.

The endpoint is a socket that says exactly the bytes it is given, once for each request, and closes; the client decodes
nothing. What the record holds is read back from the journal.
"""

from __future__ import annotations

import asyncio
import contextlib
import gzip
import json
import zlib
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest
import zstandard
from gateway_kit import ASK, KEY, Lab, send
from model_streams import APIS, ASKS, NAME, PATHS, STREAMS, USAGE, WHOLE, sse

from oyer.instruments.gateway import RecordingGateway
from oyer.instruments.gateway_replay import ReplaySource
from oyer.instruments.gateway_upstream import Upstream
from oyer.observe import RecordedExchange
from oyer.protocol import MODEL_APIS, JsonValue, read_answer

PLAIN = b'{"id":"x","choices":[]}'
BROTLI = bytes.fromhex("8b0b807b226964223a2278222c2263686f69636573223a5b5d7d03")  # PLAIN, as brotli stores it


def said(body: bytes, *headers: str, status: str = "200 OK", chunked: bool = False, end: bool = True) -> bytes:
    """Write an answer. Without `end` the connection closes where more was to come."""
    length = "Transfer-Encoding: chunked" if chunked else f"Content-Length: {len(body) + (not end)}"
    told = body if not chunked else b"%x\r\n%s\r\n" % (len(body), body) + (b"0\r\n\r\n" if end else b"")
    return "\r\n".join([f"HTTP/1.1 {status}", *headers, length, "", ""]).encode() + told


EVENTS = "Content-Type: text/event-stream"
JSON = "Content-Type: application/json"


class Fake:
    """An endpoint that says what it is given, in order; `asked` are the heads of the requests that came."""

    def __init__(self, answers: list[bytes]) -> None:
        self.answers = answers
        self.asked: list[bytes] = []

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError, asyncio.IncompleteReadError):
            head = await reader.readuntil(b"\r\n\r\n")
            length = next((int(line[15:]) for line in head.split(b"\r\n") if line.lower().startswith(b"content-le")), 0)
            await reader.readexactly(length)
            self.asked.append(head)
            writer.write(self.answers.pop(0))
            await writer.drain()
        writer.close()


class Bench(Lab):
    """A gateway in front of such an endpoint."""

    fake: Fake

    async def each(self, *roots: str, **more: Any) -> list[Any]:
        return [await self.ask(ASK, root=root, **more) for root in roots]

    def bodies(self) -> list[Any]:
        return [event.body for event in self.journal.of("model.response")]

    def recorded(self) -> list[bytes]:
        return [self.journal.raw(event) for event in self.journal.of("model.response")]


@pytest.fixture
def behind(tmp_path: Path, open_journal: Callable[[str], Any]) -> Callable[..., Any]:
    @contextlib.asynccontextmanager
    async def opened(*answers: bytes) -> AsyncIterator[Bench]:
        fake, journal = Fake(list(answers)), open_journal("gateway")
        server = await asyncio.start_server(fake.serve, "127.0.0.1", 0)
        address = server.sockets[0].getsockname()
        gateway = RecordingGateway(journal, Upstream(f"http://127.0.0.1:{address[1]}/v1", key=KEY))
        bench = Bench(gateway, await gateway.start(), journal, tmp_path / "none")
        bench.fake = fake
        try:
            yield bench
        finally:
            await gateway.stop()
            server.close()
            await server.wait_closed()
        journal.require_whole()

    return opened


def answer_of(name: str, raw: bytes) -> dict[str, JsonValue]:
    read = read_answer(MODEL_APIS[name], raw)
    assert isinstance(read, dict), read
    return read


# -- GW-03: what an answer is encoded with ---------------------------------------------------------------------

CODED = {
    "gzip": (gzip.compress(PLAIN), "gzip"),
    "x-gzip": (gzip.compress(PLAIN), "x-gzip"),
    "deflate": (zlib.compress(PLAIN), "deflate"),
    "two members": (gzip.compress(PLAIN[:9]) + gzip.compress(PLAIN[9:]), "gzip"),
    "br": (BROTLI, "br"),
    "zstd": (zstandard.compress(PLAIN), "zstd"),
    "unheard of": (b"\x00\x01\x02", "x-odd"),
    "twice": (gzip.compress(gzip.compress(PLAIN)), "gzip, gzip"),
    "not what it says": (PLAIN, "gzip"),
}


@pytest.mark.parametrize("status", ["200 OK", "404 Not Found"])
@pytest.mark.parametrize("case", CODED)
async def test_gw_03_a_coded_answer_keeps_its_header_and_its_bytes(behind: Any, case: str, status: str) -> None:
    body, coding = CODED[case]
    async with behind(said(body, JSON, f"Content-Encoding: {coding}", status=status)) as bench:
        reply = await bench.ask()
        assert (reply.body, reply.headers["content-encoding"], reply.whole) == (body, coding, True)
        assert int(reply.headers["content-length"]) == len(body)
        (kept,), (told,) = bench.recorded(), bench.bodies()
        assert (kept, told["content_encoding"], told["http_status"]) == (body, coding, reply.status)


@pytest.mark.parametrize("coding", ["gzip", "br"])
async def test_gw_03_an_answer_without_a_body_stays_without_one(behind: Any, coding: str) -> None:
    coded = f"Content-Encoding: {coding}"
    none = f"HTTP/1.1 204 No Content\r\n{coded}\r\n\r\n".encode()
    head = f"HTTP/1.1 200 OK\r\n{JSON}\r\n{coded}\r\nContent-Length: 43\r\n\r\n".encode()
    async with behind(head, none) as bench:
        asked = await bench.ask(method="HEAD", path="/models")
        assert (asked.status, asked.body, asked.headers["content-encoding"]) == (200, b"", coding)
        assert asked.headers["content-length"] == "43", "the length of what a GET would bring"
        empty = await bench.ask(root="/v1/files")
        assert (empty.status, empty.body, empty.headers["content-encoding"]) == (204, b"", coding)
        assert bench.recorded() == [b"", b""] and not bench.journal.of("fault")


@pytest.mark.parametrize("case", ["gzip", "x-gzip", "deflate", "two members", "zstd"])
async def test_gw_03_what_can_be_decoded_is_read(behind: Any, case: str) -> None:
    _, coding = CODED[case]
    whole = json.dumps(WHOLE["chat"]).encode()
    coded = {"zstd": zstandard.compress, "deflate": zlib.compress}.get(coding, gzip.compress)(whole)
    if case == "two members":
        coded = gzip.compress(whole[:50]) + gzip.compress(whole[50:])
    async with behind(said(coded, JSON, f"Content-Encoding: {coding}")) as bench:
        await bench.ask()
        assert bench.bodies()[0]["usage"] == USAGE["chat"]


async def test_gw_03_a_coded_stream_is_read_too(behind: Any) -> None:
    coded = gzip.compress(STREAMS["chat"])
    async with behind(said(coded, EVENTS, "Content-Encoding: gzip", chunked=True)) as bench:
        reply = await bench.ask(ASKS["chat"])
        assert (reply.body, reply.headers["content-encoding"]) == (coded, "gzip")
        assert bench.bodies()[0]["usage"] == USAGE["chat"] and bench.bodies()[0]["complete"]


# -- GW-05: what an answer used ----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", APIS)
async def test_gw_05_usage_is_the_same_streamed_or_not(behind: Any, name: str) -> None:
    whole = json.dumps(WHOLE[name]).encode()
    async with behind(said(STREAMS[name], EVENTS, chunked=True), said(whole, JSON)) as bench:
        await bench.each(PATHS[name], PATHS[name])
        assert [body["usage"] for body in bench.bodies()] == [USAGE[name]] * 2


async def test_gw_05_cumulative_counts_are_not_added_up(behind: Any) -> None:
    """The counts of the report itself, and a last one that leaves out what an earlier one had."""
    start = {"input_tokens": 10, "cache_read_input_tokens": 100, "output_tokens": 1}
    events = [
        {"type": "message_start", "message": {"type": "message", "model": "fake-1", "usage": start}},
        {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {**start, "output_tokens": 20}},
        {"type": "message_delta", "delta": {}, "usage": {"output_tokens": 21, "cache_read_input_tokens": None}},
        {"type": "message_stop"},
    ]
    async with behind(said(sse(*events[:2], events[3], named=True), EVENTS), said(sse(*events), EVENTS)) as bench:
        await bench.each(PATHS["messages"], PATHS["messages"])
        first, second = (body["usage"] for body in bench.bodies())
        assert first == {"input": 10, "cache_read": 100, "output": 20}
        assert second == {"input": 10, "cache_read": 100, "output": 21}


@pytest.mark.parametrize("form", ["stream", "whole"])
@pytest.mark.parametrize("name", APIS)
async def test_gw_05_what_is_not_reported_is_unknown(behind: Any, name: str, form: str) -> None:
    stream, whole = STREAMS[name], json.dumps(WHOLE[name]).encode()
    raw = (stream if form == "stream" else whole).replace(b'"usage', b'"other')
    async with behind(said(raw, EVENTS if form == "stream" else JSON)) as bench:
        await bench.each(PATHS[name])
        assert bench.bodies()[0]["usage"] is None


# -- GW-07: calls in pieces --------------------------------------------------------------------------------------


def fragments(*deltas: list[dict[str, Any]]) -> bytes:
    chunks = [{"choices": [{"index": 0, "delta": {"tool_calls": given}}]} for given in deltas]
    return sse(
        *chunks, {"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]}, end=b"data: [DONE]\n\n"
    )


def piece(arguments: str, name: str | None = None, **more: Any) -> dict[str, Any]:
    return {**more, "function": {"arguments": arguments} if name is None else {"name": name, "arguments": arguments}}


ONE, TWO = [("f", '{"a":1}')], [("f", '{"a":1}'), ("g", '{"b":2}')]
CALLS: dict[str, tuple[bytes, list[tuple[str, str]]]] = {
    "two in the first chunk": (
        fragments([piece("", "f", index=0, id="c1", type="function"), piece('{"a"', index=0)], [piece(":1}", index=0)]),
        ONE,
    ),
    "all in one chunk": (
        fragments([piece("", "f", index=0, id="c1"), piece('{"a"', index=0), piece(":1}", index=0)]),
        ONE,
    ),
    "the id in every piece": (fragments(*[[piece(p, "f", index=0, id="c1")] for p in ("", '{"a"', ":1}")]), ONE),
    "an empty id in later pieces": (
        fragments(
            [piece("", "f", index=0, id="c1")], [piece('{"a"', index=0, id="")], [piece(":1}", index=0, id=None)]
        ),
        ONE,
    ),
    "the id late": (fragments([piece('{"a"', "f", index=0)], [piece(":1}", index=0, id="c1")]), ONE),
    "interleaved": (
        fragments(
            [piece("", "f", index=0, id="c1"), piece("", "g", index=1, id="c2")],
            [piece('{"b"', index=1), piece('{"a"', index=0)],
            [piece(":1}", index=0), piece(":2}", index=1)],
        ),
        TWO,
    ),
    "one index for two calls": (
        fragments(
            [piece("", "f", index=0, id="c1")],
            [piece('{"a":1}', index=0)],
            [piece("", "g", index=0, id="c2")],
            [piece('{"b"', index=0)],
            [piece(":2}", index=0)],
        ),
        TWO,
    ),
    "one index for two calls, by turns": (
        fragments(
            [piece("", "f", index=0, id="c1"), piece("", "g", index=0, id="c2")],
            [piece('{"a":1}', index=0, id="c1")],
            [piece('{"b":2}', index=0, id="c2")],
        ),
        TWO,
    ),
    "no index at all": (
        fragments(
            [piece("", "f", id="c1")], [piece('{"a":1}')], [piece("", "g", id="c2")], [piece('{"b"')], [piece(":2}")]
        ),
        TWO,
    ),
    "whole calls without an index": (fragments([piece('{"a":1}', "f", id="c1"), piece('{"b":2}', "g", id="c2")]), TWO),
}


@pytest.mark.parametrize("case", CALLS)
async def test_gw_07_fragments_make_the_calls_that_were_meant(behind: Any, case: str) -> None:
    stream, expected = CALLS[case]
    calls = [{"id": f"c{i}", "function": {"name": n, "arguments": a}} for i, (n, a) in enumerate(expected, 1)]
    whole = json.dumps({"choices": [{"index": 0, "message": {"tool_calls": calls}}]}).encode()
    async with behind(said(stream, EVENTS, chunked=True), said(whole, JSON)) as bench:
        await bench.each(PATHS["chat"], PATHS["chat"])
        raw, plain = bench.recorded()
        assert (raw, plain) == (stream, whole), "the chunks stay beside what they make"
        streamed, at_once = (list(MODEL_APIS["chat"].calls(answer_of("chat", one))) for one in (raw, plain))
        assert streamed == at_once
        assert [(call.name, json.loads(str(call.arguments))) for call in streamed] == [
            (name, json.loads(arguments)) for name, arguments in expected
        ]


@pytest.mark.parametrize("name", APIS)
async def test_gw_07_every_api_gives_the_call_of_its_unstreamed_answer(behind: Any, name: str) -> None:
    whole = json.dumps(WHOLE[name]).encode()
    async with behind(said(STREAMS[name], EVENTS, chunked=True), said(whole, JSON)) as bench:
        await bench.each(PATHS[name], PATHS[name])
        streamed, at_once = (list(MODEL_APIS[name].calls(answer_of(name, raw))) for raw in bench.recorded())
        assert [call.name for call in streamed] == [NAME] and streamed == at_once


# -- GW-09: answers that end too early -----------------------------------------------------------------------------


def without_end(name: str) -> bytes:
    """The stream of an API up to its last event."""
    return STREAMS[name][: STREAMS[name].rindex(b"\n\n", 0, -2) + 2]


EARLY = {
    "cut": (False, b"", "the answer broke off"),
    "ended": (True, b"", "without its end marker"),
    "error": (True, b'event: error\ndata: {"type":"error","error":{"message":"overloaded"}}\n\n', "overloaded"),
    "bare error": (True, b'data: {"error":{"message":"overloaded"}}\n\n', "overloaded"),
}


@pytest.mark.parametrize("name", APIS)
@pytest.mark.parametrize("case", EARLY)
async def test_gw_09_a_stream_without_its_end_is_no_answer(behind: Any, case: str, name: str) -> None:
    ends, more, message = EARLY[case]
    stream = without_end(name) + more
    async with behind(said(stream, EVENTS, chunked=True, end=ends)) as bench:
        (reply,) = await bench.each(PATHS[name])
        assert (reply.body, reply.whole) == (stream, ends), "the agent sees what the endpoint did"
        (told,), (kept,) = bench.bodies(), bench.recorded()
        assert (told["complete"], told["usage"], kept) == (False, None, stream)
        ((where, class_, said_of_it),) = bench.journal.faults()
        assert (where, class_) == ("gateway", "dependency_unavailable") and message in said_of_it


async def test_gw_09_a_body_that_is_cut_is_no_answer(behind: Any) -> None:
    async with behind(said(json.dumps(WHOLE["chat"]).encode(), JSON, end=False)) as bench:
        reply = await bench.ask()
        assert not reply.whole and bench.bodies()[0]["complete"] is False
        assert bench.journal.faults()[0][1] == "dependency_unavailable"


async def test_gw_09_nothing_at_all_is_no_empty_answer(behind: Any) -> None:
    coded = said(b"", JSON, "Content-Encoding: br")
    async with behind(said(b"", EVENTS, chunked=True), said(b"", JSON), coded) as bench:
        await bench.each(*[PATHS["chat"]] * 3)
        assert [body["complete"] for body in bench.bodies()] == [False] * 3
        assert {fault[1] for fault in bench.journal.faults()} == {"dependency_unavailable"}


# -- GW-11: equal requests in a replay -----------------------------------------------------------------------------


def of_record(bench: Bench) -> list[RecordedExchange]:
    """What a replay is given, from the journal of that gateway."""
    pairs = zip(bench.journal.of("model.request"), bench.journal.of("model.response"), strict=True)
    return [
        RecordedExchange(
            asked.body["path"],
            bench.journal.raw(asked),
            told.body["http_status"],
            told.body.get("content_type"),
            told.body.get("content_encoding"),
            bench.journal.raw(told),
            told.body["complete"],
            None,
        )
        for asked, told in pairs
    ]


async def test_gw_11_equal_requests_advance_and_the_next_one_is_a_miss(
    behind: Any, open_journal: Callable[[str], Any]
) -> None:
    """Two conversations whose requests repeat, one with an attempt that failed: each goes on by itself."""
    states = [b'{"state":"STARTING"}', b'{"state":"RUNNING"}']
    busy = said(b'{"error":{"message":"busy"}}', JSON, status="429 Too Many Requests")
    job, other = json.dumps(ASK).encode(), json.dumps({**ASK, "seed": 7}).encode()
    answers = [said(states[0], JSON), busy, said(states[1], JSON), said(b'{"n":1}', JSON)]
    async with behind(*answers) as bench:
        for raw in (job, other, job, other):
            await bench.ask(raw)
        recorded = of_record(bench)
    assert len(bench.fake.asked) == 4
    journal = open_journal("gateway")
    gateway = RecordingGateway(journal, ReplaySource(recorded, {}, dict))
    door = await gateway.start()
    try:
        # The other order of the two conversations: a lane is what its requests say, not when they came.
        replies = [await asyncio.to_thread(send, door, raw) for raw in (other, job, other, job, job, other)]
    finally:
        await gateway.stop()
    assert [(reply.status, reply.body) for reply in replies[:4]] == [
        (429, b'{"error":{"message":"busy"}}'),
        (200, states[0]),
        (200, b'{"n":1}'),
        (200, states[1]),
    ]
    assert [reply.status for reply in replies[4:]] == [502, 502]
    missed = [fault for fault in journal.faults() if "not in the recording" in fault[2]]
    assert [fault[1] for fault in missed] == ["harness", "harness"]
    assert len(bench.fake.asked) == 4, "a replay opened a connection"


# -- nothing is sent twice -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["POST", "GET", "HEAD", "PUT", "DELETE"])
async def test_a_request_that_gets_no_answer_is_not_sent_again(behind: Any, method: str) -> None:
    """The HTTP library would: by its standard such methods may be repeated when a connection closes."""
    async with behind(b"", said(PLAIN, JSON)) as bench:
        reply = await bench.ask(method=method, root="/v1/files")
        assert (reply.status, len(bench.fake.asked)) == (502, 1)
        assert bench.journal.faults()[0][1] == "dependency_unavailable"
