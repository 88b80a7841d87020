"""The process that hosts http sinks: it receives what servers do to the outside, and writes that down itself.

Owns one loopback address for a whole series, one unguessable place and one token per attempt and sink, and the
journal of each. Commands come in as JSON lines, replies and reports go out as JSON lines; the end of its input
ends it. Every request is on record before it is answered, duplicates too. Must never take a request for an effect
without the run's token, and never let a probe be told from an effect by anything a client could say: the nonce of
a probe is announced from inside first.

Commands: `hello`, `open`, `expect` (a probe), `missed` (it did not arrive), `seal`. Reports: `fault`, `probed`.
"""

from __future__ import annotations

import asyncio
import base64
import hashlib
import json
import os
import socket
import sys
from pathlib import Path
from typing import Any, NamedTuple

from aiohttp import web

from oyer.errors import EvidenceError, HarnessError, OyerError, ProtocolError
from oyer.evidence import Envelope, Redactor, digest_of
from oyer.programs.sink_journal import SinkJournal
from oyer.protocol import loads

MAX_BODY_BYTES = 1024 * 1024
_KEPT_LATE = 1000
_SHOWN_LATE_BYTES = 300


class _Late(NamedTuple):
    """A request for a run whose sink is sealed: it waits for the next open journal."""

    run: str
    token: str
    raw: bytes


class _OpenSink:
    """One sink of one attempt while its journal is open."""

    def __init__(self, name: str, place: str, run: str, token: str, journal: SinkJournal) -> None:
        self.name = name
        self.place = place
        self.run = run
        self.token = token
        self.journal = journal
        self.expected: dict[str, str] = {}
        self.effects = 0
        self.rejected = 0

    def effect(self, raw: bytes, body: bytes) -> None:
        told: dict[str, Any] = {"sink": self.name, "token": _digest(self.token), "run_named": self.run}
        payloads = {"payload": raw}
        if _is_json(body):
            payloads["content"] = body
        else:
            told["content"] = None
        self.journal.record("sink.effect", told, payloads)
        self.effects += 1

    def reject(self, raw: bytes, why: str, token: str | None, run_named: str | None) -> None:
        told: dict[str, Any] = {"sink": self.name, "why": why, "run_named": run_named}
        if token is not None:
            told["token"] = _digest(token)
        self.journal.record("sink.rejected", told, {"payload": raw})
        self.rejected += 1

    def probed(self, nonce: str, *, ok: bool, detail: str = "") -> None:
        body: dict[str, Any] = {"sink": self.name, "phase": self.expected.pop(nonce), "ok": ok, "nonce": nonce}
        if detail:
            body["detail"] = detail
        self.journal.record("sink.probed", body, {}, sync=True)

    def close(self) -> dict[str, Any]:
        body = {"sink": self.name, "effects": self.effects, "rejected": self.rejected}
        self.journal.record("sink.closed", body, {})
        head = self.journal.seal()
        return {"length": head.length, "head": head.head}


class Host:
    """All sinks of the series, by their place; and every run that any token of this process ever meant."""

    def __init__(self) -> None:
        self._sinks: dict[str, _OpenSink] = {}
        self._runs: dict[str, str] = {}
        self._late: list[_Late] = []
        self._redactor = Redactor({})
        self.port = 0

    # -- commands -----------------------------------------------------------------------------------------

    def command(self, message: dict[str, Any]) -> dict[str, Any]:
        """Carry out one command. Raises: OyerError, OSError."""
        action = message["do"]
        if action == "hello":
            self._redactor = Redactor({name: base64.b64decode(raw) for name, raw in message["secrets"].items()})
            return {"port": self.port}
        if action == "open":
            return self._open(message)
        sink = self._sinks[message["place"]]
        if action == "expect":
            sink.expected[message["nonce"]] = message["phase"]
        elif action == "missed":
            if message["nonce"] in sink.expected:
                sink.probed(message["nonce"], ok=False, detail=message["detail"])
        elif action == "seal":
            del self._sinks[message["place"]]
            return sink.close()
        else:
            raise HarnessError("E-SINK-COMMAND", f"unknown command {action!r}")
        return {}

    def late(self) -> list[dict[str, str]]:
        """Say what came for sealed runs and found no open journal to be written to."""
        return [
            {
                "run": one.run,
                "token": _digest(one.token),
                "request": digest_of(one.raw),
                "begins": self._redactor.keep(one.raw)[0][:_SHOWN_LATE_BYTES].decode("utf-8", "backslashreplace"),
            }
            for one in self._late
        ]

    def _open(self, message: dict[str, Any]) -> dict[str, Any]:
        name, place, token = message["sink"], message["place"], message["token"]
        envelope = Envelope(**message["envelope"])
        journal = SinkJournal(Path(message["journal"]), name, envelope, Path(message["blobs"]), self._redactor)
        sink = _OpenSink(name, place, envelope.run, token, journal)
        body = {"sink": name, "kind": "http", "address": self._address(place), "token_sha256": _digest(token)}
        journal.record("sink.opened", body, {"state": b"[]"}, sync=True)
        self._sinks[place] = sink
        self._runs[token] = envelope.run
        waiting, self._late = self._late, []
        for one in waiting:
            sink.reject(one.raw, "the sink of its run was sealed before", one.token, one.run)
        return {"url": self._address(place)}

    def _address(self, place: str) -> str:
        return f"http://127.0.0.1:{self.port}/{place}"

    # -- requests -----------------------------------------------------------------------------------------

    async def handle(self, request: web.BaseRequest) -> web.StreamResponse:
        """Take one request: record first, answer then."""
        body, whole = await _read_body(request)
        raw = _as_received(request, body)
        token = _token_of(request)
        sink = self._sinks.get(request.path.split("/")[1] if request.path.startswith("/") else "")
        try:
            if sink is None:
                self._without_sink(raw, token)
                return web.Response(status=404)
            return self._with_sink(sink, raw, body, whole, token)
        except (OyerError, OSError) as error:
            hit = sink or next(iter(self._sinks.values()), None)
            say({"fault": {"place": hit.place if hit else "", "message": str(error)}})
            return web.Response(status=503)

    def _with_sink(
        self, sink: _OpenSink, raw: bytes, body: bytes, whole: bool, token: str | None
    ) -> web.StreamResponse:
        if token != sink.token:
            named = self._runs.get(token) if token is not None else None
            why = "no token" if token is None else "the token of another run" if named else "a token no run ever had"
            sink.reject(raw, why, token, named)
            return web.Response(status=403)
        if not whole:
            sink.reject(raw, f"a body of more than {MAX_BODY_BYTES} bytes", token, sink.run)
            return web.Response(status=413)
        nonce = _nonce_of(body)
        if nonce is not None and nonce in sink.expected:
            sink.probed(nonce, ok=True)
        else:
            sink.effect(raw, body)
        return web.json_response({"ok": True})

    def _without_sink(self, raw: bytes, token: str | None) -> None:
        """A request to no open place is noise, unless its token names a run: then it counts against that run."""
        run = self._runs.get(token) if token is not None else None
        if token is None or run is None:
            return
        own = next((sink for sink in self._sinks.values() if sink.run == run), None)
        open_one = own or next(iter(self._sinks.values()), None)
        if open_one is not None:
            why = "sent to a place that is no sink" if own else "the sink of its run was sealed before"
            open_one.reject(raw, why, token, run)
        elif len(self._late) < _KEPT_LATE:
            self._late.append(_Late(run, token, raw))


def _digest(token: str) -> str:
    return f"sha256:{hashlib.sha256(token.encode('utf-8', 'surrogateescape')).hexdigest()}"


def _is_json(body: bytes) -> bool:
    try:
        loads(body)
    except ProtocolError:
        return False
    return True


def _nonce_of(body: bytes) -> str | None:
    if len(body) > 200 or not _is_json(body):
        return None
    value = loads(body)
    nonce = value.get("probe") if isinstance(value, dict) else None
    return nonce if isinstance(nonce, str) else None


def _token_of(request: web.BaseRequest) -> str | None:
    """Return the token of the Authorization header, else of the query; None where there is none."""
    scheme, _, token = request.headers.get("Authorization", "").partition(" ")
    if scheme.lower() == "bearer" and token.strip():
        return token.strip()
    return request.query.get("token")


async def _read_body(request: web.BaseRequest) -> tuple[bytes, bool]:
    """Read at most the bound; False where there was more."""
    pieces: list[bytes] = []
    left = MAX_BODY_BYTES
    async for piece in request.content.iter_chunked(65536):
        pieces.append(piece[: max(left, 0)])
        left -= len(piece)
        if left < 0:
            return b"".join(pieces), False
    return b"".join(pieces), True


def _as_received(request: web.BaseRequest, body: bytes) -> bytes:
    """Return request line, headers as they were spelt, and body (chunks joined)."""
    version = f"HTTP/{request.version.major}.{request.version.minor}"
    head = [f"{request.method} {request.raw_path} {version}".encode("utf-8", "surrogateescape")]
    head += [name + b": " + value for name, value in request.raw_headers]
    return b"\r\n".join([*head, b"", body])


def say(message: dict[str, Any]) -> None:
    """Write one line to whoever started this process."""
    line = json.dumps(message, separators=(",", ":")).encode() + b"\n"
    while line:
        line = line[os.write(1, line) :]


async def _serve() -> None:
    loop = asyncio.get_running_loop()
    host = Host()
    server = web.Server(host.handle, access_log=None)
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listener.bind(("127.0.0.1", 0))
    host.port = listener.getsockname()[1]
    listening = await loop.create_server(server, sock=listener)
    lines = asyncio.StreamReader(limit=16 * 1024 * 1024)
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(lines), sys.stdin)
    while line := await lines.readline():
        message = json.loads(line)
        reply: dict[str, Any] = {"id": message["id"]}
        try:
            reply["done"] = host.late() if message["do"] == "late" else host.command(message)
        except (HarnessError, EvidenceError, OSError) as error:
            reply["failed"] = str(error)
        say(reply)
    listening.close()
    await server.shutdown(0.5)


if __name__ == "__main__":
    asyncio.run(_serve())
