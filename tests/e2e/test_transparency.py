"""What the conformance suite says through the tap is `make transparency`; here: that its instruments work.

A control that spoils nothing, a probe of bytes that notices, and a published page that shows what it says.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import aiohttp
import pytest
from aiohttp import web
from transparency.forwarder import ABLATIONS, CLEAN, Ablation, forwarding
from transparency.measure import Compared, Spoilt, tapped
from transparency.page import DECLARED, FIXTURES, NPM, Measured, complaints
from transparency.probe import byte_server, bytes_pass
from transparency.suite import WIRES, told
from yarl import URL

PAGE = Path(__file__).resolve().parents[2] / "docs" / "reference" / "transparency.md"
NAMED = {ablation.name: ablation for ablation in (CLEAN, *ABLATIONS)}
GOOD = (("check", "SUCCESS"), ("seen", "INFO"))
BAD = (("check", "FAILURE"), ("seen", "INFO"))


@pytest.mark.parametrize("name", NAMED)
async def test_the_probe_of_bytes_notices_what_is_written_anew_and_nothing_else(name: str) -> None:
    seen: list[bytes] = []
    async with byte_server(seen) as server, tapped(server) as tap, forwarding(tap.url, NAMED[name]) as door:
        assert await bytes_pass(door, seen) is (name != "again")
        assert len(seen) == 1 and tap.faults == []


@asynccontextmanager
async def echo(status: int) -> AsyncIterator[str]:
    """A server that says what reached it."""

    async def handle(request: web.BaseRequest) -> web.StreamResponse:
        found = {"headers": [[name, value] for name, value in request.headers.items()], "path": request.raw_path}
        return web.json_response(found | {"body": (await request.read()).decode()}, status=status)

    runner = web.ServerRunner(web.Server(handle))
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    try:
        yield f"http://127.0.0.1:{runner.addresses[0][1]}/mcp"
    finally:
        await runner.cleanup()


SENT = {
    "Mcp-Session-Id": "s",
    "MCP-Protocol-Version": "2026-07-28",
    "Mcp-Method": "tools/call",
    "Mcp-Name": "x",
    "Mcp-Param-Region": "y",
    "Last-Event-ID": "7",
    "Origin": "http://evil.example.com",
    "Content-Type": "application/json",
}


@pytest.mark.parametrize("name", NAMED)
async def test_an_ablation_spoils_what_it_says_and_the_control_nothing(name: str) -> None:
    spoilt = NAMED[name]
    async with echo(404) as server, forwarding(server, spoilt) as door, aiohttp.ClientSession() as client:
        host = {"Host": "evil.example.com"}
        async with client.post(
            URL(door + "?a=%2F", encoded=True), data=b'{"a":1, "a":2}', headers=SENT | host
        ) as answer:
            came = json.loads(await answer.read())
    headers = {key.lower(): value for key, value in came["headers"]}
    lost = {key for key in SENT if key.lower() not in headers}
    assert lost == {key for key in SENT if key.lower().startswith(spoilt.drop or ("\0",))}
    assert answer.status == (500 if spoilt.flat else 404)
    assert (headers["host"] == "evil.example.com") is not spoilt.rehost
    assert came["path"] == "/mcp?a=%2F"
    assert (came["body"] == '{"a":1, "a":2}') is not spoilt.again


def measured(
    *,
    through: tuple[tuple[str, str], ...] = GOOD,
    noticed: bool | None = None,
    faults: tuple[tuple[str, str, str], ...] = (),
) -> Measured:
    """All as it must be, but what is said."""
    compared = {}
    for server in (FIXTURES, NPM):
        for wire in WIRES:
            cell = {"ping": through} | {name: BAD for of, at, name in DECLARED if (of, at) == (server, wire)}
            compared[server, wire] = Compared(
                {"ping": GOOD} | {name: GOOD for name in cell if name != "ping"}, cell, faults, 99
            )

    def found(ablation: Ablation) -> Spoilt:
        sees = ablation.suite if noticed is None else noticed
        return Spoilt(dict.fromkeys(WIRES, ("ping",) if sees else ()), not ablation.bytes)

    return Measured(compared, [(ablation, found(ablation)) for ablation in NAMED.values()])


def test_a_complaint_is_made_of_every_cell_that_differs_and_every_ablation_that_is_not_as_declared() -> None:
    assert list(complaints(measured())) == []
    assert len(list(complaints(measured(through=BAD)))) == 4
    assert len(list(complaints(measured(faults=(("tap:wide", "harness", "no room"),))))) == 4
    wanted = [ablation for ablation in NAMED.values() if ablation.suite]
    assert len(list(complaints(measured(noticed=False)))) == len(wanted) > 7
    assert len(list(complaints(measured(noticed=True)))) == len(NAMED) - len(wanted) == 3


def test_a_difference_that_is_declared_has_to_be_there() -> None:
    good = measured()
    for server, wire, scenario in DECLARED:
        found = good.compared[server, wire]
        same = found._replace(through=dict(found.through) | {scenario: found.direct[scenario]})
        told_of = list(complaints(good._replace(compared=dict(good.compared) | {(server, wire): same})))
        assert len(told_of) == 1 and scenario in told_of[0]


def test_a_verdict_is_that_of_the_suite() -> None:
    assert told((("a", "SUCCESS"), ("b", "WARNING"), ("c", "INFO"), ("d", "SKIPPED"))) == "warn 1/2"
    assert told((("a", "FAILURE"), ("b", "WARNING"))) == "fail 0/2"
    assert told(GOOD) == "pass 1/1"


def test_the_published_page_is_equal_in_every_cell_and_red_where_it_must_be() -> None:
    rows = [
        [cell.strip() for cell in line.split("|")[1:-1]] for line in PAGE.read_text("utf-8").split("\n") if "|" in line
    ]
    scenarios = [row for row in rows if len(row) == 5 and row[0].startswith("`")]
    assert len(scenarios) == sum(WIRES.values())
    assert all(direct == through and direct.startswith("pass ") for _, direct, through, _, _ in scenarios)
    assert [row[0] for row in scenarios if row[3] != row[4]] == [f"`{scenario}`" for _, _, scenario in DECLARED]
    spoilt = {row[0]: row[1:] for row in rows if len(row) == 2 + len(WIRES)}
    for ablation in NAMED.values():
        *noticed, passed = spoilt[ablation.says]
        assert any("**" in cell for cell in noticed) is ablation.suite
        assert ("changed" in passed) is ablation.bytes
