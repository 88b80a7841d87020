"""The small client, against the fixture kit and against awkward servers."""

from __future__ import annotations

import json

import pytest

from oyer.errors import ProtocolError
from oyer.protocol import (
    CallFailed,
    ClientEvent,
    McpClient,
    Noise,
    Ready,
    ServerAsked,
    ServerNotified,
    Tool,
    ToolReturned,
    ToolServer,
    ToolsListed,
)


def kit(**options: int) -> ToolServer:
    tools = tuple(Tool(f"t{number}", "", {"type": "object"}, lambda _: "done") for number in range(14))
    return ToolServer("box", tools=tools, page_size=options.get("page_size"))


def play(client: McpClient, server: ToolServer, data: bytes) -> list[ClientEvent]:
    """Carry bytes to and fro until both are silent."""
    events: list[ClientEvent] = []
    while data:
        answers = [server.handle(line + b"\n") for line in data.split(b"\n") if line]
        for answer in answers:
            for byte in range(len(answer or b"")):
                events += client.feed((answer or b"")[byte : byte + 1])
        data = client.data_to_send()
    return events


@pytest.mark.parametrize(("era", "version"), [("initialize", "2025-11-25"), ("discover", "2026-07-28")])
def test_both_eras_list_and_call(era: str, version: str) -> None:
    client, server = McpClient(), kit(page_size=8)
    (ready,) = play(client, server, client.start("discover" if era == "discover" else "initialize"))
    assert isinstance(ready, Ready)
    assert ready.protocol_version == version
    (listed,) = play(client, server, client.list_tools())
    assert isinstance(listed, ToolsListed)
    assert ([tool["name"] for tool in listed.tools], listed.complete) == ([f"t{n}" for n in range(14)], True)
    call = client.call_tool("t3", {"n": 1})
    (number,) = client.pending
    (returned,) = play(client, server, call)
    assert isinstance(returned, ToolReturned)
    assert (returned.id, returned.tool, returned.text, returned.is_error) == (number, "t3", "done", False)
    (failed,) = play(client, server, client.call_tool("none", {}))
    assert isinstance(failed, CallFailed)
    assert (failed.tool, failed.code, failed.method) == ("none", -32602, "tools/call")
    assert client.pending == ()


def test_the_handshake_is_confirmed() -> None:
    client = McpClient()
    assert json.loads(client.start())["params"]["clientInfo"] == {"name": "client", "version": "1"}
    client.feed(b'{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2024-11-05"}}\r\n')
    assert client.data_to_send() == b'{"jsonrpc":"2.0","method":"notifications/initialized"}\n'
    assert client.data_to_send() == b""


@pytest.mark.parametrize(
    "answer",
    [
        b'{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"no"}}\n',
        b'{"jsonrpc":"2.0","id":1,"result":{"supportedVersions":["2025-11-25"]}}\n',
        b'{"jsonrpc":"2.0","id":1,"result":7}\n',
    ],
)
def test_a_server_without_discover_is_asked_to_initialize(answer: bytes) -> None:
    client = McpClient()
    client.start("discover")
    assert client.feed(answer) == []
    again = json.loads(client.data_to_send())
    assert (again["method"], "_meta" in again["params"], client.modern) == ("initialize", False, False)


def test_what_the_server_asks_is_answered_while_a_call_is_pending() -> None:
    client = McpClient()
    client.call_tool("t", {})
    asked = client.feed(
        b'{"jsonrpc":"2.0","id":1,"method":"elicitation/create","params":{}}\n{"jsonrpc":"2.0","id":"p","method":"ping"}\n'
        b'{"jsonrpc":"2.0","method":"notifications/progress"}\n{"jsonrpc":"2.0","id":9,"result":{}}\n'
    )
    assert [type(event) for event in asked] == [ServerAsked, ServerAsked, ServerNotified, ServerNotified]
    refused, pong = (json.loads(line) for line in client.data_to_send().splitlines())
    assert (refused["id"], refused["error"]["code"]) == (1, -32601)
    assert pong == {"jsonrpc": "2.0", "id": "p", "result": {}}
    (returned,) = client.feed(
        b'{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"a"},{"type":"image"},{"type":"text","text":"b"}],'
        b'"isError":true}}\n'
    )
    assert isinstance(returned, ToolReturned)
    assert (returned.text, returned.is_error) == ("a\nb", True)


def test_a_banner_is_noise_or_the_end() -> None:
    (noise,) = McpClient().feed(b"Fake server version: 1.2.3\n")
    assert isinstance(noise, Noise)
    with pytest.raises(ProtocolError) as caught:
        McpClient(strict=True).feed(b"Fake server version: 1.2.3\n")
    assert caught.value.side == "server"
    assert McpClient(strict=True).feed(b"\r\n") != []


def test_cursors_that_never_end_are_followed_to_a_bound() -> None:
    client = McpClient()
    request, pages = client.list_tools(), 0
    events: list[ClientEvent] = []
    while request:
        pages += 1
        number = json.loads(request)["id"]
        page = {"jsonrpc": "2.0", "id": number, "result": {"tools": [{"name": "t"}], "nextCursor": "same"}}
        events += client.feed(json.dumps(page).encode() + b"\n")
        request = client.data_to_send()
    (listed,) = events
    assert isinstance(listed, ToolsListed)
    assert (listed.complete, pages) == (False, 100)


def test_an_unfinished_result_is_no_result() -> None:
    client = McpClient()
    client.call_tool("t", {})
    (failed,) = client.feed(b'{"jsonrpc":"2.0","id":1,"result":{"resultType":"input_required","inputRequests":{}}}\n')
    assert isinstance(failed, CallFailed)
    assert failed.code is None


def test_a_cancelled_call_is_waited_for_no_longer() -> None:
    client = McpClient()
    client.call_tool("t", {})
    assert json.loads(client.cancel(1))["params"] == {"requestId": 1}
    assert client.pending == ()
    (late,) = client.feed(b'{"jsonrpc":"2.0","id":1,"result":{}}\n')
    assert isinstance(late, ServerNotified)
