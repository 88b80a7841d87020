"""The recording gateway: the only door between a subject and a model, and the witness of what passed.

Owns a loopback HTTP server per attempt, with an unguessable path and a dummy key of its own, and the records
`model.request` and `model.response`. It speaks whatever the endpoint speaks: Chat Completions, Responses, Messages
and Gemini are understood, streamed or not; any other path passes too, and nothing is read from it. Must never change
a byte of a body but where a change of tool results in requests is declared, answer in a model's place, follow a
redirect, retry, or write the upstream's key or any header but the type and the coding of an answer into a record.

A stream is handed on piece by piece as it comes. Its last piece is handed on once the answer is on record: what a
subject does with a whole answer comes after the record of it.

What it answers by itself is recorded as an exchange like any other (nothing then reached the endpoint):
401 for a wrong key, 400 for a path that climbs (`..`), 413 for a request beyond the size limit. What the endpoint
failed to answer whole becomes 502 or 504, or the part that came and a cut connection; `model.response` then holds what
came, with `complete: false` and the endpoint's own status, 0 when there was none. A request outside the gateway's own
path is answered 404 and not recorded: it is not of this run.

Declared faults (`gateway_faults`) are acted between the two, on record before they reach the subject. They count as an
endpoint's error answers do: one that no whole answer follows in its session is a fault when the session ends.

Whose fault: the endpoint's failure to answer whole (cut, late, too large, a stream without its end marker or with an
error in it) is `dependency_unavailable`. Its own error answers (429, 500) pass as they are, for agents try again; one
that no whole answer follows in its session is a fault when the session ends: `subject` where the request was at fault
(400, 404, 405, 413, 415, 422), else `dependency_unavailable`. A request beyond a limit, its own or that of all, is
`subject`; an answer beyond the limit of all is the endpoint's. A wrong key is no fault: the exchange itself tells it.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from aiohttp import web
from multidict import CIMultiDict

from oyer.errors import HarnessError, OyerError
from oyer.host import new_token
from oyer.instruments.gateway_answer import CUT, Asking, ModelSource, Progress, UpstreamAnswer, end_to_end
from oyer.instruments.gateway_changes import GatewayRules, RequestChanger
from oyer.instruments.gateway_exchange import Exchange, record_fault
from oyer.instruments.gateway_faults import DeclaredFaults, FaultyExchange
from oyer.instruments.gateway_keys import KEY_HEADERS, key_places, without_key
from oyer.instruments.gateway_port import DEFAULT_LIMITS, GatewayDoor, GatewayLimits, Upstream
from oyer.instruments.gateway_upstream import UpstreamClient
from oyer.instruments.gateway_views import RequestView, view_request
from oyer.instruments.http_listening import UNSENT, BoundedServer, cut, go_ahead, target_of
from oyer.instruments.http_verbatim import BareAnswer, BareStream, read_head
from oyer.instruments.ports import OnFault, Recorder
from oyer.protocol import dumps
from oyer.records import ModelFault

__all__ = ["GatewayDoor", "RecordingGateway", "Upstream"]

_HOST: Final = "127.0.0.1"
_MOST_CONNECTIONS: Final = 512
# The subject's dummy key ends here, and what describes its own connection does not travel either.
_NOT_FORWARDED: Final = frozenset({"accept-encoding", "cookie", "expect", "forwarded", "host", *KEY_HEADERS})
_CLIMBS: Final = re.compile(r"/(?:\.|%2e){1,2}(?:/|\Z)", re.IGNORECASE)
_AT_FAULT: Final = frozenset({400, 404, 405, 413, 415, 422})
"""Statuses by which an endpoint says that the request itself was wrong."""


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
        upstream: Upstream | ModelSource,
        *,
        on_fault: OnFault | None = None,
        rules: GatewayRules | None = None,
        limits: GatewayLimits = DEFAULT_LIMITS,
        faults: Sequence[ModelFault] = (),
    ) -> None:
        self._session: str | None = None
        self._recorder = recorder
        self._on_fault = on_fault
        self._source: ModelSource = UpstreamClient(upstream) if isinstance(upstream, Upstream) else upstream
        self._changer = RequestChanger(recorder, rules) if rules is not None else None
        self._limits = limits
        self._asked_bytes = 0
        self._answered_bytes = 0
        self._root = f"/{new_token()}"
        self._key = str(new_token())
        self._runner: web.ServerRunner | None = None
        self._had_too_many = False
        self._origin = ""
        self._exchanges = 0
        self._failure: Exception | None = None
        self._faults = DeclaredFaults(faults)
        self._unrecovered: tuple[int, str, str] | None = None
        self._under_way = 0

    @property
    def session(self) -> str | None:
        """The session that is under way. When it ends, an error that no answer followed becomes a fault."""
        return self._session

    @session.setter
    def session(self, session: str | None) -> None:
        if session != self._session:
            self._settle()
        self._session = session

    @property
    def owes(self) -> bool:
        """Whether all that is left to be said of this session is that an error was followed by no whole answer."""
        return self._unrecovered is not None and not self._under_way

    async def start(self) -> GatewayDoor:
        """Bind an ephemeral loopback port and return the door. Raises: HarnessError when it cannot be bound."""
        # A body's coding is the two ends' business; a subject that went away ends the exchange it had opened.
        server = BoundedServer(self._handle, _MOST_CONNECTIONS, self._too_many, self._broken)
        self._runner = web.ServerRunner(server, shutdown_timeout=0.05)
        try:
            await self._runner.setup()
            await self._source.open()
            await web.TCPSite(self._runner, _HOST, 0).start()
        except OSError as error:
            await self.stop()
            raise HarnessError("E-GATEWAY-BIND", f"the gateway could not open a port: {error}") from error
        self._origin = f"{_HOST}:{self._runner.addresses[0][1]}"
        return GatewayDoor(f"http://{self._origin}{self._root}/v1", self._key)

    async def stop(self) -> None:
        """Close the door, record what was under way as broken off, and release everything.

        Raises: what kept the gateway from recording, if anything did; its evidence is then not complete.
        """
        if self._runner is not None:
            runner, self._runner = self._runner, None
            await runner.cleanup()
        await self._source.close()
        self._settle()
        if self._failure is not None:
            failure, self._failure = self._failure, None
            raise failure

    def _too_many(self) -> None:
        if self._had_too_many:
            return
        self._had_too_many = True
        try:
            told = f"more than {_MOST_CONNECTIONS} connections at once"
            record_fault(self._recorder, "subject", told, "", self._session, self._on_fault)
        except (OSError, OyerError) as error:
            self._failure = self._failure or error

    async def _handle(self, request: web.BaseRequest) -> web.StreamResponse:
        if request.headers.get("Host") != self._origin or "Origin" in request.headers:
            return _own(403, "this address is not for browsers or other hosts")
        path, _, query = target_of(request, self._origin).partition("?")
        if not path.startswith(self._root + "/"):
            return _own(404, "there is nothing here")
        return await self._exchange(request, path.removeprefix(self._root), query)

    def _broken(self, error: Exception) -> None:
        """Take note of what kept an exchange from its end on our side: the subject saw its connection cut, and
        whoever stops the gateway gets the cause.
        """
        if isinstance(error, OSError | OyerError):
            told = f"an exchange could not be recorded: {error}"
        else:
            error = HarnessError("E-GATEWAY-STEP", f"an exchange failed in an unforeseen way: {error!r}")
            told = str(error)
        self._failure = self._failure or error
        if self._on_fault is not None:
            self._on_fault("gateway", "harness", told)

    async def _exchange(self, request: web.BaseRequest, path: str, query: str) -> web.StreamResponse:
        try:
            await go_ahead(request)
            body, whole = await _read(request, self._limits.request_bytes)
        except UNSENT:
            return cut(request)  # it was not asked
        self._asked_bytes += len(body)
        kept = without_key(query)
        target = f"{path}?{kept}" if kept else path
        view = view_request(target, body)
        exchange = Exchange(
            self._recorder, self._exchanges, self._session, view, self._on_fault, source=self._source.kind
        )
        self._exchanges += 1
        meant = None if self._changer is None else self._changer.look(view.api, body, self._session)
        passing = _Passing(request)
        places = key_places(request.headers, query, self._key)
        with self._working(), exchange.asked(body, target, sync=meant is not None):
            onward = body
            if self._changer is not None:
                onward = self._changer.change(meant, body, exchange.request, exchange.session)
            refusal = self._refusal(path, places, whole)
            if refusal is not None:
                answer = _own(refusal.status, refusal.message)
                exchange.refused(refusal.status, _said(refusal.message), refusal.fault, refusal.message)
                return answer
            exchange.sent = onward if onward is not body else None
            asking = _asking(request, target, onward, places, view, self._session)
            fault = self._faults.due() if view.api is not None else None
            source = self._source if fault is None else FaultyExchange(fault, self._source, exchange.declare)
            came = await source.exchange(asking, exchange.progress, passing)
            exchange.answered(came)
            self._count(exchange, len(came.body))
            self._note(exchange, view)
        return await passing.finish(came) if came.begun else await _deliver(request, came)

    @contextlib.contextmanager
    def _working(self) -> Iterator[None]:
        self._under_way += 1
        try:
            yield
        finally:
            self._under_way -= 1

    def _refusal(self, path: str, places: tuple[str, ...], whole: bool) -> _Refusal | None:
        if not places:
            return _Refusal(401, "wrong key: use the key that was given with this address")
        if _CLIMBS.search(path):
            return _Refusal(400, "a path with . or .. in it is not forwarded")
        limits = self._limits
        if not whole:
            told = f"the request is larger than {limits.request_bytes} bytes; its beginning is recorded"
            return _Refusal(413, told, "subject")
        if self._asked_bytes > limits.total_bytes:
            return _Refusal(413, f"the subject asked more than {limits.total_bytes} bytes in all", "subject")
        if self._exchanges > limits.requests:
            return _Refusal(413, f"the subject asked more than {limits.requests} times", "subject")
        return None

    def _count(self, exchange: Exchange, size_bytes: int) -> None:
        """Add an answer to what came; the one that passes the bound on all of them is a fault of the endpoint."""
        before, self._answered_bytes = self._answered_bytes, self._answered_bytes + size_bytes
        limit = self._limits.total_bytes
        if before <= limit < self._answered_bytes:
            told = f"the endpoint answered more than {limit} bytes in all"
            record_fault(
                self._recorder, "dependency_unavailable", told, exchange.response, self._session, self._on_fault
            )

    def _note(self, exchange: Exchange, view: RequestView) -> None:
        """Remember an endpoint's error until a whole answer follows it."""
        if view.api is not None and exchange.refused_by is not None:
            answered = f"the endpoint answered {exchange.refused_by}"
            told = answered if exchange.declared is None else f"a declared fault was acted ({exchange.declared})"
            self._unrecovered = exchange.refused_by, exchange.response, told
        elif view.api is not None and exchange.fulfilled:
            self._unrecovered = None

    def _settle(self) -> None:
        if self._unrecovered is None:
            return
        (status, response, what), self._unrecovered = self._unrecovered, None
        class_ = "subject" if status in _AT_FAULT else "dependency_unavailable"
        told = f"{what}, and no whole answer followed in this session"
        record_fault(self._recorder, class_, told, response, self._session, self._on_fault)


class _Passing:
    """Hands a stream on as it comes; what it could not hand on, since the subject went away, stays undelivered."""

    def __init__(self, request: web.BaseRequest) -> None:
        self._request = request
        self._answer: web.StreamResponse | None = None

    async def begin(self, progress: Progress) -> None:
        self._answer = _begun(progress.status, progress.reason, CIMultiDict(progress.headers), progress.declared)
        progress.begun = True
        with contextlib.suppress(ConnectionError):
            await self._answer.prepare(self._request)

    async def piece(self, progress: Progress) -> None:
        if self._answer is not None:
            piece = bytes(progress.body[progress.passed :])
            progress.passed = len(progress.body)
            with contextlib.suppress(ConnectionError):
                await self._answer.write(piece)

    async def finish(self, came: UpstreamAnswer) -> web.StreamResponse:
        """Hand on the rest, then end the answer as it ended: by its own end, or broken off."""
        if self._answer is None:
            return cut(self._request)
        rest = b"" if came.failure == "leak" else came.body[came.passed :]
        with contextlib.suppress(ConnectionError):
            if rest:
                await self._answer.write(rest)
            if came.failure not in CUT:
                await self._answer.write_eof()
                return self._answer
        return cut(self._request, self._answer)


def _asking(
    request: web.BaseRequest,
    target: str,
    body: bytes,
    places: tuple[str, ...],
    view: RequestView,
    session: str | None,
) -> Asking:
    headers = end_to_end(read_head(request.raw_headers), without=_NOT_FORWARDED)
    return Asking(request.method, target, headers, body, places, view.api, view.stream, session)


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
    if came.failure is None and request.method == "HEAD" and came.declared is not None:
        return _begun(
            came.status, came.reason, CIMultiDict(came.headers), came.declared
        )  # the length of another answer
    if came.failure is None:
        return BareAnswer(status=came.status, reason=came.reason, headers=CIMultiDict(came.headers), body=came.body)
    if came.failure not in ("cut", "declared") or not came.body:
        return _own(504 if came.failure == "timeout" else 502, came.message)
    part = _begun(came.status, came.reason, CIMultiDict(came.headers), came.declared)
    await part.prepare(request)
    await part.write(came.body)
    return cut(request, part)


def _begun(status: int, reason: str, headers: CIMultiDict[str], declared: int | None) -> web.StreamResponse:
    part = BareStream(status=status, reason=reason, headers=headers)
    if declared is None:
        part.enable_chunked_encoding()
    else:
        part.content_length = declared
    return part


def _own(status: int, message: str) -> web.Response:
    """Make an answer of the gateway itself."""
    return web.Response(status=status, body=_said(message), content_type="application/json")


def _said(message: str) -> bytes:
    """Write a message in the form of an endpoint's error."""
    return dumps({"error": {"message": message, "type": "gateway"}})
