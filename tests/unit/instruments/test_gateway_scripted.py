"""The gateway with a scripted model behind it: over every API, recorded like any other, and marked as what it is."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest
from gateway_kit import send
from model_streams import APIS, ASKS, NAME, PATHS

from oyer.instruments import ScriptedModel
from oyer.instruments.gateway import GatewayDoor, RecordingGateway
from oyer.instruments.gateway_scripted import ScriptedSource

SCRIPT = {"steps": [{"call": "desk.read_status", "arguments": {"id": 1}}, {"say": "Read."}], "turns": 1}
MODEL = ScriptedModel({"a": SCRIPT}, ("desk.read_status",))
WHOLE_PATHS = {**PATHS, "gemini": "/v1beta/models/m-1:generateContent"}


def offering(api: str) -> Any:
    """A first request of each API that offers the tool of the script."""
    tools: dict[str, Any] = {
        "chat": [{"type": "function", "function": {"name": NAME}}],
        "responses": [{"type": "namespace", "name": "mcp__desk", "tools": [{"type": "function", "name": NAME}]}],
        "messages": [{"name": NAME, "input_schema": {}}],
        "gemini": [{"functionDeclarations": [{"name": NAME}]}],
    }
    said: dict[str, Any] = {
        "chat": {"messages": [{"role": "user", "content": "Go."}]},
        "responses": {"input": "Go."},
        "messages": {"messages": [{"role": "user", "content": "Go."}]},
        "gemini": {"contents": [{"role": "user", "parts": [{"text": "Go."}]}]},
    }
    return {"model": "m-1", **said[api], "tools": tools[api]}


@asynccontextmanager
async def opened(journal: Any) -> AsyncIterator[tuple[RecordingGateway, GatewayDoor]]:
    gateway = RecordingGateway(journal, ScriptedSource(MODEL))
    door = await gateway.start()
    gateway.session = "a"
    try:
        yield gateway, door
    finally:
        await gateway.stop()
    journal.require_whole()


async def ask(door: GatewayDoor, api: str, request: Any, *, stream: bool = False) -> Any:
    body = json.dumps({**request, "stream": stream} if api != "gemini" else request).encode()
    root = (PATHS if stream else WHOLE_PATHS)[api]
    return await asyncio.to_thread(send, door, body, root=root)


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("api", APIS)
async def test_an_answer_crosses_and_is_on_record_as_scripted(
    open_journal: Callable[[str], Any], api: str, stream: bool
) -> None:
    journal = open_journal("gateway")
    async with opened(journal) as (_, door):
        first, again = [await ask(door, api, offering(api), stream=stream) for _ in range(2)]
    assert first.status == 200 and first.whole and first.body == again.body and NAME.encode() in first.body
    kind = "text/event-stream" if stream else "application/json"
    assert first.headers["content-type"].startswith(kind)
    responses = journal.of("model.response")
    assert [journal.raw(one) for one in responses] == [first.body, again.body]
    for one in responses:
        assert (one.body["source"], one.body["reported_model"], one.body["complete"]) == ("scripted", "scripted", True)
        assert one.session == "a" and set(one.body["usage"].values()) == {0}
    assert journal.faults() == []


@pytest.mark.parametrize("api", APIS)
async def test_requests_beside_the_case_and_beside_its_sessions_get_a_plain_word(
    open_journal: Callable[[str], Any], api: str
) -> None:
    journal = open_journal("gateway")
    async with opened(journal) as (gateway, door):
        title = await ask(door, api, {**ASKS[api], "tools": []})
        gateway.session = None
        outside = await ask(door, api, offering(api))
    assert b"OK." in title.body and b"OK." in outside.body and NAME.encode() not in outside.body


async def test_two_conversations_at_once_do_not_disturb_each_other(open_journal: Callable[[str], Any]) -> None:
    journal = open_journal("gateway")
    async with opened(journal) as (_, door):
        first = await ask(door, "chat", offering("chat"))
        message = json.loads(first.body)["choices"][0]["message"]
        going_on = offering("chat")
        going_on["messages"] += [message, {"role": "tool", "tool_call_id": "call_1", "content": "status: fine"}]
        asked = [offering("chat"), going_on] * 8
        replies = await asyncio.gather(*(ask(door, "chat", one) for one in asked))
    assert {one.body for one in replies[::2]} == {first.body}
    assert {json.loads(one.body)["choices"][0]["message"]["content"] for one in replies[1::2]} == {"Read."}


@pytest.mark.parametrize(
    ("root", "raw", "status"),
    [("/v1/models", b"{}", 404), ("/v1/chat/completions", b"{broken", 400), ("/v1/messages", b"[]", 400)],
)
async def test_what_a_script_cannot_answer_is_said_so(
    open_journal: Callable[[str], Any], root: str, raw: bytes, status: int
) -> None:
    journal = open_journal("gateway")
    async with opened(journal) as (_, door):
        reply = await asyncio.to_thread(send, door, raw, root=root)
    assert reply.status == status and "error" in json.loads(reply.body)
    assert [one.body["http_status"] for one in journal.of("model.response")] == [status]
    assert [class_ for _, class_, _ in journal.faults()] == ([] if status == 404 else ["subject"])
