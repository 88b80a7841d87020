"""The tap forwards byte for byte and writes down everything, in order."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable

import pytest

from instrument_kit import Client, Rig, replay_chain, request

RigMaker = Callable[[str], Rig]


async def one_call(maker: RigMaker, manner: str, raw: bytes) -> tuple[bytes, Rig, int | None]:
    """Send one frame, close, and return all that came back."""
    rig = maker(manner)
    try:
        await rig.open()
        client = await rig.client()
        await client.send(raw)
        got = await client.line()
        client.close_stdin()
        got += await client.rest()
        return got, rig, await client.leave()
    finally:
        await rig.close()


async def test_a_whole_conversation_is_recorded_in_order(rig: RigMaker) -> None:
    bench = rig("plain")
    tap = await bench.open()
    client = await bench.client()
    sent = [
        request(0, "initialize", {"protocolVersion": "2025-06-18"}),
        b'{"jsonrpc":"2.0","method":"notifications/initialized"}\n',
        request(1, "tools/call", {"name": "echo", "arguments": {"text": "hello"}}),
    ]
    await client.send(sent[0])
    first = await client.line()
    await client.send(sent[1] + sent[2])
    second = await client.line()
    assert json.loads(second)["result"]["content"][0]["text"] == "hello"
    assert await client.leave() == 0
    await tap.settle(60)
    await bench.close()
    journal = bench.journal
    assert [journal.raw(event) for event in journal.of("mcp.sent")] == sent
    assert [journal.raw(event) for event in journal.of("mcp.received")] == [first, second]
    assert [event.body.get("method") for event in journal.of("mcp.sent")] == [
        "initialize",
        "notifications/initialized",
        "tools/call",
    ]
    assert journal.of("mcp.sent")[2].body["tool"] == "echo"
    delivered = journal.of("mcp.delivered")
    assert [event.body["direction"] for event in delivered].count("to_server") == 3
    assert {event.body["sha256"] for event in delivered} == {
        f"sha256:{hashlib.sha256(frame).hexdigest()}" for frame in [*sent, first, second]
    }
    assert journal.kinds()[:2] == ["connection.opened", "process.started"]
    assert journal.kinds()[-2:] == ["process.exited", "connection.closed"]
    assert journal.of("connection.closed")[0].body["reason"] == "subject_closed"
    assert journal.of("mcp.received")[1].because == (journal.of("mcp.sent")[2].ref,)
    assert {event.session for event in journal.events} == {"a"}
    assert (replay_chain(journal), bench.faults, journal.synced) == ([], [], [])


def answer(text: str, end: bytes = b"\n") -> bytes:
    block = b'{"type":"text","text":"' + text.encode() + b'"}'
    return b'{"jsonrpc":"2.0","id":7,"result":{"content":[' + block + b"]}}" + end


CROSSES = {
    "banner": b"Fake server version: 1.2.3\n" + answer(""),
    "crlf": b"\r\n" + answer("crlf", b"\r\n"),
    "split": answer("split", b"\r\n"),
    "invalid_utf8": b'{"jsonrpc":"2.0","id":7,"result":{"bad":"\xff\xfe"}}\n' + answer("after"),
    "separators": answer("left\u2028mid\u0085right\u2029"),
    "numbers": b'{"jsonrpc":"2.0","id":7,"result":{"content":[],"structuredContent":'
    b'{"id":1234567890123456789,"x":1.0,"y":1e2}}}\n',
}


@pytest.mark.parametrize("manner", CROSSES)
async def test_what_crosses_is_byte_identical(rig: RigMaker, manner: str) -> None:
    expected = CROSSES[manner]
    got, bench, code = await one_call(rig, manner, request(7, "tools/call", {"name": "echo"}))
    assert (got, code) == (expected, 0)
    recorded = [
        bench.journal.raw(event) for event in bench.journal.events if event.kind in ("mcp.received", "mcp.noise")
    ]
    assert b"".join(recorded) == expected
    noise = {"banner": 1, "crlf": 1, "invalid_utf8": 1}
    assert len(bench.journal.of("mcp.noise")) == noise.get(manner, 0)
    assert {event.body["side"] for event in bench.journal.of("mcp.noise")} <= {"server"}
    assert bench.faults == []


async def test_an_answer_under_a_wrong_id_is_forwarded_and_explains_nothing(rig: RigMaker) -> None:
    got, bench, _ = await one_call(rig, "wrong_id", request(7, "tools/call", {"name": "echo"}))
    assert json.loads(got)["id"] == 1007
    assert bench.journal.of("mcp.received")[0].because == ()


async def test_both_directions_have_their_own_ids(rig: RigMaker) -> None:
    bench = rig("elicits")
    await bench.open()
    client = await bench.client()
    await client.send(request(1, "tools/call", {"name": "echo"}))
    asked, own = json.loads(await client.line()), json.loads(await client.line())
    assert (asked["method"], own["result"]["content"][0]["text"]) == ("elicitation/create", "own result")
    await client.send(b'{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"no"}}\n')
    assert await client.leave() == 0
    await bench.close()
    received = bench.journal.of("mcp.received")
    assert [event.because for event in received] == [(), (bench.journal.of("mcp.sent")[0].ref,)]
    assert bench.faults == []


async def test_unknown_parameters_and_cursors_pass_untouched(rig: RigMaker) -> None:
    bench = rig("plain")
    await bench.open()
    client = await bench.client()
    odd = b'{ "params" : {"cursor":"8","x":1.0,"x":2} ,"method":"tools/list", "id":3,"jsonrpc":"2.0"}\n'
    await client.send(request(2, "tools/list") + odd)
    pages = [json.loads(await client.line())["result"] for _ in range(2)]
    assert len({tool["name"] for page in pages for tool in page["tools"]}) == 14
    await client.leave()
    await bench.close()
    assert bench.journal.raw(bench.journal.of("mcp.sent")[1]) == odd


async def test_two_clients_with_one_id_are_two_connections(rig: RigMaker) -> None:
    bench = rig("plain")
    await bench.open()
    clients: list[Client] = [await bench.client() for _ in range(2)]
    answers = [await client.call(0, {"text": f"for {number}"}) for number, client in enumerate(clients)]
    assert [answer["result"]["content"][0]["text"] for answer in answers] == ["for 0", "for 1"]
    again = await clients[0].call(0, {"text": "again"})
    assert again["result"]["content"][0]["text"] == "again"
    for client in clients:
        await client.leave()
    await bench.close()
    by_connection = {event.body["connection"] for event in bench.journal.of("mcp.sent")}
    assert by_connection == {0, 1}
    assert len({event.body["pid"] for event in bench.journal.of("process.started")}) == 2


async def test_subject_noise_and_an_unterminated_rest_reach_the_server_as_they_came(rig: RigMaker) -> None:
    bench = rig("plain")
    bench.command = ("/bin/cat",)
    await bench.open()
    client = await bench.client()
    await client.send(b'not json\n{"jsonrpc":"2.0","id":1,"result"')
    client.close_stdin()
    assert await client.rest() == b'not json\n{"jsonrpc":"2.0","id":1,"result"'
    assert await client.leave() == 0
    await bench.close()
    noise = [(event.body["side"], bench.journal.raw(event)) for event in bench.journal.of("mcp.noise")]
    rest = b'{"jsonrpc":"2.0","id":1,"result"'
    assert sorted(noise) == sorted((side, raw) for side in ("subject", "server") for raw in (b"not json\n", rest))


async def test_the_exit_code_of_the_server_is_the_relays(rig: RigMaker) -> None:
    bench = rig("plain")
    bench.command = ("/bin/sh", "-c", "cat >/dev/null; exit 41")
    await bench.open()
    client = await bench.client()
    assert await client.leave() == 41
    await bench.close()
    assert bench.journal.of("process.exited")[0].body["code"] == 41


async def test_environment_is_the_declared_one_and_only_names_are_recorded(
    rig: RigMaker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CANARY_TOKEN", "canary-7f3a")
    bench = rig("environment")
    bench.env["MODE"] = "secret-mode"
    await bench.open()
    client = await bench.client()
    shown = (await client.call(1))["result"]["content"][0]["text"].split("\n")
    await client.leave()
    await bench.close()
    assert set(shown) - {"LC_CTYPE"} == set(bench.env)
    assert bench.journal.of("process.started")[0].body["env_names"] == sorted(bench.env)
    everything = b"".join(str(event.body).encode() for event in bench.journal.events)
    assert b"canary-7f3a" not in everything
    assert b"secret-mode" not in everything


async def test_megabytes_cross_whole_with_a_slow_reader(rig: RigMaker) -> None:
    bench = rig("huge")
    await bench.open()
    client = await bench.client()
    await client.send(request(1, "tools/call", {"name": "echo", "arguments": {"size": 8_000_000}}))
    line = await client.line()
    assert len(json.loads(line)["result"]["text"]) == 8_000_000
    await client.leave()
    await bench.close()
    received = bench.journal.of("mcp.received")[0]
    assert bench.journal.raw(received) == line
    assert received.blobs == (received.body["payload"]["sha256"],)
