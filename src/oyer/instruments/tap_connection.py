"""One relay connection and the server behind it: record, change exactly what was declared, forward.

Owns the life of a connection from the relay's greeting to the last process of the server. Every frame is
stamped on receipt, before it is forwarded; what crosses is byte-identical unless the declared intervention
or policy is about exactly that message; the original of a changed message is on the disk before the changed
bytes leave. Must never answer for a server (a declared refusal apart), heal a broken session, or hold a
frame longer than its line end and its record demand.
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
from collections.abc import Callable

from oyer.errors import HarnessError, OyerError, SubjectError
from oyer.host import Child, Patience, TreeEnd, last_words, spawn, terminate_tree
from oyer.instruments.tap_blame import ended_by_somebody, late_for
from oyer.instruments.tap_deadlines import Waiting
from oyer.instruments.tap_exchange import Exchange
from oyer.instruments.tap_lane import Lane
from oyer.instruments.tap_link import RelayLink
from oyer.instruments.tap_record import ConnectionRecord, Crossing
from oyer.instruments.tap_settings import TapSettings

__all__ = ["Connection"]

_STDERR_IN_MESSAGE_BYTES = 2000
_CANNOT_START = 127
_OURS = frozenset({errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.EAGAIN})
"""What keeps a server from being started and is a lack of this machine, not of the server."""
_SUBJECT_LEFT = ("subject_closed", "subject_gone", "relay_gone")
_SERVER_ENDED = ("server_exited", "server_closed", "server_deaf")


class Connection:
    """The tap's half of one relay connection. `run` does everything and returns when nothing is left of it."""

    def __init__(
        self,
        number: int,
        link: RelayLink,
        settings: TapSettings,
        record: ConnectionRecord,
        is_unread: Callable[[], bool],
    ) -> None:
        """`is_unread` says whether the subject leaves unread what came for it, on any connection of this tap."""
        self._link = link
        self._is_unread = is_unread
        self._settings = settings
        self._record = record
        self._exchange = Exchange(number, settings, record, self)
        self._subject_ended = False
        self._server_blamed = False
        self._failed = False
        self._reason = ""
        self._ending = asyncio.Event()
        self._child: Child | None = None
        self._to_server: Lane | None = None
        self._to_subject: Lane | None = None

    @property
    def is_unread(self) -> bool:
        """Whether something for the subject waits until it reads."""
        return self._to_subject is not None and self._to_subject.writer.pending_bytes > 0

    # -- life ---------------------------------------------------------------------------------------------

    async def run(self) -> None:
        """Serve the connection until it ends, then release everything it held."""
        exit_code: int | None = None
        try:
            self._record.event("connection.opened", {})
            if self._start():
                await self._ending.wait()
            exit_code = await self._end_server()
        except (OSError, OyerError) as error:
            self.harness_failed(error)
            await self._abandon_server()
        finally:
            self._release(exit_code)

    def end(self, reason: str) -> None:
        """Ask the connection to end; the first reason given stands."""
        if not self._reason:
            self._reason = reason
            self._exchange.deadlines.pause()
        self._ending.set()

    def _start(self) -> bool:
        server = self._settings.server
        try:
            child = spawn(server.command, env=server.env, cwd=server.cwd)
        except (OSError, ValueError) as error:
            if getattr(error, "errno", None) in _OURS:
                self.harness_failed(HarnessError("E-TAP-START", f"the server could not be started: {error}"))
            else:
                self._blame_server(f"could not be started: {error}")
            self.end("server_not_started")
            return False
        self._child = child
        self._record.event(
            "process.started",
            {
                "role": f"server:{server.name}",
                "pid": child.pid,
                "argv": list(server.command),
                "env_names": sorted(server.env),
            },
        )
        limits = self._settings.limits
        reads, writes = self._link.take_streams()
        self._to_subject = Lane(
            child.take_stdout(),
            writes,
            limits=limits,
            step=self._exchange.from_server,
            on_end=self._server_closed,
            on_broken=lambda: self.end("subject_gone"),
            on_error=self.harness_failed,
            on_flood=lambda what: self._flooded("server", what),
        )
        self._to_server = Lane(
            reads,
            child.take_stdin(),
            limits=limits,
            step=self._exchange.from_subject,
            on_end=self._subject_closed,
            on_broken=self._server_deaf,
            on_error=self.harness_failed,
            on_flood=lambda what: self._flooded("subject", what),
        )
        child.on_exit(self._server_exited)
        self._link.watch(lambda: self.end("relay_gone"))
        return True

    # -- frames -------------------------------------------------------------------------------------------

    def forward(self, crossing: Crossing, data: bytes, *, to_server: bool, changed: bool = False) -> None:
        """Pass a frame on, as it came or as it was changed, and record the delivery after the last byte."""
        lane = self._to_server if to_server else self._to_subject
        if lane is None or self._failed:
            return
        kept = data if changed else None
        lane.writer.write(data, lambda: self._record.delivered(crossing, to_server, kept))

    def settle(self) -> None:
        """Record all that is owed; a failure ends the connection."""
        try:
            self._record.settle()
        except (OSError, OyerError) as error:
            self.harness_failed(error)

    def late(self, waiting: Waiting) -> None:
        """Say which request the server left unanswered."""
        limit_s = self._settings.limits.answer_timeout_s
        why = late_for(len(self._exchange.deadlines), is_unread=self._is_unread())
        self._blame_server(f"did not answer {waiting.method} (id {waiting.id_text}) within {limit_s:g} s", why)

    def too_long(self, side: str, size_bytes: int) -> None:
        """Close the connection: its stream can no longer be understood."""
        what = f"a frame of {size_bytes} bytes or more, which is beyond the bound"
        self._shut(side, what, f"{side}_frame_too_long")

    def _flooded(self, side: str, what: str) -> None:
        """Close the connection: one side sent more than a connection carries."""
        limits = self._settings.limits
        bound = limits.max_frames if what == "frames" else limits.max_total_bytes
        self._shut(side, f"more than {bound} {what} on one connection", f"{side}_flooded")

    def _shut(self, side: str, what: str, reason: str) -> None:
        message = f"{what}; the connection was closed"
        if side == "server":
            self._blame_server(f"sent {message}")
        else:
            self._fault("subject", f"the subject sent {message}")
        self.end(reason)
        self._stop_lanes()

    def reused(self, identifier: object) -> None:
        """Say that the subject broke the rule of ids, once what is owed to the record is written."""
        told = f"the subject used id {identifier!r} again while a request with it was unanswered"
        self._settings.oddities.note(told)
        asyncio.get_running_loop().call_soon(self._fault, "subject", told)

    def fail(self, cls: str, message: str) -> None:
        """End the connection with a fault; nothing more is forwarded. Only the first failure is told."""
        if self._failed:
            return
        self._failed = True
        self._fault(cls, message)
        self.end("failed")
        self._stop_lanes()

    # -- ends ---------------------------------------------------------------------------------------------

    def _subject_closed(self) -> None:
        self._subject_ended = True
        if self._to_server is not None:
            self._to_server.writer.close_when_written()
        self.end("subject_closed")

    def _server_closed(self) -> None:
        if self._to_subject is not None:
            self._to_subject.writer.close_when_written()
        self.end("server_closed")

    def _server_exited(self) -> None:
        self.end("server_exited")

    def _server_deaf(self) -> None:
        """The server closed its input: what is sent now can have no answer."""
        if not self._subject_ended:
            self.end("server_deaf")

    async def _end_server(self) -> int:
        """End the server's whole tree, pass on what it still said, and record how it ended."""
        child = self._child
        if child is None:
            self._record.event("connection.closed", {"reason": self._reason, "exit": None})
            return _CANNOT_START
        if self._to_server is not None and self._reason != "subject_closed":
            self._to_server.writer.close()  # what the subject still says is recorded, and goes nowhere
        patience = self._settings.limits.patience
        if self._reason in _SERVER_ENDED:
            # It may be about to exit by itself: the code it exits with says more than our signal would.
            await child.wait_at_most(patience.settle_s)
        on_its_own = child.exit is not None
        if self._to_server is not None and not on_its_own:
            await self._flush(self._to_server)
        end = await terminate_tree(child, marker=self._settings.server.marker, patience=patience)
        await self._drain(patience.grace_s)
        stderr = await child.finish_stderr(patience.grace_s)
        self._record.settle()  # what the server said is understood only then
        self._judge_end(child, stderr, on_its_own)
        self._record.exited(f"server:{self._settings.server.name}", child, end, stderr)
        self._report_left(end)
        code = _exit_code(end)
        self._record.event("connection.closed", {"reason": self._reason, "exit": code})
        return code

    async def _flush(self, lane: Lane) -> None:
        """Give the end of stream a chance to reach a server that is slow to read."""
        limit = self._settings.limits.patience.settle_s
        loop = asyncio.get_running_loop()
        until = loop.time() + limit
        while lane.writer.is_open and lane.writer.pending_bytes and loop.time() < until:
            await asyncio.sleep(0.01)
        lane.writer.close()

    async def _drain(self, grace_s: float) -> None:
        """Forward what is left in the server's pipe, then cut: somebody may hold it open for ever."""
        lane = self._to_subject
        if lane is None:
            return
        while not self._failed:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(lane.finished.wait(), grace_s)
            if lane.finished.is_set() or not lane.is_behind:
                break
        loop = asyncio.get_running_loop()
        until = loop.time() + self._settings.limits.flush_s
        while lane.writer.pending_bytes and loop.time() < until:
            await asyncio.sleep(0.01)
        lane.stop()
        lane.writer.close()

    def _judge_end(self, child: Child, stderr: bytes, on_its_own: bool) -> None:
        """Say so when the server went while its client was still there.

        Also with nothing unanswered: what the subject may have tried afterwards was never received, so its silence
        on this connection proves nothing.
        """
        refusal = self._exchange.opening.refusal
        if self._reason not in _SERVER_ENDED:
            if refusal is not None:
                self._blame_server(refusal, self._exchange.opening.suspicion)
            self._judge_leaving()
            return
        oldest = self._exchange.deadlines.oldest()
        if oldest:
            when = f"with {oldest.method} (id {oldest.id_text}) unanswered"
        elif not self._exchange.server_answered:
            when = "before it answered anything"
        else:
            when = "before the subject was done with it"
        how = f"ended ({child.exit})" if on_its_own else "closed its streams"
        tail = last_words(stderr, _STDERR_IN_MESSAGE_BYTES)
        why = ended_by_somebody(child.exit, is_bridged=self._settings.server.is_bridged) if on_its_own else None
        self._blame_server(f"{how} {when}" + (f"; stderr: {tail}" if tail else ""), why)

    def _judge_leaving(self) -> None:
        """Say so when a client gave up over a line that is no message, before it had done anything at all.

        Had it called a tool before, on any server, leaving could be its way out of a trial that speaks against it.
        """
        line = self._exchange.opening.gave_up_over
        if line is not None and self._reason in _SUBJECT_LEFT and not self._settings.calls.any_made:
            self._blame_server(f"wrote something else than a message first, and the subject left at it: {line}")

    def _report_left(self, end: TreeEnd) -> None:
        if end.unkillable:
            named = ", ".join(f"{left.pid} {left.name}" for left in end.unkillable)
            self._fault("harness", f"processes of the server could not be ended: {named}")

    def _blame_server(self, message: str, suspicion: str | None = None) -> None:
        if not self._server_blamed and not self._failed:
            self._server_blamed = True
            told = f"server {self._settings.server.name} {message}"
            self._fault(*self._settings.oddities.class_of(told, suspicion))

    def harness_failed(self, error: OSError | OyerError) -> None:
        """End the connection: something on our side failed, or the world that is looked at was spoilt."""
        self.fail("subject" if isinstance(error, SubjectError) else "harness", f"{type(error).__name__}: {error}")

    def _fault(self, cls: str, message: str) -> None:
        self._record.fault(cls, message, self._settings.on_fault)

    async def _abandon_server(self) -> None:
        """End the tree without recording: the journal has failed."""
        if self._child is not None:
            await terminate_tree(
                self._child, marker=self._settings.server.marker, patience=Patience(settle_s=0.0, term_s=0.1)
            )

    def _stop_lanes(self) -> None:
        for lane in (self._to_server, self._to_subject):
            if lane is not None:
                lane.stop()

    def _release(self, exit_code: int | None) -> None:
        self._exchange.close()
        for lane in (self._to_server, self._to_subject):
            if lane is not None:
                lane.cancel()
                lane.writer.close()
        if self._child is not None:
            self._child.kill_group()  # only reached alive when this connection was cancelled
            self._child.release()
        self._link.close(exit_code)


def _exit_code(end: TreeEnd) -> int:
    """Return what a shell would say of this exit."""
    if end.exit is None:
        return 128 + 9
    return end.exit.code if end.exit.code is not None else 128 + (end.exit.signal or 0)
