"""Whatever breaks on our side of an address is on record as ours: its client sees a cut connection, and no answer.

What breaks on the other sides (a client that goes away, a head that cannot be said again) is not ours.
"""

from __future__ import annotations

import asyncio
import http.client
import logging
import socket
import struct
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import pytest
from gateway_kit import send
from http_tap_kit import cut, tapped, upstream

from instrument_kit import KitJournal, request
from oyer.errors import HarnessError
from oyer.instruments.gateway import GatewayDoor, RecordingGateway
from oyer.instruments.gateway_upstream import Upstream

ASK = b'{"model":"m","messages":[]}'
WHOLE = b'{"model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"a"},"finish_reason":"stop"}]}'
PING = request(7, "ping").rstrip(b"\n")


def fails(*_: object, **__: object) -> Any:
    raise ZeroDivisionError("a bug")


async def go_away(url: str, head: str) -> None:
    """Send the head of a request, and break the connection at once."""
    address = urlsplit(url)
    _, writer = await asyncio.open_connection(address.hostname, address.port)
    writer.write(f"POST {address.path} HTTP/1.1\r\nHost: {address.netloc}\r\n{head}\r\n\r\n".encode())
    await writer.drain()
    own = writer.transport.get_extra_info("socket")
    own.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()
    await asyncio.sleep(0.2)


class Before(NamedTuple):
    gateway: RecordingGateway
    door: GatewayDoor
    journal: Any
    heard: list[tuple[str, str, str]]
    reached: list[bytes]


@asynccontextmanager
async def before(journal: Any, head: bytes = b"HTTP/1.1 200 OK\r\n") -> AsyncIterator[Before]:
    """A gateway before an endpoint that gives one whole answer under this head."""

    async def talk(_: bytes, writer: asyncio.StreamWriter) -> None:
        writer.write(b"%sContent-Length: %d\r\n\r\n%s" % (head, len(WHOLE), WHOLE))

    heard: list[tuple[str, str, str]] = []
    async with upstream(talk) as (url, reached):
        endpoint = Upstream(url.removesuffix("/mcp%2Fx") + "/v1")
        gateway = RecordingGateway(journal, endpoint, on_fault=lambda *fault: heard.append(fault))
        yield Before(gateway, await gateway.start(), journal, heard, reached)


@pytest.mark.parametrize(
    ("place", "answered"),
    [
        ("oyer.instruments.gateway_upstream._is_stream", [False]),
        ("oyer.instruments.gateway.BareAnswer._start", [True]),
        ("oyer.instruments.gateway.view_request", []),
    ],
)
async def test_a_bug_inside_the_gateway_is_its_fault_and_cuts(
    open_journal: Callable[[str], Any],
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    place: str,
    answered: list[bool],
) -> None:
    async with before(open_journal("gateway")) as bench:
        monkeypatch.setattr(place, fails)
        with pytest.raises((http.client.HTTPException, ConnectionError)):
            await asyncio.to_thread(send, bench.door, ASK)
        with pytest.raises(HarnessError, match=r"unforeseen.*ZeroDivisionError") as stopped:
            await bench.gateway.stop()
    assert stopped.value.code == "E-GATEWAY-STEP"
    assert [fault[:2] for fault in bench.heard] == [("gateway", "harness")] and "a bug" in bench.heard[0][2]
    assert [event.body["complete"] for event in bench.journal.of("model.response")] == answered
    assert not [one for one in caplog.records if one.levelno >= logging.ERROR]


@pytest.mark.parametrize(
    "head",
    [
        b"HTTP/1.1 200 a\x01b\r\n",
        b"HTTP/1.1 200 OK\r\nX-Odd: a\x01b\r\n",
        b"HTTP/1.1 101 Elsewhere\r\nUpgrade: x\r\nConnection: upgrade\r\n",
        b"HTTP/1.1 099 Early\r\n",
    ],
    ids=["reason", "header", "101", "099"],
)
async def test_a_head_that_cannot_be_said_again_is_the_endpoints_failure(
    open_journal: Callable[[str], Any], caplog: pytest.LogCaptureFixture, head: bytes
) -> None:
    async with before(open_journal("gateway"), head) as bench:
        reply = await asyncio.to_thread(send, bench.door, ASK)
        await bench.gateway.stop()
    assert reply.status == 502 and WHOLE not in reply.body
    assert [fault[:2] for fault in bench.heard] == [("gateway", "dependency_unavailable")]
    (response,) = bench.journal.of("model.response")
    assert response.body["complete"] is False
    assert not [one for one in caplog.records if one.levelno >= logging.ERROR]


async def test_a_subject_that_goes_before_its_body_buys_no_fault_of_ours(open_journal: Callable[[str], Any]) -> None:
    async with before(open_journal("gateway")) as bench:
        head = f"Authorization: Bearer {bench.door.key}\r\nContent-Length: 100\r\nExpect: 100-continue"
        await go_away(bench.door.base_url + "/chat/completions", head)
        await bench.gateway.stop()
    assert (bench.heard, bench.reached, bench.journal.of("model.request")) == ([], [], [])


@pytest.mark.parametrize(
    "place",
    [
        "oyer.instruments.tap_http.odd_in",
        "oyer.instruments.tap_http_connection.Exchange.from_subject",
        "oyer.instruments.tap_http.HttpCarrier.carry",
    ],
)
async def test_a_bug_inside_the_tap_is_its_fault_and_cuts(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, place: str
) -> None:
    async def talk(_: bytes, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n")

    async with upstream(talk) as (url, reached), tapped(url=url) as bench:
        monkeypatch.setattr(place, fails)
        await cut(bench, PING)
        assert (reached, bench.tap.connections) == ([], 0)
        assert {fault[:2] for fault in bench.faults} == {("tap:ops", "harness")}
        journal: KitJournal = bench.journal
        told = [event.body["message"] for event in journal.of("fault")]
        assert len(told) == 1 and "E-TAP-STEP" in told[0] and "ZeroDivisionError" in told[0]
    assert not [one for one in caplog.records if one.levelno >= logging.ERROR]


async def test_a_subject_that_goes_before_its_message_buys_no_fault_of_the_tap() -> None:
    async def talk(_: bytes, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n")

    async with upstream(talk) as (url, reached), tapped(url=url) as bench:
        await go_away(bench.tap.url, "Content-Type: application/json\r\nContent-Length: 100\r\nExpect: 100-continue")
        assert (bench.faults, reached) == ([], [])
