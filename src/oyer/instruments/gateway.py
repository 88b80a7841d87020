"""The recording gateway: the only door between a subject and a model, and the witness of what passed.

Owns a loopback HTTP server per attempt, with an unguessable path and a dummy key of its own, and the records
`model.request` and `model.response`. It speaks Chat Completions, not streamed. Must never change a byte of a body,
answer in a model's place, follow a redirect, retry, or write the upstream's key or any header into a record.

What it answers by itself is recorded as an exchange like any other (nothing then reached the endpoint):
401 for a wrong key, 400 for `stream: true`, 413 for a request beyond the size limit. What the endpoint failed to
answer whole becomes 502 or 504, or the part that came and a cut connection; `model.response` then holds what came,
with `complete: false` and the endpoint's own status, 0 when there was none. A request to another path is answered
404 and not recorded: it is not of this run.

Whose fault: the endpoint's failure to answer whole is `dependency_unavailable`; its own error answers (429, 500)
pass as they are, and what the subject makes of them is the subject's; streaming is not offered here, so asking for
it is `harness`; a request beyond the limit is `subject`. A wrong key is no fault: the exchange itself tells it.
"""

from __future__ import annotations

import hmac
from typing import Final, NamedTuple

from aiohttp import web
from multidict import CIMultiDict

from oyer.errors import HarnessError, OyerError
from oyer.host import new_token
from oyer.instruments.gateway_exchange import Exchange
from oyer.instruments.gateway_port import GatewayDoor, Upstream
from oyer.instruments.gateway_upstream import UpstreamAnswer, UpstreamClient, end_to_end
from oyer.instruments.gateway_views import RequestView, view_request
from oyer.instruments.ports import OnFault, Recorder
from oyer.protocol import dumps

__all__ = ["GatewayDoor", "RecordingGateway", "Upstream"]

_HOST: Final = "127.0.0.1"
_CHAT: Final = "/chat/completions"
_MODELS: Final = "/models"
# The subject's dummy key ends here, and what describes its own connection does not travel either.
_NOT_FORWARDED: Final = frozenset(
    {"accept-encoding", "api-key", "authorization", "cookie", "expect", "forwarded", "host", "x-api-key"}
)


class _Refusal(NamedTuple):
    status: int
    message: str
    fault: str | None = None


class RecordingGateway:
    """One gateway for one attempt.

    `session` is set by the engine when a session opens, and stamps what is recorded from then on. `on_fault` hears
    of every fault after it was recorded.
    """

    def __init__(
        self,
        recorder: Recorder,
        upstream: Upstream,
        *,
        on_fault: OnFault | None = None,
        max_request_bytes: int = 16 * 1024 * 1024,
    ) -> None:
        self.session: str | None = None
        self._recorder = recorder
        self._on_fault = on_fault
        self._client = UpstreamClient(upstream)
        self._max_request_bytes = max_request_bytes
        self._root = f"/{new_token()}/v1"
        self._key = str(new_token())
        self._runner: web.ServerRunner | None = None
        self._origin = ""
        self._exchanges = 0
        self._failure: Exception | None = None

    async def start(self) -> GatewayDoor:
        """Bind an ephemeral loopback port and return the door. Raises: HarnessError when it cannot be bound."""
        # A body's coding is the two ends' business; a subject that went away ends the exchange it had opened.
        server = web.Server(self._handle, auto_decompress=False, access_log=None, handler_cancellation=True)
        self._runner = web.ServerRunner(server, shutdown_timeout=0.05)
        try:
            await self._runner.setup()
            await self._client.open()
            await web.TCPSite(self._runner, _HOST, 0).start()
        except OSError as error:
            await self.stop()
            raise HarnessError("E-GATEWAY-BIND", f"the gateway could not open a port: {error}") from error
        self._origin = f"{_HOST}:{self._runner.addresses[0][1]}"
        return GatewayDoor(f"http://{self._origin}{self._root}", self._key)

    async def stop(self) -> None:
        """Close the door, record what was under way as broken off, and release everything.

        Raises: what kept the gateway from recording, if anything did; its evidence is then not complete.
        """
        if self._runner is not None:
            runner, self._runner = self._runner, None
            await runner.cleanup()
        await self._client.close()
        if self._failure is not None:
            failure, self._failure = self._failure, None
            raise failure

    async def _handle(self, request: web.BaseRequest) -> web.StreamResponse:
        if request.headers.get("Host") != self._origin or "Origin" in request.headers:
            return _own(403, "this address is not for browsers or other hosts")
        path, _, query = request.raw_path.partition("?")
        tail = path.removeprefix(self._root)
        if tail == path or tail not in (_CHAT, _MODELS):
            return _own(404, "there is nothing here")
        if request.method != ("POST" if tail == _CHAT else "GET"):
            return _own(405, f"{tail} does not answer {request.method}")
        try:
            return await self._exchange(request, tail, f"?{query}" if query else "")
        except (OSError, OyerError) as error:
            # What cannot be recorded must not be answered: the subject sees a cut connection, the engine the cause.
            self._failure = self._failure or error
            if self._on_fault is not None:
                self._on_fault("gateway", "harness", f"an exchange could not be recorded: {error}")
            return _cut(request)

    async def _exchange(self, request: web.BaseRequest, tail: str, query: str) -> web.StreamResponse:
        body, whole = await _read(request, self._max_request_bytes)
        view = view_request(body) if tail == _CHAT else RequestView(None, None, False)
        exchange = Exchange(self._recorder, self._exchanges, self.session, view, self._on_fault)
        self._exchanges += 1
        with exchange.asked(body, f"/v1{tail}{query}"):
            refusal = self._refusal(request, view, whole)
            if refusal is not None:
                answer = _own(refusal.status, refusal.message)
                exchange.refused(refusal.status, _said(refusal.message), refusal.fault, refusal.message)
                return answer
            headers = end_to_end(request.headers.items(), without=_NOT_FORWARDED)
            came = await self._client.exchange(request.method, tail + query, headers, body)
            exchange.answered(came)
        return await _deliver(request, came)

    def _refusal(self, request: web.BaseRequest, view: RequestView, whole: bool) -> _Refusal | None:
        shown = request.headers.get("Authorization", "").encode("utf-8", "surrogateescape")
        if not hmac.compare_digest(shown, f"Bearer {self._key}".encode()):
            return _Refusal(401, "wrong key: use the key that was given with this address")
        if not whole:
            limit = self._max_request_bytes
            return _Refusal(413, f"the request is larger than {limit} bytes; its beginning is recorded", "subject")
        if view.stream:
            return _Refusal(400, "stream: true is not supported here; ask without it", "harness")
        return None


async def _read(request: web.BaseRequest, limit: int) -> tuple[bytes, bool]:
    """Take a request's body as it came, up to `limit` bytes; say whether that is all of it."""
    body = bytearray()
    async for chunk in request.content.iter_any():
        body += chunk
        if len(body) > limit:
            return bytes(body[:limit]), False
    return bytes(body), True


async def _deliver(request: web.BaseRequest, came: UpstreamAnswer) -> web.StreamResponse:
    """Hand on what came: all of it, or the part of it and a connection that breaks where it broke."""
    if came.failure is None:
        return web.Response(status=came.status, reason=came.reason, headers=CIMultiDict(came.headers), body=came.body)
    if came.failure != "cut" or not came.body:
        return _own(504 if came.failure == "timeout" else 502, came.message)
    part = web.StreamResponse(status=came.status, reason=came.reason, headers=CIMultiDict(came.headers))
    if came.declared is None:
        part.enable_chunked_encoding()
    else:
        part.content_length = came.declared
    await part.prepare(request)
    await part.write(came.body)
    return _cut(request, part)


def _cut(request: web.BaseRequest, answer: web.StreamResponse | None = None) -> web.StreamResponse:
    if request.transport is not None:
        request.transport.close()
    return answer or web.Response(status=500)


def _own(status: int, message: str) -> web.Response:
    """Make an answer of the gateway itself."""
    return web.Response(status=status, body=_said(message), content_type="application/json")


def _said(message: str) -> bytes:
    """Write a message in the form of an endpoint's error."""
    return dumps({"error": {"message": message, "type": "gateway"}})
