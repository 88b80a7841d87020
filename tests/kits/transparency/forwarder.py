"""A forwarder that passes everything as it came, or spoils one thing: what a tap that is not transparent would do.

It stands between the suite and the tap. Without a spoiling it is the control: the suite must not notice it either.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from typing import NamedTuple
from urllib.parse import urlsplit

import aiohttp
from aiohttp import web
from multidict import CIMultiDict
from yarl import URL

__all__ = ["ABLATIONS", "CLEAN", "Ablation", "forwarding"]

HOP = frozenset({"connection", "keep-alive", "transfer-encoding", "te", "trailer", "upgrade", "content-length"})


class Ablation(NamedTuple):
    """One thing that is done wrong. `suite` and `bytes`: whether the suite and the probe of bytes have to notice.

    `scenario_s`: how long a scenario may take, shorter where what is spoilt makes some wait for ever.
    """

    name: str
    says: str
    suite: bool = True
    bytes: bool = False
    drop: tuple[str, ...] = ()
    buffer: bool = False
    flat: bool = False
    as_json: bool = False
    rehost: bool = False
    again: bool = False
    scenario_s: int = 30


CLEAN = Ablation("none", "nothing is spoilt: the control", suite=False)
ABLATIONS = (
    Ablation("buffer", "an answer goes on when all of it is there", buffer=True, scenario_s=6),
    Ablation("no session", "`Mcp-Session-Id` is dropped", drop=("mcp-session-id",)),
    Ablation("no version", "`MCP-Protocol-Version` is dropped", drop=("mcp-protocol-version",)),
    Ablation(
        "no mirror",
        "`Mcp-Method`, `Mcp-Name` and `Mcp-Param-*` are dropped",
        drop=("mcp-method", "mcp-name", "mcp-param-"),
    ),
    Ablation("no last id", "`Last-Event-ID` is dropped", drop=("last-event-id",)),
    Ablation("json type", "every answer is said to be JSON", as_json=True),
    Ablation("flat status", "every status of 400 to 499 becomes 500", flat=True),
    Ablation("no origin", "`Host` is rewritten and `Origin` dropped", drop=("origin",), rehost=True),
    Ablation("rehost", "`Host` is rewritten, nothing else", suite=False, rehost=True),
    Ablation("again", "a request is read as JSON and written anew", suite=False, bytes=True, again=True),
)


@asynccontextmanager
async def forwarding(target: str, ablation: Ablation) -> AsyncIterator[str]:
    """Listen at an address of its own, as long as this lasts, and forward to `target`."""
    parts = urlsplit(target)
    client = aiohttp.ClientSession(
        cookie_jar=aiohttp.DummyCookieJar(),
        auto_decompress=False,
        skip_auto_headers=("User-Agent", "Accept", "Accept-Encoding", "Content-Type"),
        timeout=aiohttp.ClientTimeout(total=None),
        connector=aiohttp.TCPConnector(limit=0, force_close=True),
    )
    own: list[str] = []

    async def handle(request: web.BaseRequest) -> web.StreamResponse:
        pairs = _named(((n.decode("latin-1"), v.decode("latin-1")) for n, v in request.raw_headers), ablation.drop)
        headers = CIMultiDict(pairs)
        # What was meant for this address is meant for the next one; a foreign name stays foreign.
        if headers.get("Host") == own[0] or ablation.rehost:
            headers["Host"] = parts.netloc
        if headers.get("Origin") == f"http://{own[0]}":
            headers["Origin"] = f"http://{parts.netloc}"
        body = await request.read()
        if body and ablation.again:
            body = json.dumps(json.loads(body)).encode()
        url = URL(f"http://{parts.netloc}{request.raw_path}", encoded=True)
        try:
            async with client.request(
                request.method, url, headers=headers, data=body or None, allow_redirects=False
            ) as came:
                return await _answer(request, came, ablation)
        except (aiohttp.ClientError, ConnectionResetError):
            if request.transport is not None:
                request.transport.close()
            return web.Response(status=502)

    runner = web.ServerRunner(
        web.Server(handle, auto_decompress=False, access_log=None, handler_cancellation=True), shutdown_timeout=0.05
    )
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        own.append(f"127.0.0.1:{runner.addresses[0][1]}")
        yield f"http://{own[0]}{parts.path}"
    finally:
        await runner.cleanup()
        await client.close()
        await asyncio.sleep(0)


async def _answer(request: web.BaseRequest, came: aiohttp.ClientResponse, ablation: Ablation) -> web.StreamResponse:
    headers = CIMultiDict(_named((n.decode("latin-1"), v.decode("latin-1")) for n, v in came.raw_headers))
    if ablation.as_json and "Content-Type" in headers:
        headers["Content-Type"] = "application/json"
    status = 500 if ablation.flat and 400 <= came.status < 500 else came.status
    answer = web.StreamResponse(status=status, reason=came.reason, headers=headers)
    if came.content_length is not None:
        answer.content_length = came.content_length
    whole = await came.read() if ablation.buffer else None
    await answer.prepare(request)
    if whole is not None:
        await answer.write(whole)
    else:
        async for chunk in came.content.iter_any():
            await answer.write(chunk)
    await answer.write_eof()
    return answer


def _named(pairs: Iterable[tuple[str, str]], drop: tuple[str, ...] = ()) -> list[tuple[str, str]]:
    return [(n, v) for n, v in pairs if n.lower() not in HOP and not n.lower().startswith(drop or ("\0",))]
