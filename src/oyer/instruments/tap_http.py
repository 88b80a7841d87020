"""The tap of a server for a subject that takes an address: HTTP on both sides, and the same record as any tap's.

Owns the address that the subject is given, the server's process where the Case has a command, and which message
belongs to which connection: a session is one, by the id that the server gave it; without sessions each exchange has a
lane of its own as long as it lasts, so that ids can never meet; over HTTP with SSE a stream is one, with what is posted
to the address that it names. Must never answer for a server, or answer a page.
Source: MCP transports, Streamable HTTP; HTTP with SSE as of 2024-11-05.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Final

import aiohttp
from aiohttp import web

from oyer.errors import HarnessError, OyerError
from oyer.host import last_words, new_token
from oyer.instruments.http_listening import UNSENT, BoundedServer, cut, go_ahead, target_of
from oyer.instruments.in_flight import CallsInFlight
from oyer.instruments.ports import CallWatcher, DeferringRecorder, OnFault
from oyer.instruments.tap_blame import Oddities, ended_by_somebody
from oyer.instruments.tap_http_connection import Handed, HttpConnection
from oyer.instruments.tap_http_manners import odd_in
from oyer.instruments.tap_http_serving import Served
from oyer.instruments.tap_http_streams import Endpoints
from oyer.instruments.tap_http_wire import CutError, HttpCarrier, SubjectGoneError, read_body
from oyer.instruments.tap_record import ConnectionRecord
from oyer.instruments.tap_rules import RuleBook, TapRules
from oyer.instruments.tap_settings import TapLimits, TappedServer, TapSettings
from oyer.instruments.tap_settling import QuietMoment
from oyer.protocol import SESSION_HEADER, Message, Overlong, parse_message

__all__ = ["HttpTap"]

_HOST: Final = "127.0.0.1"
_MAX_CONNECTIONS: Final = 256
_STDERR_IN_MESSAGE_BYTES: Final = 2000
_EXIT_S: Final = 0.5
"""How long the end of a process may come after the end of its connections."""
_OLDER: Final = frozenset({400, 404, 405})
"""How a server that speaks HTTP with SSE only refuses a greeting of the newer transport."""
_GREETINGS: Final = frozenset({"initialize", "server/discover"})
_NO_RULES = TapRules()
_DEFAULT_LIMITS = TapLimits()


class HttpTap:
    """A tap that listens on `url` from `open` to `close`. As `Tap`: `session`, `rules`, `declared`, `calls`."""

    def __init__(
        self,
        server: TappedServer,
        recorder: DeferringRecorder,
        *,
        rules: TapRules = _NO_RULES,
        declared: TapRules = _NO_RULES,
        limits: TapLimits = _DEFAULT_LIMITS,
        watchers: Sequence[CallWatcher] = (),
        calls: CallsInFlight | None = None,
        on_fault: OnFault | None = None,
        ending: str = "mcp",
    ) -> None:
        """`ending` is the last part of the address, by which some clients tell what is spoken there."""
        self.session: str | None = None
        self._quiet = QuietMoment(self._settle)
        self._settings = TapSettings(
            server=server,
            recorder=recorder,
            rules=RuleBook(server.name, rules),
            limits=limits,
            watchers=tuple(watchers),
            calls=calls or CallsInFlight(),
            on_fault=on_fault or (lambda where, cls, message: None),
            declared=declared,
            on_owed=self._quiet.owe,
            oddities=Oddities(),
        )
        self._root = f"/{new_token()}"
        self._place = f"{self._root}/{ending}"
        self._origin = ""
        self._endpoints = Endpoints(self._root)
        self._listening: BoundedServer | None = None
        self._had_too_many = False
        self._runner: web.ServerRunner | None = None
        self._carrier: HttpCarrier | None = None
        self._served: Served | None = None
        self._starting = asyncio.Lock()
        self._is_gone = False
        self._open: dict[HttpConnection, None] = {}
        self._opened = 0

    @property
    def url(self) -> str:
        """The address for the subject."""
        return f"http://{self._origin}{self._place}"

    @property
    def connections(self) -> int:
        """How many connections are open now."""
        return len(self._open)

    @property
    def held(self) -> int:
        """How many connections of clients are held now, whatever comes on them."""
        return len(self._listening.connections) if self._listening is not None else 0

    async def open(self) -> None:
        """Begin to listen. Raises: HarnessError when no port can be bound."""
        self._listening = BoundedServer(self._handle, _MAX_CONNECTIONS, self._too_many, self._broken)
        self._runner = web.ServerRunner(self._listening, shutdown_timeout=0.05)
        try:
            await self._runner.setup()
            self._carrier = HttpCarrier(self._settings.limits, self._endpoints)
            await web.TCPSite(self._runner, _HOST, 0, backlog=_MAX_CONNECTIONS).start()
        except OSError as error:
            raise HarnessError("E-TAP-BIND", f"the tap could not open a port: {error}") from error
        self._origin = f"{_HOST}:{self._runner.addresses[0][1]}"

    async def settle(self, limit_s: float) -> None:
        """Wait, but no longer than this, until no exchange is under way: the subject has closed them itself."""
        loop = asyncio.get_running_loop()
        until = loop.time() + limit_s
        while any(connection.under_way for connection in self._open) and loop.time() < until:
            await asyncio.sleep(0.01)

    async def end_connections(self) -> None:
        """End every connection and the server, as between two sessions; the tap goes on listening."""
        for connection in list(self._open):
            connection.end("closing")
        if self._carrier is not None:
            await self._carrier.close()
        async with self._starting:
            await self._end_server()
            self._is_gone = False

    async def close(self) -> None:
        """Stop listening and end everything. Nothing of the server is left afterwards."""
        await self.end_connections()
        if self._runner is not None:
            runner, self._runner = self._runner, None
            await runner.cleanup()
        self._quiet.close()

    # -- one request ----------------------------------------------------------------------------------------

    async def _handle(self, request: web.BaseRequest) -> web.StreamResponse:
        foreign = request.headers.get("Origin") not in (None, f"http://{self._origin}")
        if request.headers.get("Host") != self._origin or foreign:
            return web.Response(status=403, text="this address is not for browsers or other hosts")
        target = target_of(request, self._origin)
        path, _, query = target.partition("?")
        # A stream may be asked for where another one said to post: that is one more stream, and not what is posted.
        named = self._endpoints.find(target) if request.method != "GET" or path != self._place else None
        if named is None and path != self._place:
            return web.Response(status=404, text="there is nothing here")
        try:
            await go_ahead(request)
            body = await read_body(request.content, self._settings.limits.max_frame_bytes)
        except UNSENT:
            return cut(request)  # it was not said
        try:
            odd = odd_in(request, body, may_ask=named is not None)
            if odd is not None:
                self._settings.oddities.note(odd)
            if named is not None:
                return await self._pass(request, body, *named)
            url = await self._address()
            connection = self._connection(request, body if isinstance(body, bytes) else b"")
            return await self._pass(request, body, connection, url and url + (f"?{query}" if query else ""))
        except CutError:
            return cut(request)

    async def _pass(
        self, request: web.BaseRequest, body: bytes | Overlong, connection: HttpConnection, url: str | None
    ) -> web.StreamResponse:
        carrier = self._carrier
        if url is None or carrier is None:
            connection.end("server_not_started")
            raise CutError
        sent: Handed | None = None
        with connection.exchange():
            try:
                if body:
                    decided = await connection.from_subject(body)
                    if not decided:
                        raise CutError
                    sent = decided[0]
                    if not sent.to_server:
                        return await carrier.say(request, sent, connection)
                answer = await carrier.carry(request, url, sent, connection)
            except asyncio.CancelledError:
                self._left(request, connection, sent)
                raise
            except SubjectGoneError as error:
                self._left(request, connection, sent)
                raise CutError from error
            except (aiohttp.ClientError, OSError, TimeoutError, ValueError) as error:
                await self._exit_of_server()
                if not connection.is_over:
                    connection.blame_server(f"gave no whole answer: {type(error).__name__}: {error}")
                    connection.end("server_closed")
                raise CutError from error
        if sent is not None and answer.status in _OLDER and _greets(sent.data):
            connection.gave_up(sent)  # the protocol has its client ask for the older transport then
        if request.method == "DELETE" and answer.status < 300 and connection.session is not None:
            connection.end_session()
        if connection.is_stream and request.method == "GET" and not connection.is_over:
            try:
                await self._exit_of_server()
            finally:  # also when the subject leaves now: the server ended first
                if not connection.is_over:
                    connection.blame_server("ended its stream before the subject was done with it")
                    connection.end("server_closed")
        return answer

    async def _exit_of_server(self) -> None:
        """Give a server whose connection broke a moment to be seen to exit: how it ended says more than that it did."""
        if self._served is not None and not self._is_gone:
            await self._served.child.wait_at_most(_EXIT_S)
            await asyncio.sleep(0)

    def _left(self, request: web.BaseRequest, connection: HttpConnection, sent: Handed | None) -> None:
        """The subject closed an exchange: nobody waits for its answer, unless that comes elsewhere."""
        if connection.is_stream and request.method == "GET":
            connection.end("subject_closed")
        elif sent is not None and not connection.is_stream:
            connection.gave_up(sent)

    def _connection(self, request: web.BaseRequest, body: bytes) -> HttpConnection:
        """Find the connection of a request: that of its session, or a lane on which nothing is under way."""
        named = request.headers.get(SESSION_HEADER)
        begins = request.method == "GET"  # a stream that belongs to no session may be one itself
        for connection in self._open:
            free = self._is_free(connection, body) and not (begins and connection.has_spoken)
            if (connection.session == named) if named else free:
                return connection
        if len(self._open) >= _MAX_CONNECTIONS:
            self._too_many()
            raise CutError
        server = self._settings.server.name
        record = ConnectionRecord(self._settings.recorder, server, self._opened, lambda: self.session, self._quiet.owe)
        try:
            connection = HttpConnection(self._opened, self._settings, record, self._forget, self._is_unread)
        except (OSError, OyerError) as error:
            self._fault("harness", f"a connection could not be recorded: {error}")
            raise CutError from error
        connection.session = named
        self._opened += 1
        self._open[connection] = None
        return connection

    def _is_unread(self) -> bool:
        return any(connection.is_unread for connection in self._open)

    def _too_many(self) -> None:
        if not self._had_too_many:  # said once, or a flood of connections were one of faults
            self._had_too_many = True
            self._fault("subject", f"more than {_MAX_CONNECTIONS} connections at once")

    def _forget(self, connection: HttpConnection) -> None:
        self._open.pop(connection, None)
        self._endpoints.forget(connection)

    def _is_free(self, connection: HttpConnection, body: bytes) -> bool:
        if connection.session is not None or connection.is_stream or connection.under_way:
            return False
        return not (b"initialize" in body and _method(body) == "initialize")  # whoever greets begins anew

    # -- the server -----------------------------------------------------------------------------------------

    async def _address(self) -> str | None:
        """Return where the server is, having started it where that is ours to do; None when it cannot be reached."""
        server = self._settings.server
        if not server.command:
            return server.url
        async with self._starting:
            if self._served is None and not self._is_gone:
                await self._start()
            return None if self._is_gone or self._served is None else self._served.url

    async def _start(self) -> None:
        server = self._settings.server
        try:
            self._served = Served(server, self._server_gone)
        except (OSError, ValueError) as error:
            self._is_gone = True
            self._blame(f"could not be started: {error}")
            return
        told = {"role": f"server:{server.name}", "pid": self._served.child.pid, "argv": self._served.argv}
        self._record("process.started", {**told, "env_names": sorted(server.env)})
        limit_s = self._settings.limits.answer_timeout_s
        if not await self._served.wait_until_open(limit_s) and not self._is_gone:
            self._is_gone = True
            self._blame(f"did not open its port within {limit_s:g} s")

    def _server_gone(self) -> None:
        self._is_gone = True
        if self._served is None:
            return
        stderr = last_words(self._served.child.stderr.value(), _STDERR_IN_MESSAGE_BYTES)
        told = f"ended ({self._served.child.exit}) before the subject was done with it"
        why = ended_by_somebody(self._served.child.exit, is_bridged=self._settings.server.is_bridged)
        self._blame(told + (f"; stderr: {stderr}" if stderr else ""), why)
        for connection in list(self._open):
            connection.end("server_exited")

    async def _end_server(self) -> None:
        served, self._served = self._served, None
        if served is None:
            return
        end, stderr = await served.end(self._settings.limits.patience)
        body = {
            "role": f"server:{self._settings.server.name}",
            "pid": served.child.pid,
            "code": end.exit.code if end.exit else None,
            "signal": end.exit.signal if end.exit else None,
            "survivors": [{"pid": one.pid, "name": one.name} for one in end.survivors],
        }
        self._record("process.exited", body, stderr=stderr)
        if end.unkillable:
            named = ", ".join(f"{left.pid} {left.name}" for left in end.unkillable)
            self._fault("harness", f"processes of the server could not be ended: {named}")

    # -- the record -----------------------------------------------------------------------------------------

    def _record(self, kind: str, body: dict[str, object], **payloads: bytes) -> None:
        try:
            self._settings.recorder.record(kind, body, payloads=payloads, session=self.session)
        except (OSError, OyerError) as error:
            self._settings.on_fault(
                f"tap:{self._settings.server.name}", "harness", f"{kind} could not be recorded: {error}"
            )

    def _settle(self) -> None:
        try:
            self._settings.recorder.settle()
        except BaseException as error:
            for connection in list(self._open):
                connection.harness_failed(_known(error))
            if not isinstance(error, OSError | OyerError):
                raise

    def _broken(self, error: Exception) -> None:
        """Take note of what kept a request from its end on our side, whose client saw its connection cut."""
        known, connections = _known(error), list(self._open)
        for connection in connections:
            connection.harness_failed(known)
        if not connections:
            self._fault("harness", f"{type(known).__name__}: {known}")

    def _blame(self, message: str, suspicion: str | None = None) -> None:
        self._settle()  # what the subject sent is understood only then
        name = self._settings.server.name
        cls, told = self._settings.oddities.class_of(f"server {name} {message}", suspicion)
        self._say(f"server:{name}", cls, told)

    def _fault(self, cls: str, message: str) -> None:
        self._say(f"tap:{self._settings.server.name}", cls, message)

    def _say(self, where: str, cls: str, message: str) -> None:
        message = message.encode("utf-8", "backslashreplace").decode("utf-8")
        self._record("fault", {"where": where, "class": cls, "message": message})
        self._settings.on_fault(where, cls, message)


def _known(error: BaseException) -> OSError | OyerError:
    """Return an error as what a connection ends with."""
    if isinstance(error, OSError | OyerError):
        return error
    return HarnessError("E-TAP-STEP", f"a step of the tap failed in an unforeseen way: {error!r}")


def _method(body: bytes) -> str | None:
    read = parse_message(body)
    return read.method if isinstance(read, Message) else None


def _greets(body: bytes) -> bool:
    return _method(body) in _GREETINGS
