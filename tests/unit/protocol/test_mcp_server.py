"""The fixture server kit, in both eras."""

from __future__ import annotations

import json
from typing import Any

import pytest

from oyer.errors import ProtocolError
from oyer.protocol import Tool, ToolServer, tool_error

META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
}
SCHEMA = {"type": "object", "required": ["n"], "properties": {"n": {"type": "integer"}}}


def server(**options: Any) -> ToolServer:
    kit = ToolServer("box", "2", **options)
    kit.add(Tool("text", "says n", SCHEMA, lambda arguments: f"n is {arguments['n']}"))
    kit.add(Tool("object", "gives n", SCHEMA, lambda arguments: {"n": arguments["n"]}, {"type": "object"}))
    kit.add(Tool("fails", "fails", {"type": "object"}, lambda _: tool_error("no")))
    return kit


def ask(kit: ToolServer, method: str, params: object = None, id_: object = 1) -> Any:
    message: dict[str, object] = {"jsonrpc": "2.0", "id": id_, "method": method}
    if params is not None:
        message["params"] = params
    answer = kit.handle(json.dumps(message).encode() + b"\n")
    assert answer is not None
    assert answer.endswith(b"}\n")
    value = json.loads(answer)
    assert value["jsonrpc"] == "2.0"
    return value


@pytest.mark.parametrize(
    ("asked", "given"),
    [
        ("2024-11-05", "2024-11-05"),
        ("2025-03-26", "2025-03-26"),
        ("2025-06-18", "2025-06-18"),
        ("2025-11-25", "2025-11-25"),
        ("2026-07-28", "2025-11-25"),
        ("x", "2025-11-25"),
    ],
)
def test_the_handshake_agrees_on_a_known_version(asked: str, given: str) -> None:
    result = ask(server(instructions="Be brief."), "initialize", {"protocolVersion": asked})["result"]
    assert result == {
        "protocolVersion": given,
        "capabilities": {"tools": {}},
        "serverInfo": {"name": "box", "version": "2"},
        "instructions": "Be brief.",
    }


def test_tools_are_listed_and_called() -> None:
    kit = server()
    tools = ask(kit, "tools/list")["result"]["tools"]
    assert [tool["name"] for tool in tools] == ["text", "object", "fails"]
    assert tools[1]["outputSchema"] == {"type": "object"}
    assert "outputSchema" not in tools[0]
    called = ask(kit, "tools/call", {"name": "text", "arguments": {"n": 5}}, "a")
    assert called == {"jsonrpc": "2.0", "id": "a", "result": {"content": [{"type": "text", "text": "n is 5"}]}}
    failed = ask(kit, "tools/call", {"name": "fails"})["result"]
    assert failed == {"content": [{"type": "text", "text": "no"}], "isError": True}


def test_an_object_is_said_twice_and_keeps_its_digits() -> None:
    params = b'{"name":"object","arguments":{"n":1234567890123456789}}'
    line = b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":' + params + b"}"
    assert server().handle(line) == (
        b'{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"{\\"n\\":1234567890123456789}"}],'
        b'"structuredContent":{"n":1234567890123456789}}}\n'
    )


def test_pages_lead_to_every_tool() -> None:
    kit = server(page_size=2)
    first = ask(kit, "tools/list")["result"]
    assert (len(first["tools"]), first["nextCursor"]) == (2, "2")
    second = ask(kit, "tools/list", {"cursor": "2"})["result"]
    assert (len(second["tools"]), "nextCursor" in second) == (1, False)
    assert ask(kit, "tools/list", {"cursor": "x"})["error"]["code"] == -32602


def test_errors_have_their_codes() -> None:
    kit = server()
    assert ask(kit, "no/such")["error"]["code"] == -32601
    assert ask(kit, "server/discover")["error"]["code"] == -32601
    assert ask(kit, "initialize", {})["error"]["code"] == -32602
    for params in ({"name": "none"}, {}, {"name": "text", "arguments": {}}, {"name": "text", "arguments": [1]}, [1]):
        assert ask(kit, "tools/call", params)["error"]["code"] == -32602
    assert json.loads(kit.handle(b"banner\n") or b"")["error"]["code"] == -32700
    assert json.loads(kit.handle(b"5\n") or b"")["error"]["code"] == -32600


def test_what_asks_for_nothing_gets_nothing() -> None:
    kit = server()
    for line in (
        b"\n",
        b'{"jsonrpc":"2.0","method":"notifications/initialized"}',
        b'{"jsonrpc":"2.0","id":1,"result":{}}',
    ):
        assert kit.handle(line) is None
    assert kit.handle(b'[{"jsonrpc":"2.0","method":"n"}]') is None


def test_a_batch_is_answered_as_a_batch() -> None:
    answer = server().handle(b'[{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","method":"n"},7]\n')
    assert answer is not None
    assert [part.get("result", part.get("error", {}).get("code")) for part in json.loads(answer)] == [{}, -32600]


def test_the_modern_era_needs_no_handshake() -> None:
    kit = server()
    found = ask(kit, "server/discover", {"_meta": META})["result"]
    assert found["supportedVersions"] == ["2026-07-28"]
    assert found["resultType"] == "complete"
    assert (found["ttlMs"], found["cacheScope"]) == (0, "private")
    assert found["_meta"] == {"io.modelcontextprotocol/serverInfo": {"name": "box", "version": "2"}}
    called = ask(kit, "tools/call", {"name": "text", "arguments": {"n": 5}, "_meta": META})["result"]
    assert called["resultType"] == "complete"
    assert called["content"][0]["text"] == "n is 5"
    assert ask(kit, "tools/list", {"_meta": META})["result"]["cacheScope"] == "private"
    old = {**META, "io.modelcontextprotocol/protocolVersion": "2030-01-01"}
    refused = ask(kit, "tools/list", {"_meta": old})["error"]
    assert (refused["code"], refused["data"]) == (-32022, {"supported": ["2026-07-28"], "requested": "2030-01-01"})
    bare = {"io.modelcontextprotocol/protocolVersion": "2026-07-28"}
    assert ask(kit, "tools/list", {"_meta": bare})["error"]["code"] == -32602


def test_a_subscription_is_acknowledged_and_stays_open() -> None:
    line = {"jsonrpc": "2.0", "id": "listen:0", "method": "subscriptions/listen"}
    answer = server().handle(json.dumps({**line, "params": {"_meta": META, "notifications": {}}}).encode())
    value = json.loads(answer or b"")
    assert value["method"] == "notifications/subscriptions/acknowledged"
    assert value["params"]["_meta"] == {"io.modelcontextprotocol/subscriptionId": "listen:0"}


def test_a_tools_own_failure_is_not_hidden() -> None:
    kit = ToolServer("box")
    kit.add(Tool("bug", "", {"type": "object"}, lambda arguments: str(arguments["missing"])))
    with pytest.raises(KeyError):
        kit.handle(b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"bug"}}')
    with pytest.raises(ProtocolError):
        kit.add(Tool("bug", "", {}, lambda _: ""))
