"""Streams through the gateway, of every API: handed on as they come, recorded raw, and broken in every way."""

from __future__ import annotations

import asyncio
import json
import socket
import time
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from urllib.parse import urlsplit

import aiohttp
import pytest
from aiohttp.base_protocol import BaseProtocol
from gateway_kit import ASK, KEY
from hypothesis import given
from hypothesis import strategies as st
from model_streams import APIS, ASKS, FINISH, PATHS, STREAMS, USAGE, WHOLE, sse
from waiting import leap, until

from oyer.instruments.gateway_answer import Progress
from oyer.instruments.gateway_keys import KeyWatch, holds_key
from oyer.instruments.gateway_upstream import next_piece, target_url
from oyer.protocol import SseReader

ESCAPED = "".join(f"\\u{ord(letter):04x}" for letter in KEY)


def pieces(raw: bytes, size: int = 97) -> list[str]:
    return [raw[start : start + size].decode() for start in range(0, len(raw), size)]


def ask(name: str) -> dict[str, Any]:
    return {"body": ASKS[name], "root": PATHS[name]}


@pytest.mark.parametrize("name", APIS)
async def test_a_stream_is_recorded_and_its_bytes_are_untouched(lab: Any, name: str) -> None:
    async with lab({"pieces": pieces(STREAMS[name])}) as bench:
        reply = await bench.ask(**ask(name))
        assert (reply.status, reply.whole, reply.body) == (200, True, STREAMS[name])
        assert reply.headers["content-type"] == "text/event-stream"
        (request,), (response,) = bench.journal.of("model.request"), bench.journal.of("model.response")
        assert bench.journal.raw(response) == STREAMS[name]
        assert bench.journal.raw(request) == json.dumps(ASKS[name]).encode() == bench.received()[0]["body"].encode()
        assert request.body["path"] == PATHS[name] == bench.received()[0]["path"]
        said = response.body
        assert (said["requested_model"], said["reported_model"], said["complete"]) == ("m-1", "m-1-2026", True)
        assert (said["usage"], said["finish"], said["content_type"]) == (USAGE[name], FINISH[name], "text/event-stream")
        assert 0 < said["first_byte_ns"] <= said["latency_ns"]
        assert b"temperature" in bench.journal.raw(request, "parameters") and not bench.journal.of("fault")


@pytest.mark.parametrize("name", APIS)
async def test_an_answer_that_is_not_streamed_reads_the_same(lab: Any, name: str) -> None:
    async with lab({"body": WHOLE[name]}) as bench:
        reply = await bench.ask(**ask(name))
        assert json.loads(reply.body) == WHOLE[name]
        said = bench.response()
        assert (said["reported_model"], said["usage"], said["finish"]) == ("m-1-2026", USAGE[name], FINISH[name])


@pytest.mark.parametrize("name", APIS)
async def test_a_stream_is_handed_on_before_it_has_ended(lab: Any, name: str, tmp_path: Path) -> None:
    raw, gate = STREAMS[name], tmp_path / "gate"
    first = raw[: raw.index(b"\n\n") + 2]
    async with lab({"pieces": [first.decode(), raw[len(first) :].decode()], "gate": str(gate)}) as bench:
        address = urlsplit(bench.door.base_url)
        reader, writer = await asyncio.open_connection(address.hostname, address.port)
        body = json.dumps(ASKS[name]).encode()
        head = (
            f"POST {address.path.removesuffix('/v1')}{PATHS[name]} HTTP/1.1\r\nHost: {address.netloc}\r\n"
            f"x-api-key: {bench.door.key}\r\nContent-Length: {len(body)}\r\n\r\n"
        )
        began_ns = time.monotonic_ns()
        writer.write(head.encode() + body)
        await reader.readuntil(first)  # the endpoint has not sent the rest, and does not before it is told to
        assert not bench.journal.of("model.response")
        first_ns = time.monotonic_ns() - began_ns
        gate.touch()
        await reader.readuntil(b"0\r\n\r\n")
        writer.close()
        assert bench.response()["first_byte_ns"] <= min(first_ns, bench.response()["latency_ns"])


@pytest.mark.parametrize("name", APIS)
async def test_what_follows_a_whole_stream_follows_its_record(lab: Any, name: str) -> None:
    """An endpoint that keeps its connection open after the end: the answer is on record when its last piece arrives."""
    async with lab({"pieces": [STREAMS[name].decode()], "then": "stay"}) as bench:
        reply = await bench.ask(**ask(name))
        assert (reply.body, reply.whole, bench.response()["complete"]) == (STREAMS[name], True, True)
        assert not bench.journal.of("fault")


@pytest.mark.parametrize("name", APIS)
@pytest.mark.parametrize(
    ("then", "message"), [("cut", "broke off"), ("end", "without its end marker"), ("stay", "within 600 s")]
)
async def test_a_stream_without_its_end_is_no_whole_answer(lab: Any, name: str, then: str, message: str) -> None:
    part = STREAMS[name][: STREAMS[name].rindex(b"data:")]
    loop = asyncio.get_running_loop()
    async with lab({"pieces": pieces(part), "then": then}, answer_s=600) as bench:
        out_of_time = lambda body: leap(900, loop) if body == part and then == "stay" else None  # noqa: E731
        reply = await bench.ask(**ask(name), seen=out_of_time)
        assert (reply.status, reply.body, reply.whole) == (200, part, then == "end")
        said = bench.response()
        assert (said["http_status"], said["complete"], said["reported_model"]) == (200, False, None)
        assert bench.journal.raw(bench.journal.of("model.response")[0]) == part
        ((where, class_, told),) = bench.journal.faults()
        assert (where, class_) == ("gateway", "dependency_unavailable") and message in told


async def test_what_came_before_a_break_is_taken_though_the_break_is_known_before_it() -> None:
    content = aiohttp.StreamReader(BaseProtocol(asyncio.get_running_loop()), 1 << 16)
    content.feed_data(b"data: 1")
    content.set_exception(aiohttp.ClientPayloadError("it broke off"))
    assert await next_piece(SimpleNamespace(content=content), None) == b"data: 1"
    with pytest.raises(aiohttp.ClientPayloadError):
        await next_piece(SimpleNamespace(content=content), None)


async def test_a_stream_that_never_ends_is_cut_at_its_bound(lab: Any) -> None:
    async with lab({"pieces": [": keep alive\n\n" * 20], "then": "repeat"}, stream_bytes=3000) as bench:
        reply = await bench.ask(**ask("messages"))
        kept = bench.journal.raw(bench.journal.of("model.response")[0])
        assert len(kept) == 3000 and not reply.whole and kept.startswith(reply.body)
        assert (bench.response()["complete"], bench.journal.faults()[0][1]) == (False, "dependency_unavailable")
        assert "larger than 3000 bytes" in bench.journal.faults()[0][2]


@pytest.mark.parametrize("name", APIS)
async def test_an_error_in_the_middle_passes_and_is_a_fault_of_the_endpoint(lab: Any, name: str) -> None:
    half = STREAMS[name][: STREAMS[name].index(b"\n\n") + 2]
    raw = half + sse({"type": "error", "error": {"message": "Overloaded"}, "message": "Overloaded"})
    async with lab({"pieces": pieces(raw)}) as bench:
        reply = await bench.ask(**ask(name))
        assert (reply.body, reply.whole, bench.response()["complete"]) == (raw, True, False)
        assert bench.journal.faults() == [
            ("gateway", "dependency_unavailable", "the endpoint reported an error in its stream: Overloaded")
        ]


@pytest.mark.parametrize("name", APIS)
@pytest.mark.parametrize(
    ("status", "class_"), [(429, "dependency_unavailable"), (500, "dependency_unavailable"), (400, "subject")]
)
async def test_an_error_that_nothing_follows_is_a_fault_when_the_session_ends(
    lab: Any, name: str, status: int, class_: str
) -> None:
    async with lab({"status": status, "body": {"error": {"message": "no"}}}, {"body": WHOLE[name]}) as bench:
        bench.gateway.session = "a"
        assert (await bench.ask(**ask(name))).status == status
        bench.gateway.session = None
        assert bench.journal.faults() == [
            ("gateway", class_, f"the endpoint answered {status}, and no whole answer followed in this session")
        ]
        assert [event.session for event in bench.journal.of("fault")] == ["a"]


@pytest.mark.parametrize("name", APIS)
async def test_an_error_that_the_agent_got_over_is_no_fault(lab: Any, name: str) -> None:
    async with lab({"status": 429, "body": {}}, {"pieces": pieces(STREAMS[name])}) as bench:
        bench.gateway.session = "a"
        assert [(await bench.ask(**ask(name))).status for _ in range(2)] == [429, 200]
        bench.gateway.session = None
        await bench.gateway.stop()
        assert not bench.journal.of("fault")


async def test_a_subject_that_goes_away_leaves_what_had_come(lab: Any) -> None:
    first = STREAMS["chat"][: STREAMS["chat"].index(b"\n\n") + 2]
    async with lab({"pieces": [first.decode()], "then": "stay"}) as bench:
        address = urlsplit(bench.door.base_url)
        reader, writer = await asyncio.open_connection(address.hostname, address.port)
        body = json.dumps(ASKS["chat"]).encode()
        head = (
            f"POST {address.path}/chat/completions HTTP/1.1\r\nHost: {address.netloc}\r\n"
            f"Authorization: Bearer {bench.door.key}\r\nContent-Length: {len(body)}\r\n\r\n"
        )
        writer.write(head.encode() + body)
        await reader.readuntil(first)
        writer.close()
        await until(lambda: bench.journal.of("model.response"))
        (response,) = bench.journal.of("model.response")
        assert (bench.journal.raw(response), response.body["complete"]) == (first, False)
        assert not bench.journal.of("fault")


@pytest.mark.parametrize(
    ("method", "root", "behaviour"),
    [
        ("POST", "/v1/messages/count_tokens", {"body": {"input_tokens": 3}}),
        ("POST", "/v1/embeddings", {"pieces": ["data: 1\n\n"]}),
        ("POST", "/v1beta/models/m:countTokens", {"raw": "whatever"}),
        ("GET", "/v1/models", {}),
        ("GET", "/api/hello?a=%2F", {}),
    ],
)
async def test_a_path_of_no_known_api_passes_and_nothing_is_read_from_it(
    lab: Any, method: str, root: str, behaviour: Any
) -> None:
    async with lab(behaviour) as bench:
        reply = await bench.ask(method=method, root=root)
        assert reply.status in (200, 404)
        (request,), said = bench.journal.of("model.request"), bench.response()
        assert request.body["path"] == root == bench.received()[0]["path"]
        assert request.body["requested_model"] is None and "parameters" not in request.body
        assert request.body["unread"] == "no_api" and "unread" not in said
        assert (said["reported_model"], said["usage"], said["complete"]) == (None, None, True)
        assert bench.journal.raw(bench.journal.of("model.response")[0]) == reply.body and not bench.journal.of("fault")


# -- keys ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("place", "shown"),
    [
        ("authorization", "Bearer {key}"),
        ("authorization", "bearer {key}"),
        ("x-api-key", "{key}"),
        ("x-goog-api-key", "{key}"),
        ("api-key", "{key}"),
    ],
)
async def test_the_real_key_stands_where_the_dummy_stood(lab: Any, place: str, shown: str) -> None:
    async with lab({"body": WHOLE["messages"]}) as bench:
        headers = {"Authorization": "Bearer not-this-one", place.title(): shown.format(key=bench.door.key)}
        assert (await bench.ask(**ask("messages"), headers=headers)).status == 200
        sent = {name.lower(): value for name, value in bench.received()[0]["headers"]}
        assert sent[place] == ("Bearer " if place == "authorization" else "") + KEY
        assert sum(KEY in value for value in sent.values()) == 1 and bench.door.key not in str(sent)


async def test_a_key_in_the_query_is_taken_out_of_it(lab: Any) -> None:
    async with lab({"pieces": pieces(STREAMS["gemini"])}) as bench:
        root = PATHS["gemini"]
        reply = await bench.ask(ASKS["gemini"], root=f"{root}&key={bench.door.key}", key="not this one")
        assert reply.status == 200
        assert bench.received()[0]["path"] == root == bench.journal.of("model.request")[0].body["path"]
        sent = {name.lower(): value for name, value in bench.received()[0]["headers"]}
        assert sent["x-goog-api-key"] == KEY and "authorization" not in sent
        assert bench.door.key.encode() not in bench.journal.everything()


async def test_a_wrong_key_in_the_query_goes_nowhere_and_stays_out_of_the_record(lab: Any) -> None:
    async with lab() as bench:
        reply = await bench.ask(ASKS["gemini"], root=f"{PATHS['gemini']}&key=AIza-of-somebody", key="nor this")
        assert reply.status == 401 and not bench.received()
        assert b"AIza-of-somebody" not in bench.journal.everything()


@pytest.mark.parametrize(
    "told",
    [
        [f'data: {{"x": "{KEY}"}}\n\n'],
        [f'data: {{"x": "{KEY[:9]}', f'{KEY[9:]}"}}\n\n'],
        [f'data: {{"x": "{letter}' if place == 0 else letter for place, letter in enumerate(KEY)],
        [f'data: {{"x": "{ESCAPED[:20]}', f'{ESCAPED[20:]}"}}\n\n'],
        [f'data: {{"delta": {{"text": "{KEY[:7]}"}}}}\n\n', f'data: {{"delta": {{"text": "{KEY[7:]}"}}}}\n\n'],
        [f'data: {{"choices": [{{"delta": {{"content": "{letter}"}}}}]}}\n\n' for letter in KEY],
    ],
    ids=["whole", "two pieces", "letter by letter", "escaped in two pieces", "two events", "an event for each letter"],
)
async def test_a_key_in_a_stream_reaches_neither_subject_nor_record(lab: Any, told: list[str], tmp_path: Path) -> None:
    before, gate = 'data: {"x": "a word before"}\n\n', tmp_path / "gate"
    async with lab({"pieces": [before, *told, "data: [DONE]\n\n"], "gate": str(gate)}) as bench:
        reply = await bench.ask(**ask("chat"), seen=lambda _: gate.touch())
        shown = reply.body.decode()
        assert KEY not in shown and not reply.whole and shown.startswith(before)
        assert KEY not in "".join(json.loads(event[6:])["choices"][0]["delta"]["content"] for event in events(shown))
        kept = bench.journal.raw(bench.journal.of("model.response")[0])
        assert b"[upstream key]" in kept and KEY.encode() not in kept and bench.response()["complete"] is False
        assert bench.journal.faults()[0][:2] == ("gateway", "dependency_unavailable")


def events(shown: str) -> list[str]:
    return [event for event in shown.split("\n\n") if "choices" in event]


@pytest.mark.parametrize("ends", ["the subject leaves", "the attempt ends"])
@pytest.mark.parametrize("kind", ["text/event-stream", "application/json"])
async def test_a_key_that_came_before_an_exchange_was_broken_off_stays_out(
    lab: Any, kind: str, ends: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = [f'data: {{"x": "a word before {KEY[:9]}', f'{KEY[9:]}", ']
    async with lab({"pieces": told, "then": "stay", "headers": {"Content-Type": kind}}) as bench:
        came: list[Progress] = []
        exchange = bench.gateway._source.exchange

        async def watched(asking: Any, progress: Progress, passing: Any) -> Any:
            came.append(progress)
            return await exchange(asking, progress, passing)

        monkeypatch.setattr(bench.gateway._source, "exchange", watched)
        address = urlsplit(bench.door.base_url)
        _, writer = await asyncio.open_connection(address.hostname, address.port)
        body = json.dumps(ASK).encode()
        head = f"POST {address.path}/chat/completions HTTP/1.1\r\nHost: {address.netloc}\r\n"
        head += f"Authorization: Bearer {bench.door.key}\r\nContent-Length: {len(body)}\r\n\r\n"
        writer.write(head.encode() + body)
        await until(lambda: bool(came) and KEY.encode() in came[0].body)
        if ends == "the subject leaves":
            writer.transport.abort()
        else:
            await bench.gateway.stop()
            writer.close()
        await until(lambda: bool(bench.journal.of("model.response")))
        kept = bench.journal.raw(bench.journal.of("model.response")[0])
        assert b"[upstream key]" in kept and KEY[:9].encode() not in kept and bench.response()["complete"] is False


async def test_a_key_in_an_encoded_answer_is_found_too(lab: Any) -> None:
    async with lab({"text": f"Your key is {KEY}", "encode": "gzip"}) as bench:
        assert (await bench.ask(ASK)).status == 502
        assert bench.journal.raw(bench.journal.of("model.response")[0]) == b"[upstream key]"


async def test_a_key_in_an_error_text_stays_out_of_the_record(lab: Any) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        async with lab(base_url=f"http://127.0.0.1:{taken.getsockname()[1]}/{KEY}/v1") as bench:
            assert KEY.encode() not in (await bench.ask(ASK)).body


def test_what_may_be_the_beginning_of_the_key_is_held_back() -> None:
    watch = KeyWatch(KEY)
    assert not watch.feed(b"a word", b"") and not watch.held
    assert not watch.feed(b"and sk-", b"") and watch.held
    assert not watch.feed(b"something", b"") and not watch.held
    assert not watch.feed(b"\\u00", b"") and watch.held
    assert not KeyWatch(None).feed(b"anything", b"")


@given(texts=st.lists(st.text("ab", max_size=4), max_size=12), cuts=st.lists(st.integers(1, 40), max_size=20))
def test_a_key_spread_over_events_is_found_wherever_the_stream_is_cut(texts: list[str], cuts: list[int]) -> None:
    """A key that begins again within itself; what stands in another place of the events is no part of it."""
    key, watch, reader = "aabaaab", KeyWatch("aabaaab"), SseReader()
    stream = "".join(f"data: {json.dumps({'x': {'t': text}, 'o': ['cc']})}\n\n" for text in texts).encode()
    found, place = False, 0
    for size in [*cuts, len(stream)]:
        piece, place = stream[place : place + size], place + size
        found = watch.feed(piece, reader.take(piece)) or found
    assert found == (key in "".join(texts)) == holds_key(stream, key)
    said = "".join(texts)
    if not found and place >= len(stream):
        assert watch.held or not any(said.endswith(key[:length]) for length in range(3, len(key)))


@pytest.mark.parametrize("key", ['sk-"é/ab-longer-than-what-is-sought', "sk-a-key-longer-than-what-is-sought"])
@given(
    cuts=st.lists(st.integers(0, 30), min_size=1, max_size=5),
    others=st.lists(st.sampled_from(["", "", "plain", "s", "sk-"]), min_size=7, max_size=7),
    escaped=st.booleans(),
    spread=st.booleans(),
)
def test_events_that_are_not_read_hide_no_piece_of_a_key(
    key: str, cuts: list[int], others: list[str], escaped: bool, spread: bool
) -> None:
    """A key with what JSON escapes in it, in one place of each event or in two, with a stranger's text between."""
    places = [0, *sorted(cuts), len(key)]
    pieces = [key[begin:end] for begin, end in pairwise(places)]
    events = [{"x": {"t": piece}, "sk": other} for piece, other in zip(pieces, others, strict=False)]
    if not spread and len(events) > 1:
        events.insert(1, {"x": {"t": "!"}, "sk": ""})
    watch, reader, found = KeyWatch(key), SseReader(), False
    for event in events:
        raw = b"data: " + json.dumps(event, ensure_ascii=escaped).encode() + b"\n\n"
        found = watch.feed(raw, reader.take(raw)) or found
    said = "".join(str(event["x"]["t"]) for event in events)  # type: ignore[index]
    assert found == (key in said)


@pytest.mark.parametrize(
    ("base", "path", "url"),
    [
        ("http://h/v1", "/v1/chat/completions", "http://h/v1/chat/completions"),
        ("http://h/v1/", "/v1/messages?beta=true", "http://h/v1/messages?beta=true"),
        ("http://h/v1", "/v1beta/models/m:generateContent", "http://h/v1beta/models/m:generateContent"),
        ("http://h/v1beta", "/v1beta/models/m:generateContent", "http://h/v1beta/models/m:generateContent"),
        ("http://h/v1", "/", "http://h/"),
        ("http://h/api/openai", "/v1/chat/completions", "http://h/api/openai/chat/completions"),
        ("http://h/proxy", "/v1beta/models/m:x", "http://h/proxy/v1beta/models/m:x"),
    ],
)
def test_where_a_path_is_at_the_endpoint(base: str, path: str, url: str) -> None:
    assert target_url(base, path) == url
