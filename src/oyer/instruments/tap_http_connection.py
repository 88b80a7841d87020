"""What is said in one session over HTTP, or on one lane of exchanges where the protocol has no session.

Owns the way of a message through the same steps as over standard streams, and the bounds. A message is a body, or the
data of an event; who carries it asks here what may go on. Must never answer for a server (a declared refusal apart),
and never let a message go on that was not recorded as the steps demand.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, NamedTuple

from oyer.errors import HarnessError, OyerError, SubjectError
from oyer.instruments.tap_blame import late_for
from oyer.instruments.tap_deadlines import Waiting
from oyer.instruments.tap_exchange import Exchange
from oyer.instruments.tap_record import ConnectionRecord, Crossing
from oyer.instruments.tap_settings import TapSettings
from oyer.protocol import Overlong

__all__ = ["Handed", "HttpConnection"]


class Handed(NamedTuple):
    """A message that may go on: as it came, or as it was changed; a refusal goes back to the subject."""

    crossing: Crossing
    data: bytes
    to_server: bool
    changed: bool


_DECIDED: ContextVar[list[Handed]] = ContextVar("decided")

Step = Callable[["bytes | Overlong", bool], "Coroutine[Any, Any, None] | None"]


class HttpConnection:
    """One connection as the record has it. `on_over` is called once when nothing more may pass.

    `session` is the id that its server gave it; `is_stream` says that it is one stream with all that is posted for it.
    """

    def __init__(
        self,
        number: int,
        settings: TapSettings,
        record: ConnectionRecord,
        on_over: Callable[[HttpConnection], None],
        is_unread: Callable[[], bool] = lambda: False,
    ) -> None:
        """`is_unread` says whether the subject leaves unread what came for it, on any connection of this tap."""
        self.is_over = False
        self.session: str | None = None
        self.is_stream = False
        self._settings = settings
        self._record = record
        self._on_over = on_over
        self._is_unread = is_unread
        self._writes = 0
        self._exchange = Exchange(number, settings, record, self)
        self._locks = {True: asyncio.Lock(), False: asyncio.Lock()}
        self._frames = {True: 0, False: 0}
        self._bytes = {True: 0, False: 0}
        self._blamed = False
        self._tasks: set[asyncio.Task[Any]] = set()
        self._session_ended = False
        record.event("connection.opened", {})

    @property
    def under_way(self) -> int:
        """How many exchanges of it are not over."""
        return len(self._tasks)

    @property
    def has_spoken(self) -> bool:
        """Whether a message came on it, from either side."""
        return any(self._frames.values())

    @property
    def is_unread(self) -> bool:
        """Whether something for the subject waits until it reads."""
        return self._writes > 0

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Something is being written to the subject."""
        self._writes += 1
        try:
            yield
        finally:
            self._writes -= 1

    @contextmanager
    def exchange(self) -> Iterator[None]:
        """The task at hand carries one exchange of this connection; it is cancelled when the connection is over."""
        task = asyncio.current_task()
        if task is None:
            raise HarnessError("E-TAP-STEP", "an exchange needs a task")
        self._tasks.add(task)
        try:
            yield
        finally:
            self._tasks.discard(task)
            if self._session_ended and not self._tasks:
                self.end("session_ended")

    async def from_subject(self, body: bytes | Overlong) -> list[Handed]:
        """Take a body of the subject; return what may go on, nothing where the connection is over."""
        return await self._step(self._exchange.from_subject, body, True, from_subject=True)

    async def from_server(self, message: bytes | Overlong, *, is_whole: bool = True) -> list[Handed]:
        """Take a body or an event's data of the server; likewise."""
        return await self._step(self._exchange.from_server, message, is_whole, from_subject=False)

    def delivered(self, handed: Handed) -> None:
        """The last byte of it went out."""
        try:
            self._record.delivered(handed.crossing, handed.to_server, handed.data if handed.changed else None)
        except (OSError, OyerError) as error:
            self.harness_failed(error)

    def gave_up(self, handed: Handed) -> None:
        """The subject closed the exchange before its answer: nobody waits for that any more."""
        self.settle()  # what went on before it was understood is known only then
        self._exchange.gave_up(handed.crossing)

    def answering(self, handed: Handed | None) -> None:
        """The server has answered the exchange of it, or ended its stream: its ids may come again from here on.

        On a stream of its own what is asked is answered there, when this exchange is long over.
        """
        if handed is not None and not self.is_stream:
            handed.crossing.done_ns = self._settings.recorder.now()[0]

    def end_session(self) -> None:
        """The subject ended the session: streams that are open end as the server ends them, and then it is over."""
        self._session_ended = True
        if not self._tasks:
            self.end("session_ended")

    def session_lost(self, status: int) -> None:
        """The server no longer knows this session. What comes after it is not of one piece with what was before."""
        self._record.event("mcp.session_break", {"reason": f"the server answered {status} to this session"})

    def end(self, reason: str) -> None:
        """Nothing more passes: end every exchange and write down why. Only the first reason counts."""
        if self.is_over:
            return
        self.is_over = True
        try:
            self._record.settle()
            refusal = self._exchange.opening.refusal
            if refusal is not None and reason in ("closing", "session_ended", "subject_closed"):
                self.blame_server(refusal, self._exchange.opening.suspicion)
            self._record.event("connection.closed", {"reason": reason, "exit": None})
        except (OSError, OyerError) as error:
            self.is_over = False
            self._fault("harness", f"{type(error).__name__}: {error}")
            self.is_over = True
        self._exchange.close()
        for task in list(self._tasks):
            if task is not asyncio.current_task():
                task.cancel()
        self._on_over(self)

    def blame_server(self, message: str, suspicion: str | None = None) -> None:
        """Record that the server failed its client; once. `suspicion`: what of it may be the subject's doing."""
        if self._blamed:
            return
        self._blamed = True
        self.settle()  # what the subject sent is understood only then
        told = f"server {self._settings.server.name} {message}"
        self._fault(*self._settings.oddities.class_of(told, suspicion))

    def harness_failed(self, error: OSError | OyerError) -> None:
        """End it: something on our side failed, or the world that is looked at was spoilt."""
        self.fail("subject" if isinstance(error, SubjectError) else "harness", f"{type(error).__name__}: {error}")

    # -- what an exchange needs of its connection -----------------------------------------------------------

    def forward(self, crossing: Crossing, data: bytes, *, to_server: bool, changed: bool = False) -> None:
        """Note what may go on; whoever carries the message does it."""
        if not self.is_over:
            _DECIDED.get().append(Handed(crossing, data, to_server, changed))

    def late(self, waiting: Waiting) -> None:
        """Say which request the server left unanswered."""
        limit_s = self._settings.limits.answer_timeout_s
        why = late_for(len(self._exchange.deadlines), is_unread=self._is_unread())
        self.blame_server(f"did not answer {waiting.method} (id {waiting.id_text}) within {limit_s:g} s", why)

    def too_long(self, side: str, size_bytes: int) -> None:
        """Close it: a message is beyond the bound."""
        self._shut(
            side, f"a message of {size_bytes} bytes or more, which is beyond the bound", f"{side}_frame_too_long"
        )

    def flooded_stream(self, limit_bytes: int) -> None:
        """Close it: one answer that comes as events is beyond its bound."""
        self._shut("server", f"an answer of more than {limit_bytes} bytes, as a stream", "server_flooded")

    def reused(self, identifier: object) -> None:
        """Say that the subject broke the rule of ids, once what is owed to the record is written."""
        told = f"the subject used id {identifier!r} again while a request with it was unanswered"
        self._settings.oddities.note(told)
        asyncio.get_running_loop().call_soon(self._fault, "subject", told)

    def fail(self, cls: str, message: str) -> None:
        """End it with a fault."""
        if not self.is_over:
            self._fault(cls, message)
            self.end("failed")

    def settle(self) -> None:
        """Record all that is owed; a failure ends the connection."""
        try:
            self._record.settle()
        except (OSError, OyerError) as error:
            self.harness_failed(error)

    # -- the steps ------------------------------------------------------------------------------------------

    async def _step(self, step: Step, message: bytes | Overlong, is_whole: bool, *, from_subject: bool) -> list[Handed]:
        async with self._locks[from_subject]:
            if self.is_over or self._floods(message, from_subject=from_subject):
                return []
            decided: list[Handed] = []
            token = _DECIDED.set(decided)
            try:
                rest = step(message, is_whole)
                if rest is not None:
                    await rest
            except (OSError, OyerError) as error:
                self.harness_failed(error)
            except Exception as error:  # noqa: BLE001 - whatever it is, it is on record and nothing may pass
                unforeseen = f"a step of the tap failed in an unforeseen way: {error!r}"
                self.harness_failed(HarnessError("E-TAP-STEP", unforeseen))
            finally:
                _DECIDED.reset(token)
        return decided if self._may_pass() else []

    def _may_pass(self) -> bool:
        return not self.is_over

    def _floods(self, message: bytes | Overlong, *, from_subject: bool) -> bool:
        limits = self._settings.limits
        self._frames[from_subject] += 1
        self._bytes[from_subject] += message.size_bytes if isinstance(message, Overlong) else len(message)
        many, much = self._frames[from_subject] > limits.max_frames, self._bytes[from_subject] > limits.max_total_bytes
        if many or much:
            side = "subject" if from_subject else "server"
            bound, what = (limits.max_frames, "messages") if many else (limits.max_total_bytes, "bytes")
            self._shut(side, f"more than {bound} {what} on one connection", f"{side}_flooded")
        return many or much

    def _shut(self, side: str, what: str, reason: str) -> None:
        message = f"sent {what}; the connection was closed"
        if side == "server":
            self.blame_server(message)
        else:
            self._fault("subject", f"the subject {message}")
        self.end(reason)

    def _fault(self, cls: str, message: str) -> None:
        self._record.fault(cls, message, self._settings.on_fault)
