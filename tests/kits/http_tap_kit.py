"""A tap between HTTP and HTTP on a bench: its journal, a plain client, and servers of raw bytes."""

from __future__ import annotations

import asyncio
import base64
import http.client
import json
import os
import sys
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from instrument_kit import PEERS, QUICK, KitJournal, replay_chain, request
from oyer.host import become_subreaper, open_run_dir
from oyer.instruments import TapLimits, TappedServer
from oyer.instruments.tap_http import HttpTap

JSON = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
QUICKLY = TapLimits(patience=QUICK)


class Reply(NamedTuple):
    status: int
    headers: list[tuple[str, str]]
    body: bytes

    def header(self, name: str) -> str | None:
        return next((value for key, value in self.headers if key.lower() == name.lower()), None)


class Bench:
    """A tap, its journal, and a plain client."""

    def __init__(self, tap: HttpTap, journal: KitJournal, faults: list[tuple[str, str, str]], log: Path) -> None:
        self.tap, self.journal, self.faults, self.log = tap, journal, faults, log
        self.reached: list[bytes] = []

    async def ask(
        self, body: bytes | None, *, method: str = "POST", headers: Mapping[str, str] = JSON, tail: str = ""
    ) -> Reply:
        return await asyncio.to_thread(fetch, self.tap.url + tail, method, headers, body)

    async def greet(self) -> dict[str, str]:
        """Open a session of the older era and return the headers of what follows in it."""
        params = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "a", "version": "1"}}
        reply = await self.ask(request(0, "initialize", params).rstrip(b"\n"))
        headers = {**JSON, "Mcp-Session-Id": reply.header("mcp-session-id") or "", "MCP-Protocol-Version": "2025-11-25"}
        assert (
            await self.ask(b'{"jsonrpc":"2.0","method":"notifications/initialized"}', headers=headers)
        ).status == 202
        return headers


def fetch(url: str, method: str, headers: Mapping[str, str], body: bytes | None) -> Reply:
    host, _, place = url.removeprefix("http://").partition("/")
    connection = http.client.HTTPConnection(host, timeout=60)
    try:
        connection.request(method, f"/{place}", body, dict(headers))
        response = connection.getresponse()
        return Reply(response.status, response.getheaders(), response.read())
    finally:
        connection.close()


@asynccontextmanager
async def tapped(
    style: str | None = None, *, url: str | None = None, limits: TapLimits = QUICKLY, **options: Any
) -> AsyncIterator[Bench]:
    become_subreaper()
    with open_run_dir() as run_dir:
        log = run_dir.temp / "requests"
        env = {"PATH": os.environ["PATH"], "TMPDIR": str(run_dir.temp), "HTTP_PEER_LOG": str(log)}
        env["PYTHONPATH"] = str(Path(__file__).parents[2] / "src")
        peer = (sys.executable, str(PEERS / "http_peer.py"), "{port}", style or "", sys.executable)
        command = (*peer, str(PEERS / "notes_server.py")) if style else ()
        server = TappedServer(
            "ops", command, env, run_dir.world, str(run_dir.temp), url or "http://127.0.0.1:{port}/mcp"
        )
        journal, faults = KitJournal("tap:ops"), list[tuple[str, str, str]]()
        tap = HttpTap(server, journal, limits=limits, on_fault=lambda *fault: faults.append(fault), **options)
        tap.session = "a"
        await tap.open()
        bench = Bench(tap, journal, faults, log)
        try:
            yield bench
        finally:
            await tap.close()
            lines = log.read_text().splitlines() if log.exists() else []
            bench.reached = [base64.b64decode(json.loads(line)["body"]) for line in lines]
            assert replay_chain(journal) == []


Talk = Callable[[bytes, asyncio.StreamWriter], Coroutine[Any, Any, None]]


@asynccontextmanager
async def upstream(talk: Talk) -> AsyncIterator[tuple[str, list[bytes]]]:
    """A server of raw bytes: it keeps each request as it came, and `talk` writes what it likes."""
    requests: list[bytes] = []
    tasks: set[asyncio.Task[Any]] = set()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        tasks.add(task)
        head = await reader.readuntil(b"\r\n\r\n")
        lines = head.lower().split(b"\r\n")
        length = next((int(line.split(b":")[1]) for line in lines if line.startswith(b"content-length")), 0)
        raw = head + await reader.readexactly(length)
        requests.append(raw)
        try:
            with suppress(ConnectionError, asyncio.CancelledError):
                await talk(raw, writer)
                await writer.drain()
        finally:
            writer.close()
            with suppress(ConnectionError):
                await writer.wait_closed()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    try:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/mcp%2Fx", requests
    finally:
        server.close()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def cut(bench: Bench, body: bytes, headers: Mapping[str, str] = JSON) -> None:
    with pytest.raises((http.client.HTTPException, ConnectionError)):
        await bench.ask(body, headers=headers)
