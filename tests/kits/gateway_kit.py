"""A gateway in front of a scripted endpoint, its journal, and a strict client (http.client, which decodes nothing)."""

from __future__ import annotations

import asyncio
import contextlib
import http.client
import json
import sys
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from oyer.instruments.gateway import GatewayDoor, RecordingGateway
from oyer.instruments.gateway_upstream import Upstream

ENDPOINT = Path(__file__).parents[1] / "peers" / "scripted_endpoint.py"
KEY = "sk-SECRET-CANARY-12345"
ASK: dict[str, Any] = {"model": "m", "messages": [{"role": "user", "content": "Hello"}], "temperature": 0}


class Reply(NamedTuple):
    status: int
    headers: dict[str, str]
    body: bytes
    whole: bool


class Lab:
    """A gateway in front of one endpoint, its journal, and a client."""

    def __init__(self, gateway: RecordingGateway, door: GatewayDoor, journal: Any, log: Path) -> None:
        self.gateway = gateway
        self.door = door
        self.journal = journal
        self.log = log

    async def ask(self, body: Any = ASK, **more: Any) -> Reply:
        raw = body if isinstance(body, bytes) else json.dumps(body).encode()
        return await asyncio.to_thread(send, self.door, raw, **more)

    def received(self) -> list[dict[str, Any]]:
        """What the endpoint itself saw."""
        return [json.loads(line) for line in self.log.read_text().split("\n") if line] if self.log.exists() else []

    def response(self) -> dict[str, Any]:
        """The body of the only model.response."""
        (event,) = self.journal.of("model.response")
        return dict(event.body)


def send(
    door: GatewayDoor,
    raw: bytes,
    *,
    method: str = "POST",
    path: str = "/chat/completions",
    root: str | None = None,
    key: str | None = None,
    headers: dict[str, str] | None = None,
    seen: Callable[[bytes], object] = lambda _: None,
) -> Reply:
    """Send one request; `root` instead of `path` is a path beside `/v1`. `seen` is told what has come so far."""
    address = urlsplit(door.base_url)
    whole_path = address.path + path if root is None else address.path.removesuffix("/v1") + root
    connection = http.client.HTTPConnection(address.hostname or "", address.port, timeout=90)
    sent = {"Authorization": f"Bearer {key or door.key}", "Content-Type": "application/json", **(headers or {})}
    try:
        connection.request(method, whole_path, raw if method == "POST" else None, sent)
        answer = connection.getresponse()
        body, whole = b"", False
        with contextlib.suppress(http.client.IncompleteRead):
            while piece := answer.read1(1 << 16):
                body += piece
                seen(body)
            whole = not answer.length
        return Reply(answer.status, {name.lower(): value for name, value in answer.getheaders()}, body, whole)
    finally:
        connection.close()


@contextlib.asynccontextmanager
async def open_lab(
    tmp_path: Path, journal: Any, *behaviours: dict[str, Any], base_url: str | None = None, **more: Any
) -> AsyncIterator[Lab]:
    """Bring up an endpoint that plays these behaviours, and a gateway before it; at the end nothing kept its key."""
    script, log = tmp_path / "behaviours.json", tmp_path / "requests.jsonl"
    script.write_text(json.dumps(behaviours or [{"text": "Hi."}]))
    endpoint = await asyncio.create_subprocess_exec(
        sys.executable, "-S", str(ENDPOINT), str(script), "--log", str(log),
        stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE,
    )  # fmt: skip
    assert endpoint.stdin is not None and endpoint.stdout is not None
    served = (await endpoint.stdout.readline()).decode().strip()
    limits = {name: more.pop(name) for name in ("limits", "faults", "rules") if name in more}
    gateway = RecordingGateway(journal, Upstream(base_url or served, **{"key": KEY, **more}), **limits)
    try:
        door = await gateway.start()
        yield Lab(gateway, door, journal, log)
    finally:
        await gateway.stop()
        endpoint.stdin.close()
        await endpoint.wait()
    journal.require_whole()
    assert KEY.encode() not in journal.everything()
