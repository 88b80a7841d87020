"""The MCP tap of one server: where the subject's relays connect, and what happens to what they carry.

Owns the listening address, the numbering of connections and their end. The subject is given only a relay
command; server, environment, tokens and intervention stay on this side. Each connection has a server process
of its own.
Source: MCP transports, stdio.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path

from oyer.errors import HarnessError, OyerError
from oyer.instruments.in_flight import CallsInFlight
from oyer.instruments.ports import CallWatcher, DeferringRecorder, OnFault
from oyer.instruments.tap_blame import NOT_EXCLUDED, Oddities
from oyer.instruments.tap_connection import Connection
from oyer.instruments.tap_link import RelayDoor, RelayLink
from oyer.instruments.tap_record import ConnectionRecord
from oyer.instruments.tap_rules import RuleBook, TapRules
from oyer.instruments.tap_settings import TapLimits, TappedServer, TapSettings
from oyer.instruments.tap_settling import QuietMoment

__all__ = ["Tap"]

_MAX_CONNECTIONS = 64
_NO_RULES = TapRules()
_DEFAULT_LIMITS = TapLimits()


class Tap:
    """A tap that listens on `socket_path` from `open` to `close`.

    `session` names the session that runs; the engine sets it, and every event carries it. `rules` are what is
    changed in this arm; `declared` what is changed in any arm of the Case, by which every arm takes the same time.
    Taps that share `calls` must share their watchers.
    """

    def __init__(
        self,
        server: TappedServer,
        socket_path: Path,
        recorder: DeferringRecorder,
        *,
        rules: TapRules = _NO_RULES,
        declared: TapRules = _NO_RULES,
        limits: TapLimits = _DEFAULT_LIMITS,
        watchers: Sequence[CallWatcher] = (),
        calls: CallsInFlight | None = None,
        on_fault: OnFault | None = None,
    ) -> None:
        self.session: str | None = None
        self._quiet = QuietMoment(self._settle)
        self._path = socket_path
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
        self._door: RelayDoor | None = None
        self._running: dict[Connection, asyncio.Task[None]] = {}
        self._opened = 0
        self._lost = False

    @property
    def socket_path(self) -> Path:
        """Where relays of this tap connect."""
        return self._path

    @property
    def connections(self) -> int:
        """How many connections are open now."""
        return len(self._running)

    async def open(self) -> None:
        """Begin to listen. Raises: OSError."""
        self._door = RelayDoor(self._path, self._connect, self._refused)

    async def end_connections(self) -> None:
        """End every connection with its server, as between two sessions; the tap goes on listening."""
        self._check_door()
        for connection in list(self._running):
            connection.end("closing")
        if self._running:
            await asyncio.gather(*self._running.values(), return_exceptions=True)

    async def settle(self, limit_s: float) -> None:
        """Wait, but no longer than this, until no connection is open: the subject has closed them itself."""
        if self._running:
            await asyncio.wait(list(self._running.values()), timeout=limit_s)

    async def close(self) -> None:
        """Stop listening and end every connection. Nothing of the server is left afterwards."""
        self._check_door()
        if self._door is not None:
            self._door.close()
            self._door = None
        await self.end_connections()
        self._quiet.close()

    def _connect(self, link: RelayLink) -> None:
        if len(self._running) >= _MAX_CONNECTIONS:
            link.close(None)
            self._refused(f"more than {_MAX_CONNECTIONS} connections at once")
            return
        server = self._settings.server.name
        record = ConnectionRecord(self._settings.recorder, server, self._opened, lambda: self.session, self._quiet.owe)
        connection = Connection(self._opened, link, self._settings, record, self._is_unread)
        self._opened += 1
        task = asyncio.get_running_loop().create_task(connection.run())
        self._running[connection] = task
        task.add_done_callback(lambda _: self._running.pop(connection, None))

    def _is_unread(self) -> bool:
        return any(connection.is_unread for connection in self._running)

    def _settle(self) -> None:
        try:
            self._settings.recorder.settle()
        except BaseException as error:
            known = isinstance(error, OSError | OyerError)
            unforeseen = HarnessError("E-TAP-STEP", f"a step of the tap failed in an unforeseen way: {error!r}")
            for connection in list(self._running):
                connection.harness_failed(error if isinstance(error, OSError | OyerError) else unforeseen)
            if not known:
                raise

    def _check_door(self) -> None:
        """Say once when somebody took the socket away: a subject that knocked meanwhile was not heard."""
        if self._door is not None and not self._door.is_reachable and not self._lost:
            self._lost = True
            self._fault(NOT_EXCLUDED, "the socket of this tap was moved, changed or deleted while it was in use")

    def _refused(self, why: str) -> None:
        self._fault("subject", why)

    def _fault(self, cls: str, why: str) -> None:
        where = f"tap:{self._settings.server.name}"
        body = {"where": where, "class": cls, "message": why}
        try:
            self._settings.recorder.record("fault", body, session=self.session)
        except (OSError, OyerError) as error:
            why = f"{why} (and this could not be recorded: {error})"
        self._settings.on_fault(where, cls, why)
